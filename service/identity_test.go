package service_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/service"
)

// unstored are the requests of the operations of which nothing is stored, reused or found
// again by the request, with the reasons.
var unstored = map[string]string{
	"AnonymizeRequest":           "makes a new release each time; the gate compares a preview with the table by SHA-256",
	"AssessRequest":              "computes its result anew",
	"BeginShardsRequest":         "makes a job, which is identified by its text (kanon/shard)",
	"CalibrateRequest":           "measures the machine",
	"CertificateCheckRequest":    "checks files that it reads",
	"CertificateShowRequest":     "shows a file that it reads",
	"CertifyRequest":             "states a file that it reads, by SHA-256",
	"ColumnsRequest":             "reads a header",
	"CommitShardsRequest":        "ends a job, which is identified by its text (kanon/shard)",
	"CopyRequest":                "copies a table",
	"CorrelatedCalibrateRequest": "reads a public model and no ledger",
	"CorrelatedExplainRequest":   "reads a public model and no ledger",
	"CorrelatedFitRequest":       "fits a public model and reads no ledger",
	"CorrelatedLeakageRequest":   "reads a public model and no ledger",
	"CurveRequest":               "computes its result anew",
	"DatabaseTablesRequest":      "lists tables",
	"FitRequest":                 "lists what fits a table",
	"HarmEvaluateRequest":        "computes from public facts",
	"HarmOptimiseRequest":        "computes from public facts",
	"HarmThresholdRequest":       "computes from public facts",
	"HierarchyCheckRequest":      "computes its result anew",
	"HierarchyCoverRequest":      "computes its result anew",
	"HierarchyProposeRequest":    "computes its result anew",
	"InspectRequest":             "computes its result anew",
	"LDPEstimateRequest":         "estimates from reports that it reads",
	"LDPEvaluateRequest":         "computes its result anew",
	"LDPRandomiseRequest":        "keyed streams of devices: docs/local-privacy.md",
	"LDPSimulateRequest":         "simulates anew",
	"LedgerCheckExportRequest":   "checks a file that it reads",
	"LedgerCloseAnalystRequest":  "writes an entry of the ledger",
	"LedgerCountsRequest":        "reads the ledger",
	"LedgerEntriesRequest":       "reads the ledger",
	"LedgerExportRequest":        "reads the ledger",
	"LedgerGrantRequest":         "makes a version, which the ledger identifies by its prints",
	"LedgerGrantAnalystRequest":  "writes an entry of the ledger",
	"LedgerHistoryRequest":       "reads the ledger",
	"LedgerMoveRequest":          "writes where a file lies, which is compared with the grant when it is read",
	"LedgerRaiseRequest":         "writes an entry of the ledger",
	"LedgerReconcileRequest":     "reads the ledger and its head file",
	"LedgerShowRequest":          "reads the ledger",
	"LedgerSpendRequest":         "reads the ledger",
	"OutliersPlanRequest":        "computes from public facts",
	"OutliersSensitivityRequest": "computes its result anew, for the steward",
	"OverlapRequest":             "compares files that it reads",
	"ProposeRequest":             "computes its result anew",
	"RatioAnswerRequest":         "estimates from weights that it reads",
	"RatioPlanRequest":           "computes from a public table that it reads",
	"RehearseRequest":            "answers about made-up rows, and stores nothing",
	"RowsRequest":                "reads rows",
	"StoredRequest":              "finds an answer by the request key",
	"VerifyRequest":              "verifies files that it reads",
}

// change is a change of one field, or of the file that it names.
type change struct {
	field string
	// base is laid over the request first, for a field that the usual request does not have,
	// and with afterwards; nil leaves a field out.
	base, with patch
	// file is written after the first request, in place of its content.
	file, text string
	// free says why the same stored answer serves both. Where with is nil it is not tried.
	free string
}

type patch = map[string]any

// paid is a request whose answer is stored under its identity.
type paid struct {
	request any // pointer to the type
	usual   patch
	ask     func(t *testing.T, r any) (hash string, err error)
	changes []change
}

