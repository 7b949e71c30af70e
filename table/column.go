package table

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/bits-and-blooms/bitset"
	"github.com/noren-privacy/noren"
)

// Table is a set of columns of equal length in memory.
type Table struct {
	Rows    int
	Columns []*Column
	// Unit is the label of each record as a Category: the text that says whose
	// record it is, never typed, or no value where the record names no one. Nil
	// where every record is a unit of its own.
	Unit *Column
	// Memo keeps what was computed from the columns; nil where nothing is kept.
	Memo Memo
}

// Column returns the column of that name, or nil.
func (t *Table) Column(name string) *Column {
	for _, c := range t.Columns {
		if c.Field.Name == name {
			return c
		}
	}
	return nil
}

// Column is one column of n records. Which of its slices is filled follows
// from Field.Type; where a record is missing, its entry there is zero.
type Column struct {
	Field Field
	// Ints holds Integer values, and Dates in the unit of their Layout.
	Ints []int64
	// Floats holds Decimal values; all are finite.
	Floats []float64
	// Codes holds, for Category and Ordered, the index in Dict.
	Codes []uint32
	// Dict holds the distinct values: for Ordered the declared levels from
	// lowest to highest, for Category those that occur, in byte order.
	Dict []string
	// Places is the largest number of decimal places that a Decimal was
	// written with.
	Places int

	missing *bitset.BitSet
	rows    int
}

// Len is the number of records.
func (c *Column) Len() int { return c.rows }

// IsMissing reports whether record i has no value.
func (c *Column) IsMissing(i int) bool { return c.missing != nil && c.missing.Test(uint(i)) }

// MissingWords has bit i%64 of word i/64 set where record i has no value. Nil, or fewer
// words than records need, where the others all have one. It must not be changed.
func (c *Column) MissingWords() []uint64 {
	if c.missing == nil {
		return nil
	}
	return c.missing.Words()
}

// Missing is the number of records that have no value.
func (c *Column) Missing() int {
	if c.missing == nil {
		return 0
	}
	return int(c.missing.Count())
}

// Number returns the value of record i of a number column (Integer, Decimal,
// Date) or the rank of an Ordered one; zero where it is missing.
func (c *Column) Number(i int) float64 {
	switch {
	case c.Floats != nil:
		return c.Floats[i]
	case c.Ints != nil:
		return float64(c.Ints[i])
	case c.Codes != nil:
		return float64(c.Codes[i])
	}
	return 0
}

// Select is the column of the given records, in that order, in memory of its
// own; the dictionary is shared.
func (c *Column) Select(records []uint32) *Column {
	out := &Column{Field: c.Field, Dict: c.Dict, Places: c.Places, rows: len(records)}
	switch {
	case c.Floats != nil:
		out.Floats = make([]float64, len(records))
		for i, r := range records {
			out.Floats[i] = c.Floats[r]
		}
	case c.Ints != nil:
		out.Ints = make([]int64, len(records))
		for i, r := range records {
			out.Ints[i] = c.Ints[r]
		}
	case c.Codes != nil:
		out.Codes = make([]uint32, len(records))
		for i, r := range records {
			out.Codes[i] = c.Codes[r]
		}
	}
	if c.missing != nil {
		for i, r := range records {
			if c.missing.Test(uint(r)) {
				out.SetMissing(i)
			}
		}
	}
	return out
}

// Blank is a column of the same description whose n records all have the value
// zero: to be filled in place, and by [Column.SetMissing].
func (c *Column) Blank(n int) *Column {
	out := &Column{Field: c.Field, Dict: c.Dict, Places: c.Places, rows: n}
	switch c.Field.Type {
	case Integer, Date:
		out.Ints = make([]int64, n)
	case Decimal:
		out.Floats = make([]float64, n)
	default:
		out.Codes = make([]uint32, n)
	}
	return out
}

// SetMissing says that record i has no value. Its entry must be zero.
func (c *Column) SetMissing(i int) {
	if c.missing == nil {
		c.missing = bitset.New(uint(c.rows))
	}
	c.missing.Set(uint(i))
}

// Builder makes a [Column] from its values in order.
type Builder struct {
	col     Column
	missing map[string]bool
	// lengths has bit min(n,63) set where a text of n bytes may stand for a
	// missing value: most texts are distinguished by it alone.
	lengths uint64
	index   map[string]uint32
	layout  Layout // of a date; valid and not empty
	total   bool
	misfits int64
}

// NewBuilder returns an empty builder for a column described by f. The texts
// in missing stand for no value; the empty text always does. It fails when f
// contradicts itself.
func NewBuilder(f Field, missing []string) (*Builder, error) {
	b := &Builder{col: Column{Field: f}, missing: map[string]bool{"": true}, index: map[string]uint32{}}
	for _, m := range missing {
		b.missing[m] = true
		b.lengths |= 1 << min(len(m), 63)
	}
	switch f.Type {
	case Ordered:
		if len(f.Levels) == 0 {
			return nil, errors.New("an ordered column needs its levels, from lowest to highest")
		}
		for i, l := range f.Levels {
			if _, twice := b.index[l]; twice {
				return nil, noren.Reasonf("level %d stands twice", i+1)
			}
			b.index[l] = uint32(i)
		}
		b.col.Dict = f.Levels
	case Date:
		if err := f.Layout.Validate(); err != nil {
			return nil, err
		}
		b.layout = f.Layout.orISO()
	}
	if f.Number != "" {
		return nil, noren.Bug("a builder reads plain numbers: rewrite the source by its number formats first")
	}
	if f.Hierarchy != nil && f.Type != Category {
		return nil, noren.Reasonf("a hierarchy goes with a category column, not with %s", f.Type)
	}
	return b, nil
}

