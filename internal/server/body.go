package server

import (
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// bodyContext is a context of huma whose reply ends the connection where it cannot be written.
// Huma itself would write the addresses of a client that has gone to the standard error, or call
// it a fault of the program.
type bodyContext struct{ humaContext }

type humaContext = huma.Context // embedded under a name that is no method of it

// Unwrap serves [humago.Unwrap].
func (c bodyContext) Unwrap() huma.Context { return c.humaContext }

// BodyWriter implements [huma.Context].
func (c bodyContext) BodyWriter() io.Writer { return aborting{c.humaContext.BodyWriter()} }

// aborting is a writer whose failure ends the request without a word.
type aborting struct{ io.Writer }

// Write implements io.Writer.
func (w aborting) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	return n, nil
}
