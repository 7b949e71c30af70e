package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/lang"
)

// A charge is one line whatever names it has, and an account of the operating system is no analyst.
func TestHistoryHasALineForEachCharge(t *testing.T) {
	mechanism,
		err := json.Marshal(map[string]any{"mechanism": map[string]any{"name": "query.mean", "parameters": map[string]any{"column": "a\nb\tc"}}})
	if err != nil {
		t.Fatal(err)
	}
	charge := func(principal string) api.Charged {
		return api.Charged{
			Link: 3, Time: "2026-01-02T03:04:05Z", Dataset: "people", Principal: principal, Mechanism: mechanism,
			State: "not-charged",
		}
	}
	show := func(only string, charges ...api.Charged) []string {
		var b strings.Builder
		if err := printHistory(&b, charges, only); err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	}
	for _, unstated := range []string{"root", unnamed, userName()} {
		lines := show("", charge(unstated))
		if len(lines) != 2 || strings.Contains(lines[0], "analyst") || strings.Contains(lines[1], unstated) ||
			!strings.HasSuffix(lines[1], "not charged  Mean of a b c") {
			t.Errorf("%q", lines)
		}
		if lines := show(unstated, charge(unstated)); !strings.Contains(lines[0], "analyst") || !strings.Contains(lines[1], unstated) {
			t.Errorf("asked for %s: %q", unstated, lines)
		}
	}
	if lines := show("", charge("root"), charge("mori"), charge("(recovered)")); !strings.Contains(lines[0], "analyst") ||
		strings.Contains(lines[1], "root") ||
		!strings.Contains(lines[2], "mori") || !strings.Contains(lines[3], "(recovered)") {
		t.Errorf("%q", lines)
	}
	// Where a recovered charge comes from is a text. The same words of an analyst are a name.
	named := charge("(recovered from a certificate)")
	recovered := named
	recovered.Recovered = true
	var b strings.Builder
	japanese := lang.Japanese
	if err := printHistory(&speaker{&b, &japanese}, []api.Charged{named, recovered}, ""); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(b.String(), "\n"); !strings.Contains(lines[1], named.Principal) || strings.Contains(lines[2], named.Principal) ||
		!strings.Contains(lines[2], "証明書") {
		t.Errorf("%q", lines)
	}
}
