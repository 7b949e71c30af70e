package shuffle

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// rows is a table in memory that gives a reader and is a sink.
type rows struct {
	kinds  []table.Kind
	values [][]value
	// of a reader
	at, step int
	chunk    table.Chunk
	fail     error // instead of the chunk at the end
}

// value is one of a record: null, or the bits of a number, or a text.
type value struct {
	null bool
	bits uint64
	text string
}

func (r *rows) Next() (*table.Chunk, error) {
	if r.at == len(r.values) {
		if r.fail != nil {
			return nil, r.fail
		}
		return nil, io.EOF
	}
	n := min(r.step, len(r.values)-r.at)
	// What was returned before is invalid now.
	for i := range r.chunk.Cols {
		for _, t := range r.chunk.Cols[i].Texts {
			for j := range t {
				t[j] = '#'
			}
		}
		clear(r.chunk.Cols[i].Ints)
	}
	r.chunk = table.Chunk{First: int64(r.at), Rows: n, Cols: make([]table.Vector, len(r.kinds))}
	for j, k := range r.kinds {
		v := &r.chunk.Cols[j]
		v.Kind = k
		nulls := make([]bool, n)
		for i := range n {
			x := r.values[r.at+i][j]
			nulls[i] = x.null
			switch k {
			case table.Int:
				v.Ints = append(v.Ints, int64(x.bits))
			case table.Float:
				v.Floats = append(v.Floats, math.Float64frombits(x.bits))
			default:
				v.Texts = append(v.Texts, []byte(x.text))
			}
		}
		if slices.Contains(nulls, true) {
			v.Null = nulls
		}
	}
	r.at += n
	return &r.chunk, nil
}

func (r *rows) Position(int, int) noren.Place { return nil }
func (r *rows) Progress() float64             { return 0 }
func (r *rows) Close() error                  { return nil }
func (r *rows) Abort()                        {}

func (r *rows) Write(c *table.Chunk) error {
	if int(c.First) != len(r.values) {
		return fmt.Errorf("a chunk begins at %d and %d records were written", c.First, len(r.values))
	}
	for i := range c.Rows {
		record := make([]value, len(c.Cols))
		for j := range c.Cols {
			v := &c.Cols[j]
			if v.IsNull(i) {
				record[j].null = true
				continue
			}
			switch v.Kind {
			case table.Int:
				record[j].bits = uint64(v.Ints[i])
			case table.Float:
				record[j].bits = math.Float64bits(v.Floats[i])
			default:
				record[j].text = string(v.Texts[i])
			}
		}
		r.values = append(r.values, record)
	}
	return nil
}

func drawRows(t *rapid.T, most int) *rows {
	r := &rows{
		kinds: rapid.SliceOfN(rapid.SampledFrom([]table.Kind{table.Int, table.Float, table.Text}), 0, 4).Draw(t, "kinds"),
		step:  rapid.IntRange(1, 40).Draw(t, "step"),
	}
	n := rapid.IntRange(0, most).Draw(t, "records")
	for range n {
		record := make([]value, len(r.kinds))
		for j, k := range r.kinds {
			record[j].null = rapid.IntRange(0, 5).Draw(t, "null") == 0
			if record[j].null {
				continue
			}
			switch k {
			case table.Text:
				record[j].text = rapid.StringN(0, 20, -1).Draw(t, "text")
			case table.Float:
				record[j].bits = rapid.SampledFrom([]uint64{math.Float64bits(math.NaN()), 1 << 63, math.Float64bits(1.5), 0x7ff8000000000001}).
					Draw(t, "bits")
			default:
				record[j].bits = rapid.Uint64().Draw(t, "bits")
			}
		}
		r.values = append(r.values, record)
	}
	return r
}

// In memory or through the file, with every record at its place.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		in := drawRows(t, 200)
		seed := rapid.Uint64().Draw(t, "seed")
		order, err := Keyed(len(in.values), numbered(seed))
		if err != nil {
			t.Fatal(err)
		}
		for _, memory := range []int64{0, 1, 500, 5000} {
			in.at, in.chunk = 0, table.Chunk{}
			var got rows
			if err := Write(context.Background(), Options{Order: order, Memory: memory, Dir: dir}, in, nil, &got); err != nil {
				t.Fatal(err)
			}
			if len(got.values) != len(in.values) {
				t.Fatalf("memory %d: %d records, want %d", memory, len(got.values), len(in.values))
			}
			for i, place := range order {
				if !slices.Equal(got.values[place], in.values[i]) {
					t.Fatalf("memory %d: record %d is %v at place %d, want %v", memory, i, got.values[place], place, in.values[i])
				}
			}
		}
	})
	empty(t, dir)
}

