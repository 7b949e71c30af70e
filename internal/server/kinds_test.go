package server

import (
	"net/http"
	"slices"
	"testing"

	"github.com/noren-privacy/noren/kinds"
)

// kindsBody is what /question-kinds answers, as far as it is looked at.
type kindsBody struct {
	Items []struct {
		Kind string `json:"kind"`
		Text struct {
			Text string `json:"text"`
		} `json:"text"`
		Fields []struct {
			Name    string   `json:"name"`
			Choices []string `json:"choices"`
		} `json:"fields"`
		Noises []string `json:"noises"`
	} `json:"items"`
}

func (b *kindsBody) names() []string {
	var out []string
	for i := range b.Items {
		out = append(out, b.Items[i].Kind)
	}
	return out
}

func (b *kindsBody) choices(kind, field string) []string {
	for i := range b.Items {
		for _, f := range b.Items[i].Fields {
			if b.Items[i].Kind == kind && f.Name == field {
				return f.Choices
			}
		}
	}
	return nil
}

// All kinds are listed; of a book those that can be asked of it, with the columns that fit. Who may not ask the
// book learns nothing of it.
func TestQuestionKinds(t *testing.T) {
	t.Parallel()
	_, a := opened(t, nil)
	var all, ja, own kindsBody
	a.ask(t, "GET", "/api/v1/question-kinds", a.secret, nil, nil).decode(t, &all)
	if !slices.Equal(all.names(), kinds.Names()) {
		t.Errorf("listed %v", all.names())
	}
	a.ask(t, "GET", "/api/v1/question-kinds", a.secret, nil, func(r *http.Request) { r.Header.Set("Accept-Language", "ja") }).decode(t, &ja)
	if ja.Items[0].Text.Text != "条件を満たすレコードの件数" {
		t.Errorf("in Japanese: %s", ja.Items[0].Text.Text)
	}
	a.ask(t, "GET", "/api/v1/question-kinds?book="+a.book.ID, a.secret, nil, nil).decode(t, &own)
	if slices.Contains(own.names(), "correlated") || slices.Contains(own.names(), "ratio") || !slices.Contains(own.names(), "mean") {
		t.Errorf("of a book without a model and a public table: %v", own.names())
	}
	if by := own.choices("count", "by"); !slices.Equal(by, []string{"city"}) {
		t.Errorf("groups by %v", by)
	}
	got := own.choices("mean", "column")
	if !slices.Contains(got, "height") {
		t.Errorf("means of %v", got)
	}
	for _, book := range []string{"bk_aaaaaaaaaaaaaaaa", "x"} {
		r := a.ask(t, "GET", "/api/v1/question-kinds?book="+book, a.secret, nil, nil)
		if r.status != 404 {
			t.Errorf("%s: %d", book, r.status)
		}
	}
}

// The kinds of a book name no mechanism that its budget cannot pay, and there are none where its table is deleted.
func TestQuestionKindsOfBudget(t *testing.T) {
	t.Parallel()
	for _, delta := range []string{"", "1e-4"} {
		r := start(t, func(c *Config) { c.RequestsPerSecond = -1 })
		s := r.steward(t)
		opening := smallBook(s.people(t, 60, "x").ID)
		if delta != "" {
			opening["delta"] = delta
		}
		a := s.opened(t, opening)
		var own kindsBody
		a.ask(t, "GET", "/api/v1/question-kinds?book="+a.book.ID, a.secret, nil, nil).decode(t, &own)
		for i := range own.Items {
			k := &own.Items[i]
			if needs := slices.Contains(k.Noises, "gaussian"); k.Kind != "quantile" && needs != (delta != "") {
				t.Errorf("delta %q, %s: %v", delta, k.Kind, k.Noises)
			}
		}
		table := s.table(t, a.book.Table)
		s.do(t, 204, "DELETE", "/tables/"+table.ID, nil, match(etag(table.Version)))
		var none kindsBody
		a.ask(t, "GET", "/api/v1/question-kinds?book="+a.book.ID, a.secret, nil, nil).decode(t, &none)
		if len(none.Items) > 0 {
			t.Errorf("of a deleted table: %v", none.names())
		}
	}
}
