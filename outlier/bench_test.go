package outlier

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/table/axis"
)

// sensors makes n readings in the plane, 99% of them from three dense clouds
// and the rest anywhere, with a radius such that about 1% are outliers.
func sensors(n int) (*axis.Points[int32], int64) {
	rng := rand.New(rand.NewPCG(7, 11))
	const width = 1 << 20
	coords := make([]int32, 0, 2*n)
	centres := [][2]float64{{0.3, 0.3}, {0.65, 0.4}, {0.45, 0.7}}
	for range n {
		var x, y float64
		if rng.IntN(100) == 0 {
			x, y = rng.Float64(), rng.Float64()
		} else {
			c := centres[rng.IntN(3)]
			angle, r := 2*math.Pi*rng.Float64(), 0.1*math.Sqrt(rng.Float64())
			x, y = c[0]+r*math.Cos(angle), c[1]+r*math.Sin(angle)
		}
		coords = append(coords, int32(x*width), int32(y*width))
	}
	p, err := NewPoints(2, coords, 0)
	if err != nil {
		panic(err)
	}
	// In a cloud about 30 others are within the radius, outside n/100 pi r^2.
	r := 0.1 * math.Sqrt(30.0*3/float64(n)) * width
	return p, int64(r * r)
}

func BenchmarkSmooth(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		points, r2 := sensors(n)
		for _, neighbours := range []account.Neighbours{account.ReplaceOne, account.AddRemove} {
			b.Run(fmt.Sprintf("%s/n=%d", neighbours, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					q, s, err := count(context.Background(), points, Setting{K: 5, Radius2: r2, Neighbours: neighbours}, 0.1)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(q), "outliers")
					b.ReportMetric(s, "S")
				}
			})
		}
	}
}

// Everything even: about twelve others within the radius, and every window
// holds a share of all records.
func BenchmarkSmoothEven(b *testing.B) {
	if testing.Short() {
		b.Skip("a million records take 14 s")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	const n, width = 1_000_000, 1 << 20
	coords := make([]int32, 2*n)
	for i := range coords {
		coords[i] = rng.Int32N(width)
	}
	points, err := NewPoints(2, coords, 0)
	if err != nil {
		b.Fatal(err)
	}
	r := width * math.Sqrt(11.6/math.Pi/n)
	for _, neighbours := range []account.Neighbours{account.ReplaceOne, account.AddRemove} {
		b.Run(neighbours.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				q, s, err := count(context.Background(), points, Setting{K: 5, Radius2: int64(r * r), Neighbours: neighbours}, 0.1)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(q), "outliers")
				b.ReportMetric(s, "S")
			}
		})
	}
}
