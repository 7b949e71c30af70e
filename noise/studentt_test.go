package noise

import (
	"math/big"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// From six bits of U and V, with boxes that the region's edge often cuts, the
// decision is that of the point which three hundred further bits single out.
func TestRatioOfUniformsDecidesExactly(t *testing.T) {
	randtest.SkipShort(t)
	src := randtest.Source(12)
	for _, freedom := range []int{1, 2, 3, 17, 100} {
		refined := 0
		answers := make(map[bool]int)
		for range 3000 {
			z := &ratioDraw{n: freedom}
			for _, u := range []*lazyUniform{&z.u, &z.v} {
				w, err := src.Bits(6)
				if err != nil {
					t.Fatal(err)
				}
				u.n, u.bits = new(big.Int).SetUint64(w), 6
			}
			got, err := z.accept(src)
			if err != nil {
				t.Fatal(err)
			}
			if z.u.bits > 6 {
				refined++
			}
			for range 5 {
				if err := z.refine(src); err != nil {
					t.Fatal(err)
				}
			}
			if inside := z.left(z.u.n, z.v.n).Cmp(z.right(z.u.n)) <= 0; inside != got {
				t.Fatalf("%d degrees of freedom: (%v, %v)/2^%d is inside: %v, decided %v", freedom, z.u.n, z.v.n, z.u.bits, inside, got)
			}
			answers[got]++
		}
		// The region's area is a constant over 2: both answers are common.
		if refined < 30 || answers[true] < 500 || answers[false] < 500 {
			t.Errorf("%d degrees of freedom: %d boxes were cut, decisions %v", freedom, refined, answers)
		}
	}
}
