package privacy_test

import (
	"fmt"

	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/table"
)

func column(f table.Field, texts ...string) *table.Column {
	b, err := table.NewBuilder(f, nil)
	if err != nil {
		panic(err)
	}
	for _, text := range texts {
		if err := b.Append([]byte(text)); err != nil {
			panic(err)
		}
	}
	return b.Column()
}

// The salaries of the paper on t-closeness: a class of the three lowest is
// diverse and yet says much about everyone in it.
func Example() {
	salary := privacy.NewAttribute(column(table.Field{Name: "salary", Type: table.Integer},
		"3000", "4000", "5000", "6000", "7000", "8000", "9000", "10000", "11000"))
	for _, class := range [][]int{{0, 1, 2}, {3, 5, 8}} {
		var h privacy.Histogram
		for _, record := range class {
			h.Add(salary.Codes[record])
		}
		diverse := salary.Holds(&h, privacy.Requirement{K: 3, Diversity: &privacy.Diversity{L: 3}})
		fmt.Printf("3-diverse: %v, distance: %.3f\n", diverse, salary.Distance(&h))
	}
	// Output:
	// 3-diverse: true, distance: 0.375
	// 3-diverse: true, distance: 0.167
}

func ExampleHistogram() {
	var h privacy.Histogram
	h.AddN(0, 4)
	h.AddN(1, 2)
	h.AddN(2, 2)
	fmt.Println(h.Total(), h.DistinctL(), h.RecursiveL(2))
	fmt.Printf("%.2f\n", h.EntropyL())
	// Output:
	// 8 3 2
	// 2.83
}

func ExampleGuarantee() {
	req := privacy.Requirement{K: 5, Closeness: &privacy.Closeness{T: 0.2}}
	illness := privacy.NewAttribute(column(table.Field{Name: "illness"}, "flu", "asthma"))
	fmt.Println(privacy.Guarantee([]string{"age", "sex"}, req, []*privacy.Attribute{illness}))
	// Output:
	// k-anonymity, k = 5 over age, sex; 0.2-closeness of illness (equal distance)
}
