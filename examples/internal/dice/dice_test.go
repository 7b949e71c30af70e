package dice_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/noren-privacy/noren/examples/internal/dice"
)

func ExampleNew() {
	d := dice.New(1)
	weights := dice.Cumulative(6, 3, 1)
	fmt.Println(d.Below(100), d.Between(10, 12), d.Bell(170, 6), d.Pick(weights))
	// Output: 93 12 181 1
}

func TestBellIsNearlyNormal(t *testing.T) {
	const n = 200_000
	d := dice.New(7)
	var sum, squares float64
	within := 0
	for range n {
		x := float64(d.Bell(500, 1000) - 500)
		sum += x
		squares += x * x
		if math.Abs(x) < 1000 {
			within++
		}
	}
	mean, sd := sum/n, math.Sqrt(squares/n)
	// Standard errors: 1000/sqrt(n) = 2.2 of the mean, 1.6 of the deviation and
	// 0.001 of the share; the steps of 1000/32 move the share by less than 0.02.
	if math.Abs(mean) > 12 {
		t.Errorf("mean is %.1f away from its place, expected within 12", mean)
	}
	if math.Abs(sd-1000) > 8 {
		t.Errorf("standard deviation %.1f, expected 1000 within 8", sd)
	}
	if share := float64(within) / n; math.Abs(share-0.6827) > 0.02 {
		t.Errorf("%.4f lie within one deviation, expected 0.6827", share)
	}
}

func TestPickFollowsItsWeights(t *testing.T) {
	weights := []int{0, 5, 0, 0, 3, 2, 0}
	cumulative := dice.Cumulative(weights...)
	const n = 100_000
	d := dice.New(3)
	counts := make([]int, len(weights))
	for range n {
		counts[d.Pick(cumulative)]++
	}
	for i, w := range weights {
		if got, want := float64(counts[i])/n, float64(w)/10; math.Abs(got-want) > 0.008 {
			t.Errorf("index %d of weight %d: share %.4f, expected %.4f", i, w, got, want)
		}
	}
}

func TestBelowStaysInside(t *testing.T) {
	d := dice.New(5)
	seen := map[int]bool{}
	for range 1000 {
		seen[d.Between(-2, 2)] = true
	}
	for x := -2; x <= 2; x++ {
		if !seen[x] {
			t.Errorf("%d was never drawn", x)
		}
		delete(seen, x)
	}
	if len(seen) != 0 {
		t.Errorf("%d numbers beyond the bounds", len(seen))
	}
}
