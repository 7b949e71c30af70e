package noise

import (
	"bytes"
	"errors"
	"testing"

	"github.com/noren-privacy/noren/internal/entropy"
)

// A source that fails anywhere within a draw gives an error, never a value from
// what was left.
func TestFailingSourceGivesNoAnswer(t *testing.T) {
	cause := errors.New("no entropy")
	l, err := NewLaplace(rat(t, "1000/3"))
	if err != nil {
		t.Fatal(err)
	}
	long, err := NewLaplace(rat(t, "1000000000000000000000001/3000000000000000000000"))
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGaussian(rat(t, "1000/3"))
	if err != nil {
		t.Fatal(err)
	}
	for name, draw := range map[string]func(*Source) (int64, error){"Laplace": l.Draw, "big Laplace": long.Draw, "Gaussian": g.Draw} {
		for blocks := range 3 {
			src := entropy.FromReader(&failsAfter{r: seededReader(uint64(blocks)), left: blocks * 1024, err: cause})
			var err error
			n := 0
			for ; err == nil; n++ {
				if n > 10_000 {
					t.Fatal("the source never failed")
				}
				_, err = draw(src)
			}
			if !errors.Is(err, cause) {
				t.Errorf("%s: %v does not name the cause", name, err)
			}
			dst := make([]int64, 3)
			if err := l.Fill(src, dst); !errors.Is(err, cause) {
				t.Errorf("%s: a vector from a failed source: %v", name, err)
			}
			if err := g.Fill(src, dst); !errors.Is(err, cause) {
				t.Errorf("%s: a vector from a failed source: %v", name, err)
			}
		}
	}
}

type failsAfter struct {
	r    *bytes.Reader
	left int
	err  error
}

func (f *failsAfter) Read(p []byte) (int, error) {
	if f.left < len(p) {
		return 0, f.err
	}
	f.left -= len(p)
	return f.r.Read(p)
}

func seededReader(seed uint64) *bytes.Reader {
	src := entropy.Seeded(seed)
	b := make([]byte, 8192)
	for i := range b {
		w, err := src.Bits(8)
		if err != nil {
			panic(err)
		}
		b[i] = byte(w)
	}
	return bytes.NewReader(b)
}
