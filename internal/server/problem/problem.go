// Package problem makes the error bodies of the server's HTTP interface (RFC 9457).
//
// A body never holds a cell's value, a path of the host, SQL or a stack: texts come from
// errors of type [*noren.Error] alone, and a file, which is an argument of type [noren.File] there, is
// shown by its last part.
package problem

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/limit"
	"github.com/noren-privacy/noren/internal/server/spoken"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/spec"
)

// Problem is an error body.
type Problem struct {
	Type      string  `json:"type" doc:"The page that explains the code: /problems/CODE."`
	Title     string  `json:"title" doc:"What the code means, in one sentence."`
	Status    int     `json:"status" doc:"The HTTP status."`
	Detail    string  `json:"detail" doc:"What is wrong with this request."`
	Code      string  `json:"code" doc:"The name of the fault, stable between versions."`
	Hint      string  `json:"hint,omitempty" doc:"What to do about it."`
	Where     string  `json:"where,omitempty" doc:"The field, file or column that the fault is about."`
	Errors    []Fault `json:"errors,omitempty" nullable:"false" doc:"Each fault of the request, where there are several."`
	RequestID string  `json:"request_id" doc:"The id of the request in the audit log; that of the answer where a paid question has none."`
	// The rest is about requests that a budget does not cover.
	Account  string       `json:"account,omitempty" doc:"Whose budget does not cover the request: the name of the principal or of the table."`
	Asked    *api.Amount  `json:"asked,omitempty" doc:"What the request would have cost."`
	Left     *api.Amount  `json:"left,omitempty" doc:"What is left."`
	Short    *api.Amount  `json:"short,omitempty" doc:"What is missing."`
	FitsWith []api.Change `json:"fits_with,omitempty" nullable:"false" doc:"Changes by which the cost would fit."`
	// RetryAfter is the value of the header of that name, in seconds; 0 for none.
	RetryAfter int `json:"-"`
	// Lang is the language of its texts. Defaults to English.
	Lang lang.Lang `json:"-"`
	// said and advice are Detail and Hint before they were shown, and place is Where where it is a text.
	said, advice, place noren.Text
}

// In is the problem in a language: its title, detail and hint, and what is wrong in each
// place. Code, amounts, and fields and pointers of the request are the same in every language.
func (p *Problem) In(l lang.Lang) *Problem {
	if l == p.Lang || p.Lang != lang.English {
		return p
	}
	out := *p
	out.Lang, out.Title, out.Detail, out.Hint = l, l.Foreign(p.Title), shown(l, p.said, p.Detail), shown(l, p.advice, p.Hint)
	if !p.place.IsZero() {
		out.Where = l.Shown(p.place)
	}
	out.FitsWith = spoken.In(l, p.FitsWith)
	out.Errors = slices.Clone(p.Errors)
	for i := range p.Errors {
		out.Errors[i].Detail = p.Errors[i].In(l)
		if at := p.Errors[i].place; !at.IsZero() {
			out.Errors[i].Pointer = l.Shown(at)
		}
	}
	return &out
}

// DetailIn is the detail in a language.
func (p *Problem) DetailIn(l lang.Lang) string { return p.In(l).Detail }

// shown is a text in a language. One that an earlier version stored is known by its English alone.
func shown(l lang.Lang, t noren.Text, english string) string {
	switch {
	case l == lang.English:
		return english
	case t.IsZero():
		return l.Foreign(english)
	}
	return l.Shown(t)
}

// texts are what a problem and its faults say, as they are stored beside the problem.
type texts struct {
	Detail noren.Whole   `json:"detail"`
	Hint   noren.Whole   `json:"hint"`
	Where  *noren.Whole  `json:"where,omitempty"`
	Errors []noren.Whole `json:"errors,omitempty"`
	Places []noren.Whole `json:"places,omitempty"` // of the errors, in their order
}

// Texts are the texts of the problem with their arguments, to be stored beside its JSON.
func (p *Problem) Texts() json.RawMessage {
	kept := texts{Detail: noren.Whole(p.said), Hint: noren.Whole(p.advice)}
	for i := range p.Errors {
		kept.Errors = append(kept.Errors, noren.Whole(p.Errors[i].said))
		kept.Places = append(kept.Places, noren.Whole(p.Errors[i].place))
	}
	if !p.place.IsZero() {
		kept.Where = (*noren.Whole)(&p.place)
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return nil
	}
	return text
}

// Said is a problem that was stored in English, in a language. kept are its [Problem.Texts]; nil for one that an
// earlier version stored.
func Said(stored, kept json.RawMessage, l lang.Lang) json.RawMessage {
	var p Problem
	if l == lang.English || json.Unmarshal(stored, &p) != nil || p.Code == "" {
		return stored
	}
	var t texts
	if kept != nil && json.Unmarshal(kept, &t) == nil {
		p.said, p.advice = noren.Text(t.Detail), noren.Text(t.Hint)
		for i := range min(len(p.Errors), len(t.Errors)) {
			p.Errors[i].said = noren.Text(t.Errors[i])
		}
		for i := range min(len(p.Errors), len(t.Places)) {
			p.Errors[i].place = noren.Text(t.Places[i])
		}
		if t.Where != nil {
			p.place = noren.Text(*t.Where)
		}
	}
	text, err := json.Marshal(p.In(l))
	if err != nil {
		return stored
	}
	return text
}