// identityStage is a folder with a table that no ledger knows, and public files.
func identityStage(t *testing.T) (s *service.Service, dir string) {
	t.Helper()
	s = bare(t)
	s.Note = nil
	dir = t.TempDir()
	var own, public strings.Builder
	own.WriteString("who,sex,age,x,y\n")
	public.WriteString("sex,age,income\n")
	for i := range 40 {
		own.WriteString([]string{"a", "b", "c", "d", "e"}[i%5] + "," + []string{"f", "m"}[i%2] + "," + []string{"20", "35", "50", "65"}[i%4] +
			",1,2\n")
		public.WriteString([]string{"f", "m"}[i%2] + "," + []string{"20", "35", "50", "65"}[i%4] + "," +
			[]string{"100", "200", "300", "400"}[i%4] + "\n")
	}
	write(t, filepath.Join(dir, "own.csv"), own.String())
	write(t, filepath.Join(dir, "public.csv"), public.String())
	write(t, filepath.Join(dir, "keys.csv"), "sex\nf\n")
	write(t, filepath.Join(dir, "scale.csv"), "column,low,high,scale\nx,0,10,1\ny,0,10,1\n")
	write(t, filepath.Join(dir, "ages.csv"), "column,low,high,scale\nage,0,100,10\n")
	write(t, filepath.Join(dir, "spec.yaml"), "version: 1\ncolumns:\n  who: {type: category}\n  sex: {type: category}\n  age: {type: "+
		"integer}\n  x: {type: decimal}\n  y: {type: decimal}\n")
	write(t, filepath.Join(dir, "query.json"), `{"count":"on"}`)
	write(t, filepath.Join(dir, "adversaries.json"), `[{"record":2,"known":[{"record":1,"state":"on"}]}]`)
	return s, dir
}

// asks are the changes of the fields that every request of an unaccounted answer has.
func asks(dir string) []change {
	const free = "says who asks, and how; the answer is the same"
	return []change{
		{field: "dataset", free: "a file of no ledger: its answer is stored nowhere, and no hash of its bytes may leave. " +
			"TestTheDataSetIsInTheIdentity has that of a ledger"},
		{field: "epsilon", with: patch{"epsilon": "2"}},
		{field: "analyst", with: patch{"analyst": "mori"}, free: free},
		{field: "request_key", free: free},
		{field: "reuse", free: free},
		{field: "unaccounted", free: "without it the data set is one of the ledger"},
		{
			field: "spec_file", base: patch{"spec": nil}, file: "spec.yaml",
			text: "version: 1\ncolumns:\n  who: {type: category}\n  sex: {type: category}\n  age: {type: integer}\n  x: {type: integer}\n  y: " +
				"{type: decimal}\n",
		},
		{field: "spec", with: patch{"spec": patch{"columns": patch{"x": patch{"type": "integer"}}}}},
		{field: "spec", with: patch{"spec": patch{"input": patch{"missing": []string{"?"}}}}},
		{field: "Outputs", free: "files that the caller writes"},
	}
}

// hashOf is the request hash of a price, which is that of the answer.
func hashOf(price *api.AskQuote, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return price.Request, nil
}

