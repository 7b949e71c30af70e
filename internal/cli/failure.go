package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/lang"
)

// wantsJSON reports whether the command was asked for JSON. Where its flags could not be
// parsed, the arguments tell.
func wantsJSON(c *cobra.Command, args []string) bool {
	if c != nil {
		if f := c.Flags().Lookup("json"); f != nil && f.Changed {
			return f.Value.String() == "true"
		}
	}
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// failed prints an error of that kind: one line of JSON where the command was asked for
// JSON, and a sentence otherwise. It is the last line of the standard error.
func (t *terminal) failed(err error, kind noren.Kind, asJSON bool) {
	switch {
	case asJSON:
	case kind == noren.Interrupted:
		lang.Fprintln(t.stderr, "noren: interrupted; nothing was written")
		return
	default:
		fmt.Fprintln(t.stderr, t.paint(red, "noren:"), t.lang.Error(err))
		return
	}
	out := api.Failure{Schema: api.FailureSchema, Kind: kind.String(), ExitCode: kind.ExitCode()}
	if kind == noren.Interrupted {
		out.Message = t.lang.Text("interrupted; nothing was written")
	} else {
		f := t.fault(err)
		out.Code, out.Where, out.Message, out.Hint = f.Code, f.Where, f.Message, f.Hint
		if each := faultsOf(err); len(each) > 1 {
			for _, one := range each {
				out.Faults = append(out.Faults, t.fault(one))
			}
		}
	}
	enc := json.NewEncoder(t.stderr)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(&out) // there is nowhere left to say that it cannot be written
}

// faultsOf lists the errors that err joins, at every level: a command joins what it found to
// what its request found, and each fault of either has a place and a hint of its own.
func faultsOf(err error) []error {
	several, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	for _, one := range several.Unwrap() {
		out = append(out, faultsOf(one)...)
	}
	return out
}

// fault is one error as a document has it.
func (t *terminal) fault(err error) api.Fault {
	out := api.Fault{Code: noren.CodeOf(err), Message: t.lang.Error(err)}
	for err != nil {
		if e, ok := err.(*noren.Error); ok { // of each the outermost counts
			if out.Where == "" {
				out.Where = e.Place()
			}
			if out.Hint == "" {
				out.Hint = t.lang.Shown(e.Advice())
			}
		}
		several, ok := err.(interface{ Unwrap() []error })
		switch {
		case !ok:
			err = errors.Unwrap(err)
		case len(several.Unwrap()) == 1:
			err = several.Unwrap()[0]
		default:
			return out
		}
	}
	return out
}
