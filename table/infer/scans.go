package infer

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/table"
)

// scans look at all columns within one bound of memory. Where what they keep grows beyond
// it, samples become smaller and the largest sets of distinct values are estimated; where
// that is not enough, there are too many columns. What is given up follows from the
// records alone, and not from which column was looked at first.
type scans struct {
	name string
	all  []*scan
	most int64
}

// readerShare is the part of the memory of a reading that is left to the reader.
const readerShare = 4

// What parts of a scan take, in bytes: a column, an entry of a set of distinct values, and
// a format of numbers or dates that is looked for, one of the first values.
const (
	scanWeight   = 768
	entryWeight  = 56
	formatWeight = 512
	datingWeight = 128
	headWeight   = 128
)

// cellsAtOnce bounds the values that are taken before the memory is looked at again.
const cellsAtOnce = 1 << 16

func newScans(ctx context.Context, src table.Source, opts Options) (*scans, error) {
	m := meter.New(meter.From(ctx), 0)
	s := &scans{name: src.Name(), most: m.Held() - m.Held()/readerShare}
	if n := int64(len(opts.Columns)); n > s.most/scanWeight {
		return nil, s.excess(table.PlaceOf(src, noren.Textf("%d {column|columns}", n)))
	}
	tokens, stored := newTokens(opts.Missing), src.Columns()
	var days []dating
	for _, l := range layouts() {
		days = append(days, dating{layout: l})
	}
	s.all = make([]*scan, len(opts.Columns))
	for i, at := range opts.Columns {
		s.all[i] = newScan(&stored[at], tokens, opts.Distinct, opts.Formats, days)
	}
	return s, nil
}

func (s *scans) excess(where any) error {
	what := (&meter.Excess{Limit: s.most}).Text()
	return &noren.Error{
		Kind: noren.BadData, Code: meter.Code, Where: where, What: what.Format, Args: what.Args,
		Hint: "state the types and roles of the columns, or read fewer columns",
	}
}

// take looks at a chunk.
func (s *scans) take(r table.Reader, c *table.Chunk) error {
	step := max(cellsAtOnce/max(1, len(s.all)), 1)
	for from := 0; from < c.Rows; from += step {
		to := min(from+step, c.Rows)
		s.look(c, from, to)
		for i, one := range s.all {
			one.places(func(row int) place { return placeIn(s.name, r.Position(row, i)) })
		}
		if err := s.settle(func() noren.Place { return r.Position(to-1, -1) }); err != nil {
			return err
		}
	}
	return nil
}

// look shows records to all columns, several at a time.
func (s *scans) look(c *table.Chunk, from, to int) {
	var next atomic.Int64
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(s.all) {
				return
			}
			s.all[i].look(&c.Cols[i], from, to)
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(s.all)) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}

// settle brings what is kept below the bound.
func (s *scans) settle(where func() noren.Place) error {
	total := s.weight()
	for size := int64(math.MaxInt64); total > s.most; {
		smaller := false
		for _, one := range s.all {
			smaller = one.sample.Shrink() || smaller
		}
		total = s.weight()
		if total <= s.most {
			return nil
		}
		// The largest sets first, as many as have half of the size of the largest.
		largest := slices.MaxFunc(s.all, func(a, b *scan) int { return cmp.Compare(a.exact(), b.exact()) }).exact()
		size = min(size/2, largest/2)
		if largest > int64(sketchWeight) {
			for _, one := range s.all {
				if e := one.exact(); e > max(size, sketchWeight) {
					one.estimate()
				}
			}
			smaller = true
		}
		total = s.weight()
		if !smaller && total > s.most {
			return s.excess(where())
		}
	}
	return nil
}

func (s *scans) weight() (total int64) {
	for _, one := range s.all {
		total += one.weight()
	}
	return total
}

// sketchWeight is what a sketch takes.
const sketchWeight = 1 << sketchBits

// exact is what the set of distinct values takes.
func (s *scan) exact() int64 { return int64(s.bytes) + entryWeight*int64(len(s.counts)) }

// weight is about how many bytes s takes.
func (s *scan) weight() int64 {
	n := scanWeight + s.exact() + s.sample.Weight() + entryWeight*int64(len(s.seen)) + formatWeight*int64(len(s.forms)) +
		datingWeight*int64(cap(s.dates)) + headWeight*int64(len(s.heads)) +
		int64(len(s.first)+len(s.final)+len(s.smallest.text)+len(s.largest.text)+cap(s.buf))
	if s.sketch != nil {
		n += sketchWeight
	}
	for _, f := range s.forms {
		n += int64(cap(f.buf) + len(f.smallest.text) + len(f.largest.text))
	}
	return n
}
