package service_test

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/service"
	"github.com/noren-privacy/noren/spec"
)

// taken collects the notes of a service as level, code and text.
func taken(s *service.Service) *[]string {
	notes := &[]string{}
	s.Note = func(n api.Note) { *notes = append(*notes, fmt.Sprintf("%s %s: %s", n.Level, n.Code, n.Text)) }
	return notes
}

func sameNotes(t *testing.T, got *[]string, want ...string) {
	t.Helper()
	if !slices.Equal(*got, want) {
		t.Errorf("notes %q, want %q", *got, want)
	}
}

// A person with several reports loses more privacy than one report states, and later
// reports are excluded by an estimate.
func TestNotesOfRepeatedClients(t *testing.T) {
	s := bare(t)
	notes := taken(s)
	path := filepath.Join(t.TempDir(), "t.csv")
	write(t, path, "id,colour\na,red\nb,red\na,green\n")
	r := api.LDPRandomiseRequest{Table: api.Table{Input: path}, Survey: grr(t, 2, "red", "green"), Client: "id"}
	out, err := s.LDPRandomise(t.Context(), &r)
	must(t, err)
	sameNotes(t, notes, "warning repeated-clients: 1 report is not its client's first: the privacy losses of a person with several records "+
		"add up, and estimates exclude later reports")
	*notes = nil
	_, err = s.LDPEstimate(t.Context(), &api.LDPEstimateRequest{
		Survey:  r.Survey,
		Reports: []api.LDPFile{{Name: "reports", Reader: bytes.NewReader(out.Lines)}}, MaxMalformed: 1,
	})
	must(t, err)
	if len(*notes) != 1 || !strings.HasPrefix((*notes)[0], "warning reports-excluded: of 3 lines, excluded: 1 second report of a client") {
		t.Errorf("notes %q", *notes)
	}
}

func TestNotesOfCertificateCheck(t *testing.T) {
	for name, c := range map[string]struct {
		key  ed25519.PrivateKey
		want []string
	}{
		"own key":     {key: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))},
		"unknown key": {key: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize)), want: []string{"key-unknown"}},
	} {
		s := newStage(t)
		var r api.CertificateCheckRequest
		r.File, r.Certificate = s.certified(t, c.key)
		_, err := s.CertificateCheck(t.Context(), &r)
		must(t, err)
		var codes []string
		for _, n := range s.notes {
			codes = append(codes, n.Code)
		}
		if !slices.Equal(codes, c.want) {
			t.Errorf("%s: notes %v", name, codes)
		}
	}
}

// All values are equal, so that every inner edge is the same.
func TestNotesOfEdges(t *testing.T) {
	s, _ := granted(t, "age\n"+strings.Repeat("50\n", 40),
		&dataset.Definition{Columns: []dataset.Column{{Name: "age", Type: "integer", Bounds: []string{"0", "110"}}}})
	notes := taken(s)
	e, err := s.LDPEdges(t.Context(), &api.LDPEdgesRequest{Ask: api.Ask{Dataset: "people", Epsilon: "900"}, Column: "age", Count: 4})
	must(t, err)
	if bins := len(e.Edges) - 1; bins < 4 {
		sameNotes(t, notes, fmt.Sprintf("note edges-coincide: %d of 4 bins are left: some edges coincide", bins))
	} else {
		t.Errorf("edges %v of equal values", e.Edges)
	}
}

func TestNotesOfASample(t *testing.T) {
	s := bare(t)
	path := filepath.Join(t.TempDir(), "t.csv")
	write(t, path, "age,ill\n"+strings.Repeat("20,no\n60,yes\n", 20))
	r := api.LDPEvaluateRequest{
		Table: api.Table{Input: path, Spec: &spec.Spec{Version: 1, Columns: map[string]spec.Column{"age": {Type: "integer"}}}}, Sample: 30,
		Label: "ill", Bounds: map[string][2]string{"age": {"0", "110"}}, Mechanisms: []string{"grr"}, Epsilons: []float64{8}, Folds: 2,
		Repeats: 1, Models: []string{"svm"},
	}
	notes := taken(s)
	_, err := s.LDPEvaluate(t.Context(), &r)
	must(t, err)
	sameNotes(t, notes, "note sampled: 30 of 40 records were drawn to learn from")
}
