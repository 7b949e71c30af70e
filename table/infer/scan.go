package infer

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/personal"
)

// scan gathers what is to be known of a column, in bounded memory.
type scan struct {
	stored *table.StoredColumn
	tokens *tokens
	buf    []byte

	nulls int64
	seen  map[string]int64 // texts that may stand for a missing value
	n     int64            // values

	// Distinct values: exactly, up to limit of them and limitBytes, then by
	// the sketch.
	limit  int
	bytes  int
	index  map[string]int32
	counts []int64
	sketch *sketch

	// Numbers. They are looked for until too many values are none.
	numbers  bool
	decimal  bool // some have a point or an exponent, or are too long for an integer
	zeros    bool // some begin with a zero that a number would not have
	odds     odds // values that are no numbers
	rising   bool // each is larger than the one before
	last     float64
	smallest extreme
	largest  extreme

	formats bool    // number formats are looked for
	forms   []*form // those that read nearly all values, from the first that is no plain number

	days    []dating // all layouts of dates, shared
	heads   []head   // the first values, until they have chosen
	elected bool
	dates   []dating // those that read nearly all values

	words int64 // values of two words or more
	runes int64 // characters in all
	first string
	final string // first and last by bytes

	sample *personal.Sample
}

// extreme is the smallest or the largest number.
type extreme struct {
	value float64
	text  string
}

// limitBytes bounds the texts that are kept to count them exactly.
const limitBytes = 16 << 20

func newScan(stored *table.StoredColumn, t *tokens, limit int, formats bool, days []dating) *scan {
	return &scan{
		stored: stored, tokens: t, limit: limit, formats: formats, days: days, seen: map[string]int64{}, index: map[string]int32{},
		numbers: true, rising: true, sample: personal.NewSample(),
	}
}

// look takes the column's values from one record of a chunk to another.
func (s *scan) look(v *table.Vector, from, to int) {
	for i := from; i < to; i++ {
		switch {
		case v.IsNull(i):
			s.nulls++
		case v.Kind == table.Text && s.stored.AppendText == nil:
			s.value(v.Texts[i], i)
		default:
			s.buf = table.AppendText(s.buf[:0], s.stored, v, i)
			s.value(s.buf, i)
		}
	}
}

func (s *scan) value(text []byte, row int) {
	if s.tokens.is(text) {
		s.seen[string(text)]++
		return
	}
	first := s.n == 0
	s.n++
	k := kept{text: text}
	s.count(&k)
	s.sample.Add(text)
	if len(s.forms) > 0 {
		s.narrowForms(text, row)
	}
	if s.numbers {
		s.number(&k, row, first)
	}
	s.dateLike(&k, row)
	s.word(&k, first)
}

// kept is a value of which one copy is made, where any is.
type kept struct {
	text   []byte
	copied string
}

func (k *kept) string() string {
	if k.copied == "" {
		k.copied = string(k.text)
	}
	return k.copied
}

func (s *scan) count(k *kept) {
	text := k.text
	if s.sketch != nil {
		s.sketch.add(text)
		return
	}
	if at, known := s.index[string(text)]; known {
		s.counts[at]++
		return
	}
	if len(s.counts) < s.limit && s.bytes+len(text) <= limitBytes {
		word := k.string()
		s.index[word] = int32(len(s.counts))
		s.counts = append(s.counts, 1)
		s.bytes += len(word)
		return
	}
	s.estimate()
	s.sketch.add(text)
}

// estimate gives up counting distinct values exactly.
func (s *scan) estimate() {
	s.sketch = new(sketch)
	for word := range s.index {
		s.sketch.add([]byte(word))
	}
	s.index, s.counts, s.bytes = nil, nil, 0
}

func (s *scan) number(k *kept, row int, first bool) {
	text := k.text
	var value float64
	whole, err := table.ParseInteger(text)
	if err == nil {
		value = float64(whole)
		digits := bytes.TrimLeft(text, "+-")
		s.zeros = s.zeros || len(digits) > 1 && digits[0] == '0' || text[0] == '+'
	} else if value, _, err = table.ParseDecimal(text); err == nil {
		s.decimal = true
	} else {
		if s.odds.n == 0 {
			s.startForms()
		}
		s.rising = false
		if s.odds.add(inChunk(row)); tooMany(s.odds.n, s.n) {
			s.numbers = false
		}
		return
	}
	s.rising = s.rising && (first || value > s.last)
	s.last = value
	if s.smallest.text == "" || value < s.smallest.value {
		s.smallest = extreme{value, k.string()}
	}
	if s.largest.text == "" || value > s.largest.value {
		s.largest = extreme{value, k.string()}
	}
}

