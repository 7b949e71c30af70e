//go:build unix

package space_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/noren-privacy/noren/kanon/space"
)

// sink keeps the compiler from leaving work out.
var sink float64

// used is the processor time of this process in seconds: what others do on the
// machine does not count.
func used() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return math.NaN()
	}
	return float64(r.Utime.Sec) + float64(r.Utime.Usec)*1e-6
}

// each is the processor time of f, over many calls.
func each(f func()) float64 {
	const long = 0.3
	began := used()
	for calls := 1.0; ; calls++ {
		f()
		if took := used() - began; took > long {
			return took / calls
		}
	}
}

// peakFlops is what one core does of independent additions and multiplications
// of registers, in plain Go, a second: what a kernel without cgo, assembly or
// experiments could reach at most.
func peakFlops() float64 {
	const rounds = 1 << 18
	took := each(func() {
		a0, a1, a2, a3, a4, a5 := 1.0, 1.1, 1.2, 1.3, 1.4, 1.5
		m0, m1, m2, m3, m4, m5 := 1.0, 1.1, 1.2, 1.3, 1.4, 1.5
		add, by := 1e-9, 0.999999
		for range rounds {
			a0 += add
			m0 *= by
			a1 += add
			m1 *= by
			a2 += add
			m2 *= by
			a3 += add
			m3 *= by
			a4 += add
			m4 *= by
			a5 += add
			m5 *= by
		}
		sink = a0 + a1 + a2 + a3 + a4 + a5 + m0 + m1 + m2 + m3 + m4 + m5
	})
	return 12 * rounds / took
}

// peakBytes is what one core reads of memory a second.
func peakBytes() float64 {
	x := make([]float64, 1<<23)
	for i := range x {
		x[i] = float64(i)
	}
	took := each(func() {
		var s0, s1, s2, s3 float64
		for i := 0; i+8 <= len(x); i += 8 {
			y := (*[8]float64)(x[i:])
			s0 += y[0] + y[4]
			s1 += y[1] + y[5]
			s2 += y[2] + y[6]
			s3 += y[3] + y[7]
		}
		sink = s0 + s1 + s2 + s3
	})
	return float64(8*len(x)) / took
}

// The kernel of all nearest neighbours: the distances of one record to a run of
// records. With d numeric axes a distance is 3d-1 operations and reads 8d bytes;
// of a pack of up to eight words it reads 8 bytes. "cache" goes over 256 records
// again and again, "memory" over a table beyond every cache.
func BenchmarkDistances2(b *testing.B) {
	flops, bytes := peakFlops(), peakBytes()
	for _, c := range []struct{ numbers, words int }{{4, 0}, {8, 0}, {12, 0}, {16, 0}, {0, 8}, {5, 3}} {
		for _, where := range []struct {
			name string
			n    int
		}{{"cache", 256}, {"memory", 1 << 20}} {
			b.Run(fmt.Sprintf("numbers=%d/words=%d/%s", c.numbers, c.words, where.name), func(b *testing.B) {
				p, target := run(b, where.n, c.numbers, c.words)
				out := make([]float64, 256)
				began := used()
				for b.Loop() {
					for lo := 0; lo < where.n; lo += len(out) {
						p.Distances2(target, lo, out)
					}
				}
				perSecond := float64(b.N) * float64(where.n) / (used() - began)
				work, read := float64(max(3*c.numbers-1, 0)), float64(8*c.numbers+8*min(c.words, 1))
				b.ReportMetric(1e9/perSecond, "ns/distance")
				b.ReportMetric(work, "flops/distance")
				b.ReportMetric(read, "bytes/distance")
				b.ReportMetric(100*work*perSecond/flops, "%flops")
				b.ReportMetric(100*read*perSecond/bytes, "%memory")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
	b.Logf("peak of one core in plain Go: %.2f Gflop/s, %.1f GB/s from memory", flops/1e9, bytes/1e9)
}

// run is n records laid out for scanning and one of them as the target.
func run(b *testing.B, n, numbers, words int) (*space.Points, *space.Target) {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([][]float64, numbers)
	for a := range x {
		x[a] = make([]float64, n)
		for i := range x[a] {
			x[a][i] = rng.Float64()
		}
	}
	w := make([]space.Categorical, words)
	for a := range w {
		w[a] = space.Categorical{Codes: make([]uint32, n), Cardinality: 8, Weight: 1}
		for i := range w[a].Codes {
			w[a].Codes[i] = uint32(rng.IntN(8))
		}
	}
	s, err := space.New(n, x, w)
	if err != nil {
		b.Fatal(err)
	}
	p, target := s.NewPoints(nil), &space.Target{}
	p.Target(target, n/2)
	return p, target
}
