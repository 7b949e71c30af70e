package personal

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// SampleSize is how many values of a column a [Sample] holds.
const SampleSize = 8192

// longest is how many bytes of a value are looked at.
const longest = 512

// Sample holds values of one column: all of them up to [SampleSize], and of more
// those whose places have the smallest hashes, so that it is a uniform sample
// and the same for the same column.
type Sample struct {
	seen   uint64
	limit  uint64 // places with a hash above it are left out
	values []sampled
	most   int   // values that are held, 2*most between two halvings
	texts  int64 // bytes of the values
}

type sampled struct {
	hash uint64
	text string
}

// NewSample makes an empty sample.
func NewSample() *Sample { return &Sample{limit: 1<<64 - 1, most: SampleSize} }

// Add takes the next value of the column. Missing values are not added.
func (s *Sample) Add(text []byte) {
	h := mix(s.seen)
	s.seen++
	if h > s.limit {
		return
	}
	if len(text) > longest {
		text = text[:longest]
		for len(text) > 0 && !utf8.Valid(text[max(0, len(text)-4):]) && !utf8.FullRune(text[len(text)-1:]) {
			text = text[:len(text)-1]
		}
	}
	s.values = append(s.values, sampled{h, string(text)})
	s.texts += int64(len(text))
	if len(s.values) >= 2*s.most {
		s.halve()
	}
}

// What a value takes: its entry, and what is added to a text in memory.
const (
	entryWeight = 24
	textWeight  = 12
)

// Weight is about how many bytes the sample takes.
func (s *Sample) Weight() int64 {
	return s.texts + entryWeight*int64(cap(s.values)) + textWeight*int64(len(s.values))
}

// Least is the size below which no sample is shrunk.
const Least = 256

// Shrink makes the sample, from now on, half as large, and reports whether it could: one
// of [Least] stays. The values that are left are a uniform sample too.
func (s *Sample) Shrink() bool {
	if s.most <= Least {
		return false
	}
	s.most /= 2
	if s.halve(); cap(s.values) > 2*len(s.values) {
		s.values = slices.Clip(slices.Clone(s.values))
	}
	return true
}

func (s *Sample) halve() {
	for len(s.values) > s.most {
		s.limit /= 2
		kept := s.values[:0]
		for _, v := range s.values {
			if v.hash <= s.limit {
				kept = append(kept, v)
			} else {
				s.texts -= int64(len(v.text))
			}
		}
		clear(s.values[len(kept):])
		s.values = kept
	}
}

// mix is the output function of SplitMix64 (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// counted are the different values of a sample, normalised.
type counted struct {
	texts []string
	times []int
	total int
}

func (s *Sample) count() *counted {
	at := map[string]int{}
	c := &counted{total: len(s.values)}
	for _, v := range s.values {
		i, known := at[v.text]
		if !known {
			i = len(c.texts)
			at[v.text] = i
			c.texts, c.times = append(c.texts, v.text), append(c.times, 0)
		}
		c.times[i]++
	}
	for i, text := range c.texts {
		c.texts[i] = normal(strings.ToValidUTF8(text, ""))
	}
	return c
}

// Find decides what the column of that name holds; ok is false where nothing
// speaks for a personal identifier. A header alone is enough, unless the values
// are answers of yes and no.
func (s *Sample) Find(header string) (_ Finding, ok bool) {
	c := s.count()
	byHeader := OfHeader(header)
	if byHeader != None && (c.total == 0 || c.answers()) {
		byHeader = None
	}
	f, found := c.find()
	switch {
	case found && (f.Kind == FreeText || f.Kind == Contact) && byHeader != None:
		// The header says it more exactly.
		return Finding{Kind: byHeader, ByHeader: true, ByValues: true, Share: f.Share}, true
	case found:
		f.ByHeader = byHeader == f.Kind
		return f, true
	case byHeader != None:
		return Finding{Kind: byHeader, ByHeader: true}, true
	}
	return Finding{}, false
}

var answerWords = map[string]bool{
	"yes": true, "no": true, "y": true, "n": true, "true": true, "false": true, "t": true, "f": true, "0": true, "1": true, "x": true,
	"はい": true, "いいえ": true, "有": true, "無": true, "あり": true, "なし": true, "済": true, "未": true, "○": true, "×": true,
	"ja": true, "nein": true, "oui": true, "non": true, "si": true, "sí": true, "known": true, "unknown": true, "given": true, "refused": true,
}

// answers reports whether the column says only whether there is something.
func (c *counted) answers() bool {
	if len(c.texts) > 3 {
		return false
	}
	for _, text := range c.texts {
		if !answerWords[strings.ToLower(text)] {
			return false
		}
	}
	return true
}

