package outlier_test

import (
	"context"
	"fmt"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/outlier"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
)

// A mechanism fits the way out by its methods alone.
var _ release.Mechanism = (*outlier.Mechanism)(nil)

// What can be known before any data are read.
func ExampleNewPlan() {
	plan, err := outlier.NewPlan(outlier.Facts{Dimensions: 2, K: 5, Epsilon: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("global sensitivity", plan.G)
	fmt.Printf("%s noise: standard deviation about %.0f; on the global sensitivity %.0f\n", plan.Noise.Family, plan.Smooth.SD, plan.Global.SD)
	// Output:
	// global sensitivity 25
	// lomax noise: standard deviation about 8; on the global sensitivity 35
}

func ExampleNew() {
	m, err := outlier.New(context.Background(), outlier.Options{
		Axes: []axis.Axis{
			{Field: table.Field{Name: "temperature"}, Low: -20, High: 50, Scale: 5},
			{Field: table.Field{Name: "load"}, Low: 0, High: 100, Scale: 10},
		},
		Step: 0.001, Radius: 0.2, K: 5,
		Cost: account.Cost{Epsilon: account.EpsilonUnits},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m)
	g, err := m.Guarantee(account.AddRemove, account.Record)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g)
	// Output:
	// records with fewer than 5 others within 0.2 in temperature, load
	// differential privacy, epsilon = 1, neighbours add-remove of one record
}

// The private look at what the noise is made from. The smallest case in which
// the paper's bound fails: moving 20 to 2 changes the count from 3 to 0.
func ExampleDiagnose() {
	points, err := outlier.NewPoints(1, []int32{0, 4, 20}, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	set := outlier.Setting{K: 1, Radius2: 4, Neighbours: account.ReplaceOne}
	d, err := outlier.Diagnose(context.Background(), points, set, 3, []float64{0.1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("outliers %d, U %v, S %.3f\n", d.Query, d.U, d.S[0].S)
	// Output: outliers 3, U [3 3 3 3], S 3.000
}
