package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
)

// output is the standard output. It keeps its first error: most of what prints does not look at errors, and a
// result that is lost must not look like one that was printed.
type output struct {
	w   io.Writer
	err error
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// Unwrap is what is written to.
func (o *output) Unwrap() io.Writer { return o.w }

// unwritten is the error of a command whose standard output cannot be written. One that pays may have been
// charged: it says how its answer is had all the same.
func (o *output) unwritten(c *cobra.Command) error {
	e := &noren.Error{Where: noren.Phrase("standard output"), What: "cannot be written", Err: atomicfile.Reason(o.err)}
	switch key, reuse := c.Flags().Lookup("request-key"), c.Flags().Lookup("reuse"); {
	case key != nil && key.Value.String() != "":
		e.Hinted("if the answer was charged, ask again with --request-key %s: it is free", key.Value.String())
	case reuse != nil:
		e.Hinted("if the answer was charged, ask again with --reuse: it is free")
	}
	return e
}
