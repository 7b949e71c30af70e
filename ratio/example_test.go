package ratio_test

import (
	"context"
	"fmt"
	"math"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/table/axis"
)

// Public records on 0..10, private ones near 7: the mean of the private records is read
// off the weighted public ones. The noise is secret and small here.
func Example() {
	ctx := context.Background()
	public, private := axis.NewPoints[float64](200, 1), axis.NewPoints[float64](100_000, 1)
	for i := range public.Rows {
		public.Row(i)[0] = 10 * float64(i) / 199
	}
	for i := range private.Rows {
		private.Row(i)[0] = 7 + math.Sin(float64(i))
	}
	m, err := ratio.New(ctx, ratio.Options{Public: public, Cost: account.Cost{Epsilon: account.EpsilonUnits}})
	if err != nil {
		fmt.Println(err)
		return
	}
	released, err := m.Release(ctx, private, noise.NewSource())
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := m.Weights(ctx, released)
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := w.Mean(public.Data)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("mean %.0f, error below 0.5: %t\n", a.Value, a.SE < 0.5)
	// Output: mean 7, error below 0.5: true
}

// The centres that the paper's method C would take from the private records are not
// protected by its delta.
func ExampleNew_refused() {
	public := axis.NewPoints[float64](2, 1)
	public.Row(1)[0] = 1
	_, err := ratio.New(context.Background(), ratio.Options{Public: public, Cost: account.Cost{Epsilon: 1}, Noise: ratio.SampledCentres})
	fmt.Println(err != nil)
	// Output: true
}