// Each field of each paid request, and each file that it names, changes the request hash, by
// which its answer is stored and found again; the others are listed with the reason for
// which one answer serves both.
func TestEveryFieldIsInTheIdentity(t *testing.T) {
	randtest.SkipShort(t)
	s, dir := identityStage(t)
	own, public := filepath.Join(dir, "own.csv"), filepath.Join(dir, "public.csv")
	usual := func(more patch) patch {
		out := patch{
			"dataset": own, "epsilon": "1", "unaccounted": true, "spec_file": filepath.Join(dir, "spec.yaml"),
			"spec": patch{"columns": patch{"sex": patch{"type": "category"}}},
		}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	must(t, fitted(t, s, own, public, filepath.Join(dir, "weights.csv")))
	models, _ := metered(t)
	asked, _ := people(t)
	models.Note, asked.Note = nil, nil
	for _, p := range []paid{
		{
			request: &api.QueryRequest{}, usual: usual(patch{"query": "mean", "column": "age", "bounds": []string{"0", "100"}}),
			ask: func(t *testing.T, r any) (string, error) {
				a, err := s.Query(t.Context(), r.(*api.QueryRequest))
				if err != nil {
					return "", err
				}
				return a.Certificate.Certificate.RequestSHA256, nil
			},
			changes: append(asks(dir), []change{
				{field: "delta", base: patch{"mechanism": "gaussian", "delta": "0.000001"}, with: patch{"delta": "0.00001"}},
				{field: "unit", base: patch{"max_rows": 1, "unit": "who"}, with: patch{"unit": "sex"}},
				{field: "neighbours", with: patch{"neighbours": "replace-one"}},
				{field: "query", with: patch{"query": "variance"}},
				{field: "column", base: patch{"column": "x"}, with: patch{"column": "y"}},
				{field: "where", base: patch{"where": "sex = 'f'"}, with: patch{"where": "sex = 'm'"}},
				{field: "where", base: patch{"where": "sex = 'f'"}, with: patch{"where": "sex = 'f '"}},
				{field: "by", base: patch{"by": []string{"sex"}, "keys": [][]string{{"a"}}}, with: patch{"by": []string{"who"}}},
				{field: "keys", base: patch{"by": []string{"sex"}, "keys": [][]string{{"f"}}}, with: patch{"keys": [][]string{{"m"}}}},
				{field: "keys", base: patch{"by": []string{"sex"}, "keys": [][]string{{"f", "m"}}}, with: patch{"keys": [][]string{{"m", "f"}}}},
				{
					field: "keys_file", base: patch{"by": []string{"sex"}, "keys_file": filepath.Join(dir, "keys.csv")}, file: "keys.csv",
					text: "sex\nm\n",
				},
				{field: "bounds", with: patch{"bounds": []string{"0", "99"}}},
				{
					field: "bins", base: patch{"query": "histogram", "bounds": nil, "bins": []string{"0", "50", "100"}},
					with: patch{"bins": []string{"0", "51", "100"}},
				},
				{
					field: "values", base: patch{"query": "histogram", "bounds": nil, "column": "sex", "values": []string{"f"}},
					with: patch{"values": []string{"m"}},
				},
				{field: "rank", base: patch{"query": "quantile"}, with: patch{"rank": "0.25"}},
				{field: "mechanism", base: patch{"query": "quantile", "mechanism": "exponential"}, with: patch{"mechanism": "smooth"}},
				{field: "max_rows", base: patch{"unit": "who", "max_rows": 1}, with: patch{"max_rows": 2}},
				{field: "grid_bits", base: patch{"grid_bits": 1}, with: patch{"grid_bits": 2}},
				{field: "level", with: patch{"level": 0.9}},
				{field: "records", with: patch{"records": 7}, free: "a guess for the accuracy that a price shows"},
			}...),
		},
		{
			request: &api.LDPEdgesRequest{}, usual: usual(patch{"column": "age", "bounds": []string{"0", "100"}}),
			ask: func(t *testing.T, r any) (string, error) {
				a, err := s.LDPEdges(t.Context(), r.(*api.LDPEdgesRequest))
				if err != nil {
					return "", err
				}
				return a.Certificate.Certificate.RequestSHA256, nil
			},
			changes: append(asks(dir), []change{
				{field: "delta", free: "refused: edges have no delta"},
				{field: "unit", base: patch{"max_rows": 1, "unit": "who"}, with: patch{"unit": "sex"}},
				{field: "neighbours", with: patch{"neighbours": "replace-one"}},
				{field: "column", base: patch{"column": "x"}, with: patch{"column": "y"}},
				{field: "bounds", with: patch{"bounds": []string{"0", "99"}}},
				{field: "count", with: patch{"count": 4}},
				{field: "max_rows", base: patch{"unit": "who", "max_rows": 1}, with: patch{"max_rows": 2}},
				{field: "level", with: patch{"level": 0.9}},
				{field: "records", with: patch{"records": 7}, free: "a guess for the accuracy that a price shows"},
			}...),
		},
		{
			request: &api.OutliersCountRequest{}, usual: usual(patch{"columns": []string{"x", "y"}, "k": 3, "radius": 2, "box": []float64{0, 10}}),
			ask: func(t *testing.T, r any) (string, error) {
				a, err := s.OutliersCount(t.Context(), r.(*api.OutliersCountRequest))
				if err != nil {
					return "", err
				}
				return a.Certificate.Certificate.RequestSHA256, nil
			},
			changes: append(asks(dir), []change{
				{field: "delta", base: patch{"mechanism": "laplace", "delta": "0.000001"}, with: patch{"delta": "0.00001"}},
				{field: "unit", free: "refused but for single records"},
				{field: "neighbours", base: patch{"mechanism": "lomax"}, with: patch{"neighbours": "replace-one"}},
				{field: "columns", with: patch{"columns": []string{"x", "age"}}},
				{field: "columns", with: patch{"columns": []string{"y", "x"}}},
				{field: "k", with: patch{"k": 4}},
				{field: "radius", base: patch{"step": 0.5}, with: patch{"radius": 3}},
				{field: "step", with: patch{"step": 0.5}},
				{field: "box", with: patch{"box": []float64{0, 11}}},
				{
					field: "public_scale", base: patch{"box": nil, "public_scale": filepath.Join(dir, "scale.csv")}, file: "scale.csv",
					text: "column,low,high,scale\nx,0,10,1\ny,0,10,2\n",
				},
				{
					field: "public_scale", base: patch{"box": nil, "public_scale": filepath.Join(dir, "scale.csv")}, file: "scale.csv",
					text: "column,low,high,scale\nx,0,10,1\ny,0,12,1\n",
				},
				{field: "scale", with: patch{"scale": "bounds", "radius": 2}},
				{field: "records", free: "may only repeat the definition's"},
				{field: "mechanism", base: patch{"mechanism": "lomax"}, with: patch{"mechanism": "student-t"}},
				{field: "guess", base: patch{"mechanism": "lomax", "epsilon": "4"}, with: patch{"guess": 1}},
				{field: "guess", base: patch{"mechanism": "lomax", "guess": 2}, with: patch{"guess": 1}},
				{field: "interval_share", base: patch{"mechanism": "lomax", "epsilon": "20", "k": 30}, with: patch{"interval_share": 0.2}},
			}...),
		},
		{
			request: &api.RatioFitRequest{}, usual: usual(patch{
				"public": public, "columns": []string{"age"},
				"output": filepath.Join(dir, "out.csv"), "force": true,
			}),
			ask: func(t *testing.T, r any) (string, error) {
				a, err := s.RatioFit(t.Context(), r.(*api.RatioFitRequest))
				if err != nil {
					return "", err
				}
				return a.Certificate.Certificate.RequestSHA256, nil
			},
			changes: append(asks(dir), []change{
				{
					field: "delta", base: patch{"mechanism": "rkhs-gaussian", "noise": "rkhs-gaussian", "delta": "0.000001"},
					with: patch{"delta": "0.00001"},
				},
				{field: "unit", free: "refused but for single records"},
				{field: "neighbours", free: "replace-one needs the number of records of a definition: TestTheDataSetIsInTheIdentity"},
				{field: "public", file: "public.csv", text: "sex,age,income\n" + strings.Repeat("f,20,1\nm,30,2\nf,40,3\n", 10)},
				{field: "public_delimiter", with: patch{"public_delimiter": ","}, free: "the same points are read: they are in the identity"},
				{field: "public_encoding", with: patch{"public_encoding": "utf-8"}, free: "the same points are read: they are in the identity"},
				{field: "columns", with: patch{"columns": []string{"age", "sex"}}},
				{field: "bounds", with: patch{"bounds": patch{"age": []string{"0", "100"}}}},
				{field: "categories", base: patch{"columns": []string{"age", "sex"}}, with: patch{"categories": patch{"sex": []string{"m", "f", "x"}}}},
				{
					field: "public_scale", base: patch{"public_scale": filepath.Join(dir, "ages.csv")}, file: "ages.csv",
					text: "column,low,high,scale\nage,0,100,20\n",
				},
				{field: "features", with: patch{"features": "marginals"}},
				{field: "noise", with: patch{"noise": "laplace"}},
				{field: "centres", with: patch{"centres": 5}},
				{field: "sigmas", with: patch{"sigmas": []float64{0.3}}},
				{field: "lambda", with: patch{"lambda": 0.5}, free: "made of what was released, at no cost; the certificate names the file by SHA-256"},
				{field: "post", with: patch{"post": "nnls"}, free: "made of what was released, at no cost; the certificate names the file by SHA-256"},
				{field: "raw", with: patch{"raw": true}, free: "made of what was released, at no cost; the certificate names the file by SHA-256"},
				{field: "count_share", with: patch{"count_share": 0.05}},
				{field: "outside_share", with: patch{"outside_share": 0.05}},
				{field: "records", free: "may only repeat the definition's"},
				{field: "weight_column", with: patch{"weight_column": "w"}, free: "the name of a column; the certificate names the file by SHA-256"},
				{field: "output", with: patch{"output": filepath.Join(dir, "other.csv")}, free: "a name"},
				{field: "force", free: "whether files are replaced"},
				{field: "certified", with: patch{"certified": true}, free: "refuses weights that are not certified"},
				{field: "Page", free: "made of the answer"},
			}...),
		},
		{
			request: &api.RatioCheckRequest{}, usual: usual(patch{"weights": filepath.Join(dir, "weights.csv")}),
			ask: func(t *testing.T, r any) (string, error) {
				a, err := s.RatioCheck(t.Context(), r.(*api.RatioCheckRequest))
				if err != nil {
					return "", err
				}
				return a.Certificate.Certificate.RequestSHA256, nil
			},
			changes: append(asks(dir), []change{
				{field: "delta", free: "refused: the check has no delta"},
				{field: "unit", free: "refused but for single records"},
				{field: "neighbours", free: "replace-one needs the number of records of a definition"},
				{field: "weights", free: "a table that does not have the weights of its meta data is refused; what is stored are sums over the " +
					"private records, of functions that the parameters state in full"},
				{field: "meta", base: patch{"meta": filepath.Join(dir, "weights.csv.ratio.json")}, file: "weights.csv.ratio.json", text: "$lambda"},
				{
					field: "public_delimiter", with: patch{"public_delimiter": ","},
					free: "the same points are read: their functions are in the identity",
				},
				{
					field: "public_encoding", with: patch{"public_encoding": "utf-8"},
					free: "the same points are read: their functions are in the identity",
				},
				{field: "records", free: "may only repeat the definition's"},
			}...),
		},
		{
			request: &api.CorrelatedAnswerRequest{}, usual: patch{"dataset": "people", "epsilon": "5", "query": patch{"count": "on"}},
			ask: func(t *testing.T, r any) (string, error) {
				a, err := models.CorrelatedAnswer(t.Context(), r.(*api.CorrelatedAnswerRequest))
				if err != nil {
					return "", err
				}
				return a.Certificate.Certificate.RequestSHA256, nil
			},
			changes: []change{
				{field: "dataset", free: "TestTheDataSetIsInTheIdentity"},
				{field: "epsilon", with: patch{"epsilon": "6"}},
				{field: "delta", free: "refused: a leakage is bounded without a delta"},
				{field: "analyst", with: patch{"analyst": "sato"}, free: "says who asks"},
				{field: "request_key", with: patch{"request_key": "k"}, free: "names the request"},
				{field: "reuse", with: patch{"reuse": true}, free: "takes the stored answer"},
				{field: "unit", with: patch{"unit": "record"}, free: "may only repeat that of the data set"},
				{field: "unaccounted", free: "refused: a model is one of a ledger"},
				{field: "neighbours", free: "fixed by the definition"},
				{field: "spec_file", free: "fixed by the definition"},
				{field: "spec", free: "fixed by the definition"},
				{field: "Outputs", free: "files that the caller writes"},
				{field: "query", with: patch{"query": patch{"count": "off"}}},
				{
					field: "query_file", base: patch{"query": nil, "query_file": filepath.Join(dir, "query.json")}, file: "query.json",
					text: `{"count":"off"}`,
				},
				{field: "adversaries", with: patch{"adversaries": "full"}},
				{
					field: "adversaries_file", base: patch{"adversaries_file": filepath.Join(dir, "adversaries.json")}, file: "adversaries.json",
					text: `[{"record":3,"known":[]}]`,
				},
				{field: "method", with: patch{"method": "tanh"}},
				{
					field: "budget", with: patch{"budget": 100_000},
					free: "how much work the leakage may take: the noise that follows is in the identity",
				},
				{field: "gap", with: patch{"gap": 0.02}, free: "how closely the leakage is computed: the noise that follows is in the identity"},
			},
		},
		{
			request: &api.AskRequest{}, usual: patch{"dataset": "people"},
			ask: func(t *testing.T, r any) (string, error) {
				q := *r.(*api.AskRequest)
				if q.Questions == nil {
					q.Questions = []api.Question{{Of: kinds.Count{}, Pay: &api.Amount{Epsilon: "1"}}}
				}
				return hashOf(asked.AskPrice(t.Context(), &q))
			},
			changes: []change{
				{field: "dataset", free: "TestTheDataSetIsInTheIdentity"},
				{field: "questions", with: patch{"questions": []patch{
					{"kind": "count", "pay": patch{"epsilon": "1"}},
					{"kind": "count", "pay": patch{"epsilon": "1"}},
				}}},
				{field: "questions", base: patch{"questions": []patch{
					{"kind": "count", "pay": patch{"epsilon": "1"}},
					{"kind": "count", "pay": patch{"epsilon": "2"}},
				}}, with: patch{"questions": []patch{
					{"kind": "count", "pay": patch{"epsilon": "2"}},
					{"kind": "count", "pay": patch{"epsilon": "1"}},
				}}},
				{field: "analyst", with: patch{"analyst": "sato"}, free: "says who asks"},
				{field: "request_key", with: patch{"request_key": "q"}, free: "names the request"},
				{field: "reuse", with: patch{"reuse": true}, free: "takes the stored answer"},
				{field: "most", with: patch{"most": patch{"epsilon": "5"}}, free: "refuses a larger cost"},
				{field: "records", with: patch{"records": 7}, free: "a guess of margins: the cost that follows from it is in the identity"},
				{field: "records", base: patch{
					"records":   100,
					"questions": []patch{{"kind": "mean", "column": "age", "bounds": []string{"0", "100"}, "margin": patch{"within": 20}}},
				}, with: patch{"records": 200}},
				{field: "definition", free: "refuses another schema"},
				{field: "request", free: "refuses another request"},
				{field: "Outputs", free: "files that the caller writes"},
			},
		},
		{
			request: &api.Question{}, usual: patch{"kind": "mean", "column": "age", "bounds": []string{"0", "100"}, "pay": patch{"epsilon": "1"}},
			ask: func(t *testing.T, r any) (string, error) {
				return hashOf(asked.AskPrice(t.Context(), &api.AskRequest{Dataset: "people", Questions: []api.Question{*r.(*api.Question)}}))
			},
			changes: questionChanges(dir),
		},
	} {
		name := reflect.TypeOf(p.request).Elem().Name()
		t.Run(name, func(t *testing.T) { p.run(t, dir) })
	}
	// Every operation is one of these, or stores nothing.
	stored := map[string]bool{
		"QueryRequest": true, "LDPEdgesRequest": true, "OutliersCountRequest": true, "RatioFitRequest": true,
		"RatioCheckRequest": true, "CorrelatedAnswerRequest": true, "AskRequest": true,
	}
	operations := reflect.TypeFor[*service.Service]()
	known := map[string]bool{}
	for i := range operations.NumMethod() {
		for m, j := operations.Method(i), 1; j < m.Type.NumIn(); j++ {
			if in := m.Type.In(j); in.Kind() == reflect.Pointer && in.Elem().PkgPath() == reflect.TypeFor[api.AskRequest]().PkgPath() {
				name := in.Elem().Name()
				known[name] = true
				if _, listed := unstored[name]; listed == stored[name] {
					t.Errorf("%s(%s): expected either the changes of its fields here, or the reason for which nothing is stored", m.Name, name)
				}
			}
		}
	}
	for name := range unstored {
		if !known[name] {
			t.Errorf("%s is the request of no operation", name)
		}
	}
}

// questionChanges are the changes of the fields of a question of all kinds.
func questionChanges(dir string) []change {
	outliers := patch{
		"kind": "outliers", "column": nil, "bounds": nil, "columns": []string{"age"}, "k": 3, "radius": 2,
		"box": []float64{0, 100}, "noise": "lomax", "pay": patch{"epsilon": "4"},
	}
	ratio := patch{
		"kind": "ratio", "column": "income", "bounds": nil, "public": filepath.Join(dir, "public.csv"), "columns": []string{"age"},
		"of": "mean",
	}
	with := func(base patch, more patch) patch {
		out := patch{}
		for _, of := range []patch{base, more} {
			for k, v := range of {
				out[k] = v
			}
		}
		return out
	}
	return []change{
		{field: "kind", with: patch{"kind": "variance"}},
		{field: "column", base: ratio, with: patch{"column": "age"}},
		{field: "where", with: patch{"where": "sex = 'f'"}},
		{field: "where", base: ratio, with: patch{"where": "sex = 'f'"}},
		{field: "by", with: patch{"by": []string{"sex"}}},
		{field: "keys", base: patch{"by": []string{"sex"}, "keys": [][]string{{"f"}}}, with: patch{"keys": [][]string{{"m"}}}},
		{field: "bounds", with: patch{"bounds": []string{"0", "99"}}},
		{
			field: "bins", base: patch{"kind": "histogram", "bounds": nil, "bins": []string{"0", "50", "100"}},
			with: patch{"bins": []string{"0", "51", "100"}},
		},
		{
			field: "values", base: patch{"kind": "histogram", "bounds": nil, "column": "sex", "values": []string{"f"}},
			with: patch{"values": []string{"m"}},
		},
		{field: "rank", base: patch{"kind": "quantile"}, with: patch{"rank": "0.25"}},
		{field: "rank", base: with(ratio, patch{"of": "quantile"}), with: patch{"rank": "0.25"}},
		{field: "noise", base: patch{"noise": "laplace"}, with: patch{"noise": "gaussian", "pay": patch{"epsilon": "1", "delta": "0.000001"}}},
		{field: "max_rows", free: "the data set has single records; api.QueryRequest has the same field"},
		{field: "grid_bits", base: patch{"grid_bits": 1}, with: patch{"grid_bits": 2}},
		{field: "columns", base: ratio, with: patch{"columns": []string{"age", "sex"}}},
		{field: "k", base: outliers, with: patch{"k": 4}},
		{field: "radius", base: with(outliers, patch{"step": 0.5}), with: patch{"radius": 3}},
		{field: "step", base: outliers, with: patch{"step": 0.5}},
		{field: "box", base: outliers, with: patch{"box": []float64{0, 99}}},
		{field: "scale", base: outliers, with: patch{"scale": "bounds"}},
		{field: "guess", base: outliers, with: patch{"guess": 1}},
		{field: "interval_share", base: with(outliers, patch{"pay": patch{"epsilon": "20"}, "k": 400}), with: patch{"interval_share": 0.2}},
		{field: "query", free: "as in api.CorrelatedAnswerRequest"},
		{field: "adversaries", free: "as in api.CorrelatedAnswerRequest"},
		{field: "public", base: ratio, file: "public.csv", text: "sex,age,income\n" + strings.Repeat("f,20,1\nm,35,2\nf,50,3\nm,65,4\n", 10)},
		{field: "of", base: ratio, with: patch{"of": "quantile"}},
		{field: "pay", with: patch{"pay": patch{"epsilon": "2"}}},
		{
			field: "margin", base: patch{"pay": nil, "margin": patch{"within": 20, "about": 60}},
			with: patch{"margin": patch{"within": 19, "about": 60}},
		},
		{field: "margin", base: with(ratio, patch{"margin": nil}), with: patch{"margin": patch{"within": 1, "at": "0.9"}}},
		{
			field: "margin", base: patch{"margin": patch{"within": 20, "about": 60}},
			with: patch{"margin": patch{"within": 21, "about": 61, "quartiles": []float64{20, 40}}},
			free: "beside what is paid, it only says what the error is compared with; within decides on the cost, and at on the level",
		},
	}
}

// fitted writes a weighted table.
func fitted(t *testing.T, s *service.Service, own, public, to string) error {
	t.Helper()
	r := &api.RatioFitRequest{}
	must(t, json.Unmarshal([]byte(`{"epsilon":"100","unaccounted":true,"columns":["age","sex"]}`), r))
	r.Dataset, r.Public, r.Output, r.SpecFile = own, public, to, filepath.Join(filepath.Dir(own), "spec.yaml")
	_, err := s.RatioFit(t.Context(), r)
	return err
}

// names are the fields of a request, as JSON names them or by their names in Go.
func names(of reflect.Type) []string {
	if of == reflect.TypeFor[api.Question]() {
		of = kinds.Flat()
	}
	var out []string
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			out = append(out, names(f.Type)...)
		case name == "-" || name == "":
			out = append(out, f.Name)
		default:
			out = append(out, name)
		}
	}
	return out
}

