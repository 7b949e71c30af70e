package cli

import (
	"errors"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
)

// The place and hint of the outermost error that has one are in a document, and those of several
// errors below it are not taken for its own.
func TestFaultOfADocument(t *testing.T) {
	inner := noren.Usagef("--k", "expected a number").Hinted("for instance 5")
	other := noren.Usagef("--l", "expected a number")
	for name, c := range map[string]struct {
		err         error
		where, hint string
	}{
		"one":               {inner, "--k", "for instance 5"},
		"one of one":        {errors.Join(inner), "--k", "for instance 5"},
		"a cause":           {&noren.Error{Where: noren.File("a.yaml"), Err: inner}, "a.yaml", "for instance 5"},
		"several":           {errors.Join(inner, other), "", ""},
		"several causes":    {&noren.Error{Where: noren.File("a.yaml"), Err: errors.Join(inner, other)}, "a.yaml", ""},
		"of the system":     {errors.New("no"), "", ""},
		"no place, a cause": {&noren.Error{What: "no", Err: inner}, "--k", "for instance 5"},
	} {
		got := new(terminal).fault(c.err)
		if want := (api.Fault{Message: c.err.Error(), Where: c.where, Hint: c.hint}); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}