// What is written is what Complete makes of each chunk, in any order and in the order of
// reading: here the columns the other way round, and how many records came before.
func TestComplete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawRows(t, 200)
		seed := rapid.Uint64().Draw(t, "seed")
		drawn, err := Keyed(len(in.values), numbered(seed))
		if err != nil {
			t.Fatal(err)
		}
		complete := func(in, out *table.Chunk) error {
			out.First, out.Rows, out.Cols = in.First, in.Rows, append(out.Cols[:0], in.Cols...)
			slices.Reverse(out.Cols)
			place := table.Vector{Kind: table.Int}
			for i := range in.Rows {
				place.Ints = append(place.Ints, in.First+int64(i))
			}
			out.Cols = append(out.Cols, place)
			return nil
		}
		for _, order := range [][]uint32{drawn, nil} {
			in.at, in.chunk = 0, table.Chunk{}
			var got rows
			o := Options{Order: order, Memory: rapid.SampledFrom([]int64{0, 500}).Draw(t, "memory"), Complete: complete}
			if err := Write(context.Background(), o, in, nil, &got); err != nil {
				t.Fatal(err)
			}
			if len(got.values) != len(in.values) {
				t.Fatalf("%d records, want %d", len(got.values), len(in.values))
			}
			for i := range in.values {
				place := i
				if order != nil {
					place = int(order[i])
				}
				want := slices.Clone(in.values[i])
				slices.Reverse(want)
				want = append(want, value{bits: uint64(place)})
				if !slices.Equal(got.values[place], want) {
					t.Fatalf("record %d is %v at place %d, want %v", i, got.values[place], place, want)
				}
			}
		}
		failed := errors.New("no")
		in.at, in.chunk = 0, table.Chunk{}
		o := Options{Order: drawn, Complete: func(_, _ *table.Chunk) error { return failed }}
		if err := Write(context.Background(), o, in, nil, &rows{}); len(in.values) > 0 && !errors.Is(err, failed) {
			t.Fatalf("got %v, want the error of Complete", err)
		}
	})
}

func empty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Texts larger than a bucket, and more than a chunk and a bucket hold.
func TestLarge(t *testing.T) {
	dir := t.TempDir()
	in := &rows{kinds: []table.Kind{table.Text, table.Int}, step: 1000}
	for i := range 30000 {
		text := fmt.Sprint(i)
		if i%10000 == 5000 {
			text = string(bytes.Repeat([]byte{byte('a' + i/10000)}, bucketSize+i))
		}
		in.values = append(in.values, []value{{text: text}, {bits: uint64(i)}})
	}
	order, err := Permutation(len(in.values))
	if err != nil {
		t.Fatal(err)
	}
	for _, memory := range []int64{0, 100 << 10} {
		in.at = 0
		var got rows
		stages := map[string]int64{}
		progress := func(stage string, done, total int64) {
			if done < stages[stage] || done > total {
				t.Errorf("%s: %d of %d after %d", stage, done, total, stages[stage])
			}
			stages[stage] = done
		}
		if err := Write(context.Background(), Options{Order: order, Memory: memory, Dir: dir, Progress: progress}, in, nil, &got); err != nil {
			t.Fatal(err)
		}
		for i, place := range order {
			if !slices.Equal(got.values[place], in.values[i]) {
				t.Fatalf("memory %d: another record at place %d", memory, place)
			}
		}
		if stages["arranging"] != 30000 || stages["writing"] != 30000 {
			t.Errorf("progress ended at %v", stages)
		}
	}
	empty(t, dir)
}

func TestAssemble(t *testing.T) {
	in := &rows{kinds: []table.Kind{table.Int}, step: 3}
	for i := range 10 {
		in.values = append(in.values, []value{{bits: uint64(i)}})
	}
	double := func(c *table.Chunk) (*table.Chunk, error) {
		made := &table.Chunk{First: c.First, Rows: c.Rows, Cols: []table.Vector{{Kind: table.Int}, {Kind: table.Text}}}
		for i := range c.Rows {
			made.Cols[0].Ints = append(made.Cols[0].Ints, 2*c.Cols[0].Ints[i])
			made.Cols[1].Texts = append(made.Cols[1].Texts, fmt.Append(nil, c.First+int64(i)))
		}
		return made, nil
	}
	for _, order := range [][]uint32{nil, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}} {
		in.at = 0
		var got rows
		if err := Write(context.Background(), Options{Order: order}, in, double, &got); err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			place := i
			if order != nil {
				place = int(order[i])
			}
			want := []value{{bits: uint64(2 * i)}, {text: fmt.Sprint(i)}}
			if !slices.Equal(got.values[place], want) {
				t.Errorf("record %d: got %v, want %v", i, got.values[place], want)
			}
		}
	}
}

