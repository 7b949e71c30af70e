package server

import (
	"context"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/server/audit"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
)

// Filtering are the filters of the audit log.
type Filtering struct {
	Actor   string    `query:"actor" maxLength:"64" doc:"Entries of this actor."`
	Action  string    `query:"action" maxLength:"64" doc:"Entries of this action."`
	Object  string    `query:"object" maxLength:"64" doc:"Entries about this object."`
	Outcome string    `query:"outcome" maxLength:"64" doc:"Entries with this outcome."`
	From    time.Time `query:"from" doc:"Entries from this time on, RFC 3339."`
	To      time.Time `query:"to" doc:"Entries before this time, RFC 3339."`
}

func (f *Filtering) filter() *audit.Filter {
	text := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	return &audit.Filter{Actor: f.Actor, Action: f.Action, Object: f.Object, Outcome: f.Outcome, From: text(f.From), To: text(f.To)}
}

type auditInput struct {
	Listing
	Filtering
}

type auditCheckBody struct {
	Sound   bool   `json:"sound" doc:"The log continues its chain from the first entry to the head."`
	Entries int64  `json:"entries" doc:"How many entries were found sound."`
	Head    string `json:"head" doc:"The hash of the last of them, in hexadecimal."`
	Reason  string `json:"reason,omitempty" doc:"What is wrong."`
}

// registerAudit adds the audit log: for stewards and auditors of all objects.
func (s *Server) registerAudit(api huma.API, mux *http.ServeMux) {
	readers := []auth.Role{auth.Steward, auth.Auditor}
	register(s, api, op("GET", "/audit", "The audit log, the newest entry first"), access{roles: readers}, s.listAudit)
	register(s, api, op("GET", "/audit/check", "Check the audit log from its first entry"), access{roles: readers}, s.checkAudit)
	export := op("GET", "/audit/export", "The audit log as JSON lines with a signed head")
	export.Parameters = filterParameters()
	export.Responses = map[string]*huma.Response{"200": {
		Description: "One JSON object a line, the oldest entry first; of an entry that the filters leave out its number and hash. The last " +
			"line states the head and is signed.",
		Content: map[string]*huma.MediaType{"application/jsonl": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	s.handle(api, mux, export, access{roles: []auth.Role{auth.Auditor, auth.Steward}, action: "audit.export"}, s.exportAudit)
}

// filterParameters documents the filters for the plain route.
func filterParameters() (all []*huma.Param) {
	all = []*huma.Param{
		{Name: "actor", Description: "Entries of this actor."},
		{Name: "action", Description: "Entries of this action."},
		{Name: "object", Description: "Entries about this object."},
		{Name: "outcome", Description: "Entries with this outcome."},
		{Name: "from", Description: "Entries from this time on, RFC 3339."},
		{Name: "to", Description: "Entries before this time, RFC 3339."},
	}
	for _, p := range all {
		p.In, p.Schema = "query", &huma.Schema{Type: huma.TypeString}
		if p.Name == "from" || p.Name == "to" {
			p.Schema.Format = "date-time"
		}
	}
	return all
}

// auditPage is a page of the audit log, with the names of what its entries are about.
type auditPage struct {
	Items []audit.Item       `json:"items" nullable:"false" doc:"The items of this page."`
	Next  string             `json:"next,omitempty" doc:"The value of after for the next page; absent on the last page."`
	Named []store.ObjectName `json:"named" nullable:"false" doc:"What people call the objects whose ids are in the entries, in the order of the entries. One whose name is not known is absent."`
}

func (s *Server) listAudit(ctx context.Context, _ *call, in *auditInput) (*output[auditPage], error) {
	at, err := in.position()
	if err != nil {
		return nil, err
	}
	before := int64(0)
	if at != "" {
		if before, err = strconv.ParseInt(at, 10, 64); err != nil || before < 1 {
			return nil, problem.New("invalid", "expected the value of next of an earlier page")
		}
	}
	items, more, err := s.audit.Page(ctx, in.filter(), before, in.Limit)
	if err != nil {
		return nil, err
	}
	out := auditPage{Items: append([]audit.Item{}, items...)}
	if more {
		out.Next = cursor(strconv.FormatInt(items[len(items)-1].N, 10))
	}
	var ids []string
	for i := range items {
		ids = append(ids, items[i].IDs()...)
	}
	known, err := s.store.Names(ctx, ids)
	if err != nil {
		return nil, err
	}
	out.Named = []store.ObjectName{}
	for _, id := range ids {
		if n, ok := known[id]; ok {
			out.Named = append(out.Named, n)
			delete(known, id)
		}
	}
	return &output[auditPage]{out}, nil
}

func (s *Server) checkAudit(ctx context.Context, _ *call, _ *empty) (*output[auditCheckBody], error) {
	n, head, err := s.audit.Check(ctx)
	out := auditCheckBody{Sound: err == nil, Entries: n, Head: hex.EncodeToString(head[:])}
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out.Reason = problem.From(err).DetailIn(languageOf(ctx))
		if noren.KindOf(err) == noren.NotMet { // and not a disk that is full for a time
			s.setSealed("The audit log is damaged: the server answers reading requests alone.")
		}
	}
	return &output[auditCheckBody]{out}, nil
}

func (s *Server) exportAudit(w http.ResponseWriter, r *http.Request, c *call) error {
	f := Filtering{Actor: r.FormValue("actor"), Action: r.FormValue("action"), Object: r.FormValue("object"), Outcome: r.FormValue("outcome")}
	for name, to := range map[string]*time.Time{"from": &f.From, "to": &f.To} {
		if text := r.FormValue(name); text != "" {
			t, err := time.Parse(time.RFC3339, text)
			if err != nil {
				p := problem.New("invalid", "")
				p.Errors = []problem.Fault{problem.At(name, noren.Textf("expected a time, RFC 3339"))}
				return p
			}
			*to = t
		}
	}
	if err := s.audit.Damage(); err != nil {
		return problem.New("sealed", "").SayingOf(err)
	}
	key, err := s.signer()
	if err != nil {
		return problem.New("sealed", sealKeyGone)
	}
	// The export holds the entry about itself.
	if err := s.record(r.Context(), c, &access{action: "audit.export"}, nil); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/jsonl")
	w.Header().Set("Content-Disposition", `attachment; filename="audit.jsonl"`)
	if err := s.audit.Export(r.Context(), w, f.filter(), key, s.namesOf); err != nil {
		s.cfg.Log.Error("an export of the audit log ended early", "request", c.requestID, "error", err)
		panic(http.ErrAbortHandler) // the client sees that the file is not whole
	}
	return nil
}

// namesOf are the names of objects by their ids.
func (s *Server) namesOf(ctx context.Context, ids []string) (map[string]string, error) {
	named, err := s.store.Names(ctx, ids)
	out := make(map[string]string, len(named))
	for id, n := range named {
		out[id] = n.Name
	}
	return out, err
}
