package evaluate_test

import (
	"context"
	"fmt"

	"github.com/noren-privacy/noren/ldp/evaluate"
	"github.com/noren-privacy/noren/table"
)

// What an epsilon of 8 leaves to be learned, from a column that tells the class.
func ExampleRun() {
	class, _ := table.NewBuilder(table.Field{Name: "ill"}, nil)
	fever, _ := table.NewBuilder(table.Field{Name: "fever", Type: table.Integer}, nil)
	for i := range 400 {
		word := "no"
		if i%2 == 1 {
			word = "yes"
		}
		_ = class.Append([]byte(word))
		fever.AppendInt(int64(36 + i%2*4))
	}
	r, err := evaluate.Run(context.Background(), evaluate.Options{
		Label:      class.Column(),
		Attributes: []evaluate.Attribute{{Column: fever.Column(), Bounds: &[2]float64{34, 44}}},
		Epsilons:   []float64{8},
		Mechanisms: []string{"grr"},
		Models:     []string{"svm"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	c := r.Find("svm", evaluate.Randomised, evaluate.Raw, "grr", 8)
	fmt.Printf("%s -> %s: %.0f %% right, at most epsilon %.1f of a record\n", c.Train, c.Test, 100*c.Accuracy.Mean, c.Loss.Record)
	fmt.Println("not protected:", r.NotProtected[0])
	// Output:
	// randomised -> raw: 100 % right, at most epsilon 8.0 of a record
	// not protected: the class ill, which is not randomised
}