func TestFailures(t *testing.T) {
	dir := t.TempDir()
	make10 := func() *rows {
		in := &rows{kinds: []table.Kind{table.Int}, step: 3}
		for i := range 10 {
			in.values = append(in.values, []value{{bits: uint64(i)}})
		}
		return in
	}
	order := []uint32{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}
	boom := errors.New("boom")
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	late, cancelLate := context.WithCancel(context.Background())
	failing := make10()
	failing.fail = boom
	calls := 0
	for name, c := range map[string]struct {
		ctx      context.Context
		order    []uint32
		in       *rows
		assemble func(*table.Chunk) (*table.Chunk, error)
		sink     table.Sink
		want     error // nil for any
		kind     noren.Kind
	}{
		"too few records":  {order: append(slices.Clone(order), 10), in: make10()},
		"too many records": {order: []uint32{0, 1, 2}, in: make10()},
		"twice a place":    {order: []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 8}, in: make10()},
		"no such place":    {order: []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 10}, in: make10()},
		"reader":           {order: order, in: failing, want: boom},
		"assemble":         {order: order, in: make10(), assemble: func(*table.Chunk) (*table.Chunk, error) { return nil, boom }, want: boom},
		"lost records":     {order: order, in: make10(), assemble: func(*table.Chunk) (*table.Chunk, error) { return &table.Chunk{}, nil }},
		"changing kind": {order: order, in: make10(), assemble: func(c *table.Chunk) (*table.Chunk, error) {
			if calls++; calls > 1 {
				return &table.Chunk{Rows: c.Rows, Cols: []table.Vector{{Kind: table.Float, Floats: make([]float64, c.Rows)}}}, nil
			}
			return c, nil
		}},
		"sink":      {order: order, in: make10(), sink: badSink{boom}, want: boom},
		"cancelled": {ctx: cancelled, order: order, in: make10(), kind: noren.Interrupted},
		"cancelled when all is read": {
			ctx: late, order: order, in: make10(), kind: noren.Interrupted,
			assemble: func(c *table.Chunk) (*table.Chunk, error) {
				if c.First == 9 {
					cancelLate()
				}
				return c, nil
			},
		},
	} {
		for _, memory := range []int64{0, 8} {
			c.in.at = 0
			if c.ctx == nil {
				c.ctx = context.Background()
			}
			calls = 0
			if c.sink == nil {
				c.sink = &rows{}
			}
			err := Write(c.ctx, Options{Order: c.order, Memory: memory, Dir: dir}, c.in, c.assemble, c.sink)
			if err == nil || c.want != nil && !errors.Is(err, c.want) || noren.KindOf(err) != c.kind {
				t.Errorf("%s, memory %d: got %v", name, memory, err)
			}
			empty(t, dir)
		}
	}
	if err := Write(context.Background(), Options{Order: order, Memory: 8, Dir: dir + "/absent"}, make10(), nil, &rows{}); err == nil {
		t.Error("a temporary file in a folder that does not exist")
	}
}

type badSink struct{ err error }

func (s badSink) Write(*table.Chunk) error { return s.err }
func (s badSink) Close() error             { return nil }
func (s badSink) Abort()                   {}

// numbered is a key of a test.
func numbered(seed uint64) (key [32]byte) {
	binary.LittleEndian.PutUint64(key[:], seed)
	copy(key[8:], "noren/table/shuffle")
	return key
}

func TestPermutation(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		order, err := Permutation(n)
		if err != nil || len(order) != n || order == nil {
			t.Fatalf("n = %d: got %v, %v", n, order, err)
		}
		if err := checkOrder(order); err != nil {
			t.Errorf("n = %d: %v", n, err)
		}
	}
	seed, other := uint64(7), uint64(8)
	a, _ := Keyed(100, numbered(seed))
	b, _ := Keyed(100, numbered(seed))
	c, _ := Keyed(100, numbered(other))
	d, _ := Permutation(100)
	e, _ := Permutation(100)
	if !slices.Equal(a, b) || slices.Equal(a, c) || slices.Equal(d, e) {
		t.Error("the same seed must give the same order, and no other must")
	}
	for _, n := range []int{-1, math.MaxUint32 + 1} {
		if _, err := Permutation(n); noren.KindOf(err) != noren.Usage {
			t.Errorf("n = %d: got %v, want an error of kind usage", n, err)
		}
	}
}

