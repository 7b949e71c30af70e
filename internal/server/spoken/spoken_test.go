package spoken_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/spoken"
	"github.com/noren-privacy/noren/lang"
)

type inner struct {
	One   *api.Message
	Many  []api.Message
	Named map[string]api.Message
	Self  []*inner
	Two   [2]api.Message
	Cells []string
	Any   any
}

// All messages are said, wherever they are; the value itself, which others may hold, stays as it is.
func TestIn(t *testing.T) {
	stored := api.Say("table-reading", nil)
	make := func(m api.Message, unknown string) *inner {
		return &inner{
			One: &m, Many: []api.Message{m, {Code: "none", Text: unknown}}, Named: map[string]api.Message{"a": m}, Two: [2]api.Message{m, m},
			Cells: []string{stored.Text}, Any: stored.Text,
			Self: []*inner{{One: &m}, nil},
		}
	}
	value := make(stored, "unknown of all")
	said := spoken.In[any](lang.Japanese, value)
	japanese := stored
	japanese.Text = "表を読み取っています。"
	if diff := cmp.Diff(any(make(japanese, "unknown of all（原文）")), said); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(make(stored, "unknown of all"), value); diff != "" {
		t.Errorf("the value was changed: %s", diff)
	}
	if got := spoken.In(lang.English, value); got != value {
		t.Error("a copy in English")
	}
}

// A stored document is said by its codes, and one that is none is left as it is.
func TestJSON(t *testing.T) {
	stored := []byte(`[{"code":"hierarchy-uncovered","text":"x","args":{"column":"a (b)","uncovered":3,"values":1200}}]`)
	want := `[{"code":"hierarchy-uncovered","text":"列 a (b) の値 1,200 個のうち 3 個が階層にありません。","args":{"column":"a (b)","uncovered":3,"values":1200}}]`
	if got := spoken.JSON[[]api.Message](lang.Japanese, stored, nil); string(got) != want {
		t.Errorf("%s", got)
	}
	if got := spoken.JSON[[]api.Message](lang.English, stored, nil); string(got) != string(stored) {
		t.Errorf("%s", got)
	}
	if got := spoken.JSON[[]api.Message](lang.Japanese, []byte("{"), nil); string(got) != "{" {
		t.Errorf("%s", got)
	}
}

// An argument that is a text is stored beside its English, with its own arguments, so that a name in it is the same in
// every language. Without it, as an earlier version stored, the English is shown and marked.
func TestTexts(t *testing.T) {
	type check struct{ Found []api.Message }
	fault := noren.Textf("sheet %s, row %d", "none", 3)
	value := &check{[]api.Message{api.Say("table-reading", nil), api.Say("ledger-fault", map[string]any{"fault": fault})}}
	stored, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	in := func(texts json.RawMessage) string {
		var said check
		if err := json.Unmarshal(spoken.JSON[check](lang.Japanese, stored, texts), &said); err != nil {
			t.Fatal(err)
		}
		if said.Found[1].Args["fault"] != fault.String() {
			t.Errorf("the arguments are %v", said.Found[1].Args)
		}
		return said.Found[1].Text
	}
	want := lang.Japanese.Shown(fault)
	if got := in(spoken.Texts(value)); !strings.Contains(got, ": "+want+"。") || strings.Contains(got, "sheet") {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := in(nil), fault.String()+"（原文）"; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if texts := spoken.Texts(&check{value.Found[:1]}); texts != nil {
		t.Errorf("texts of messages without any: %s", texts)
	}
	if said := spoken.In(lang.Japanese, struct{ Why noren.Text }{noren.Textf("column %s", "none")}); said.Why.String() != "列 none" {
		t.Error(said.Why.String())
	}
}