func (p *paid) run(t *testing.T, dir string) {
	of := reflect.TypeOf(p.request).Elem()
	listed, asked := map[string]bool{}, map[string]string{} // hashes by what was laid over the usual request
	hash := func(all ...patch) (string, error) {
		merged := patch{}
		for _, one := range all {
			for k, v := range one {
				if v == nil {
					delete(merged, k)
				} else {
					merged[k] = v
				}
			}
		}
		text, err := json.Marshal(merged)
		must(t, err)
		r := reflect.New(of).Interface()
		must(t, json.Unmarshal(text, r))
		return p.ask(t, r)
	}
	for _, c := range p.changes {
		listed[c.field] = true
		if c.with == nil && c.file == "" {
			if c.free == "" {
				t.Errorf("%s: neither a change nor a reason", c.field)
			}
			continue
		}
		base, err := json.Marshal(c.base)
		must(t, err)
		before, known := asked[string(base)]
		if !known {
			before, err = hash(p.usual, c.base)
			asked[string(base)] = before
		}
		if err != nil {
			t.Errorf("%s: %v", c.field, err)
			continue
		}
		var old []byte
		path := filepath.Join(dir, c.file)
		if c.file != "" {
			old, err = os.ReadFile(path)
			must(t, err)
			text := c.text
			if text == "$lambda" { // another valid file of meta data
				text = strings.Replace(string(old), `"mean_weight": `, `"notes": ["another"], "mean_weight": `, 1)
			}
			write(t, path, text)
		}
		after, err := hash(p.usual, c.base, c.with)
		if c.file != "" {
			write(t, path, string(old))
		}
		if err != nil {
			t.Errorf("%s, changed: %v", c.field, err)
			continue
		}
		if (before == after) != (c.free != "") {
			t.Errorf("%s: equal identities %t, reason %q", c.field, before == after, c.free)
		}
	}
	known := map[string]bool{}
	for _, name := range names(of) {
		known[name] = true
		if !listed[name] {
			t.Errorf("field %s: expected a change of it, or the reason for which it is not in the identity", name)
		}
	}
	for name := range listed {
		if !known[name] {
			t.Errorf("there is no field %s", name)
		}
	}
}

