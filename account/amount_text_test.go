package account_test

import (
	"testing"

	"github.com/noren-privacy/noren/account"
)

// An amount as text is read as the cost that it states, and nothing else is read.
func TestParseAmount(t *testing.T) {
	for _, a := range []account.Amount{{Epsilon: "0.1"}, {Epsilon: "3", Delta: "0"}, {Epsilon: "0.25", Delta: "0.000001"}, {Rho: "0.5"}} {
		got, err := account.ParseAmount(a.String())
		if a.Rho == "" && a.Delta == "" {
			a.Delta = "0"
		}
		want, wrong := a.Parse()
		if err != nil || wrong != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v, %v", a, got, err, want, wrong)
		}
	}
	for _, text := range []string{"", "epsilon", "epsilon 1, epsilon 1", "0.1", "epsilon 1, rho 1", "sigma 1", "epsilon x"} {
		if got, err := account.ParseAmount(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}
