package report

import (
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
)

// A guarantee on a page is in the language of the page.
func TestGuaranteeOfAPage(t *testing.T) {
	g := &noren.Guarantee{Model: "differential privacy", Epsilon: 0.5, Neighbours: "add-remove", Unit: "record"}
	if got := lang.English.Text("%s", stated(g)); got != g.String() {
		t.Errorf("%q, want %q", got, g)
	}
	if got := lang.Japanese.Text("%s", stated(g)); !strings.HasPrefix(got, "差分プライバシー") || strings.Contains(got, "differential") ||
		strings.Contains(got, "原文") {
		t.Errorf("%q", got)
	}
}
