// Package meter bounds what a reader of a foreign file holds in memory at once, and what
// it unpacks the file to in all.
//
// A file of a thousand bytes can state texts, runs and counts that take all memory of a
// machine. A reader draws on its meter before it allocates what such a file states:
//
//	m := meter.New(meter.From(ctx), size)
//	if err := m.Hold(n); err != nil {
//		return meter.At(err, "in.parquet: column name")
//	}
//	defer m.Release(n)
//
// Bytes are counted and pieces too: each piece (an element of a list, a text of a
// workbook, an entry of a directory) counts with the bytes that its description takes. A
// value that takes no byte in the file, as those of a run, counts as one byte that is unpacked.
package meter

import (
	"context"
	"errors"
	"strconv"

	"github.com/noren-privacy/noren"
)

// Code is the code of the error about a file that exceeds a limit.
const Code = "too-large"

// The limits where none are stated.
const (
	DefaultHeld     = 256e6
	DefaultUnpacked = 16 << 30
	// Ratio is how many times its size a file may unpack to where no limit is stated and
	// the file is large.
	Ratio = 100
	// Least is what each file may unpack to, however small it is, and Most how many times
	// its size a larger one may where [Limits.BySize] says so.
	Least = 1 << 30
	Most  = 1000
)

// Limits bound one reading of one file.
type Limits struct {
	// Held is the most bytes that are held at once, beside the columns that the caller
	// keeps. Defaults to [DefaultHeld].
	Held int64
	// Unpacked is the most bytes that the file unpacks to in all. Defaults to
	// [DefaultUnpacked], or [Ratio] times the size of the file where that is more.
	Unpacked int64
	// BySize says that a file may also unpack to no more than [Most] times its size, or
	// [Least] where that is more: what is unpacked is work, and a small file is to cause little.
	// It does not hold of streams, whose size is not known.
	BySize bool
}

type key struct{}

// With is a context under which files are read within l.
func With(ctx context.Context, l Limits) context.Context { return context.WithValue(ctx, key{}, l) }

// From are the limits that With gave to the context; zero where there are none.
func From(ctx context.Context) Limits {
	l, _ := ctx.Value(key{}).(Limits)
	return l
}

// Meter counts for one reader. It is not safe for concurrent use.
type Meter struct {
	limits         Limits
	held, unpacked int64
}

// New is a meter of a reader of a file of that many bytes.
func New(l Limits, size int64) *Meter {
	if l.Held <= 0 {
		l.Held = DefaultHeld
	}
	if l.Unpacked <= 0 {
		l.Unpacked = max(DefaultUnpacked, min(size, 1<<50)*Ratio)
	}
	if l.BySize && size > 0 {
		l.Unpacked = min(l.Unpacked, max(Least, min(size, 1<<50)*Most))
	}
	return &Meter{limits: l}
}

// Another is a meter with the same limits that holds what m holds now, for a further
// reader of the same file.
func (m *Meter) Another() *Meter { return &Meter{limits: m.limits, held: m.held} }

// Hold counts n bytes that are about to be held. It fails with an [Excess], and counts
// nothing, where they are too many.
func (m *Meter) Hold(n int64) error {
	if n < 0 || n > m.limits.Held-m.held {
		return &Excess{Limit: m.limits.Held}
	}
	m.held += n
	return nil
}

// Release counts n bytes as no longer held.
func (m *Meter) Release(n int64) { m.held -= n }

// Held is the limit of bytes that are held at once.
func (m *Meter) Held() int64 { return m.limits.Held }

// Unpack counts n bytes that were unpacked. It fails with an [Excess] where they are too
// many in all.
func (m *Meter) Unpack(n int64) error {
	if n < 0 || n > m.limits.Unpacked-m.unpacked {
		return &Excess{Limit: m.limits.Unpacked, Total: true}
	}
	m.unpacked += n
	return nil
}

// Left is how many more bytes may be unpacked.
func (m *Meter) Left() int64 { return m.limits.Unpacked - m.unpacked }

// Excess says which limit is exceeded. A reader says where, by [At].
type Excess struct {
	Limit int64
	Total bool // of what is unpacked in all
}

// Error implements error.
func (e *Excess) Error() string { return e.Text().String() }

// Text is the limit in words.
func (e *Excess) Text() noren.Text {
	if e.Total {
		return noren.Textf("unpacks to more than %s in all", Size(e.Limit))
	}
	return noren.Textf("needs more than %s of memory to be read", Size(e.Limit))
}

// At is the error of kind BadData about the place where a limit is exceeded, where err is
// or wraps an [Excess]; else it is nil.
func At(err error, where any) error {
	var e *Excess
	if !errors.As(err, &e) {
		return nil
	}
	what := e.Text()
	return &noren.Error{
		Kind: noren.BadData, Code: Code, Where: where, What: what.Format, Args: what.Args,
		Hint: "write the table as several smaller files, with shorter texts, or as CSV",
	}
}

// Size is n bytes in GiB, MiB or MB, for an error.
func Size(n int64) string {
	switch {
	case n > 0 && n%(1<<30) == 0:
		return strconv.FormatInt(n>>30, 10) + " GiB"
	case n > 0 && n%(1<<20) == 0:
		return strconv.FormatInt(n>>20, 10) + " MiB"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', -1, 64) + " MB"
}