// Total makes the builder accept every text: one that does not fit the type of
// the column is appended as missing and counted ([Builder.Misfits]), so that
// Append returns no error for any text.
func (b *Builder) Total() { b.total = true }

// Misfits is the number of texts that a total builder appended as missing
// because they do not fit the type of the column, since the builder was made.
func (b *Builder) Misfits() int64 { return b.misfits }

// refuse returns err, or appends a missing value in the total mode.
func (b *Builder) refuse(err error) error {
	if !b.total {
		return err
	}
	b.misfits++
	b.AppendMissing()
	return nil
}

// Len is the number of records since the last cut.
func (b *Builder) Len() int { return b.col.rows }

// AppendMissing adds a record without a value.
func (b *Builder) AppendMissing() {
	if b.col.missing == nil {
		b.col.missing = bitset.New(0)
	}
	b.col.missing.Set(uint(b.col.rows))
	switch b.col.Field.Type {
	case Integer, Date:
		b.col.Ints = append(b.col.Ints, 0)
	case Decimal:
		b.col.Floats = append(b.col.Floats, 0)
	default:
		b.col.Codes = append(b.col.Codes, 0)
	}
	b.col.rows++
}

// AppendInt adds a value of an Integer or Date column, in its unit.
func (b *Builder) AppendInt(v int64) {
	b.col.Ints = append(b.col.Ints, v)
	b.col.rows++
}

// AppendFloat adds a value of a Decimal column. It must be finite; in the total
// mode any other is missing.
func (b *Builder) AppendFloat(v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return b.refuse(errNotFinite)
	}
	b.col.Floats = append(b.col.Floats, v)
	b.col.rows++
	return nil
}

// IsMissing reports whether text stands for no value.
func (b *Builder) IsMissing(text []byte) bool {
	return len(text) == 0 || b.lengths&(1<<min(len(text), 63)) != 0 && b.missing[string(text)]
}

// Append adds the value that text stands for. The error says what was
// expected and does not repeat the text. In the total mode ([Builder.Total])
// every text has a value or is missing.
func (b *Builder) Append(text []byte) error {
	if b.IsMissing(text) {
		b.AppendMissing()
		return nil
	}
	switch b.col.Field.Type {
	case Integer:
		v, err := ParseInteger(text)
		if err != nil {
			return b.refuse(err)
		}
		b.AppendInt(v)
		return nil
	case Decimal:
		v, places, err := ParseDecimal(text)
		if err != nil {
			return b.refuse(err)
		}
		b.col.Places = max(b.col.Places, places)
		return b.AppendFloat(v)
	case Date:
		v, ok := parse(b.layout, text)
		if !ok {
			if b.total {
				return b.refuse(nil)
			}
			return b.layout.expected()
		}
		b.AppendInt(v)
		return nil
	}
	code, known := b.index[string(text)]
	if !known {
		if b.col.Field.Type == Ordered {
			if b.total {
				return b.refuse(nil)
			}
			return noren.Reasonf("expected one of the %d {level|levels} of the column", len(b.col.Field.Levels))
		}
		if uint64(len(b.col.Dict)) == math.MaxUint32 {
			return errors.New("more distinct values than can be told apart")
		}
		code = uint32(len(b.col.Dict))
		word := string(text)
		b.col.Dict = append(b.col.Dict, word)
		b.index[word] = code
	}
	b.col.Codes = append(b.col.Codes, code)
	b.col.rows++
	return nil
}

// Cut returns the records that were appended since the last cut, as a column
// of their own, and goes on behind them. The codes of a Category go by the order
// in which the words were met first; [Builder.Column], at last, has the
// dictionary in its final order and no records that were cut off, and the rank
// of each of these codes in it is given by [Ranks].
func (b *Builder) Cut() *Column {
	out := b.col
	b.col.Ints, b.col.Floats, b.col.Codes, b.col.missing, b.col.rows = nil, nil, nil, nil, 0
	return &out
}

// Ranks tells for each word its place in byte order.
func Ranks(words []string) []uint32 {
	order := make([]uint32, len(words))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return strings.Compare(words[a], words[b]) })
	rank := make([]uint32, len(order))
	for r, old := range order {
		rank[old] = uint32(r)
	}
	return rank
}

// Column ends the building. The builder must not be used after it.
func (b *Builder) Column() *Column {
	c := &b.col
	if c.Field.Type == Category {
		sortDict(c)
	}
	return c
}

// sortDict orders Dict by bytes, so that codes do not depend on the order of
// the records.
func sortDict(c *Column) {
	rank := Ranks(c.Dict)
	dict := make([]string, len(rank))
	for old, r := range rank {
		dict[r] = c.Dict[old]
	}
	c.Dict = dict
	for i := range c.Codes {
		if !c.IsMissing(i) {
			c.Codes[i] = rank[c.Codes[i]]
		}
	}
}