// All 24 orders of four records come equally often. Seeds 0..23,999 are fixed,
// so that the figure is too: chi-squared with 23 degrees of freedom exceeds
// 49.73 with probability 0.001. The same test rejects the naive shuffle, which
// exchanges every record with any.
func TestPermutationIsUniform(t *testing.T) {
	const draws = 24000
	chi := func(draw func(seed uint64) []uint32) float64 {
		counts := map[[4]uint32]int{}
		for seed := range uint64(draws) {
			counts[[4]uint32(draw(seed))]++
		}
		sum := 0.0
		for _, c := range counts {
			d := float64(c) - draws/24
			sum += d * d / (draws / 24)
		}
		return sum + float64(24-len(counts))*draws/24
	}
	good := chi(func(seed uint64) []uint32 {
		order, err := Keyed(4, numbered(seed))
		if err != nil {
			t.Fatal(err)
		}
		return order
	})
	if good > 49.73 {
		t.Errorf("chi-squared is %.1f, want at most 49.7", good)
	}
	naive := chi(func(seed uint64) []uint32 {
		// Every exchange is one of four at each of four steps.
		order := []uint32{0, 1, 2, 3}
		for i := range order {
			j := seed >> (2 * i) & 3
			order[i], order[j] = order[j], order[i]
		}
		return order
	})
	if naive < 49.73 {
		t.Errorf("the test does not see that the naive shuffle is not uniform: %.1f", naive)
	}
}

// The records are those of the order, whatever the number of processors, in memory and in
// buckets.
func TestWriteOnAnyNumberOfProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9000).Draw(t, "records")
		seed := rapid.Uint64().Draw(t, "seed")
		order, err := Keyed(n, numbered(seed))
		if err != nil {
			t.Fatal(err)
		}
		in := &rows{kinds: []table.Kind{table.Int, table.Text}, step: rapid.IntRange(1, 5000).Draw(t, "step")}
		for i := range n {
			in.values = append(in.values, []value{{null: i%7 == 3, bits: uint64(i)}, {text: fmt.Sprint("record ", i)}})
		}
		memory := rapid.SampledFrom([]int64{DefaultMemory, 40 << 10, 1}).Draw(t, "memory")
		runtime.GOMAXPROCS(rapid.IntRange(1, 5).Draw(t, "processors"))
		got := &rows{}
		if err := Write(context.Background(), Options{Order: order, Memory: memory}, in, nil, got); err != nil {
			t.Fatal(err)
		}
		if len(got.values) != n {
			t.Fatalf("%d of %d records were written", len(got.values), n)
		}
		for i, to := range order {
			want := in.values[i]
			if want[0].null {
				want = []value{{null: true}, want[1]}
			}
			if !slices.Equal(got.values[to], want) {
				t.Fatalf("place %d has %v, not record %d", to, got.values[to], i)
			}
		}
	})
}

// Records that are much longer than the first were: the buckets are made anew, in memory.
func TestRecordsLongerThanTheFirst(t *testing.T) {
	in := &rows{kinds: []table.Kind{table.Text}, step: 1000}
	for i := range 12_000 {
		text := fmt.Sprint(i)
		if i > 2000 {
			text = fmt.Sprintf("%01000d", i)
		}
		in.values = append(in.values, []value{{text: text}})
	}
	order, err := Permutation(len(in.values))
	if err != nil {
		t.Fatal(err)
	}
	a := &arranger{opts: Options{Order: order, Memory: DefaultMemory}, n: uint64(len(order))}
	if err := each(t.Context(), in, func(c *table.Chunk) (*table.Chunk, error) { return c, nil }, a.take); err != nil {
		t.Fatal(err)
	}
	if a.file != nil || len(a.buckets) < 3 {
		t.Errorf("%d buckets for 10 MB of records, in a file: %t", len(a.buckets), a.file != nil)
	}
	var got rows
	if err := a.write(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	for i, place := range order {
		if !slices.Equal(got.values[place], in.values[i]) {
			t.Fatalf("another record at place %d", place)
		}
	}
}

// A sink that fails at a later chunk ends the writing, and its error is returned.
func TestLaterErrorOfTheSink(t *testing.T) {
	boom := errors.New("boom")
	for _, memory := range []int64{DefaultMemory, 40 << 10} {
		for _, at := range []int{1, 2, 3} {
			in := &rows{kinds: []table.Kind{table.Int}, step: 1000}
			for i := range 3 * chunkRows {
				in.values = append(in.values, []value{{bits: uint64(i)}})
			}
			order, err := Permutation(len(in.values))
			if err != nil {
				t.Fatal(err)
			}
			sink := &failing{at: at, err: boom}
			if err := Write(t.Context(), Options{Order: order, Memory: memory, Dir: t.TempDir()}, in, nil, sink); !errors.Is(err, boom) {
				t.Errorf("memory %d, chunk %d: %v", memory, at, err)
			}
			if sink.calls != at {
				t.Errorf("memory %d: the sink was called %d times and failed at call %d", memory, sink.calls, at)
			}
		}
	}
}

type failing struct {
	badSink
	calls, at int
	err       error
}

func (s *failing) Write(*table.Chunk) error {
	if s.calls++; s.calls >= s.at {
		return s.err
	}
	return nil
}
