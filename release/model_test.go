package release_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/table"
)

// A data set under a model prices every query of the model's column, and refuses
// what the model says nothing of.
func TestUnderModel(t *testing.T) {
	tables := map[string]struct {
		states []string
		model  string
	}{
		"same": {[]string{"0", "1"}, `{"type":"table","shape":[2,2],"p":[0.4,0.1,0.1,0.4]}`},
		// Record 1 has two states and record 2 three: a cell 2 of record 1 is in no
		// state that the model knows, and a count of 2 would read it.
		"own": {[]string{"0", "1", "2"}, `{"type":"table","shape":[2,3],"p":[0.2,0.1,0.1,0.1,0.1,0.4]}`},
	}
	d := open(t, 1000, ledger.Options{})
	for name, c := range tables {
		path := filepath.Join(d.dir, name+".csv")
		if err := os.WriteFile(path, []byte(name+",other\n1,a\n2,b\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		def, err := (&dataset.Definition{
			Columns: []dataset.Column{{Name: name}, {Name: "other"}}, Neighbours: "replace-one", Records: 2,
			Model: &dataset.Model{Column: name, States: c.states, Distribution: json.RawMessage(c.model)},
		}).Complete()
		if err != nil {
			t.Fatal(err)
		}
		reviewed, err := release.ReviewGrant(t.Context(), d.ledger, release.Candidate{Path: path, Definition: def})
		if err == nil {
			_, err = release.ConfirmGrant(t.Context(), d.ledger, release.Grant{
				Name: name, Cap: account.Cost{Epsilon: 10_000 * milli, Delta: 1},
				OtherPeople: true,
			}, reviewed)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []struct {
			what  string
			field table.Field
			delta int64
			code  string
		}{
			{
				"the model's column",
				table.Field{Name: name, Type: table.Ordered, Levels: c.states},
				0,
				map[string]string{"own": release.CodeModel}[name],
			},
			{"another column", table.Field{Name: "other"}, 0, release.CodeModel},
			{"a delta", table.Field{Name: name, Type: table.Ordered, Levels: c.states}, 1, release.CodeModel},
		} {
			m := ask(100)
			m.fields, m.cost.Delta = []table.Field{q.field}, q.delta
			request := d.request(t, m)
			request.Dataset = d.find(t, name)
			quote, err := release.Price(t.Context(), &request)
			if noren.CodeOf(err) != q.code {
				t.Errorf("%s, %s: %v", name, q.what, err)
			}
			if err == nil && quote.Cost.Epsilon <= 100*milli {
				t.Errorf("%s, %s: costs %s, no more than without dependence", name, q.what, quote.Cost)
			}
		}
	}
}
