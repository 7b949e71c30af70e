package server

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/server/auth"
)

// A body of many faults gets a short reply without a look at each; one of few faults still has
// all of them.
func TestBodiesOfManyFaults(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	token := r.token(t, "Ito", auth.Steward, auth.Everything)
	many := func(n int) []int { return make([]int, n) }
	names := map[string]int{}
	for i := range 20_000 {
		names[strings.Repeat("k", 1+i%40)+string(rune('a'+i/40%26))+string(rune(0x4e00+i/1040))] = i
	}
	for name, c := range map[string]struct {
		path   string
		body   any
		faults int // -1: at least one
		detail string
	}{
		"many items": {
			"/quotes",
			map[string]any{"book": "b", "questions": many(200_000), "pay": []any{}},
			0,
			"The request has more than 100 faults.",
		},
		"many names": {"/uploads", names, 0, "The request has more than 100 faults."},
		"many nested items": {"/quotes", map[string]any{
			"book": "b", "questions": []any{map[string]any{"kind": "count", "by": many(200_000)}},
			"pay": []any{},
		}, 0, "The request has more than 100 faults."},
		"names in capitals": {
			"/quotes",
			map[string]any{"book": "b", "QUESTIONS": many(200_000), "pay": []any{}},
			2,
			"The request contains what the interface does not allow.",
		},
		"nested capitals": {"/quotes", map[string]any{
			"book": "b", "questions": []any{map[string]any{"kind": "count", "BY": many(200_000)}},
			"pay": []any{},
		}, 1, "The request contains what the interface does not allow."},
		"a few": {"/uploads", map[string]any{"name": "", "size": 0}, 2, "The request contains what the interface does not allow."},
		"a long name": {
			"/uploads",
			map[string]any{strings.Repeat("長", 100_000): 0, "name": "a.csv", "size": 1},
			1,
			"The request contains what the interface does not allow.",
		},
		"a long name, nested": {
			"/tables",
			map[string]any{"source": map[string]any{"kind": "upload", strings.Repeat("長", 100_000): 0}},
			-1,
			"The request contains what the interface does not allow.",
		},
	} {
		var p struct {
			Detail string
			Errors []struct{ Pointer, Detail string }
		}
		a := r.ask(t, "POST", "/api/v1"+c.path, token, c.body, nil)
		a.decode(t, &p)
		if a.status != 422 || len(a.body) > 4000 || p.Detail != c.detail || c.faults >= 0 && len(p.Errors) != c.faults || c.faults < 0 &&
			len(p.Errors) == 0 {
			t.Errorf("%s: %d, %d bytes, %d faults: %.400s", name, a.status, len(a.body), len(p.Errors), a.body)
		}
	}
}

// A body is refused in which a field is stated more than once, also in other letters: the
// schema would be checked of one of them, and another one would count.
func TestFieldsStatedTwice(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	token := r.token(t, "Ito", auth.Steward, auth.Everything)
	count := `{"kind":"count"}`
	many := "[" + strings.Repeat(count+",", 30) + count + "]"
	for name, c := range map[string]struct{ path, body string }{
		"other letters":         {"/quotes", `{"book":"b","questions":[` + count + `],"pay":[],"Questions":` + many + `}`},
		"other letters, nested": {"/quotes", `{"book":"b","questions":[{"kind":"count","k":1,"K":-1}],"pay":[]}`},
		"other letters alone":   {"/quotes", `{"book":"b","QUESTIONS":[` + count + `],"pay":[]}`},
		"twice":                 {"/quotes", `{"book":"b","questions":` + many + `,"questions":[` + count + `],"pay":[]}`},
		"twice, nested": {
			"/quotes", `{"book":"b","questions":[{"kind":"count","margin":{"within":-1,"at":"2"},"margin":{"within":1}}],"pay":[]}`,
		},
		"twice, as escapes":   {"/quotes", `{"book":"b","questions":[{"kind":"count","k":-1,"\u006b":1}],"pay":[]}`},
		"paid":                {"/answers", `{"quote":"q","most":{"epsilon":"1"},"most":{"epsilon":"2"}}`},
		"paid, other letters": {"/answers", `{"quote":"q","most":{"epsilon":"1"},"MOST":{"epsilon":"2"}}`},
	} {
		a := r.ask(t, "POST", "/api/v1"+c.path, token, json.RawMessage(c.body), func(r *http.Request) { r.Header.Set("Idempotency-Key", name) })
		if a.status != 422 {
			t.Errorf("%s: %d: %.400s", name, a.status, a.body)
		}
	}
}
