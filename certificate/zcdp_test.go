package certificate

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
)

// inZCDP is a charge of one Gaussian and one pure part to a budget in zCDP.
func inZCDP(payload []byte) Certificate {
	c := charged(payload)
	c.Charge.Accounting, c.Charge.EpsilonNano, c.Charge.DeltaAtto = account.ZCDP, 100_000_000, 0
	c.Charge.RhoFemto, c.Charge.GaussianFemto = 12_000_000_000_000, 7_000_000_000_000
	return c
}

func TestZCDPCharge(t *testing.T) {
	payload := []byte("answer\n")
	text, err := mustSign(t, inZCDP(payload)).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"accounting": "zcdp"`, `"rho_femto": "12000000000000"`, `"gaussian_femto": "7000000000000"`,
		`"epsilon_nano": "100000000"`, `"delta_atto": "0"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	s, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Check(t.Context(), s, bytes.NewReader(payload), public(testKey(1))); err != nil {
		t.Error(err)
	}
	pure := inZCDP(payload)
	pure.Guarantee.Epsilon, pure.Guarantee.Delta = 0.1, 0
	pure.Charge.RhoFemto, pure.Charge.GaussianFemto = 5_000_000_000_000, 0
	if text, err = mustSign(t, pure).Encode(); err != nil || strings.Contains(string(text), "gaussian") {
		t.Errorf("%s, %v", text, err)
	}
	// A certificate in epsilon and delta is as it was.
	if text, err = mustSign(t, charged(payload)).Encode(); err != nil || strings.Contains(string(text), "femto") ||
		strings.Contains(string(text), "zcdp") {
		t.Errorf("%s, %v", text, err)
	}
}

func TestZCDPChargeRefused(t *testing.T) {
	for what, change := range map[string]func(*Certificate){
		"the parts of charge.rho_femto": func(c *Certificate) { c.Charge.GaussianFemto = c.Charge.RhoFemto + 1 },
		"parts of charge.rho_femto":     func(c *Certificate) { c.Charge.RhoFemto = 0 },
		"in zCDP has a delta":           func(c *Certificate) { c.Charge.DeltaAtto = 1 },
		"is not zcdp":                   func(c *Certificate) { c.Charge.Accounting = "rdp" },
		"states a rho and not":          func(c *Certificate) { c.Charge.Accounting = "" },
		"less epsilon was charged":      func(c *Certificate) { c.Guarantee.Epsilon, c.Guarantee.Delta = 0.2, 0 },
		"less delta was charged":        func(c *Certificate) { c.Charge.RhoFemto, c.Charge.GaussianFemto = 5_000_000_000_000, 0 },
	} {
		c := inZCDP(nil)
		change(&c)
		if _, err := Sign(testKey(1), c); noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestStatement(t *testing.T) {
	v := map[string]any{"entries": 5, "head": "ab"}
	s, err := SignStatement(testKey(1), "test/1", v)
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckStatement(s, "test/1", v); err != nil {
		t.Error(err)
	}
	// Any order of the keys is the same statement.
	if err := CheckStatement(s, "test/1", json.RawMessage(`{"head":"ab", "entries":5}`)); err != nil {
		t.Error(err)
	}
	other, err := SignStatement(testKey(2), "test/1", v)
	if err != nil {
		t.Fatal(err)
	}
	for what, check := range map[string]func() error{
		"another value":  func() error { return CheckStatement(s, "test/1", map[string]any{"entries": 6, "head": "ab"}) },
		"another format": func() error { return CheckStatement(s, "test/2", v) },
		"another key": func() error {
			c := s
			c.KeyID, c.PublicKey = other.KeyID, other.PublicKey
			return CheckStatement(c, "test/1", v)
		},
		"another id":        func() error { c := s; c.KeyID = other.KeyID; return CheckStatement(c, "test/1", v) },
		"another algorithm": func() error { c := s; c.Algorithm = "rsa"; return CheckStatement(c, "test/1", v) },
		"a short value":     func() error { c := s; c.Value = "AAAA"; return CheckStatement(c, "test/1", v) },
		"no statement":      func() error { return CheckStatement(s, "test/1", func() {}) },
	} {
		if err := check(); noren.KindOf(err) != noren.NotMet {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, format := range []string{"", Format, Format1} {
		if _, err := SignStatement(testKey(1), format, v); noren.KindOf(err) != noren.Usage {
			t.Errorf("%q: %v", format, err)
		}
	}
	if _, err := SignStatement(nil, "test/1", v); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	if _, err := SignStatement(testKey(1), "test/1", func() {}); noren.KindOf(err) != noren.BadData {
		t.Error(err)
	}
}
