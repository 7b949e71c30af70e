package limit

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/noren-privacy/noren"
)

// Slowness is how slow a client may be.
type Slowness struct {
	// Grace is the time before the rate counts.
	Grace time.Duration
	// BytesPerSecond is the least rate of a body after that.
	BytesPerSecond int64
	// Write is the longest wait for a client to take a piece of an answer.
	Write time.Duration
}

// SlowError is the error of reading a body that arrived too slowly. It is a timeout, as
// those of package net are.
type SlowError struct{}

func (e SlowError) Error() string { return e.Text().String() }

// Text is what the error says.
func (SlowError) Text() noren.Text { return noren.Textf("the body arrived too slowly") }

// Timeout reports true.
func (SlowError) Timeout() bool { return true }

// Temporary reports false.
func (SlowError) Temporary() bool { return false }

// BrokenError is the error of reading a body that ended early, or whose encoding is not
// that of HTTP: the connection or the client is at fault.
type BrokenError struct{}

func (e BrokenError) Error() string { return e.Text().String() }

// Text is what the error says.
func (BrokenError) Text() noren.Text { return noren.Textf("the body cannot be read") }

// Body is r's body, reading of which fails with a [SlowError] when it arrives slower than s allows,
// and with a [BrokenError] when it cannot be read.
func (s Slowness) Body(w http.ResponseWriter, r *http.Request) io.ReadCloser {
	b := &body{ReadCloser: r.Body, control: http.NewResponseController(w), slowness: s, start: time.Now()}
	// The server itself reads what a handler leaves of a body, and must not wait for it.
	_ = b.control.SetReadDeadline(b.start.Add(s.Grace))
	return b
}

type body struct {
	io.ReadCloser
	control  *http.ResponseController
	slowness Slowness
	start    time.Time
	read     int64
}

func (b *body) Read(p []byte) (int, error) {
	until := b.start.Add(b.slowness.Grace + time.Duration(float64(b.read)/float64(b.slowness.BytesPerSecond)*float64(time.Second)))
	// A server without deadlines, as in a test of a handler alone, is not slow.
	_ = b.control.SetReadDeadline(until)
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	switch {
	case errors.Is(err, io.EOF):
		_ = b.control.SetReadDeadline(time.Time{})
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = SlowError{}
	case err != nil:
		err = BrokenError{}
	}
	return n, err
}

// Writer is w, a write to which fails when the client takes longer than s allows.
func (s Slowness) Writer(w http.ResponseWriter) http.ResponseWriter {
	return &writer{ResponseWriter: w, control: http.NewResponseController(w), wait: s.Write}
}

type writer struct {
	http.ResponseWriter
	control *http.ResponseController
	wait    time.Duration
}

// Unwrap serves [http.ResponseController].
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *writer) Write(p []byte) (int, error) {
	_ = w.control.SetWriteDeadline(time.Now().Add(w.wait))
	return w.ResponseWriter.Write(p)
}
