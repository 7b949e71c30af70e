package ldp

import (
	"fmt"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/noise"
)

func BenchmarkRapporEncode(b *testing.B) {
	for _, k := range []int{16, 32} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			r, err := NewRappor(Params{K: k, H: 2, M: 64, P: 0.5, Q: 0.75, F: 0.5})
			if err != nil {
				b.Fatal(err)
			}
			d, err := r.Device([]byte("0123456789abcdef"), 3)
			if err != nil {
				b.Fatal(err)
			}
			src, word := noise.NewSource(), []byte("https://www.example.com/")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Encode(src, word); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reports/s")
		})
	}
}

func BenchmarkRapporAggregate(b *testing.B) {
	for _, m := range []int64{1, 64} {
		b.Run(fmt.Sprintf("k=32,m=%d", m), func(b *testing.B) {
			r, err := NewRappor(Params{K: 32, H: 2, M: m, P: 0.5, Q: 0.75, F: 0.5})
			if err != nil {
				b.Fatal(err)
			}
			src := randtest.Source(1)
			reports := make([]RapporReport, 1<<20)
			for i := range reports {
				w, err := src.Uint64()
				if err != nil {
					b.Fatal(err)
				}
				reports[i] = RapporReport{Cohort: uint32(w>>32) % uint32(m), Bits: uint32(w)}
			}
			c, err := r.NewCollector()
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				c.AddAll(reports)
			}
			b.ReportMetric(float64(b.N)*float64(len(reports))/b.Elapsed().Seconds(), "reports/s")
		})
	}
}

// 1,000,000 reports against 1,000 candidates are ten times this.
func BenchmarkOLHDecode(b *testing.B) {
	o, err := NewOLH(1000, 1)
	if err != nil {
		b.Fatal(err)
	}
	src := randtest.Source(1)
	reports := make([]Report, 100_000)
	for i := range reports {
		if reports[i], err = o.Randomise(src, i%1000); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		c := NewCollector(o)
		if err := c.AddAll(b.Context(), reports, 1); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*1e8/b.Elapsed().Seconds(), "hashes/s")
}

func BenchmarkRandomise(b *testing.B) {
	for _, name := range Names() {
		b.Run(name+"/k=100", func(b *testing.B) {
			o, err := NewOracle(name, 100, 1)
			if err != nil {
				b.Fatal(err)
			}
			src := noise.NewSource()
			for b.Loop() {
				if _, err := o.Randomise(src, 42); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	r, err := NewRappor(Params{K: 32, H: 2, M: 64, P: 0.25, Q: 0.75, F: 0.25})
	if err != nil {
		b.Fatal(err)
	}
	words := make([]string, 1000)
	shares := make([]float64, 20)
	for i := range words {
		words[i] = fmt.Sprint("word ", i)
	}
	for i := range shares {
		shares[i] = 0.05
	}
	counts := simulate(b, r, words[:20], shares, 100_000, 1)
	m, err := r.NewMap(words)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := counts.Decode(b.Context(), m, DecodeOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
