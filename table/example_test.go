package table_test

import (
	"fmt"

	"github.com/noren-privacy/noren/table"
)

// A column of ages in which "NA" stands for a missing value.
func ExampleBuilder() {
	b, err := table.NewBuilder(table.Field{Name: "age", Type: table.Integer}, []string{"NA"})
	if err != nil {
		panic(err)
	}
	for _, text := range []string{"34", "NA", "57"} {
		if err := b.Append([]byte(text)); err != nil {
			panic(err)
		}
	}
	fmt.Println(b.Append([]byte("thirty")))
	c := b.Column()
	for i := range c.Len() {
		fmt.Println(c.Ints[i], c.IsMissing(i))
	}
	// Output:
	// expected an integer
	// 34 false
	// 0 true
	// 57 false
}

func ExampleLayout() {
	l := table.Layout("YYYY年M月D日")
	day, err := l.Parse("2024年2月29日")
	fmt.Println(day, err)
	fmt.Println(l.Format(day + 1))
	fmt.Println(table.ISODate.Format(day))
	_, err = l.Parse("2024年2月30日")
	fmt.Println(err)
	// Output:
	// 19782 <nil>
	// 2024年3月1日
	// 2024-02-29
	// expected a date like YYYY年M月D日
}

func ExampleHierarchy_Common() {
	h, err := table.NewHierarchy("diseases.csv", [][]string{
		{"flu", "infection", "*"},
		{"measles", "infection", "*"},
		{"asthma", "lung", "*"},
	}, nil)
	if err != nil {
		panic(err)
	}
	flu, _ := h.Leaf("flu")
	measles, _ := h.Leaf("measles")
	asthma, _ := h.Leaf("asthma")
	fmt.Println(h.NameAt(h.Common([]uint32{flu, measles})))
	fmt.Println(h.NameAt(h.Common([]uint32{flu, asthma})))
	// Output:
	// infection
	// *
}

func ExampleSchema_WithRole() {
	s := table.Schema{Fields: []table.Field{
		{Name: "name", Role: table.Identifier},
		{Name: "age", Role: table.Quasi, Type: table.Integer},
		{Name: "diagnosis", Role: table.Sensitive},
	}}
	fmt.Println(s.WithRole(table.Quasi), s.Index("diagnosis"))
	// Output: [1] 2
}
