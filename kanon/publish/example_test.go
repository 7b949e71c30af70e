package publish_test

import (
	"context"
	"fmt"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// Six records in two groups: what each group shows for an age and a town.
func Example() {
	build := func(f table.Field, texts ...string) *table.Column {
		b, err := table.NewBuilder(f, []string{"?"})
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
	places, err := table.NewHierarchy("places.csv", [][]string{
		{"Kyoto", "Kansai", "Japan"},
		{"Osaka", "Kansai", "Japan"},
		{"Tokyo", "Kanto", "Japan"},
	}, nil)
	if err != nil {
		panic(err)
	}
	age := build(table.Field{Name: "age", Type: table.Integer}, "34", "35", "38", "61", "?", "70")
	town := build(table.Field{Name: "town", Hierarchy: places}, "Kyoto", "Osaka", "Osaka", "Tokyo", "Kyoto", "Tokyo")
	group := []uint32{0, 0, 0, 1, 1, 1}

	stored := []table.StoredColumn{{Name: "age"}, {Name: "town"}} // as a text file has them
	for _, mode := range []publish.Mode{publish.Aggregate, publish.Generalize} {
		columns, err := publish.Publish(context.Background(), []*table.Column{age, town}, stored, group, 2, publish.Options{Mode: mode})
		if err != nil {
			panic(err)
		}
		var ages, towns table.Vector
		columns[0].Fill(&ages, []uint32{0, 1})
		columns[1].Fill(&towns, []uint32{0, 1})
		for g := range 2 {
			fmt.Printf("%s, group %d: %s, %s\n", mode, g, ages.Texts[g], towns.Texts[g])
		}
	}
	// Output:
	// aggregate, group 0: 36, Osaka
	// aggregate, group 1: 66, Tokyo
	// generalize, group 0: [34-38], Kansai
	// generalize, group 1: [61-70], Japan
}

// Ranges have ends of their own sign, and dates hyphens of their own.
func ExampleParseRange() {
	lo, hi, isRange, ok := publish.ParseRange("[-12--3.5]", &table.Field{Type: table.Decimal})
	fmt.Println(lo, hi, isRange, ok)
	lo, hi, isRange, ok = publish.ParseRange("[1970-01-02-1970-02-01]", &table.Field{Type: table.Date})
	fmt.Println(lo, hi, isRange, ok)
	// Output:
	// -12 -3.5 true true
	// 1 31 true true
}
