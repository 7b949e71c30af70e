package gate

import (
	"context"
	"errors"
	"io"
	"math"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// Sizes of the samples. A table of at most uniqueRecords records is counted
// whole.
const (
	uniqueRecords  = 1 << 16
	predictRecords = 1 << 14
	fewValues      = 256
)

// measure reads the kept columns and the quasi-identifiers once, and the kept
// columns a second time where the table is large.
func (q *Request) measure(ctx context.Context, progress noren.Progress) (*Unique, []Predictor, error) {
	kept := q.keptColumns()
	if len(kept) == 0 {
		return &Unique{}, nil, nil
	}
	quasi := q.Schema.WithRole(table.Quasi)
	u := newUniqueness(len(kept))
	predictors := make([]*predictor, len(kept))
	for j := range predictors {
		predictors[j] = newPredictor(len(quasi))
	}
	readers := make([]value, len(quasi))
	stored := q.Source.Columns()
	for j, i := range quasi {
		readers[j] = value{field: &q.Schema.Fields[i], stored: &stored[i], missing: q.missing()}
	}
	hashes, seen := make([]uint64, len(kept)), make([]float64, len(quasi))
	err := q.each(ctx, append(append([]int{}, kept...), quasi...), progress, func(c *table.Chunk, row int, buf []byte) []byte {
		for j := range kept {
			buf = text(buf, &stored[kept[j]], &c.Cols[j], row)
			hashes[j] = hash(buf)
		}
		place := mix(uint64(c.First) + uint64(row))
		u.sample(place, hashes)
		read := false // the quasi-identifiers, once one predictor takes the record
		for j, p := range predictors {
			if !p.takes(hashes[j], place) {
				continue
			}
			for i := range quasi {
				if !read {
					seen[i] = readers[i].number(&c.Cols[len(kept)+i], row)
				}
			}
			read = true
			p.add(hashes[j], place, seen)
		}
		return buf
	})
	if err != nil {
		return nil, nil, err
	}
	if !u.whole() {
		u.prepare()
		err := q.each(ctx, kept, progress, func(c *table.Chunk, row int, buf []byte) []byte {
			for j := range kept {
				buf = text(buf, &stored[kept[j]], &c.Cols[j], row)
				hashes[j] = hash(buf)
			}
			u.count(hashes)
			return buf
		})
		if err != nil {
			return nil, nil, err
		}
	}
	names := make([]string, len(kept))
	for j, i := range kept {
		names[j] = q.Schema.Fields[i].Name
	}
	var found []Predictor
	for j, p := range predictors {
		var tells []string
		for n, i := range quasi {
			if p.tells(n, q.Schema.Fields[i].Type.IsNumber()) {
				tells = append(tells, q.Schema.Fields[i].Name)
			}
		}
		if len(tells) > 0 {
			found = append(found, Predictor{Column: names[j], Quasi: tells})
		}
	}
	return u.result(names), found, nil
}

func (q *Request) missing() map[string]bool {
	m := map[string]bool{"": true}
	for _, text := range q.Missing {
		m[text] = true
	}
	return m
}

// each calls do for every record; buf is a buffer for a text.
func (q *Request) each(ctx context.Context, columns []int, progress noren.Progress,
	do func(c *table.Chunk, row int, buf []byte) []byte,
) (err error) {
	r, err := q.Source.Open(ctx, columns)
	if err != nil {
		return err
	}
	defer func() {
		if e := r.Close(); err == nil && e != nil {
			err = e
		}
	}()
	var buf []byte
	var told time.Time
	for {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for row := range c.Rows {
			buf = do(c, row, buf)
		}
		if now := time.Now(); now.Sub(told) >= 100*time.Millisecond {
			told = now
			progress.Report("checking", int64(1000*r.Progress()), 1000)
		}
	}
}

// text writes a value as text; a null is the empty text.
func text(buf []byte, stored *table.StoredColumn, v *table.Vector, row int) []byte {
	if v.IsNull(row) {
		return buf[:0]
	}
	return table.AppendText(buf[:0], stored, v, row)
}

// value reads the values of a quasi-identifier as numbers: those of numbers and
// dates as such, all others by their hash.
type value struct {
	field   *table.Field
	stored  *table.StoredColumn
	missing map[string]bool
	buf     []byte
}

// number is NaN for a missing value.
func (x *value) number(v *table.Vector, row int) float64 {
	x.buf = text(x.buf, x.stored, v, row)
	if x.missing[string(x.buf)] {
		return math.NaN()
	}
	switch x.field.Type {
	case table.Integer, table.Decimal:
		if n, _, err := table.ParseDecimal(x.buf); err == nil {
			return n
		}
	case table.Date:
		for _, layout := range []table.Layout{x.field.Layout, table.ISODate} {
			if layout == "" {
				layout = table.ISODate
			}
			if n, ok := layout.Match(x.buf); ok {
				return float64(n)
			}
		}
	}
	return float64(hash(x.buf) >> 11) // 53 bits: exact
}

// hash is FNV-1a of 64 bits, mixed. It is the same in every run, so that figures
// are too.
func hash(text []byte) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, c := range text {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return mix(h)
}

// mix is the output function of SplitMix64 (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
