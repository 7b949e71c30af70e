package cli

import (
	"bytes"
	"strings"
	"testing"
)

func TestSuggestions(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"anonimize"}, "did you mean noren anonymize?"},
		{[]string{"ledger", "shwo"}, "did you mean noren ledger show?"},
		{[]string{"query", "cuont"}, "did you mean noren query count?"},
		{[]string{"anonymize", "x.csv", "--quassi", "age"}, "did you mean --quasi?"},
		{[]string{"nothing-like-it"}, "see noren --help"},
		{[]string{"anonymize", "--nothing-like-it"}, "see noren anonymize --help"},
		{[]string{"anonymize", "-z"}, "see noren anonymize --help"},
	} {
		var out, problems bytes.Buffer
		if code := Run(t.Context(), c.args, strings.NewReader(""), &out, &problems); code != 2 || !strings.Contains(problems.String(), c.want) {
			t.Errorf("%v: exit code %d, %s", c.args, code, problems.String())
		}
	}
}
