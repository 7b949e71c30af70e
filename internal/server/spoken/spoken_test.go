package spoken_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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
	if got := spoken.JSON[[]api.Message](lang.Japanese, stored); string(got) != want {
		t.Errorf("%s", got)
	}
	if got := spoken.JSON[[]api.Message](lang.English, stored); string(got) != string(stored) {
		t.Errorf("%s", got)
	}
	if got := spoken.JSON[[]api.Message](lang.Japanese, []byte("{")); string(got) != "{" {
		t.Errorf("%s", got)
	}
}
