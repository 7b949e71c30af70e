package cli

import (
	"bytes"
	"strings"
	"testing"
)

// What comes next is said on a terminal alone, with names as a shell takes them.
func TestNext(t *testing.T) {
	for _, live := range []bool{true, false} {
		var out bytes.Buffer
		term := newTerminal(strings.NewReader(""), &bytes.Buffer{}, &out)
		term.progress.live = live
		(&anonymizeFlags{output: "my-release#1.csv"}).next(term, "visits.csv")
		(&anonymizeFlags{output: "r.csv", report: "r.html", certify: "r.json"}).next(term, "visits.csv")
		(&randomizeFlags{output: "reports.csv", devices: "devices.key"}).next(term, "visits.csv")
		if live != strings.Contains(out.String(), "next: noren assess visits.csv --against 'my-release#1.csv'") ||
			live != strings.Contains(out.String(), "keep devices.key secret and destroy it") || !live && out.Len() > 0 {
			t.Errorf("on a terminal %v: %s", live, out.String())
		}
	}
}
