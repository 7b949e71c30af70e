package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
)

// An answer that was charged and could not be written can be had again, with a key and without one.
func TestUnwrittenSaysTheWay(t *testing.T) {
	for _, c := range []struct {
		flags   dpFlags
		charged bool
		want    string
	}{
		{dpFlags{key: "june"}, true, "--request-key june"},
		{dpFlags{}, true, "--reuse"},
		{dpFlags{}, false, ""},
	} {
		var e *noren.Error
		if err := c.flags.unwritten(c.charged, errors.New("no space")); !errors.As(err, &e) {
			t.Fatal(err)
		}
		if hint := e.Advice().String(); !strings.Contains(hint, c.want) || c.want == "" && hint != "" {
			t.Errorf("key %q, charged %v: %q", c.flags.key, c.charged, hint)
		}
	}
}