// Fault is one of several faults of a request.
type Fault struct {
	Pointer string `json:"pointer" doc:"The place in the request, as a JSON pointer or the name of a parameter; a place within a text or a table is in words, in the language of the reply."`
	Detail  string `json:"detail" doc:"What is wrong there."`
	// said is Detail before it was shown, and place is Pointer where it is a text.
	said, place noren.Text
}

// At is a fault at a place of a request.
func At(pointer string, t noren.Text) Fault {
	return Fault{Pointer: pointer, Detail: t.String(), said: t}
}

// at is a fault where an error is.
func at(e *noren.Error, t noren.Text) Fault {
	f := At("", t)
	f.Pointer, f.place = where(e)
	return f
}

// In is the detail in a language.
func (f *Fault) In(l lang.Lang) string { return shown(l, f.said, f.Detail) }

// Error implements error.
func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// GetStatus returns the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is the media type of the body.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// GetHeaders returns the headers that go with the body.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{"Content-Language": {p.Lang.String()}, "Vary": {"Accept-Language"}}
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	return h
}

// Write sends p.
func (p *Problem) Write(w http.ResponseWriter) {
	for name, values := range p.GetHeaders() {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", p.ContentType(""))
	w.Header().Del("Content-Length")
	w.Header().Del("Content-Disposition")
	w.WriteHeader(p.Status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(true)
	_ = enc.Encode(p) // the client has gone if this fails
}

// New is a problem of a code of this package or of the library. Another code gives
// "internal". Without a detail it says what the code means.
func New(code string, detail noren.Format, args ...any) *Problem {
	c, ok := Explain(code)
	if !ok {
		c, _ = lookUp("internal")
	}
	if detail == "" {
		detail, args = c.Meaning, nil
	}
	p := &Problem{Type: "/problems/" + c.Name, Title: string(c.Meaning), Status: c.Status, Code: c.Name}
	return p.Saying(noren.Textf(detail, args...))
}

// NotFound is the one body for objects that do not exist and objects on which the
// principal has no role.
func NotFound() *Problem { return New("not-found", "") }

// Hinted sets what to do about the problem, and returns the problem.
func (p *Problem) Hinted(hint noren.Format, args ...any) *Problem {
	return p.advised(noren.Textf(hint, args...))
}

func (p *Problem) advised(t noren.Text) *Problem {
	p.advice, p.Hint = t, t.String()
	return p
}

// Saying sets the detail, and returns the problem.
func (p *Problem) Saying(t noren.Text) *Problem {
	p.said, p.Detail = t, t.String()
	return p
}

// SayingOf sets the detail to that of the problem that an error is, and returns the problem.
func (p *Problem) SayingOf(err error) *Problem { return p.Saying(From(err).said) }

// AsFault is the problem as the fault of a place.
func (p *Problem) AsFault() Fault { return Fault{p.Where, p.Detail, p.said, p.place} }

// From is the problem that an error is: itself where it is one, and by code and kind
// where it is a [*noren.Error]. Of any other error only its occurrence is said.
func From(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	var faults spec.Faults
	if errors.As(err, &faults) && len(faults) > 0 {
		out := of(faults[0])
		for _, f := range faults {
			out.Errors = append(out.Errors, at(f, f.Said().WithoutFolders()))
		}
		return out
	}
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return New("too-large", "expected at most %d bytes", tooLarge.Limit)
	}
	var slow limit.SlowError
	if errors.As(err, &slow) {
		return New("slow", "")
	}
	var broken limit.BrokenError
	if errors.As(err, &broken) {
		return New("malformed", "")
	}
	var e *noren.Error
	if !errors.As(err, &e) {
		if noren.KindOf(err) == noren.Interrupted {
			return New("unavailable", "The request was interrupted.")
		}
		return New("internal", "")
	}
	out := of(e)
	var several interface{ Unwrap() []error }
	if errors.As(err, &several) {
		for _, one := range several.Unwrap() {
			var f *noren.Error
			if errors.As(one, &f) {
				out.Errors = append(out.Errors, at(f, chain(f)))
			}
		}
	}
	return out
}

// of is the problem of one error.
func of(e *noren.Error) *Problem {
	kind := noren.KindOf(e)
	general := New(ofKind(kind), "")
	if kind == noren.Internal && noren.CodeOf(e) == "" {
		return general // its text may be of the host
	}
	out := general
	if code := noren.CodeOf(e); code != "" {
		out.Code, out.Type = code, "/problems/"+code
		if m, ok := Explain(code); ok {
			out.Title = string(m.Meaning)
			out.Status = m.Status
		}
	}
	out.Where, out.place = where(e)
	return out.Saying(chain(e)).advised(hint(e))
}

// ofKind is the code of errors of a kind that have no code of their own.
func ofKind(k noren.Kind) string {
	switch k {
	case noren.Usage:
		return "invalid"
	case noren.BadData:
		return "unfit"
	case noren.NotMet:
		return "guarantee-not-met"
	case noren.Refused:
		return "refused"
	case noren.Interrupted:
		return "unavailable"
	default:
		return "internal"
	}
}

// chain is what e and the errors of its kind below it say, one after the other. Errors of other types, which
// may quote the system, are left out.
func chain(e *noren.Error) noren.Text {
	var said noren.Place
	for e != nil {
		if e.What != "" {
			said = append(said, e.Said().WithoutFolders())
		}
		var next *noren.Error
		if e.Err == nil || !errors.As(e.Err, &next) {
			break
		}
		e = next
	}
	switch len(said) {
	case 0:
		return New(ofKind(noren.Internal), "").said
	case 1:
		if one, ok := said[0].(noren.Text); ok {
			return one
		}
	}
	return noren.Textf("%s", said)
}

// where is the place of an error, with the last part of a file alone, and as a text where it is no name.
func where(e *noren.Error) (string, noren.Text) {
	at := noren.WithoutFolders(e.Where)
	english := (&noren.Error{Where: at}).Place()
	switch at.(type) {
	case nil, string, noren.File:
		return english, noren.Text{}
	}
	return english, noren.Textf("%s", at)
}

// hint is the outermost hint.
func hint(e *noren.Error) noren.Text {
	for e != nil {
		if e.Hint != "" {
			return e.Advice().WithoutFolders()
		}
		var next *noren.Error
		if e.Err == nil || !errors.As(e.Err, &next) {
			break
		}
		e = next
	}
	return noren.Text{}
}

// Code is an error code of the HTTP interface.
type Code struct {
	Name    string
	Status  int
	Meaning noren.Format
}

// codes are those that are not codes of the library, sorted by name.
var codes = []Code{
	{
		"asking-ended", http.StatusForbidden,
		"The paid questions of the principal in this book have ended, because one of them took longer than its bound.",
	},
	{"conflict", http.StatusConflict, "The request conflicts with another request or with the state of the object."},
	{"cross-site", http.StatusForbidden, "The request was sent by a page of another site."},
	{"forbidden", http.StatusForbidden, "The principal's role does not allow this request."},
	{"guarantee-not-met", http.StatusUnprocessableEntity, "A guarantee that was asked for does not hold."},
	{"host", http.StatusMisdirectedRequest, "The server does not serve the host name of the request."},
	{"internal", http.StatusInternalServerError, "The server failed; its own log has the reason."},
	{"invalid", http.StatusUnprocessableEntity, "The request contains what the interface does not allow."},
	{"link-unusable", http.StatusNotFound, "The sign-in link is unknown, used or expired."},
	{
		"malformed", http.StatusBadRequest,
		"The request cannot be read: its body ended early, its encoding is not that of HTTP, or a header is stated twice.",
	},
	{"media-type", http.StatusUnsupportedMediaType, "The body of the request has another media type than the interface expects."},
	{"method", http.StatusMethodNotAllowed, "The address does not support the method of the request."},
	{"not-found", http.StatusNotFound, "There is no such object, or the principal has no role on it."},
	{"precondition", http.StatusPreconditionFailed, "The object has changed since it was read; If-Match names another state."},
	{"precondition-required", http.StatusPreconditionRequired, "A change needs the header If-Match with the ETag of the object."},
	{"quote-expired", http.StatusGone, "The quote is older than 15 minutes."},
	{"quote-outdated", http.StatusConflict, "The schema of the book has changed since the quote was made."},
	{"range", http.StatusRequestedRangeNotSatisfiable, "The range of the request does not continue what the server has."},
	{"refused", http.StatusConflict, "The request does not fit the privacy budget or the grants of the data set."},
	{"sealed", http.StatusServiceUnavailable, "The server is sealed: it answers reading requests and refuses changes and releases."},
	{"slow", http.StatusRequestTimeout, "The body of the request arrived too slowly."},
	{
		"too-large", http.StatusRequestEntityTooLarge,
		"The body of the request or a file is larger than the limit, or reading it takes more memory than is allowed.",
	},
	{"too-many", http.StatusTooManyRequests, "The principal or the address has sent too many requests."},
	{"unauthenticated", http.StatusUnauthorized, "The request needs a session or a token that is valid."},
	{"unavailable", http.StatusServiceUnavailable, "The server cannot do this now."},
	{"unfit", http.StatusUnprocessableEntity, "The data is not what the request needs."},
}

func lookUp(name string) (Code, bool) {
	i, ok := slices.BinarySearchFunc(codes, name, func(c Code, name string) int { return strings.Compare(c.Name, name) })
	if !ok {
		return Code{}, false
	}
	return codes[i], true
}

// Explain returns the status and the meaning of a code of the interface or the library.
func Explain(name string) (Code, bool) {
	if c, ok := lookUp(name); ok {
		return c, true
	}
	c, ok := noren.CodeNamed(name)
	if !ok {
		return Code{}, false
	}
	general, _ := lookUp(ofKind(c.Kind))
	return Code{c.Name, general.Status, c.Meaning}, true
}
