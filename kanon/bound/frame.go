package bound

import "github.com/noren-privacy/noren/kanon/space"

// frame is a space laid out for the search of groups: coordinates record by
// record, and what the nearest others of every record are away in sum. All
// distances are deflated.
type frame struct {
	s       *space.Space
	n, k    int
	largest int       // size of the largest groups: 2k-1, cut to n
	numbers []float64 // n*a
	codes   []uint32  // n*b
	weights []float64 // b
	deflate float64
	places  *places
	near    *nearSums // of reach largest-1
}

func newFrame(s *space.Space, k int, p *places, near *nearSums) *frame {
	f := &frame{s: s, n: s.Len(), k: k, places: p, near: near, deflate: deflation(s)}
	f.largest = near.reach + 1
	numbers, words := s.Numbers(), s.Words()
	f.numbers = make([]float64, f.n*len(numbers))
	for a, x := range numbers {
		for i, v := range x {
			f.numbers[i*len(numbers)+a] = v
		}
	}
	f.codes = make([]uint32, f.n*len(words))
	for a := range words {
		f.weights = append(f.weights, words[a].Weight)
		for i, c := range words[a].Codes {
			f.codes[i*len(words)+a] = c
		}
	}
	return f
}

// distance is the deflated squared distance of two records.
func (f *frame) distance(i, j int32) float64 {
	a := len(f.numbers) / f.n
	x, y := f.numbers[int(i)*a:int(i)*a+a], f.numbers[int(j)*a:int(j)*a+a]
	var d float64
	for t, v := range x {
		v -= y[t]
		d += v * v
	}
	if b := len(f.weights); b > 0 {
		c, e := f.codes[int(i)*b:int(i)*b+b], f.codes[int(j)*b:int(j)*b+b]
		for t, w := range f.weights {
			if c[t] != e[t] {
				d += w
			}
		}
	}
	return d * f.deflate
}

// cost is the sum of squared errors of a group, (1/m) times the sum over its
// pairs of their squared distance, and not too large.
func (f *frame) cost(members []int32) float64 {
	var sum float64
	for a, i := range members {
		for _, j := range members[:a] {
			sum += f.distance(i, j)
		}
	}
	m := float64(len(members))
	return sum / m * (1 - (m*m+2)*epsilon)
}

// nearest is no more than the sum of the q smallest distances of a record to
// others.
func (f *frame) nearest(i int32, q int) float64 { return f.near.of(f.places.of[i])[q] }
