// Package personal recognises columns that hold personal identifiers.
//
//	s := personal.NewSample()
//	for _, v := range values {
//		s.Add(v)
//	}
//	finding, ok := s.Find("contact")
//
// It knows names of persons (Latin letters, kanji, kana, hangul, Cyrillic),
// initials, telephone numbers, e-mail addresses, postal addresses, URLs, IP
// addresses, IBANs and payment cards by their check digits, Japanese insurer
// numbers and My Number by theirs, US social security numbers, dates of birth
// and free text.
//
// # What is decided
//
// A column is found by its header ([OfHeader]) or by its values: each kind has a
// rule with the share of values that must match, which [Rules] lists. A
// [Sample] looks at all values of a column up to [SampleSize], and at a uniform
// sample of [SampleSize] of a longer one. What it finds is evidence and no proof:
// a column that holds identifiers of no kind known here is not found.
//
// A [Finding] holds a kind and a share and never a value. The share is computed
// from the table: it is for those who may see the table.
package personal
