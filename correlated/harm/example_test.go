package harm_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/noren-privacy/noren/correlated/harm"
)

// The worked optimum of docs/correlated-privacy.md.
func ExampleCosts_Optimise() {
	c, err := harm.ParseCosts(strings.NewReader(`{
		"damage_slope": 1, "concealment_slope": 2, "credit_slope": 0.1,
		"false_alarm": 2, "concealment": 3, "identification": 20,
		"prior": [{"count": 0, "p": 0.7}, {"count": 1, "p": 0.2}, {"count": 3, "p": 0.1}]
	}`), "costs.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	o, err := c.Optimise(context.Background(), harm.Search{EpsilonMax: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("b = %.3f, epsilon = %.3f, J = %.3f\n", o.Scale, o.Epsilon, o.Total)
	fmt.Printf("false alarm %.0f%%, best threshold %.2f\n", 100*o.FalseAlarm, o.Threshold.Tau)
	// Output:
	// b = 2.961, epsilon = 0.338, J = 14.291
	// false alarm 42%, best threshold 1.00
}
