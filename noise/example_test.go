package noise_test

import (
	"fmt"
	"log"
	"math/big"

	"github.com/noren-privacy/noren/noise"
)

// A count with epsilon = 0.5: sensitivity 1, scale 2.
func Example() {
	scale, err := noise.ScaleFor(big.NewRat(1, 1), 500_000_000)
	if err != nil {
		log.Fatal(err)
	}
	laplace, err := noise.NewLaplace(scale)
	if err != nil {
		log.Fatal(err)
	}
	const count = 1234
	x, err := laplace.Draw(noise.NewSource())
	if err != nil {
		log.Fatal(err) // no randomness, no answer
	}
	released := noise.AddSaturating(count, x)
	_ = released // differs from run to run, as it must

	fmt.Printf("noise of scale %s; within %d of the truth in 95 of 100 answers\n",
		scale.RatString(), laplace.Interval(0.95))
	// Output:
	// noise of scale 2; within 6 of the truth in 95 of 100 answers
}

// A sum of amounts: bounded, brought to hundredths or finer, added in integers.
func ExampleRange_Quantise() {
	grid, err := noise.NewGrid(7) // steps of 1/128
	if err != nil {
		log.Fatal(err)
	}
	bounds, err := grid.Range(0, 100)
	if err != nil {
		log.Fatal(err)
	}
	var sum noise.Sum
	for _, amount := range []float64{19.99, 250, -3, 0.1} {
		k, err := bounds.Quantise(amount)
		if err != nil {
			log.Fatal(err)
		}
		sum.Add(k)
	}
	// Adding or removing one record moves the sum by at most 100, in steps:
	sensitivity, err := grid.Steps(big.NewRat(100, 1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(grid.Value(sum.Saturated()), sensitivity)
	// Output: 120.09375 12800
}

// Noise for a sum of sensitivity 12800 steps, by zero-concentrated privacy.
func ExampleNewGaussian() {
	sigma2, err := noise.Sigma2For(big.NewRat(12800, 1), 50_000_000) // rho = 0.05
	if err != nil {
		log.Fatal(err)
	}
	gaussian, err := noise.NewGaussian(sigma2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sigma2.RatString(), gaussian.Interval(0.95))
	// Output: 1638400000 79334
}

func ExampleNewLaplace() {
	laplace, err := noise.NewLaplace(big.NewRat(10, 1))
	if err != nil {
		log.Fatal(err)
	}
	vector := make([]int64, 8)
	if err := laplace.Fill(noise.NewSource(), vector); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(vector), laplace.Interval(0.99))
	// Output: 8 46
}

// Noise for a smooth sensitivity S = 4 at epsilon = 1, beta = 1/5, p = 6: the
// scale is S/a.
func ExampleLomax_AddTo() {
	lomax, err := noise.NewLomax(big.NewRat(6, 1))
	if err != nil {
		log.Fatal(err)
	}
	scale := big.NewRat(4*10_000, 1_742) // S/a with a = 0.17421, rounded up
	integers, err := noise.NewGrid(0)
	if err != nil {
		log.Fatal(err)
	}
	released, err := lomax.AddTo(noise.NewSource(), big.NewRat(17, 1), scale, integers)
	if err != nil {
		log.Fatal(err)
	}
	_ = released // an integer
	s, _ := scale.Float64()
	fmt.Printf("95%%: within %.1f\n", lomax.Interval(0.95)*s+0.5)
	// Output: 95%: within 19.3
}
