package service_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/service"
	"github.com/noren-privacy/noren/spec"
)

const peopleCSV = "age,city\n30,Nara\n31,Kobe\n40,Nara\n41,Kobe\n"

// stage is a service with its own folder, key and ledger, without a front end.
type stage struct {
	*service.Service
	dir   string
	key   ed25519.PrivateKey
	notes []api.Note
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{dir: t.TempDir()}
	s.key = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	s.Service = &service.Service{
		Ledger: filepath.Join(s.dir, "noren.db"),
		Signer: func() (ed25519.PrivateKey, error) { return s.key, nil },
		Trusted: func() ([]ed25519.PublicKey, error) {
			return []ed25519.PublicKey{s.key.Public().(ed25519.PublicKey)}, nil
		},
		Tool: certificate.Tool{Name: "noren", Version: "test"},
		Note: func(n api.Note) { s.notes = append(s.notes, n) },
	}
	return s
}

func (s *stage) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// grantedStage is a stage with a data set people of epsilon 1.
func grantedStage(t *testing.T) *stage {
	t.Helper()
	s := newStage(t)
	if err := s.LedgerCreate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.LedgerGrant(t.Context(), s.people(t)); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stage) people(t *testing.T) *api.LedgerGrantRequest {
	t.Helper()
	return &api.LedgerGrantRequest{Dataset: "people", Epsilon: "1", Table: &api.GrantTable{
		File: s.write(t, "people.csv", peopleCSV),
		Spec: &spec.Spec{Version: spec.Version, Columns: map[string]spec.Column{"age": {Type: "integer"}, "city": {Type: "category"}}},
	}}
}

func (s *stage) codes() string {
	var codes []string
	for _, n := range s.notes {
		codes = append(codes, n.Code)
	}
	return strings.Join(codes, " ")
}

// is checks kind, place and code of an error, and that it names no flag or command.
func is(t *testing.T, err error, kind noren.Kind, where, code string) {
	t.Helper()
	var e *noren.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, expected an error at %q", err, where)
	}
	if e.Kind != kind || e.Place() != where || noren.CodeOf(err) != code {
		t.Errorf("got %s at %q, code %q: %v; expected %s at %q, code %q", e.Kind, e.Place(), noren.CodeOf(err), err, kind, where, code)
	}
	if text := err.Error(); strings.Contains(text, "--") || strings.Contains(text, "noren ") {
		t.Errorf("the error names a flag or a command: %s", text)
	}
}

