package cli

import (
	"cmp"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
)

// output is the standard output. It keeps its first error: most of what prints does not look at errors, and a
// result that is lost must not look like one that was printed. A server prints from several goroutines.
type output struct {
	w io.Writer

	mu  sync.Mutex
	err error
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if err != nil {
		o.mu.Lock()
		o.err = cmp.Or(o.err, err)
		o.mu.Unlock()
	}
	return n, err
}

// failure is the first error; nil for none.
func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// Unwrap is what is written to.
func (o *output) Unwrap() io.Writer { return o.w }

// unwritten is the error of a command whose standard output cannot be written because of err. One that pays may have been
// charged: it says how its answer is had all the same.
func unwritten(c *cobra.Command, err error) error {
	e := &noren.Error{Where: noren.Phrase("standard output"), What: "cannot be written", Err: atomicfile.Reason(err)}
	switch key, reuse := c.Flags().Lookup("request-key"), c.Flags().Lookup("reuse"); {
	case key != nil && key.Value.String() != "":
		e.Hinted("if the answer was charged, ask again with --request-key %s: it is free", key.Value.String())
	case reuse != nil:
		e.Hinted("if the answer was charged, ask again with --reuse: it is free")
	}
	return e
}
