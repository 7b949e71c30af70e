package server

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/spoken"
	"github.com/noren-privacy/noren/lang"
)

// speak says the messages of a reply in the language of its request. Problems were said before.
func (s *Server) speak(ctx huma.Context, _ string, v any) (any, error) {
	if _, said := v.(*problem.Problem); said || v == nil {
		return v, nil
	}
	l := languageOf(ctx.Context())
	for name, value := range spokenIn(l) {
		ctx.SetHeader(name, value)
	}
	return spoken.In(l, v), nil
}

// inLanguage is the parameter of a download that a link of the page asks for: the header of its request names the
// languages of the browser, not that of the page.
func inLanguage() *huma.Param {
	return &huma.Param{
		Name: "lang", In: "query", Description: "The language of the texts, en or ja. Defaults to that of the header Accept-Language.",
		Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"en", "ja"}},
	}
}

// downloadLanguage is the language of a download.
func downloadLanguage(r *http.Request) (lang.Lang, error) {
	named := r.URL.Query()["lang"]
	if len(named) == 0 {
		return languageOf(r.Context()), nil
	}
	l, ok := lang.Parse(named[0])
	if !ok || len(named) > 1 {
		return l, problem.New("invalid", "expected en or ja")
	}
	return l, nil
}

// spokenIn are the headers of a reply with texts in a language. Another request may get it in another.
func spokenIn(l lang.Lang) map[string]string {
	return map[string]string{"Content-Language": l.String(), "Vary": "Accept-Language"}
}

// setLanguage says in the header of a reply in which language its texts are.
func setLanguage(h http.Header, l lang.Lang) {
	for name, value := range spokenIn(l) {
		h.Set(name, value)
	}
}
