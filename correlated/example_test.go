package correlated_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/correlated"
)

// Two records that are equal 98 times in 100, and how many of them are 1.
func ExampleCalibrate() {
	f, err := correlated.ParseModel(strings.NewReader(`{"type":"table","shape":[2,2],"p":[0.49,0.01,0.01,0.49]}`), "pair.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	c, err := correlated.Calibrate(ctx, f.Model, correlated.Count(1), 0.1, correlated.LeakageOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := correlated.Compare(ctx, f.Model, correlated.Count(1), 0.1, correlated.LeakageOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("independent %.4f, calibrated %.4f, group %.4f\n", b.Plain, c.Scale, b.Group)
	fmt.Println(c.Leakage.Witness)
	// Output:
	// independent 10.0000, calibrated 19.5998, group 20.0000
	// of record 0, one who knows no record learns a factor of about e^0.1 for state 0 against 1
}

// A day of a meter, a record a minute, that stays off or on.
func ExampleComputeLeakage() {
	day, err := correlated.NewHomogeneousChain([]float64{0.8, 0.2}, [][]float64{{0.95, 0.05}, {0.2, 0.8}}, 1440)
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := correlated.ComputeLeakage(context.Background(), day, correlated.Count(1), 10, correlated.LeakageOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("between %.3f and %.3f, by %s\n", l.Lower, l.Upper, l.Method)
	// Output:
	// between 0.790 and 0.790, by quilt
}

// A household, infected from one of its members.
func ExampleNewTree() {
	spread := [][]float64{{0.95, 0.05}, {0.4, 0.6}}
	home, err := correlated.NewTree([]int{-1, 0, 0, 0}, []float64{0.9, 0.1}, [][][]float64{nil, spread, spread, spread})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := correlated.Calibrate(context.Background(), home, correlated.Count(1), 1, correlated.LeakageOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("b = %.4f, exact %v: %s\n", c.Scale, c.Leakage.Exact, c.Leakage.Witness)
	// Output:
	// b = 2.7483, exact true: of record 0, one who knows no record learns a factor of about e^1 for state 1 against 0
}

// What an earlier year's readings support.
func ExampleFitChain() {
	readings := make([]int, 5000)
	for i := range readings {
		if i%10 < 3 {
			readings[i] = 1
		}
	}
	f, err := correlated.FitChain([][]int{readings}, correlated.FitOptions{
		Source: "the readings of 2023", States: []string{"off", "on"},
		Length: 1440,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.File.Model.Kind(), f.File.Source)
	// Output:
	// box estimated as a chain from 4999 steps of the readings of 2023; all bounds hold together with 95% confidence
}

// Two counts of the same chain leak more together than either does alone.
func ExampleJoint() {
	chain, err := correlated.NewHomogeneousChain([]float64{0.5, 0.5}, [][]float64{{0.9, 0.1}, {0.1, 0.9}}, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	first := correlated.WeightedCount([]float64{1, 1, 0, 0}, 1)
	second := correlated.WeightedCount([]float64{0, 0, 1, 1}, 1)
	for _, q := range []*correlated.Query{first, second, correlated.Joint(first, second)} {
		l, err := correlated.ComputeLeakage(context.Background(), chain, q, 10, correlated.LeakageOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%.3f\n", l.Upper)
	}
	// Output:
	// 0.180
	// 0.180
	// 0.324
}

// An answer on a table whose records are the six readings of a meter.
func ExampleNew() {
	model, err := correlated.ParseModel(strings.NewReader(
		`{"type":"chain","states":["off","on"],"source":"an assumption","init":[0.5,0.5],"P":[[0.9,0.1],[0.1,0.9]],"length":6}`), "meter.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := correlated.New(context.Background(), correlated.Options{
		Model: model, Query: correlated.Count(1), Column: "state", Cost: account.Cost{Epsilon: account.EpsilonUnits},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	cost, err := m.Cost(account.ReplaceOne, account.Record)
	if err != nil {
		fmt.Println(err)
		return
	}
	accuracy, err := m.Accuracy(0.95, 6)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("leakage %.3f, charge %s, off by at most %.0f\n", m.Leakage().Upper, cost, accuracy.Within[0])
	// Output: leakage 1.000, charge epsilon 1.005697983, off by at most 13
}
