package service_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
)

// The origins of what a certificate states. None of them is a private table.
const (
	fromRelease    = "the released bytes: everybody who has them can compute it"
	fromRequest    = "the request of the analyst or steward"
	fromDefinition = "the public definition of the data set, or the header of the table"
	fromGuarantee  = "the request and the definition: cost, sensitivity and noise are functions of them"
	fromLedger     = "the ledger: its id, its chain and its accounts, which depend on requests alone"
	fromKeyed      = "a print of the private columns under a secret key of the ledger: no guess can be tested against it"
	fromPublic     = "a public file (a public table, or a model) and the request"
	fromPaid       = "an answer that was charged before"
	fromProgram    = "the program and its clock when the charge, or the release, was made"
)

// certificateOrigins has the origin of every field of a certificate and of every parameter
// that a mechanism states, by its path; the items of lists have the path of the list.
var certificateOrigins = map[string]string{
	"accounting": fromRequest, "format": fromProgram, "notes": fromRequest, "time": fromProgram, "tool.name": fromProgram,
	"tool.version": fromProgram, "request_sha256": fromGuarantee,
	"released.kind": fromRelease, "released.name": fromRequest, "released.sha256": fromRelease, "released.size": fromRelease,
	"analyst.name": fromRequest, "analyst.identity": fromProgram,
	"charge.ledger": fromLedger, "charge.id": fromLedger, "charge.link": fromLedger, "charge.head": fromLedger, "charge.accounts": fromLedger,
	"charge.accounting":   fromLedger,
	"charge.epsilon_nano": fromGuarantee, "charge.delta_atto": fromGuarantee, "charge.rho_femto": fromGuarantee,
	"charge.gaussian_femto": fromGuarantee,
	"source.dataset":        fromDefinition, "source.version": fromLedger, "source.definition_sha256": fromDefinition,
	"source.model_sha256": fromPublic, "source.fingerprint": fromKeyed, "source.reading": fromDefinition,
	"guarantee.model": fromGuarantee, "guarantee.k": fromRequest, "guarantee.quasi_identifiers": fromRequest,
	"guarantee.epsilon": fromGuarantee, "guarantee.delta": fromGuarantee,
	"guarantee.neighbours": fromDefinition, "guarantee.unit": fromDefinition, "guarantee.unit_linkage": fromRequest,
	"guarantee.pseudonyms": fromRequest, "guarantee.assumptions": fromGuarantee,
	"guarantee.diversity.column": fromRequest, "guarantee.diversity.model": fromRequest, "guarantee.diversity.l": fromRequest,
	"guarantee.diversity.c": fromRequest, "guarantee.diversity.count_missing": fromRequest,
	"guarantee.closeness.column": fromRequest, "guarantee.closeness.distance": fromRequest, "guarantee.closeness.t": fromRequest,
	"mechanism.name": fromRequest,

	"anonymize:columns": fromRequest, "anonymize:k": fromRequest, "anonymize:quasi_identifiers": fromRequest, "anonymize:publish": fromRequest,
	"anonymize:scale": fromRequest, "anonymize:method": fromRequest,
	"anonymize:refine": fromRequest, "anonymize:suppress": fromRequest, "anonymize:unit": fromRequest, "anonymize:unit_linkage": fromRequest,
	"anonymize:pseudonym": fromRequest,

	"query:query": fromRequest, "query:mechanism": fromRequest, "query:column": fromRequest, "query:type": fromDefinition,
	"query:where": fromRequest, "query:by": fromRequest, "query:keys": fromRequest,
	"query:bounds": fromRequest, "query:grid_bits": fromRequest, "query:bins": fromRequest, "query:values": fromRequest,
	"query:rank": fromRequest, "query:epsilon": fromRequest, "query:delta": fromRequest,
	"query:neighbours": fromDefinition, "query:unit": fromDefinition, "query:max_rows": fromRequest, "query:level": fromRequest,
	"query:noise": fromGuarantee, "query:choice": fromGuarantee, "query:smooth": fromGuarantee,

	"outlier:axes": fromRequest, "outlier:step": fromRequest, "outlier:radius_squared_steps": fromRequest, "outlier:k": fromRequest,
	"outlier:neighbours": fromDefinition, "outlier:records": fromDefinition,
	"outlier:global_sensitivity": fromGuarantee, "outlier:coverage": fromGuarantee, "outlier:noise": fromGuarantee,
	"outlier:epsilon_for_interval": fromRequest, "outlier:guess": fromRequest,

	"correlated:model_sha256": fromPublic, "correlated:query": fromRequest, "correlated:column": fromDefinition,
	"correlated:epsilon": fromRequest, "correlated:adversaries": fromRequest,
	"correlated:method": fromGuarantee, "correlated:scale": fromGuarantee,

	"query:count": fromRequest, "query:epsilon_each": fromGuarantee, "query:one_unit_more": fromGuarantee,

	"ratio:fit": fromPublic, "ratio:figure": fromRequest, "ratio:mechanism": fromRequest, "ratio:epsilon": fromRequest,
	"ratio:delta": fromRequest, "ratio:neighbours": fromDefinition, "ratio:records": fromDefinition,
	"ratio:public_records": fromPublic, "ratio:public_table": fromPublic, "ratio:axes": fromPublic, "ratio:centres": fromPublic,
	"ratio:centre_count": fromRequest, "ratio:sigmas": fromPublic,
	"ratio:distribution": fromGuarantee, "ratio:features": fromRequest, "ratio:histograms": fromPublic, "ratio:scale_of_cells": fromGuarantee,
	"ratio:epsilon_for_records": fromRequest, "ratio:epsilon_for_outside": fromRequest,
	"ratio:epsilon_of_centres": fromRequest, "ratio:low": fromPublic, "ratio:high": fromPublic, "ratio:edges": fromPublic,
	"ratio:scale": fromGuarantee, "ratio:weights": fromPaid,
}

