package partition_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/space"
)

// Ages and incomes of nine people, in groups of at least three.
func Example() {
	ages := []float64{23, 61, 25, 44, 59, 22, 41, 63, 45}
	incomes := []float64{28, 90, 31, 55, 84, 30, 60, 88, 52}
	s, err := space.FromMatrix([][]float64{ages, incomes}, space.MinMax)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, chosen, err := partition.Partition(context.Background(), s, partition.Options{K: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	list, start := p.Members()
	for g := range p.Groups {
		fmt.Print("group")
		for _, i := range list[start[g]:start[g+1]] {
			fmt.Printf(" %g", ages[i])
		}
		fmt.Println()
	}
	fmt.Printf("%v: loss %.3f\n", chosen.Method, s.Loss(p))
	// Output:
	// group 23 25 22
	// group 61 59 63
	// group 44 41 45
	// tomobiki: loss 0.010
}

// The paper's methods beside each other, on one column with a gap in it.
func ExamplePartition() {
	s, err := space.FromMatrix([][]float64{{1, 2, 3, 4, 20, 21, 22, 23, 24, 25, 26}}, space.MinMax)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range []partition.Options{
		{K: 2, Method: partition.MondrianStrict},
		{K: 2, Method: partition.MDAV},
		{K: 2, Method: partition.VMDAV, Gamma: 1.1},
		{K: 2, Method: partition.Tomobiki, Start: partition.FromLowest},
		{K: 2, Method: partition.Tomobiki, Coarse: 4},
	} {
		p, _, err := partition.Partition(context.Background(), s, o)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v: sizes %v, loss %.4f\n", o.Method, p.Sizes(), s.Loss(p))
	}
	// Output:
	// mondrian-strict: sizes [2 3 3 3], loss 0.1691
	// mdav: sizes [2 2 3 2 2], loss 0.0036
	// vmdav: sizes [3 3 2 3], loss 0.1691
	// tomobiki: sizes [2 2 3 2 2], loss 0.0036
	// tomobiki: sizes [3 2 2 2 2], loss 0.1192
}

// Fewer records than k cannot be divided: the error is of kind BadData.
func ExamplePartition_tooFew() {
	s, err := space.FromMatrix([][]float64{{23, 61, 25}}, space.MinMax)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _, err = partition.Partition(context.Background(), s, partition.Options{K: 5})
	fmt.Println(err)
	var e *noren.Error
	fmt.Println(errors.As(err, &e) && e.Kind == noren.BadData)
	// Output:
	// the table has 3 records, fewer than k = 5: no group of k can be made (ask for a smaller k, or gather more records)
	// true
}

func ExampleParseMethod() {
	m, err := partition.ParseMethod("vmdav")
	fmt.Println(m, err)
	_, err = partition.ParseMethod("nearest")
	fmt.Println(err)
	// Output:
	// vmdav <nil>
	// unknown method "nearest" (one of auto, mondrian, mondrian-strict, mdav, vmdav, tomobiki, topdown)
}
