package release_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/table"
)

// A data set that an earlier version granted under a model that is longer than one may be now
// stays usable, and its cap can be raised. A new data set under such a model is refused.
func TestGrantedLongModel(t *testing.T) {
	const records = 4_200_000
	d := open(t, 1000, ledger.Options{})
	model := `{"P":[[0.9,0.1],[0.1,0.9]],"init":[0.5,0.5],"length":4200000,"type":"chain"}`
	if _, err := correlated.ParseModel(strings.NewReader(model), "model"); noren.KindOf(err) != noren.Usage {
		t.Fatalf("the model is not too long: %v", err)
	}
	path := filepath.Join(d.dir, "long.csv")
	if err := os.WriteFile(path, []byte("state\n0\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	def, err := (&dataset.Definition{
		Columns: []dataset.Column{{Name: "state"}}, Neighbours: "replace-one", Records: records,
		Model: &dataset.Model{Column: "state", States: []string{"0", "1"}, Distribution: json.RawMessage(model)},
	}).Complete()
	if err != nil {
		t.Fatal(err)
	}
	text, err := def.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	hash, err := def.Hash()
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.ledger.Grant(t.Context(), ledger.Grant{ // as earlier versions did
		Name: "long", Path: path, Cap: account.Cost{Epsilon: 1000 * milli}, Neighbours: def.Relation(), Unit: def.Unit, Definition: text,
		DefinitionHash: hash,
		Print:          "p", Prints: map[string]string{"state": "p"}, Size: 8, FixedOnceSpent: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	m := ask(100)
	m.fields = []table.Field{{Name: "state", Type: table.Ordered, Levels: []string{"0", "1"}}}
	request := d.request(t, m)
	request.Dataset = d.find(t, "long")
	if got := request.Dataset.Model().Model.Records(); got != records {
		t.Errorf("the model has %d records", got)
	}
	if _, err := release.Price(t.Context(), &request); err != nil {
		t.Error(err)
	}
	if _, err := d.ledger.Grant(t.Context(), ledger.Grant{Name: "long", Cap: account.Cost{Epsilon: 2000 * milli}}); err != nil {
		t.Error(err)
	}
	if err := release.Readable(t.Context(), d.ledger, def.Model); err != nil {
		t.Errorf("the model that the ledger holds: %v", err)
	}
	other := *def.Model
	other.Distribution = json.RawMessage(strings.Replace(model, "4200000", "4200001", 1))
	if err := release.Readable(t.Context(), d.ledger, &other); noren.KindOf(err) != noren.Usage ||
		!strings.Contains(err.Error(), "between 1 and 4194304 records") {
		t.Errorf("another long model: %v", err)
	}
}