// The data set, its version and its definition are in the identity of every answer.
func TestTheDataSetIsInTheIdentity(t *testing.T) {
	d := func(more func(d *dataset.Definition)) *dataset.Definition {
		out := &dataset.Definition{Columns: []dataset.Column{{Name: "who"}, {Name: "x", Type: "integer", Bounds: []string{"0", "9"}}}}
		more(out)
		return out
	}
	text := "who,x\n" + strings.Repeat("a,1\nb,2\n", 10)
	r := &api.AskRequest{Dataset: "people", Questions: []api.Question{{Of: kinds.Count{}, Pay: &api.Amount{Epsilon: "1"}}}}
	seen := map[string]string{}
	add := func(what string, s *service.Service, d *dataset.Definition) {
		t.Helper()
		q := *r
		if d.Unit != "" {
			q.Questions = []api.Question{{Of: kinds.Count{MaxRows: 1}, Pay: &api.Amount{Epsilon: "1"}}}
		}
		price, err := s.AskPrice(t.Context(), &q)
		must(t, err)
		if other, known := seen[price.Request]; known {
			t.Errorf("%s has the identity of %s", what, other)
		}
		seen[price.Request] = what
	}
	for what, more := range map[string]func(d *dataset.Definition){
		"usual": func(*dataset.Definition) {}, "missing texts": func(d *dataset.Definition) { d.Missing = []string{"?"} },
		"bounds": func(d *dataset.Definition) { d.Columns[1].Bounds[1] = "8" },
		"type":   func(d *dataset.Definition) { d.Columns[1].Type = "decimal" }, "keys": func(d *dataset.Definition) {
			d.Columns[0].Keys = []string{"a"}
		}, "unit": func(d *dataset.Definition) { d.Unit = "who" },
		"at most": func(d *dataset.Definition) { d.AtMost = 1000 }, "neighbours": func(d *dataset.Definition) {
			d.Neighbours, d.Records = "replace-one", 20
		},
	} {
		one := d(more)
		s, dir := granted(t, text, one)
		add(what, s, one)
		if what == "usual" {
			regrant(t, s, dir, text+"c,3\n", one)
			add("another version", s, one)
		}
	}
}
