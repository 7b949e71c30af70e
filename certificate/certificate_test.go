package certificate

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter/metertest"
)

func testKey(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

func public(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }

func charged(payload []byte) Certificate {
	return Certificate{
		Released:  Answer(payload),
		Mechanism: Mechanism{"count", json.RawMessage(`{"noise":"discrete-laplace","scale":2,"where":"age < 30 & sex = \"F\""}`)},
		Guarantee: noren.Guarantee{
			Model: "differential privacy", Epsilon: 0.5, Delta: 1e-9, Neighbours: "add-remove", Unit: "record",
			Assumptions: noren.Sentences("the noise source is sound"),
		},
		Accounting: Charged,
		Source: &Source{
			Dataset: "adult", Version: 2, DefinitionSHA256: strings.Repeat("cd", 32), Fingerprint: "hmac-sha256:" + strings.Repeat("ab", 32),
			Reading: json.RawMessage(`{"rule":"noren.reading/1","missing":["NA"],"columns":[{"name":"age","type":"integer"}]}`),
		},
		Analyst: &Analyst{"mori", Declared}, RequestSHA256: strings.Repeat("12", 32),
		Charge: &Charge{
			Ledger: "l1", ID: "c1", Link: 3, Head: strings.Repeat("0f", 32), Accounts: []int64{1, 2}, EpsilonNano: 500_000_000,
			DeltaAtto: 1_000_000_000,
		},
		Tool: Tool{"noren", "1.0.0"},
		Time: Time(time.Date(2026, 11, 21, 7, 0, 0, 5, time.UTC)),
	}
}

func anonymous(payload []byte) Certificate {
	r := Answer(payload)
	r.Kind, r.Name = "file", "out.csv"
	return Certificate{
		Released:  r,
		Mechanism: Mechanism{Name: "anonymize"},
		Guarantee: noren.Guarantee{
			Model: "k-anonymity", K: 5, Quasi: []string{"age", "sex"},
			Diversity: []noren.Diversity{{Column: "ill", Model: "distinct", L: 2}}, Closeness: []noren.Closeness{
				{Column: "ill", Distance: "equal", T: 0.25},
			},
		},
		Accounting: NoBudget,
		Tool:       Tool{"noren", "1.0.0"},
		Time:       "2026-11-21T07:00:00Z",
	}
}

func mustSign(t *testing.T, c Certificate) *Signed {
	t.Helper()
	s, err := Sign(testKey(1), c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSignAndCheck(t *testing.T) {
	payload := []byte("answer: 42\n")
	unaccounted := charged(payload)
	unaccounted.Accounting, unaccounted.Charge = Unaccounted, nil
	unaccounted.Source = &Source{DefinitionSHA256: strings.Repeat("cd", 32), Reading: unaccounted.Source.Reading}
	for name, c := range map[string]Certificate{"charged": charged(payload), "unaccounted": unaccounted, "anonymous": anonymous(payload)} {
		text, err := mustSign(t, c).Encode()
		if err != nil {
			t.Fatal(name, err)
		}
		s, err := Parse(text)
		if err != nil {
			t.Fatal(name, err)
		}
		r, err := Check(t.Context(), s, bytes.NewReader(payload), public(testKey(1)))
		if err != nil || !r.Trusted || r.KeyID != KeyID(public(testKey(1))) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if r, err = Check(t.Context(), s, bytes.NewReader(payload)); err != nil || r.Trusted {
			t.Errorf("%s without a trusted key: %+v, %v", name, r, err)
		}
		if _, err = Check(t.Context(), s, bytes.NewReader(payload), public(testKey(2))); noren.KindOf(err) != noren.NotMet {
			t.Errorf("%s: a stranger's key: %v", name, err)
		}
		for _, other := range []string{"", "answer: 43\n", "answer: 42\n\n", "answer: 42"} {
			if _, err := Check(t.Context(), s, strings.NewReader(other)); noren.KindOf(err) != noren.NotMet {
				t.Errorf("%s: another file passes: %v", name, err)
			}
		}
	}
}

// Every leaf of the certificate, changed alone, must be found.
func TestEveryFieldIsSigned(t *testing.T) {
	payload := []byte("x")
	for _, c := range []Certificate{charged(payload), anonymous(payload)} {
		text, err := mustSign(t, c).Encode()
		if err != nil {
			t.Fatal(err)
		}
		var tree map[string]any
		if err := json.Unmarshal(text, &tree); err != nil {
			t.Fatal(err)
		}
		leaves := 0
		walk(tree, func() {
			leaves++
			changed, err := json.Marshal(tree)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Parse(changed)
			if err != nil {
				return // refused even earlier
			}
			if _, err := Check(context.Background(), s, bytes.NewReader(payload)); noren.KindOf(err) != noren.NotMet {
				t.Errorf("a change passes: %v\n%s", err, changed)
			}
		})
		if leaves < 20 {
			t.Fatalf("only %d leaves changed", leaves)
		}
	}
}

// walk changes each leaf below v in turn, calls visit and changes it back.
func walk(v any, visit func()) {
	change := func(leaf any) any {
		switch x := leaf.(type) {
		case string:
			if x == "" {
				return "x"
			}
			last := x[len(x)-1]
			return x[:len(x)-1] + string(rune(last^1))
		case float64:
			return x + 1
		}
		return nil
	}
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			if c := change(e); c != nil {
				x[k] = c
				visit()
				x[k] = e
			} else {
				walk(e, visit)
			}
		}
	case []any:
		for i, e := range x {
			if c := change(e); c != nil {
				x[i] = c
				visit()
				x[i] = e
			} else {
				walk(e, visit)
			}
		}
	}
}

// A forger who signs his own text under his own key is found by the trusted
// key, and one who also keeps the old key id is found without.
func TestForgedKey(t *testing.T) {
	payload := []byte("x")
	s := mustSign(t, charged(payload))
	forged := *s
	forged.Signature.PublicKey = base64.StdEncoding.EncodeToString(public(testKey(2)))
	if _, err := forged.VerifySignature(); noren.KindOf(err) != noren.NotMet {
		t.Errorf("a swapped key passes: %v", err)
	}
	own, err := Sign(testKey(2), charged(payload))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := own.VerifySignature(public(testKey(1))); noren.KindOf(err) != noren.NotMet {
		t.Errorf("the forger's own signature passes: %v", err)
	}
}

// A key or signature is written in one way only: a line end in it is a change.
func TestOneFormOfSignature(t *testing.T) {
	s := mustSign(t, charged([]byte("x")))
	for name, change := range map[string]func(*Signed){
		"key":       func(s *Signed) { s.Signature.PublicKey = s.Signature.PublicKey[:8] + "\n" + s.Signature.PublicKey[8:] },
		"signature": func(s *Signed) { s.Signature.Value = s.Signature.Value[:8] + "\r" + s.Signature.Value[8:] },
	} {
		changed := *s
		change(&changed)
		if _, err := changed.VerifySignature(); noren.KindOf(err) != noren.NotMet {
			t.Errorf("a line end in the %s: %v", name, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	good, err := mustSign(t, charged([]byte("x"))).Encode()
	if err != nil {
		t.Fatal(err)
	}
	text := string(good)
	cases := map[string]string{
		"empty":           "",
		"not JSON":        "secret-word",
		"cut short":       text[:len(text)/2],
		"trailing data":   text + "{}",
		"trailing word":   text + "x",
		"unknown key":     strings.Replace(text, `"format"`, `"more": 1, "format"`, 1),
		"repeated key":    strings.Replace(text, `"format"`, `"accounting": "charged", "format"`, 1),
		"other case":      strings.Replace(text, `"format"`, `"Format"`, 1),
		"empty field":     strings.Replace(text, `"format"`, `"notes": [], "format"`, 1),
		"null":            "null",
		"array":           "[]",
		"big integer":     strings.Replace(text, `"link": 3`, `"link": 9007199254740993`, 1),
		"fraction":        strings.Replace(text, `"link": 3`, `"link": 3.5`, 1),
		"bad UTF-8":       strings.Replace(text, "adult", "adul\xff", 1),
		"half surrogate":  strings.Replace(text, "adult", `adul\ud800`, 1),
		"too deep":        strings.Replace(text, `"scale": 2`, `"scale": `+strings.Repeat("[", 40)+strings.Repeat("]", 40), 1),
		"too long":        strings.Replace(text, "adult", strings.Repeat("a", maxSize), 1),
		"another format":  strings.Replace(text, Format, "noren.certificate/3", 1),
		"number as text":  strings.Replace(text, `"size": 1`, `"size": "1"`, 1),
		"costs as number": strings.Replace(text, `"500000000"`, `500000000`, 1),
	}
	for name, c := range cases {
		if c == text {
			t.Fatalf("%s: the case changes nothing", name)
		}
		_, err := Parse([]byte(c))
		if noren.KindOf(err) != noren.BadData {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error quotes the text: %v", name, err)
		}
	}
	// Layout and spelling of numbers are free.
	var compact bytes.Buffer
	if err := json.Compact(&compact, good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{compact.String(), strings.Replace(text, `"scale": 2`, `"scale": 2.0e0`, 1)} {
		s, err := Parse([]byte(c))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.VerifySignature(); err != nil {
			t.Error(err)
		}
	}
}

func TestSignListsAllFaults(t *testing.T) {
	_, err := Sign(testKey(1), Certificate{Released: Released{Name: "/etc/x"}, Guarantee: noren.Guarantee{Epsilon: math.NaN(), Delta: 2}})
	if noren.KindOf(err) != noren.BadData {
		t.Fatal(err)
	}
	for _, want := range []string{
		"released.kind", "released.sha256", "released.name", "mechanism.name", "tool.name", "time",
		"guarantee.model", "guarantee.epsilon", "guarantee.delta", "accounting",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing from %v", want, err)
		}
	}
}

func TestSignRefuses(t *testing.T) {
	for name, change := range map[string]func(*Certificate){
		"no neighbours":       func(c *Certificate) { c.Guarantee.Neighbours = "" },
		"no unit":             func(c *Certificate) { c.Guarantee.Unit = "" },
		"no charge":           func(c *Certificate) { c.Charge = nil },
		"charge, unaccounted": func(c *Certificate) { c.Accounting = Unaccounted },
		"epsilon, no budget":  func(c *Certificate) { c.Accounting, c.Charge = NoBudget, nil },
		"undercharged":        func(c *Certificate) { c.Charge.EpsilonNano = 499_999_998 },
		"delta undercharged":  func(c *Certificate) { c.Charge.DeltaAtto = 999_999_998 },
		"plain fingerprint":   func(c *Certificate) { c.Source.Fingerprint = "sha256:" + strings.Repeat("ab", 32) },
		"parameters a list":   func(c *Certificate) { c.Mechanism.Parameters = json.RawMessage(`[1]`) },
		"parameters broken":   func(c *Certificate) { c.Mechanism.Parameters = json.RawMessage(`{"a":`) },
		"parameters repeated": func(c *Certificate) { c.Mechanism.Parameters = json.RawMessage(`{"a":1,"a":2}`) },
		"local time":          func(c *Certificate) { c.Time = "2026-11-21T07:00:00+09:00" },
		"broken text":         func(c *Certificate) { c.Source.Dataset = "\xff" },
	} {
		c := charged([]byte("x"))
		change(&c)
		if _, err := Sign(testKey(1), c); noren.KindOf(err) != noren.BadData {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckFileAndLoad(t *testing.T) {
	dir := t.TempDir()
	file, cert := filepath.Join(dir, "out.csv"), filepath.Join(dir, "out.json")
	if err := os.WriteFile(file, []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := anonymous(nil)
	var err error
	if c.Released, err = HashFile(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	text, err := mustSign(t, c).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cert, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Load(cert)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := CheckFile(t.Context(), s, file, public(testKey(1))); err != nil {
		t.Error(err)
	}
	if _, err := CheckFile(t.Context(), s, cert); noren.KindOf(err) != noren.NotMet {
		t.Error(err)
	}
	if _, err := CheckFile(t.Context(), s, filepath.Join(dir, "none")); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	if _, err := Load(file); noren.KindOf(err) != noren.BadData || !strings.HasPrefix(err.Error(), file) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := CheckFile(ctx, s, file); noren.KindOf(err) != noren.Interrupted {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range []Certificate{charged([]byte("x")), anonymous([]byte("x"))} {
		s, err := Sign(testKey(1), c)
		if err != nil {
			f.Fatal(err)
		}
		text, err := s.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"a":[1,2.5e-7,null,true,"\u0000"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		metertest.Hold(t, len(data))
		c, err := Canonical(data)
		if err == nil {
			if again, err := Canonical(c); err != nil || !bytes.Equal(c, again) {
				t.Fatalf("canonical of %q is %q, then %q, %v", data, c, again, err)
			}
		}
		s, err := Parse(data)
		if err != nil {
			if noren.KindOf(err) != noren.BadData {
				t.Fatalf("kind of %v", err)
			}
			return
		}
		if c == nil {
			t.Fatal("parsed, yet without a canonical form")
		}
		text, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		back, err := Canonical(text)
		if err != nil || !bytes.Equal(back, c) {
			t.Fatalf("%q reads back as %q", c, back)
		}
		// Whatever verifies under the test key is one of the two that were
		// signed: a signature cannot be moved.
		if _, err := s.VerifySignature(public(testKey(1))); err == nil && s.Certificate.Time[:4] != "2026" {
			t.Fatalf("forged: %q", data)
		}
	})
}

func BenchmarkSign(b *testing.B) {
	c, key := charged([]byte("x")), testKey(1)
	for b.Loop() {
		if _, err := Sign(key, c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseAndVerify(b *testing.B) {
	s, err := Sign(testKey(1), charged([]byte("x")))
	if err != nil {
		b.Fatal(err)
	}
	text, err := s.Encode()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.VerifySignature(); err != nil {
			b.Fatal(err)
		}
	}
}