func (s *scan) word(k *kept, first bool) {
	text := k.text
	s.runes += int64(utf8.RuneCount(text))
	if bytes.IndexByte(bytes.TrimSpace(text), ' ') >= 0 || bytes.Contains(text, []byte("　")) {
		s.words++
	}
	if first || string(text) < s.first {
		s.first = k.string()
	}
	if first || string(text) > s.final {
		s.final = k.string()
	}
}

// distinct is the number of distinct values, texts that may stand for a
// missing value not counted.
func (s *scan) distinct() (n int64, estimated bool) {
	if s.sketch != nil {
		return min(max(s.sketch.estimate(), int64(s.limit)), s.n), true
	}
	return int64(len(s.counts)), false
}

// column ends the looking. Of the texts that may stand for a missing value
// those in missing do, and the others are values.
func (s *scan) column(position, few int, missing []string) Column {
	for text, n := range s.seen {
		if text == "" || slices.Contains(missing, text) {
			continue
		}
		for range n {
			s.plain([]byte(text))
		}
	}
	c := Column{Position: position, Records: s.n, Missing: s.nulls, Nulls: s.nulls, Field: table.Field{Name: s.stored.Name}}
	for text, n := range s.seen {
		if text == "" || slices.Contains(missing, text) {
			c.Missing += n
			c.Tokens = append(c.Tokens, Count{text, n})
		}
	}
	slices.SortFunc(c.Tokens, byCount)
	c.Distinct, c.Estimated = s.distinct()
	c.Unique = s.n > 0 && (!c.Estimated && c.Distinct == s.n || s.numbers && s.odds.n == 0 && s.rising)
	if c.Unique {
		c.Distinct, c.Estimated = s.n, false
	}
	if !c.Estimated && c.Distinct <= int64(few) && s.index != nil {
		for text, at := range s.index {
			c.Values = append(c.Values, Count{text, s.counts[at]})
		}
		slices.SortFunc(c.Values, byCount)
	}
	s.setType(&c)
	if f, ok := s.sample.Find(c.Field.Name); ok && (f.ByHeader || c.Field.Type != table.Decimal) {
		c.Personal = &f
	}
	s.setRole(&c)
	return c
}

// plain takes a text that turned out to be a word like others. It is one of
// the few known tokens, none of which is a number or a date.
func (s *scan) plain(text []byte) {
	first := s.n == 0
	s.n++
	k := kept{text: text}
	s.count(&k)
	s.sample.Add(text)
	s.word(&k, first)
	s.numbers, s.elected, s.heads, s.dates, s.forms = false, true, nil, nil, nil
}

func byCount(a, b Count) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Text, b.Text))
}

// setType proposes a type.
func (s *scan) setType(c *Column) {
	g := s.guess()
	f := &c.Field
	f.Type, f.Layout, f.Number, c.TypeReason = g.kind, g.layout, g.number, g.reason
	c.Declared = g.declared
	switch {
	case s.n == 0:
	case g.kind == table.Date && len(s.readAll()) > 0:
		left := different(s.readAll())
		for _, d := range left {
			c.Layouts = append(c.Layouts, d.layout)
		}
		c.Smallest, c.Largest = left[0].smallText, left[0].bigText
	case s.numbers && s.odds.n == 0 && (g.kind == table.Integer || g.kind == table.Decimal):
		c.Smallest, c.Largest = s.smallest.text, s.largest.text
	case g.number != "":
		c.Smallest, c.Largest = s.formsOfAll()[0].smallest.text, s.formsOfAll()[0].largest.text
	default:
		c.Smallest, c.Largest = s.first, s.final
		if g.kind == table.Category && !g.declared && c.Values != nil {
			s.setScale(c)
		}
	}
}

// setScale proposes an order for the words of a well-known scale.
func (s *scan) setScale(c *Column) {
	levels := scaleOf(c.Values)
	if levels == nil {
		return
	}
	c.Field.Type, c.Field.Levels = table.Ordered, levels
	c.Smallest, c.Largest = levels[0], levels[len(levels)-1]
	c.TypeReason = typeReason(table.Ordered, Reason{
		Code: "type-scale", Args: args{"values": int64(len(levels))},
	})
}
