package privacy

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Taking one record each of the commonest values that are left, again and again, makes
// as many distinct diverse classes as there can be.
func TestMostDiverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAttribute(t)
		d := &Diversity{L: float64(rapid.IntRange(1, 4).Draw(t, "l")), CountMissing: rapid.Bool().Draw(t, "missing")}
		left := slices.Clone(a.Whole[:a.values])
		if d.CountMissing {
			left = slices.Clone(a.Whole)
		}
		most := 0
		for l := int(d.L); len(left) >= l; most++ {
			slices.Sort(left)
			slices.Reverse(left)
			if left[l-1] == 0 {
				break
			}
			for v := range l {
				left[v]--
			}
		}
		if got := a.MostDiverse(d); got != most {
			t.Fatalf("%d classes at most, and %d were made", got, most)
		}
		// An entropy of log l asks for l values at least, and for more if l is no whole number.
		d.Model = Entropy
		if got := a.MostDiverse(d); got != most {
			t.Fatalf("by entropy %d classes at most, want %d", got, most)
		}
		d.L += 0.5
		above := &Diversity{L: d.L + 0.5, CountMissing: d.CountMissing}
		if got, want := a.MostDiverse(d), a.MostDiverse(above); got != want {
			t.Fatalf("with l = %v by entropy %d classes at most, want %d", d.L, got, want)
		}
	})
}