// find decides by the values alone.
func (c *counted) find() (Finding, bool) {
	if c.total == 0 {
		return Finding{}, false
	}
	var records, distinct [kinds]int
	contact := 0
	var numbers [2]int // records and different values that are nothing but digits
	for i, text := range c.texts {
		m := match(text)
		if digitsOf(text) != "" {
			numbers[0] += c.times[i]
			numbers[1]++
		}
		for k := None + 1; k < kinds; k++ {
			if m.has(k) {
				records[k] += c.times[i]
				distinct[k]++
			}
		}
		if m.has(Email) || m.has(URL) || m.has(Phone) || m.has(Address) {
			contact += c.times[i]
		}
	}
	share := func(n int) float64 { return float64(n) / float64(c.total) }
	for _, r := range Rules() {
		n, all := distinct[r.Kind], len(c.texts)
		if r.Numbers {
			if n < r.Distinct || share(numbers[0]) < 0.5 || float64(records[r.Kind]) < r.Share*float64(numbers[0]) {
				continue
			}
			all = numbers[1]
		}
		if n >= min(r.Distinct, len(c.texts)) && n > 0 && (r.Numbers || share(records[r.Kind]) >= r.Share) &&
			float64(n) >= r.DistinctShare*float64(all) {
			return Finding{Kind: r.Kind, ByValues: true, Share: share(records[r.Kind])}, true
		}
	}
	if share(contact) >= 0.5 {
		return Finding{Kind: Contact, ByValues: true, Share: share(contact)}, true
	}
	if s, found := c.names(); found {
		return Finding{Kind: Name, ByValues: true, Share: s}, true
	}
	if s, found := c.births(); found {
		return Finding{Kind: BirthDate, ByValues: true, Share: s}, true
	}
	if s, found := c.prose(); found {
		return Finding{Kind: FreeText, ByValues: true, Share: s}, true
	}
	return Finding{}, false
}

// names decides whether the values are names of persons. Of values of two words
// or more a quarter must hold a listed name, since most names are in no list; of
// single words half, since some listed names are words too.
func (c *counted) names() (share float64, found bool) {
	var form, several, hits, titled, han, records int
	for i, text := range c.texts {
		s := nameShape(text)
		if !s.form {
			if chinese(text) {
				han++
			}
			continue
		}
		form++
		if s.parts >= 2 {
			several++
		}
		if s.titled && s.parts >= 1 {
			titled++
		}
		if s.hit || s.titled {
			hits++
			records += c.times[i]
		}
		if chinese(text) {
			han++
		}
	}
	d := len(c.texts)
	share = float64(records) / float64(c.total)
	switch {
	case titled >= 2 && 2*titled >= d:
		return share, true
	case han >= 5 && 10*han >= 9*d:
		return 1, true
	case 5*form < 4*d:
		return 0, false
	case 2*several >= d:
		return share, hits >= 2 && 4*hits >= d || d == 1 && hits == 1
	}
	return share, hits >= 3 && 2*hits >= d || d <= 5 && hits >= 2 && 3*hits >= 2*d
}

// births decides whether the values are dates of birth: days of which the middle
// four fifths lie more than a generation apart.
func (c *counted) births() (share float64, found bool) {
	const few, generation = 10, 25
	var years []int
	for i, text := range c.texts {
		if y, ok := yearOf(text); ok {
			for range c.times[i] {
				years = append(years, y)
			}
		}
	}
	share = float64(len(years)) / float64(c.total)
	return share, len(years) >= few && share >= 0.9 && spread(years) >= generation
}

// prose decides whether the values are free text: sentences, most of which occur
// once or a few times.
func (c *counted) prose() (share float64, found bool) {
	const few = 10
	var runes, words, marks, records, long int
	for i, text := range c.texts {
		n := utf8.RuneCountInString(text)
		w := len(strings.Fields(text))
		runes += n
		words += w
		ended := strings.ContainsAny(text, "。、！？") || strings.Contains(text, ". ") || strings.Contains(text, ", ") || strings.HasSuffix(text, ".")
		if ended {
			marks++
		}
		if w >= 4 || n >= 15 && strings.ContainsAny(text, "。、") {
			long++
			records += c.times[i]
		}
	}
	d := len(c.texts)
	if d < few || 2*long < d {
		return 0, false
	}
	sentences := runes > 25*d && words > 4*d || 2*marks > d && runes > 12*d
	return float64(records) / float64(c.total), sentences && float64(d) > 0.2*float64(c.total)
}
