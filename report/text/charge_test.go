package text_test

import (
	"encoding/json"
	"testing"

	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report/text"
)

// An entry of each mechanism is said in words, by what the ledger holds of it.
func TestCharged(t *testing.T) {
	for _, c := range []struct{ mechanism, english, japanese string }{
		{
			`{"mechanism":{"name":"query.mean","parameters":{"query":"mean","column":"age","by":["ward","sex"],"where":"age >= 65","bounds":{"lo":0,"hi":110}}}}`,
			"Mean of age by ward, sex, where age >= 65", "age の平均（ward, sex 別）、条件 age >= 65",
		},
		{`{"name":"query.count","parameters":{"query":"count","bins":[1,2]}}`, "Number of records", "レコードの件数"},
		{`{"mechanism":{"name":"query.quantile","parameters":{"column":"age","rank":"0.9"}}}`, "0.9-quantile of age", "age の 0.9 分位点"},
		{`{"mechanism":{"name":"query.edges","parameters":{"column":"age","count":1,"bounds":null}}}`, "Edges of 1 bin of age", "age の 1 区間の境界"},
		{
			`{"mechanism":{"name":"outlier.count","parameters":{"axes":[{"column":"x"},{"column":"y"}],"step":0.1,"radius_squared_steps":900,"k":5,"noise":{"p":7}}}}`,
			"Number of records with fewer than 5 others within 3 in x, y", "",
		},
		{
			`{"mechanism":{"name":"ratio.weights","parameters":{"histograms":[{"axes":[{"name":"age"},{"name":"sex"}]},{"axes":[{"name":"age"}]}]}}}`,
			"Weights of a public table, by age, sex", "公開の表の重み（age, sex による）",
		},
		{
			`{"mechanism":{"name":"ratio.check","parameters":{"axes":[{"column":"age"}]}}}`, "Check of the weights of a public table, by age",
			"公開の表の重みの検査（age による）",
		},
		{
			`{"mechanism":{"name":"ratio.estimate","parameters":{"fit":{"axes":[{"column":"age"}]},"figure":{"of":"mean","column":"cost"}}}}`,
			"Mean of cost, estimated from a public table weighted by age", "",
		},
		{
			`{"mechanism":{"name":"correlated.answer","parameters":{"query":{"count":"on"},"column":"state"}}}`,
			"Number of records in state on, under the model of dependent records", "",
		},
		{
			`{"mechanism":{"name":"ldp.randomize","parameters":{"columns":["diet","sport"],"mechanism":"grr"}}}`,
			"Randomised reports of diet, sport", "diet, sport の確率化した報告",
		},
		{`{"mechanism":{"name":"example.adults","parameters":{"x":1}}}`, "Answer of the mechanism example.adults", "機構 example.adults の答え"},
		{`{}`, "", ""},
		{`null`, "", ""},
		{`"recovered"`, "", ""},
	} {
		said, ok := text.Charged(json.RawMessage(c.mechanism))
		if ok != (c.english != "") || ok && said.In(lang.English).Text != c.english {
			t.Errorf("%s: %q, %v", c.mechanism, said.In(lang.English).Text, ok)
		}
		if got := said.In(lang.Japanese).Text; c.japanese != "" && got != c.japanese {
			t.Errorf("%s: %q", c.mechanism, got)
		}
	}
}