func TestLedgerCreate(t *testing.T) {
	s := newStage(t)
	if err := s.LedgerCreate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.LedgerCreate(t.Context()); err == nil {
		t.Error("a ledger was created over another")
	}
	out, err := s.LedgerShow(t.Context(), &api.LedgerShowRequest{})
	if err != nil || len(out.Datasets) != 0 || out.Sealed || out.Schema != api.LedgerSchema {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestLedgerGrantRaisesAndRefuses(t *testing.T) {
	s := grantedStage(t)
	ctx := t.Context()
	raised, err := s.LedgerGrant(ctx, &api.LedgerGrantRequest{Dataset: "people", Epsilon: "2"})
	if err != nil || raised.Cap.Epsilon != "2" || raised.Version != 1 || raised.Private != nil {
		t.Errorf("got %+v, %v", raised, err)
	}
	table := func(change func(*api.GrantTable)) *api.LedgerGrantRequest {
		r := s.people(t)
		r.Epsilon = "2"
		change(r.Table)
		return r
	}
	for name, c := range map[string]struct {
		request     *api.LedgerGrantRequest
		kind        noren.Kind
		where, code string
	}{
		"no epsilon":    {&api.LedgerGrantRequest{Dataset: "people"}, noren.Usage, "epsilon", ""},
		"falling cap":   {&api.LedgerGrantRequest{Dataset: "people", Epsilon: "0.5"}, noren.Usage, "data set people", "fixed"},
		"new, no table": {&api.LedgerGrantRequest{Dataset: "new", Epsilon: "1"}, noren.Usage, "file", "file-unstated"},
		"new, no file":  {&api.LedgerGrantRequest{Dataset: "new", Epsilon: "1", Table: &api.GrantTable{}}, noren.Usage, "file", "file-unstated"},
		"both":          {table(func(g *api.GrantTable) { g.Replace, g.Changed = true, true }), noren.Usage, "replace", "replace-changed"},
		"records":       {table(func(g *api.GrantTable) { g.Records = -3 }), noren.Usage, "records", ""},
		"at most":       {table(func(g *api.GrantTable) { g.AtMost = -1 }), noren.Usage, "at-most", ""},
		"neighbours":    {table(func(g *api.GrantTable) { g.Neighbours = "near" }), noren.Usage, "neighbours", ""},
		"unit":          {table(func(g *api.GrantTable) { g.Unit = "city" }), noren.Usage, "data set people", "fixed"},
		"model":         {table(func(g *api.GrantTable) { g.Model = &api.GrantModel{Column: "city"} }), noren.Usage, "model", ""},
		"model column": {
			table(func(g *api.GrantTable) { g.Model = &api.GrantModel{Distribution: json.RawMessage("{}")} }), noren.Usage,
			"model-column", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := s.LedgerGrant(ctx, c.request)
			if out != nil {
				t.Errorf("got a result with the error: %+v", out)
			}
			is(t, err, c.kind, c.where, c.code)
		})
	}
}

// Types that are proposed from the values, and cells that do not fit, are granted only
// when the steward confirms them; the review comes with the refusal.
func TestLedgerGrantAsksForConfirmation(t *testing.T) {
	s := newStage(t)
	ctx := t.Context()
	if err := s.LedgerCreate(ctx); err != nil {
		t.Fatal(err)
	}
	r := s.people(t)
	r.Table.Spec = nil
	out, err := s.LedgerGrant(ctx, r)
	is(t, err, noren.Usage, r.Table.File, service.CodeConfirm)
	if out == nil || strings.Join(out.Private.Proposed, " ") != "age city" || out.Proposal == nil || out.Private.Records != 4 {
		t.Fatalf("got %+v", out)
	}
	if shown, err := s.LedgerShow(ctx, &api.LedgerShowRequest{}); err != nil || len(shown.Datasets) != 0 {
		t.Errorf("something was granted: %+v, %v", shown, err)
	}

	r = s.people(t)
	s.write(t, "people.csv", "age,city\n30,Nara\nold,Kobe\n")
	out, err = s.LedgerGrant(ctx, r)
	is(t, err, noren.Usage, r.Table.File, service.CodeConfirm)
	if out == nil || out.Private.Columns[0].Misfits != 1 || len(out.Private.Columns[0].First) != 1 {
		t.Errorf("got %+v", out)
	}
	if strings.Contains(err.Error(), "old") {
		t.Errorf("the error holds a cell: %v", err)
	}

	r.Table.Confirm = true
	out, err = s.LedgerGrant(ctx, r)
	valid(t, "noren.ledger-1-grant.json", out)
	if err != nil || out.Version != 1 || out.Name != "people" {
		t.Errorf("got %+v, %v", out, err)
	}
}

// A specification without a name is laid over the schema that was granted before.
func TestLedgerGrantKeepsWhatIsNotStated(t *testing.T) {
	s := grantedStage(t)
	r := s.people(t)
	r.Table.Spec = &spec.Spec{Version: spec.Version, Columns: map[string]spec.Column{"age": {Type: "decimal", Bounds: []string{"0", "120"}}}}
	r.Table.Changed = true
	out, err := s.LedgerGrant(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	d := out.Proposal
	if out.Version != 2 || d.Column("age").Type != "decimal" || strings.Join(d.Column("age").Bounds, " ") != "0 120" ||
		d.Column("city").Type != "category" || len(out.Private.Proposed) != 0 {
		t.Errorf("got version %d of %+v", out.Version, d.Columns)
	}
}

// A table that is no CSV or Parquet file is copied beside the ledger; a copy that is
// not granted is removed.
func TestLedgerGrantCopies(t *testing.T) {
	s := newStage(t)
	ctx := t.Context()
	if err := s.LedgerCreate(ctx); err != nil {
		t.Fatal(err)
	}
	copies := func() int {
		found, err := filepath.Glob(filepath.Join(s.dir, "*.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	r := s.people(t)
	r.Table.Spec = nil
	r.Table.File = s.workbook(t)
	if out, err := s.LedgerGrant(ctx, r); noren.CodeOf(err) != service.CodeConfirm || out == nil || copies() != 0 {
		t.Errorf("got %+v, %v, %d copies", out, err, copies())
	}
	r.Table.Confirm = true
	out, err := s.LedgerGrant(ctx, r)
	if err != nil || copies() != 1 || filepath.Ext(out.File) != ".parquet" || s.codes() != "copied" {
		t.Errorf("got %+v, %v, %d copies, notes %s", out, err, copies(), s.codes())
	}
}

func TestLedgerAnalysts(t *testing.T) {
	s := grantedStage(t)
	ctx := t.Context()
	out, err := s.LedgerGrantAnalyst(ctx, &api.LedgerGrantAnalystRequest{Dataset: "people", Analyst: "mori", Epsilon: "3", Delta: "1e-9"})
	valid(t, "noren.ledger-1-grant.json", out)
	if err != nil || len(out.Analysts) != 1 || out.Analysts[0].Cap.Epsilon != "3" || out.Analysts[0].Available.Epsilon != "1" ||
		s.codes() != "analyst-cap" {
		t.Errorf("got %+v, %v, notes %s", out, err, s.codes())
	}
	if _, err := s.LedgerCloseAnalyst(ctx, &api.LedgerCloseAnalystRequest{Dataset: "people"}); true {
		is(t, err, noren.Usage, "analyst", "")
	}
	out, err = s.LedgerCloseAnalyst(ctx, &api.LedgerCloseAnalystRequest{Dataset: "people", Analyst: "mori"})
	if err != nil || !out.Analysts[0].Closed || out.Analysts[0].Available.Epsilon != "0" {
		t.Errorf("got %+v, %v", out, err)
	}
	if _, err := s.LedgerCloseAnalyst(ctx, &api.LedgerCloseAnalystRequest{Dataset: "people", Analyst: "sato"}); noren.CodeOf(
		err) != "no-grant" {
		t.Errorf("got %v", err)
	}
	if _, err := s.LedgerGrantAnalyst(ctx, &api.LedgerGrantAnalystRequest{Dataset: "people", Analyst: "mori", Epsilon: "zero"}); noren.KindOf(
		err) != noren.Usage {
		t.Errorf("got %v", err)
	}
}

func TestLedgerShowAndHistory(t *testing.T) {
	s := grantedStage(t)
	ctx := t.Context()
	shown, err := s.LedgerShow(ctx, &api.LedgerShowRequest{Dataset: "people"})
	valid(t, "noren.ledger-1-show.json", shown)
	if err != nil || len(shown.Datasets) != 1 || shown.Datasets[0].Unit != "record" || len(shown.Datasets[0].Versions) != 1 {
		t.Errorf("got %+v, %v", shown, err)
	}
	if _, err := s.LedgerShow(ctx, &api.LedgerShowRequest{Dataset: "other"}); noren.CodeOf(err) != "no-dataset" {
		t.Errorf("got %v", err)
	}
	h, err := s.LedgerHistory(ctx, &api.LedgerHistoryRequest{Dataset: "people"})
	valid(t, "noren.ledger-1-history.json", h)
	if err != nil || h.Charges == nil || len(h.Charges) != 0 || h.Ledger != shown.Ledger {
		t.Errorf("got %+v, %v", h, err)
	}
	if _, err := s.LedgerHistory(ctx, &api.LedgerHistoryRequest{Dataset: "other"}); noren.CodeOf(err) != "no-dataset" {
		t.Errorf("got %v", err)
	}
}

// An older copy of the ledger is sealed: it is shown with a warning, does not verify,
// and is rolled forward from its head file.
func TestLedgerVerifyAndReconcile(t *testing.T) {
	s := grantedStage(t)
	ctx := t.Context()
	sound, err := s.LedgerVerify(ctx)
	valid(t, "noren.ledger-1-verify.json", sound)
	if err != nil || !sound.Sound || sound.Links != 2 || sound.Sealed || len(sound.Head) != 64 {
		t.Fatalf("got %+v, %v", sound, err)
	}
	old, err := os.ReadFile(s.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.LedgerGrant(ctx, &api.LedgerGrantRequest{Dataset: "people", Epsilon: "2"}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Ledger, old, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := s.LedgerShow(ctx, &api.LedgerShowRequest{}); err != nil || !out.Sealed || s.codes() != "sealed" {
		t.Errorf("got %+v, %v, notes %s", out, err, s.codes())
	}
	if out, err := s.LedgerVerify(ctx); err == nil || out == nil || out.Sound && !out.Sealed {
		t.Errorf("got %+v, %v", out, err)
	}
	did, err := s.LedgerReconcile(ctx, &api.LedgerReconcileRequest{})
	valid(t, "noren.ledger-1-reconcile.json", did)
	if err != nil || did.Rolled != 1 || did.Raised == nil {
		t.Errorf("got %+v, %v", did, err)
	}
	if out, err := s.LedgerShow(ctx, &api.LedgerShowRequest{Dataset: "people"}); err != nil || out.Sealed ||
		out.Datasets[0].Cap.Epsilon != "2" {
		t.Errorf("got %+v, %v", out, err)
	}
}

// A ledger whose rows were changed does not verify, and the result says why.
func TestLedgerVerifyFindsChanges(t *testing.T) {
	s := grantedStage(t)
	head, err := os.ReadFile(s.Ledger + ".head")
	if err != nil {
		t.Fatal(err)
	}
	changed := []byte(strings.Replace(string(head), "a", "b", 1))
	if err := os.WriteFile(s.Ledger+".head", changed, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := s.LedgerVerify(t.Context())
	if err == nil || out == nil || out.Sound || len(out.Faults) == 0 || noren.CodeOf(err) != "unsound" || noren.KindOf(err) != noren.NotMet {
		t.Errorf("got %+v, %v", out, err)
	}
}

// Operations end when their context does.
func TestLedgerOperationsEndWithTheirContext(t *testing.T) {
	s := grantedStage(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.LedgerGrant(ctx, s.people(t)); noren.KindOf(err) != noren.Interrupted {
		t.Errorf("got %v", err)
	}
}
