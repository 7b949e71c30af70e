package noren_test

import (
	"encoding/json"
	"fmt"

	"github.com/noren-privacy/noren"
)

func ExampleGuarantee() {
	for _, g := range []noren.Guarantee{
		{Model: "k-anonymity", K: 5, Quasi: []string{"age", "sex"}, Diversity: []noren.Diversity{{Column: "illness", Model: "distinct", L: 2}}},
		{Model: "differential privacy", Epsilon: 0.5, Delta: 1e-9, Neighbours: "add-remove", Unit: "record"},
	} {
		text, err := json.Marshal(g)
		fmt.Println(g)
		fmt.Println(string(text), err)
	}
	// Output:
	// k-anonymity, k = 5 over age, sex; distinct 2-diversity of illness
	// {"model":"k-anonymity","k":5,"quasi_identifiers":["age","sex"],"diversity":[{"column":"illness","model":"distinct","l":2}]} <nil>
	// differential privacy, epsilon = 0.5, delta = 0.000000001, neighbours add-remove of one record
	// {"model":"differential privacy","epsilon":0.5,"delta":1e-9,"neighbours":"add-remove","unit":"record"} <nil>
}
