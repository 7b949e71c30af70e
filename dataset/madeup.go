package dataset

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/table"
)

// MadeUp describes a table that is drawn from public facts alone, for rehearsals: no
// record of the data set is read. Values are spread evenly between bounds, over keys and
// levels, each by itself.
type MadeUp struct {
	// Definition is that of the data set. Required.
	Definition *Definition
	// Fields are the columns to make, fields of the definition. Required.
	Fields []table.Field
	// Rows is the number of rows. Required.
	Rows int
	// Seed determines the table.
	Seed [32]byte
	// Ranges are the bounds of number columns, instead of those of the definition.
	Ranges map[string][2]float64
	// Values are the values of category columns, instead of the keys of the definition.
	Values map[string][]string
	// By are columns of groups, and Groups the values that their rows have in turn.
	By     []string
	Groups [][]string
	// PerPerson is how many rows one person has, where the unit is a column. Defaults to 1.
	PerPerson int
	// Keep says which rows of a made-up table to keep; more are made until there are enough,
	// but at most 20 times as many. Optional.
	Keep func(t *table.Table) ([]bool, error)
}

// madeUpTries is how many times the rows are made, at most, until enough are kept.
const madeUpTries = 20

// Table makes the table. It has fewer rows than were asked for if few are kept.
func (m *MadeUp) Table() (*table.Table, error) {
	rnd := &splitMix{}
	for i := range 4 {
		rnd.state = rnd.next() ^ binary.BigEndian.Uint64(m.Seed[8*i:])
	}
	var kept [][]string
	for try := 0; len(kept) < m.Rows && try < madeUpTries; try++ {
		rows := make([][]string, m.Rows)
		for i := range rows {
			rows[i] = m.row(rnd, i)
		}
		if m.Keep == nil {
			kept = rows
			break
		}
		t, err := m.build(rows)
		if err != nil {
			return nil, err
		}
		keep, err := m.Keep(t)
		if err != nil {
			return nil, err
		}
		for i, is := range keep {
			if is && len(kept) < m.Rows {
				kept = append(kept, rows[i])
			}
		}
	}
	return m.build(kept)
}

// row makes the texts of a row.
func (m *MadeUp) row(rnd *splitMix, i int) []string {
	out := make([]string, len(m.Fields))
	for j, f := range m.Fields {
		if at := slices.Index(m.By, f.Name); at >= 0 && len(m.Groups) > 0 {
			out[j] = m.Groups[i%len(m.Groups)][at]
			continue
		}
		out[j] = m.value(rnd, f)
	}
	return out
}

// value makes a text of a column.
func (m *MadeUp) value(rnd *splitMix, f table.Field) string {
	c := m.Definition.Column(f.Name)
	if !f.Type.IsNumber() {
		values := m.Values[f.Name]
		for _, list := range [][]string{f.Levels, c.Keys, {"a", "b", "c"}} {
			if len(values) == 0 {
				values = list
			}
		}
		return values[rnd.below(len(values))]
	}
	lo, hi := m.bounds(c, f)
	switch v := lo + (hi-lo)*rnd.unit(); f.Type {
	case table.Date:
		return f.Layout.Format(int64(math.Round(v)))
	case table.Integer:
		return strconv.FormatInt(int64(math.Floor(lo+(hi-lo+1)*rnd.unit())), 10)
	default:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
}

// bounds are the smallest and the largest value of a number column.
func (m *MadeUp) bounds(c *Column, f table.Field) (lo, hi float64) {
	if r, ok := m.Ranges[f.Name]; ok {
		return r[0], r[1]
	}
	parse := func(text string) (float64, bool) {
		if f.Type == table.Date {
			v, err := f.Layout.Parse(text)
			return float64(v), err == nil
		}
		v, _, err := table.ParseDecimal([]byte(text))
		return v, err == nil
	}
	if len(c.Bounds) == 2 {
		a, okA := parse(c.Bounds[0])
		b, okB := parse(c.Bounds[1])
		if okA && okB && a <= b {
			return a, b
		}
	}
	if f.Type == table.Date {
		if f.Layout.HasTime() {
			return 0, 1_600_000_000
		}
		return 0, 20_000
	}
	return 0, 100
}

// build types the rows.
func (m *MadeUp) build(rows [][]string) (*table.Table, error) {
	t := &table.Table{Rows: len(rows)}
	for j, f := range m.Fields {
		b, err := table.NewBuilder(f, nil)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if err := b.Append([]byte(row[j])); err != nil {
				return nil, noren.Reasonf("column %s: %s", f.Name, err)
			}
		}
		t.Columns = append(t.Columns, b.Column())
	}
	if unit := m.Definition.Unit; unit != "" && unit != account.Record {
		b, err := table.NewBuilder(table.Field{Name: unit, Type: table.Category}, nil)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if err := b.Append(strconv.AppendInt([]byte("person "), int64(i/max(1, m.PerPerson)), 10)); err != nil {
				return nil, err
			}
		}
		t.Unit = b.Column()
	}
	return t, nil
}

// splitMix is the generator SplitMix64 (Steele, Lea and Flood 2014). What it draws is no
// secret and protects nothing.
type splitMix struct{ state uint64 }

func (s *splitMix) next() uint64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// unit is a number of at least 0 and below 1.
func (s *splitMix) unit() float64 { return float64(s.next()>>11) / (1 << 53) }

// below is a number of at least 0 and below n, n small.
func (s *splitMix) below(n int) int { return int(s.unit() * float64(n)) }
