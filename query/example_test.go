package query_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/table"
)

// A mean by groups: what it costs, how accurate it will be, what it guarantees, and the
// form of the answer. Here the table is read from memory; data that are protected are
// asked through package release, which charges the price first.
func Example() {
	fields := []table.Field{{Name: "sex", Type: table.Category}, {Name: "age", Type: table.Integer}}
	var t table.Table
	for c, texts := range [][]string{{"F", "M", "F", "M"}, {"31", "47", "", "52"}} {
		b, err := table.NewBuilder(fields[c], nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, text := range texts {
			if err := b.Append([]byte(text)); err != nil {
				fmt.Println(err)
				return
			}
		}
		t.Rows = len(texts)
		t.Columns = append(t.Columns, b.Column())
	}
	q, err := query.New(context.Background(), query.Options{
		Kind: query.Mean, Column: "age", Bounds: &query.Bounds{Lo: 0, Hi: 100}, Where: "age >= 18",
		By: []string{"sex"}, Keys: [][]string{{"F"}, {"M"}, {"X"}},
		Fields: fields, Cost: account.Cost{Epsilon: 100_000_000},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	price, err := q.Cost(account.ReplaceOne, account.Record)
	fmt.Println("in a replace-one book:", price, err)
	accuracy, err := q.Accuracy(0.95, 10_000)
	fmt.Printf("with 10000 records: +-%.2f %v\n", *accuracy.HalfWidth, err)
	guarantee, err := q.Guarantee(account.AddRemove, account.Record)
	fmt.Println(guarantee, err)
	parameters, err := json.Marshal(q.Parameters())
	fmt.Println(string(parameters), err)
	answer, err := q.Answer(context.Background(), &t, noise.NewSource())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(answer.(*query.Result).Groups), "answers")
	// Output:
	// in a replace-one book: epsilon 0.2 <nil>
	// with 10000 records: +-0.87 <nil>
	// differential privacy, epsilon = 0.1, neighbours add-remove of one record <nil>
	// {"query":"mean","mechanism":"laplace","column":"age","type":"integer","where":"age \u003e= 18","by":["sex"],"keys":[["F"],["M"],["X"]],"bounds":{"lo":0,"hi":100},"grid_bits":0,"epsilon":"0.1","delta":"0","neighbours":"add-remove","unit":"record","max_rows":1,"level":0.95,"noise":{"scale":"1000","l1_sensitivity":"100"}} <nil>
	// 3 answers
}

func ExampleParsePredicate() {
	fields := []table.Field{{Name: "age", Type: table.Integer}, {Name: "sex", Type: table.Category}}
	for _, text := range []string{"age>=18 AND (sex = \"F\" or sex is missing)", "age >= 18 and sex = F"} {
		p, err := query.ParsePredicate(text, fields)
		fmt.Println(p, err)
	}
	// Output:
	// age >= 18 and (sex = 'F' or sex is missing) <nil>
	// <nil> predicate, character 21: expected a value for column sex (write a text in quotes, a number without)
}
