package account_test

import (
	"fmt"

	"github.com/noren-privacy/noren/account"
)

// An add-remove guarantee charged to a budget of replace-one neighbours.
func ExampleCharge() {
	epsilon, err := account.ParseEpsilon("0.1")
	if err != nil {
		fmt.Println(err)
		return
	}
	cost, err := account.Charge(account.Cost{Epsilon: epsilon}, account.AddRemove, account.ReplaceOne)
	fmt.Println(cost, err)
	_, err = account.Charge(cost, account.ReplaceOne, account.AddRemove)
	fmt.Println(err)
	// Output:
	// epsilon 0.2 <nil>
	// neighbours: the mechanism is private for replace-one neighbours only, and the budget is for add-remove (its guarantee does not hold for a table with one unit more or less: use a mechanism that is private for add-remove, or a replace-one budget)
}

// The noise of a count at epsilon 1 and delta 1e-6: the figure for continuous
// noise is 4.22468.
func ExampleDiscreteGaussian() {
	c := account.Cost{Epsilon: 1_000_000_000, Delta: 1_000_000_000_000}
	sigma2, err := account.DiscreteGaussian(c, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f\n", account.SigmaFloat(sigma2))
	// Output: 4.2308
}

func ExampleParseCost() {
	cost, err := account.ParseCost("0.1", "1e-9")
	fmt.Println(cost, err)
	// Output: epsilon 0.1, delta 0.000000001 <nil>
}
