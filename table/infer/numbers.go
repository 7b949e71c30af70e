package infer

import (
	"bytes"
	"hash/fnv"
	"slices"

	"github.com/noren-privacy/noren/table"
)

// formats are the number formats that are looked for. Of several that read a
// whole column the first is proposed: a separator before three digits stands
// between thousands.
func formats() []table.NumberFormat {
	var all []table.NumberFormat
	for _, core := range []table.NumberFormat{"1234.5", "1,234.5", "1.234,5", "1 234,5", "1'234.5", "1 234.5", "1234,5"} {
		all = append(all, core, "¥"+core, core+"円", core+"%")
	}
	return all
}

// form is a number format that has read nearly all values so far.
type form struct {
	reader            *table.NumberReader
	format            table.NumberFormat
	decimal, zeros    bool
	smallest, largest extreme
	sum               uint64 // of all values in the order that they were seen
	buf               []byte
	odds              odds // values that it does not read
}

// look takes a value, and reports whether the format reads it.
func (f *form) look(text []byte) bool {
	out, ok := f.reader.Plain(f.buf[:0], text)
	f.buf = out
	if !ok {
		return false
	}
	v, _, err := table.ParseDecimal(out)
	if err != nil {
		return false
	}
	h := fnv.New64a()
	_, _ = h.Write(out)
	f.sum = f.sum*31 + h.Sum64()
	digits := bytes.TrimPrefix(out, []byte("-"))
	f.zeros = f.zeros || len(digits) > 1 && digits[0] == '0' && digits[1] != '.'
	f.decimal = f.decimal || bytes.IndexByte(out, '.') >= 0
	if f.smallest.text == "" || v < f.smallest.value {
		f.smallest = extreme{v, string(text)}
	}
	if f.largest.text == "" || v > f.largest.value {
		f.largest = extreme{v, string(text)}
	}
	return true
}

// startForms begins to look for number formats when the first value is met that
// is no plain number: the values before are looked at again, where all distinct
// ones are still known.
func (s *scan) startForms() {
	if !s.formats || s.sketch != nil {
		return
	}
	s.forms = newForms()
	for text := range s.index {
		s.forms = slices.DeleteFunc(s.forms, func(f *form) bool { return !f.look([]byte(text)) })
		if len(s.forms) == 0 {
			return
		}
	}
}

func newForms() []*form {
	var all []*form
	for _, format := range formats() {
		if r, err := format.Reader(); err == nil {
			all = append(all, &form{reader: r, format: format})
		}
	}
	return all
}

// narrowForms keeps the formats that read text, the value of a record of the chunk, too, or all but a few of the values.
func (s *scan) narrowForms(text []byte, row int) {
	s.forms = slices.DeleteFunc(s.forms, func(f *form) bool {
		if f.look(text) {
			return false
		}
		f.odds.add(inChunk(row))
		return tooMany(f.odds.n, s.n)
	})
}

// guessFormat decides whether the column holds numbers of a format.
func (s *scan) guessFormat(name nameWords) (guess, bool) {
	all := s.formsOfAll()
	if len(all) == 0 || s.odds.n == 0 {
		return guess{}, false
	}
	f := all[0]
	distinct, _ := s.distinct()
	if f.zeros || codes(name, f.decimal, distinct, s.n) {
		return guess{}, false
	}
	g := guess{kind: table.Integer, number: f.written(), typed: true}
	if f.decimal {
		g.kind = table.Decimal
	}
	why := Reason{Code: "type-format", Args: args{"format": string(g.number)}}
	for _, other := range all[1:] {
		if other.sum != f.sum {
			why = Reason{
				Code: "type-format-open",
				Args: args{"format": string(g.number), "other": string(other.format)},
			}
			break
		}
	}
	g.reason = typeReason(g.kind, why)
	return g, true
}

// written is the format, without decimal places where no value has any.
func (f *form) written() table.NumberFormat {
	if f.decimal {
		return f.format
	}
	return whole(f.format)
}

// whole is the format without decimal places.
func whole(f table.NumberFormat) table.NumberFormat {
	for _, point := range []string{".5", ",5"} {
		if at := bytes.LastIndex([]byte(f), []byte(point)); at >= 0 {
			return f[:at] + f[at+len(point):]
		}
	}
	return f
}