// leavesOf are the paths of the fields of a Go type.
func leavesOf(of reflect.Type, at string) []string {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice && of != reflect.TypeFor[json.RawMessage]() {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of == reflect.TypeFor[noren.Text]() {
		return []string{at}
	}
	var out []string
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		out = append(out, leavesOf(of.Field(i).Type, strings.TrimPrefix(at+"."+name, "."))...)
	}
	return out
}

// parametersOf are the paths of the parameters that a certificate states.
func parametersOf(t *testing.T, c *certificate.Certificate) []string {
	t.Helper()
	var batch struct {
		Questions []certificate.Mechanism `json:"questions"`
	}
	parts := []certificate.Mechanism{c.Mechanism}
	if c.Mechanism.Name == "batch" {
		must(t, json.Unmarshal(c.Mechanism.Parameters, &batch))
		parts = batch.Questions
	}
	var out []string
	for _, m := range parts {
		var stated map[string]json.RawMessage
		must(t, json.Unmarshal(m.Parameters, &stated))
		family, _, _ := strings.Cut(m.Name, ".")
		for name := range stated {
			out = append(out, family+":"+name)
		}
	}
	return out
}

// TestCertificateOrigins lists every field of a certificate with its origin. A field or a
// parameter without one, and an origin of a field that is gone, fail. That the fields of a
// release have no other origin is tested by TestCertificateHoldsNothingPrivate.
func TestCertificateOrigins(t *testing.T) {
	paths := leavesOf(reflect.TypeFor[certificate.Certificate](), "")
	text, err := os.ReadFile(clientVectorsFile)
	must(t, err)
	var all []answered
	must(t, json.Unmarshal(text, &all))
	for i := range all {
		paths = append(paths, parametersOf(t, &all[i].Answer.Certificate.Certificate)...)
	}
	for _, c := range append(slices.Collect(maps.Values(releasesOf(t, 60, 0))), singleAnswers(t)...) {
		paths = append(paths, parametersOf(t, c)...)
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		if path != "mechanism.parameters" && certificateOrigins[path] == "" {
			t.Errorf("%s has no origin", path)
		}
	}
	// Those that no answer of these tests has.
	optional := []string{
		"outlier:records", "outlier:guess", "outlier:epsilon_for_interval", "ratio:records", "ratio:epsilon_of_centres",
		"query:one_unit_more",
	}
	for path := range certificateOrigins {
		if !slices.Contains(paths, path) && !slices.Contains(optional, path) {
			t.Errorf("%s is in no certificate", path)
		}
	}
}

