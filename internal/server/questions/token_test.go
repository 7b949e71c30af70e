package questions

import (
	"errors"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/meter/metertest"
)

type sealed struct {
	Cost  string `json:"cost"`
	Until int64  `json:"until"`
}

func TestTokens(t *testing.T) {
	s, err := newSealer([]byte("a secret of the server"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := newSealer([]byte("another secret"))
	if err != nil {
		t.Fatal(err)
	}
	want := sealed{"0.1", 1 << 52}
	token, err := s.seal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got sealed
	if err := s.open(token, &got); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	foreign, err := other.seal(want)
	if err != nil {
		t.Fatal(err)
	}
	cheaper, err := s.seal(sealed{"0.01", 1 << 52})
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(cheaper, ".")
	_, mac, _ := strings.Cut(token, ".")
	for name, bad := range map[string]string{
		"empty": "", "no mac": text, "foreign": foreign, "swapped": text + "." + mac, "cut": token[:len(token)-1],
		"longer": token + "A", "line end": token + "\n", "inner line end": token[:8] + "\n" + token[8:], "padded": token + "=",
		"dots": token + ".", "text": "x.y",
	} {
		if err := s.open(bad, &got); !errors.Is(err, errToken) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for i := range token {
		changed := []byte(token)
		changed[i] ^= 1
		if s.open(string(changed), &got) == nil {
			t.Errorf("a token with another byte %d is accepted", i)
		}
	}
}

func FuzzToken(f *testing.F) {
	s, err := newSealer([]byte("a secret of the server"))
	if err != nil {
		f.Fatal(err)
	}
	token, err := s.seal(sealed{"0.1", 3})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(token)
	f.Add("e30.e30")
	f.Fuzz(func(t *testing.T, text string) {
		metertest.Hold(t, len(text))
		var c sealed
		if s.open(text, &c) == nil && text != token {
			t.Errorf("%q is accepted", text)
		}
	})
}
