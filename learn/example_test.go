package learn_test

import (
	"context"
	"fmt"
	"log"

	"github.com/noren-privacy/noren/learn"
)

// A clinic asks how well a reading tells the sick from the healthy.
func Example() {
	readings := [][]float64{{1, 2, 3, 4, 5, 11, 12, 13, 14, 15}} // one feature
	sick := []int{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}
	x, err := learn.FromColumns(readings)
	if err != nil {
		log.Fatal(err)
	}
	folds, err := learn.StratifiedKFold(sick, 5, 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range []learn.Learner{learn.SVM{C: 1}, learn.Forest{Trees: 5}} {
		rates, err := learn.CrossValidate(context.Background(), l, x, sick, learn.CV{Folds: folds})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(l, rates[0])
	}
	// Output:
	// linear SVM (C = 1) [1 1 1 1 1]
	// random forest (5 trees) [1 1 1 1 1]
}
