package assess_test

import (
	"context"
	"fmt"

	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/table"
)

func visits(ages, sexes []string) *table.Table {
	t := &table.Table{Rows: len(ages)}
	for _, c := range []struct {
		field  table.Field
		values []string
	}{{table.Field{Name: "age", Type: table.Integer}, ages}, {table.Field{Name: "sex"}, sexes}} {
		b, err := table.NewBuilder(c.field, nil)
		if err != nil {
			panic(err)
		}
		for _, v := range c.values {
			if err := b.Append([]byte(v)); err != nil {
				panic(err)
			}
		}
		t.Columns = append(t.Columns, b.Column())
	}
	return t
}

// The risk of a table is a function of its classes.
func ExampleNewRisk() {
	table := visits([]string{"31", "31", "31", "47", "80"}, []string{"f", "f", "f", "m", "m"})
	classes, err := assess.Classify(table)
	if err != nil {
		fmt.Println(err)
		return
	}
	risk, err := assess.NewRisk(classes[0].Size, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d of %d records are alone; smallest class %d; a guess for each record is right for %.0f%%\n",
		risk.UniqueRecords, risk.Records, risk.SmallestClass, 100*risk.Marketer)
	// Output: 2 of 5 records are alone; smallest class 1; a guess for each record is right for 60%
}

// A population table tells whether those who are alone in the sample are so
// in the population too.
func ExampleNewJournalist() {
	sample := visits([]string{"31", "47"}, []string{"f", "m"})
	population := visits([]string{"31", "31", "31", "47", "80"}, []string{"f", "f", "f", "m", "m"})
	classes, err := assess.Classify(sample, population)
	if err != nil {
		fmt.Println(err)
		return
	}
	j, err := assess.NewJournalist(classes[0].Size, classes[1].Size, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d record is unique in the population of %d; expected matches %.2f\n", j.PopulationUniques, j.PopulationRecords, 2*j.Marketer)
	// Output: 1 record is unique in the population of 5; expected matches 1.33
}

func ExampleEstimateUniqueness() {
	// A sample of a tenth with 900 unique records, and fewer larger classes.
	var sizes []int
	for size, classes := range []int{1: 900, 2: 250, 3: 110, 4: 60, 5: 35, 10: 20, 40: 5} {
		for range classes {
			sizes = append(sizes, size)
		}
	}
	u, err := assess.EstimateUniqueness(sizes, 0.1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: about %.0f%% of %d people\n", u.Chosen, 100**u.Result.Share, u.PopulationRecords)
	// Output: pitman: about 10% of 25450 people
}

func ExampleCompare() {
	original := visits([]string{"30", "34", "60", "68"}, []string{"f", "f", "m", "f"})
	release := visits([]string{"64", "32", "32", "64"}, []string{"m", "f", "f", "m"})
	u, err := assess.Compare(context.Background(), original, release, assess.CompareOptions{Means: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	age, sex := u.Numbers[0], u.Categories[0]
	fmt.Printf("age: mean %g and %g, loss %.1f%% (at most %.1f%%)\n", *age.Original.Mean, *age.Release.Mean, 100**age.Loss.Value,
		100**age.Loss.High)
	fmt.Printf("sex: at least %.0f%% of the records changed\n", 100**sex.Changed.Low)
	// Output:
	// age: mean 48 and 48, loss 3.8% (at most 9.8%)
	// sex: at least 25% of the records changed
}
