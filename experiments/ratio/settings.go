package ratio

import (
	"math"
	"math/rand/v2"

	core "github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/table/axis"
)

// normal is a normal distribution with independent coordinates.
type normal struct{ mean, sd []float64 }

func (l normal) density(x []float64) float64 {
	p := 1.0
	for j, v := range x {
		z := (v - l.mean[j]) / l.sd[j]
		p *= math.Exp(-z*z/2) / (l.sd[j] * math.Sqrt(2*math.Pi))
	}
	return p
}

// Setting is a pair of distributions with a known density ratio.
type Setting struct {
	// Name as in docs/density-ratio.md, section 12.
	Name string
	// What it is, in a few words.
	What string
	// Public and Private are the numbers of records, N and n.
	Public, Private int
	// Centres is b, the number of public centres of our rows.
	Centres int
	public  normal
	private []normal // equally likely
}

// Settings are S1 to S4 of section 12: S1 is the paper's.
func Settings() []*Setting {
	return []*Setting{
		{
			"S1", "the paper's: E ~ N(1,1), D ~ N(2,1/4)", 50, 2000, 12,
			normal{[]float64{1}, []float64{1}},
			[]normal{{[]float64{2}, []float64{0.5}}},
		},
		{
			"S2", "the paper's distributions with 200 public records", 200, 2000, 12,
			normal{[]float64{1}, []float64{1}},
			[]normal{{[]float64{2}, []float64{0.5}}},
		},
		{
			"S3", "2-D: E ~ N(0,I), D ~ N((.7,-.5), diag(.5,.3))", 200, 2000, 20,
			normal{[]float64{0, 0}, []float64{1, 1}},
			[]normal{{[]float64{0.7, -0.5}, []float64{math.Sqrt(0.5), math.Sqrt(0.3)}}},
		},
		{
			"S4", "two clouds: E ~ N(1,2.25), D half N(0,.09), half N(2,.16)", 100, 500, 12,
			normal{[]float64{1}, []float64{1.5}},
			[]normal{{[]float64{0}, []float64{0.3}}, {[]float64{2}, []float64{0.4}}},
		},
	}
}

// Dim is d.
func (s *Setting) Dim() int { return len(s.public.mean) }

// PublicDensity is p_E at x (d numbers).
func (s *Setting) PublicDensity(x []float64) float64 { return s.public.density(x) }

// PrivateDensity is p_D at x.
func (s *Setting) PrivateDensity(x []float64) float64 {
	p := 0.0
	for _, l := range s.private {
		p += l.density(x) / float64(len(s.private))
	}
	return p
}

// Ratio is p_D/p_E at x.
func (s *Setting) Ratio(x []float64) float64 { return s.PrivateDensity(x) / s.PublicDensity(x) }

// Mean is E_D of the first coordinate.
func (s *Setting) Mean() float64 {
	m := 0.0
	for _, l := range s.private {
		m += l.mean[0] / float64(len(s.private))
	}
	return m
}

// sample is one repeat: both tables and the truth at the public records.
type sample struct {
	private, public *core.Points
	truth           []float64
}

// draw makes the tables of one repeat, the same for a seed. Coordinates are clamped
// to limit, where it is not empty: method A needs a box.
func (s *Setting) draw(seed, repeat uint64, limit []float64) *sample {
	rng := rand.New(rand.NewPCG(seed, repeat))
	fill := func(rows int, draw func() normal) *core.Points {
		p := axis.NewPoints[float64](rows, s.Dim())
		for i := range rows {
			l := draw()
			for j := range l.mean {
				v := l.mean[j] + l.sd[j]*rng.NormFloat64()
				if limit != nil {
					v = min(max(v, limit[0]), limit[1])
				}
				p.Row(i)[j] = v
			}
		}
		return p
	}
	out := &sample{
		private: fill(s.Private, func() normal { return s.private[rng.IntN(len(s.private))] }),
		public:  fill(s.Public, func() normal { return s.public }),
		truth:   make([]float64, s.Public),
	}
	for i := range out.truth {
		out.truth[i] = s.Ratio(out.public.Row(i))
	}
	return out
}
