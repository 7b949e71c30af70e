package shuffle

import (
	"encoding/binary"
	"math"
	"runtime"
	"sync"

	"github.com/noren-privacy/noren/table"
)

// out writes records to a sink in chunks. All processors fill a chunk while the chunk
// before is being written: the sink is used by one goroutine at a time, in order.
type out struct {
	kinds    []table.Kind
	sink     table.Sink
	complete func(in, out *table.Chunk) error // nil where chunks are written as they are
	rows     int64                            // given to the sink
	filled   *batch                           // the chunk that is filled next
	spare    *batch                           // the other one, which the sink may be reading
	written  chan error                       // receives the result of the write that is under way
	busy     bool                             // whether one is
}

// batch is a chunk and the memory that it is made from.
type batch struct {
	chunk table.Chunk
	whole table.Chunk // what is made of it to be written
	nulls [][]bool
	some  [][]bool // by worker and column: whether one of its records is null
}

func newBatch(kinds []table.Kind, rows int) *batch {
	b := &batch{chunk: table.Chunk{Cols: make([]table.Vector, len(kinds))}, nulls: make([][]bool, len(kinds)), some: make([][]bool, workers())}
	for j, k := range kinds {
		v := &b.chunk.Cols[j]
		v.Kind = k
		switch k {
		case table.Int:
			v.Ints = make([]int64, rows)
		case table.Float:
			v.Floats = make([]float64, rows)
		default:
			v.Texts = make([][]byte, rows)
		}
		b.nulls[j] = make([]bool, rows)
	}
	for w := range b.some {
		b.some[w] = make([]bool, len(kinds))
	}
	return b
}

func newOut(kinds []table.Kind, sink table.Sink, complete func(in, out *table.Chunk) error) *out {
	return &out{kinds: kinds, sink: sink, complete: complete, written: make(chan error, 1)}
}

// put gives n records, at most chunkRows, to the sink. row returns where record i begins and
// is called by several goroutines at once. The texts are used until the next call of put or
// wait returns. An error is that of the chunk before.
func (o *out) put(n int, row func(i int) []byte) error {
	if o.filled == nil || len(o.filled.nulls) > 0 && len(o.filled.nulls[0]) < n {
		o.filled = newBatch(o.kinds, n)
	}
	b := o.filled
	b.chunk.Rows, b.chunk.First = n, o.rows
	for j := range b.chunk.Cols {
		switch v := &b.chunk.Cols[j]; v.Kind {
		case table.Int:
			v.Ints = v.Ints[:n]
		case table.Float:
			v.Floats = v.Floats[:n]
		default:
			v.Texts = v.Texts[:n]
		}
	}
	share(n, len(b.some), func(w, lo, hi int) {
		clear(b.some[w])
		for i := lo; i < hi; i++ {
			b.set(i, row(i), b.some[w])
		}
	})
	for j := range b.chunk.Cols {
		v := &b.chunk.Cols[j]
		v.Null = nil
		for w := range b.some {
			if b.some[w][j] {
				v.Null = b.nulls[j][:n]
			}
		}
	}
	made := &b.chunk
	if o.complete != nil {
		made = &b.whole
		if err := o.complete(&b.chunk, made); err != nil {
			return err
		}
	}
	if err := o.wait(); err != nil {
		return err
	}
	o.filled, o.spare = o.spare, b
	o.rows += int64(n)
	o.busy = true
	go func() { o.written <- o.sink.Write(made) }()
	return nil
}

// wait returns once the sink has what it was given.
func (o *out) wait() error {
	if !o.busy {
		return nil
	}
	o.busy = false
	return <-o.written
}

// set makes record i of the chunk what row begins with, and notes in some which columns
// are null in it.
func (b *batch) set(i int, row []byte, some []bool) {
	at := 0
	for j := range b.chunk.Cols {
		v := &b.chunk.Cols[j]
		null := row[at] == 1
		at++
		b.nulls[j][i] = null
		if null {
			some[j] = true
		}
		switch v.Kind {
		case table.Int, table.Float:
			bits := uint64(0)
			if !null {
				bits = binary.LittleEndian.Uint64(row[at:])
				at += 8
			}
			if v.Kind == table.Int {
				v.Ints[i] = int64(bits)
			} else {
				v.Floats[i] = math.Float64frombits(bits)
			}
		default:
			var text []byte
			if !null {
				n, size := binary.Uvarint(row[at:])
				at += size
				text = row[at : at+int(n) : at+int(n)]
				at += int(n)
			}
			v.Texts[i] = text
		}
	}
}

// workers is the number of goroutines that share the records of a chunk.
func workers() int { return min(runtime.GOMAXPROCS(0), 8) }

// share calls work for the parts of 0..n-1, one for each of the workers, and returns once
// all are done. A worker without a part gets an empty one.
func share(n, workers int, work func(w, lo, hi int)) {
	var wg sync.WaitGroup
	for w := 1; w < workers; w++ {
		wg.Go(func() { work(w, n*w/workers, n*(w+1)/workers) })
	}
	work(0, 0, n/workers)
	wg.Wait()
}