// singleAnswers are certificates of mechanisms that are no questions of a batch.
func singleAnswers(t *testing.T) []*certificate.Certificate {
	t.Helper()
	s, _ := people(t)
	edges, err := s.LDPEdges(t.Context(), &api.LDPEdgesRequest{Ask: api.Ask{Dataset: "people", Epsilon: "500"}, Column: "age", Count: 2})
	must(t, err)
	out := []*certificate.Certificate{&edges.Certificate.Certificate}
	dir := ratioTables(t)
	var notes []api.Note
	s = ratioService(&notes)
	space := api.RatioSpace{Public: filepath.Join(dir, "public.csv"), Columns: []string{"age", "sex"}}
	weights := filepath.Join(dir, "w.csv")
	for _, features := range []string{"marginals", ""} {
		fit, err := s.RatioFit(t.Context(), &api.RatioFitRequest{
			Ask: ratioAsk(dir), RatioSpace: space, Features: features, Output: weights,
			Force: true,
		})
		must(t, err)
		out = append(out, &fit.Certificate.Certificate)
	}
	check, err := s.RatioCheck(t.Context(), &api.RatioCheckRequest{Ask: ratioAsk(dir), RatioWeights: api.RatioWeights{Weights: weights}})
	must(t, err)
	return append(out, &check.Certificate.Certificate)
}

// releasesOf are the certificates of releases of a table of that number of records and
// another number of records that are like no others, under several requests.
func releasesOf(t *testing.T, records, alone int) map[string]*certificate.Certificate {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("person,name,age,city,illness\n")
	for i := range records {
		fmt.Fprintf(&b, "p%02d,Name %d,%d,%s,%s\n", i/2, i, 20+i/2*7%50, []string{"Nara", "Kobe", "Osaka"}[i/2%3],
			[]string{"cold", "flu", "asthma", "none"}[i%4])
	}
	for i := range alone {
		fmt.Fprintf(&b, "q%02d,Alone %d,%d,Osaka,%s\n", i, i, 1000+100*i, []string{"cold", "flu"}[i%2])
	}
	write(t, filepath.Join(dir, "visits.csv"), b.String())
	out := map[string]*certificate.Certificate{}
	for name, anonymize := range map[string]string{
		"plain": "{k: 3}", "few left out": "{k: 3, suppress: 10%}", "some left out": "{k: 3, suppress: 12}", "diverse": "{k: 3, l: 2}",
		"close": "{k: 3, t: 0.9}", "ranges": "{k: 3, publish: generalize}",
		"mondrian": "{k: 3, method: mondrian}", "persons": "{k: 3, l: 2, UNIT}",
		"all of persons": "{k: 3, unit-linkage: all, pseudonym: true, UNIT}",
	} {
		anonymize, persons := strings.CutSuffix(anonymize, ", UNIT}")
		sheet := "version: 1\ninput: {missing: []}\ncolumns:\n  name: {role: identifier}\n  person: {role: identifier}\n  age: {role: " +
			"quasi-identifier, type: integer}\n" +
			"  city: {role: quasi-identifier, type: category}\n  illness: {role: sensitive, type: category}\n"
		if persons {
			anonymize += "}"
			sheet += "unit: person\n"
		}
		file := filepath.Join(dir, "noren.yaml")
		write(t, file, sheet+"anonymize: "+anonymize+"\n")
		s := bare(t)
		s.Note = func(api.Note) {}
		cert := filepath.Join(dir, "cert.json")
		_, err := s.Anonymize(t.Context(), &api.AnonymizeRequest{
			Table:  api.Table{Input: filepath.Join(dir, "visits.csv"), SpecFile: file},
			Output: filepath.Join(dir, "out.csv"), Certificate: cert, Force: true,
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		signed, err := certificate.Load(cert)
		must(t, err)
		out[name] = &signed.Certificate
	}
	return out
}

// Two private tables of one header that are released under one request have the same
// certificate, but for the released bytes and the time: nothing in it tells how many records
// there were, how many were left out, or which method they called for.
func TestCertificateHoldsNothingPrivate(t *testing.T) {
	first := releasesOf(t, 60, 0)
	for _, other := range []map[string]*certificate.Certificate{releasesOf(t, 60, 10), releasesOf(t, 200, 20)} {
		for name, c := range first {
			one, two := *c, *other[name]
			for _, of := range []*certificate.Certificate{&one, &two} {
				of.Released.SHA256, of.Released.Size, of.Time = "", 0, ""
			}
			if asJSON(t, one) != asJSON(t, two) {
				t.Errorf("%s: two private tables have two certificates:\n%s\n%s", name, asJSON(t, one), asJSON(t, two))
			}
		}
	}
}
