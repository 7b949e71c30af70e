package noise

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/noren-privacy/noren/internal/entropy"
)

// rat reads a rational that the test wrote.
func rat(t testing.TB, s string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("%q is no rational", s)
	}
	return r
}

var benchScales = []string{"1", "10/3", "1000", "1000000", "123456789/1000"}

func BenchmarkLaplace(b *testing.B) {
	for _, scale := range benchScales {
		b.Run(scale, func(b *testing.B) {
			l, err := NewLaplace(rat(b, scale))
			if err != nil {
				b.Fatal(err)
			}
			src := entropy.Secret()
			for b.Loop() {
				if _, err := l.Draw(src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("big", func(b *testing.B) {
		l, err := NewLaplace(rat(b, "1000000000000000000000000001/1000000000000000000000003"))
		if err != nil {
			b.Fatal(err)
		}
		src := entropy.Secret()
		for b.Loop() {
			if _, err := l.Draw(src); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkExpNeg(b *testing.B) {
	var f, sink uint64
	for b.Loop() {
		f += 0x9e3779b97f4a7c15
		sink ^= expNeg(0, f)
	}
	_ = sink
}

// BenchmarkExpNegBounds is the rare case in full: some microseconds.
func BenchmarkExpNegBounds(b *testing.B) {
	x := rat(b, "17/23")
	for _, prec := range []uint{64, 128, 256} {
		b.Run(fmt.Sprint(prec), func(b *testing.B) {
			for b.Loop() {
				expNegBounds(x, prec)
			}
		})
	}
}

func BenchmarkGaussian(b *testing.B) {
	for _, sigma := range benchScales {
		b.Run(sigma, func(b *testing.B) {
			s := rat(b, sigma)
			g, err := NewGaussian(s.Mul(s, s))
			if err != nil {
				b.Fatal(err)
			}
			src := entropy.Secret()
			for b.Loop() {
				if _, err := g.Draw(src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRounded(b *testing.B) {
	value, scale := big.NewRat(12, 1), big.NewRat(355, 113)
	for _, d := range allRounded(b) {
		b.Run(d.name, func(b *testing.B) {
			src := entropy.Secret()
			for b.Loop() {
				if _, err := d.AddTo(src, value, scale, Grid{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNormal(b *testing.B) {
	src := entropy.Secret()
	for b.Loop() {
		if _, err := Normal(src); err != nil {
			b.Fatal(err)
		}
	}
}
