package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/service"
)

// resumed is a paid request that is computed twice from one charge.
type resumed struct {
	// covers are the mechanisms and the kinds of questions that the case is for.
	covers []string
	// on is the ledger: table, model or shards.
	on  string
	ask func(s *service.Service, dir, key string) (any, error)
}

// resumedBy is a case of a request of an operation, in JSON.
func resumedBy[R, A any](on string, operation func(*service.Service, context.Context, *R) (*A, error), text string,
	covers ...string,
) resumed {
	return resumed{covers: covers, on: on, ask: func(s *service.Service, dir, key string) (any, error) {
		r := new(R)
		text := strings.NewReplacer("DIR", dir, "KEY", key).Replace(text)
		if err := json.Unmarshal([]byte(text), r); err != nil {
			return nil, err
		}
		return operation(s, context.Background(), r)
	}}
}

// askingAll is a case of questions.
func askingAll(on, questions string, covers ...string) resumed {
	return resumedBy(on, (*service.Service).Ask, `{"dataset":"people","request_key":"KEY","questions":[`+questions+`]}`, covers...)
}

func resumedCases() []resumed {
	const own = `"dataset":"people","request_key":"KEY"`
	query := func(on, rest string, covers ...string) resumed {
		return resumedBy(on, (*service.Service).Query, `{`+own+`,`+rest+`}`, append(covers, "query.Query")...)
	}
	var out []resumed
	for _, on := range []string{"table", "shards"} {
		out = append(out,
			query(on, `"query":"count","epsilon":"0.01","where":"age >= 30 and who != 'x'","by":["sex"]`),
			query(on, `"query":"sum","column":"x","epsilon":"0.1","bounds":["0","9"]`),
			query(on, `"query":"mean","column":"age","epsilon":"0.1","bounds":["0","100"]`),
			query(on, `"query":"variance","column":"y","epsilon":"0.1","bounds":["0","9"]`),
			query(on, `"query":"histogram","column":"age","epsilon":"0.1","bins":["0","30","60","100"],"by":["sex"]`),
			query(on, `"query":"count","epsilon":"0.01","mechanism":"gaussian","delta":"0.000001"`),
		)
	}
	pay := func(kind, rest string) string {
		return `{"kind":"` + kind + `",` + rest + `,"pay":{"epsilon":"0.1"}}`
	}
	simple := map[string]string{
		"count": `"where":"sex = 'f'"`, "sum": `"column":"x","bounds":["0","9"]`, "mean": `"column":"x","bounds":["0","9"],"by":["sex"]`,
		"variance": `"column":"age","bounds":["0","100"]`, "histogram": `"column":"sex","values":["f","m"]`,
		"quantile": `"column":"age","bounds":["0","100"],"rank":"0.25"`,
	}
	var batch []string
	for _, kind := range slices.Sorted(maps.Keys(simple)) {
		batch = append(batch, pay(kind, simple[kind]))
		out = append(out, askingAll("table", pay(kind, simple[kind]), kind, "release.Batch"))
	}
	return append(
		out,
		query("table", `"query":"quantile","column":"age","epsilon":"0.1","bounds":["0","100"],"mechanism":"exponential"`),
		query("table", `"query":"quantile","column":"age","epsilon":"2","bounds":["0","100"],"mechanism":"smooth"`),
		askingAll("table", strings.Join(batch, ","), "release.Batch"),
		askingAll("table", `{"kind":"outliers","columns":["x","y"],"k":3,"radius":2,"box":[0,10],"noise":"lomax","pay":{"epsilon":"4"}}`,
			"outliers", "release.Batch"),
		askingAll("model", `{"kind":"correlated","query":{"count":"on"},"pay":{"epsilon":"5"}}`, "correlated", "release.Batch"),
		askingAll("table", `{"kind":"ratio","public":"DIR/public.csv","column":"income","columns":["age"],"of":"mean","pay":{"epsilon":"1"}}`,
			"ratio", "service.ratioMechanism"),
		resumedBy("table", (*service.Service).LDPEdges, `{`+own+`,"column":"age","bounds":["0","100"],"epsilon":"1"}`, "query.Edges"),
		resumedBy("table", (*service.Service).OutliersCount,
			`{`+own+`,"columns":["x","y"],"k":3,"radius":2,"box":[0,10],"epsilon":"4","mechanism":"lomax"}`, "outlier.Mechanism"),
		resumedBy("table", (*service.Service).OutliersCount,
			`{`+own+`,"columns":["x","y"],"k":3,"radius":2,"box":[0,10],"epsilon":"4","mechanism":"student-t"}`, "outlier.Mechanism"),
		resumedBy("table", (*service.Service).OutliersCount,
			`{`+own+`,"columns":["x","y"],"k":3,"radius":2,"box":[0,10],"epsilon":"1","mechanism":"laplace","delta":"0.000001"}`,
			"outlier.Mechanism"),
		resumedBy("model", (*service.Service).CorrelatedAnswer, `{`+own+`,"query":{"count":"on"},"epsilon":"5"}`, "correlated.Mechanism"),
		resumedBy("table", (*service.Service).RatioFit,
			`{`+own+`,"public":"DIR/public.csv","columns":["age","sex"],"epsilon":"10","output":"DIR/out.csv","force":true}`, "ratio.Mechanism"),
		resumedBy("table", (*service.Service).RatioFit,
			`{`+own+`,"public":"DIR/public.csv","columns":["age"],"epsilon":"10","features":"marginals","output":"DIR/out.csv","force":true}`,
			"ratio.Mechanism"),
		resumedBy("table", (*service.Service).RatioCheck, `{`+own+`,"weights":"DIR/weights.csv","epsilon":"1"}`, "ratio.Check"),
	)
}

// resumedStage is a ledger with a data set, beside the public files.
func resumedStage(t *testing.T, on string) (s *service.Service, dir string) {
	t.Helper()
	if on == "model" {
		s, dir = metered(t)
		s.Note = nil
		return s, dir
	}
	all, from := identityStage(t)
	dir = t.TempDir()
	text, err := os.ReadFile(filepath.Join(from, "own.csv"))
	must(t, err)
	public, err := os.ReadFile(filepath.Join(from, "public.csv"))
	must(t, err)
	write(t, filepath.Join(dir, "public.csv"), string(public))
	must(t, fitted(t, all, filepath.Join(from, "own.csv"), filepath.Join(from, "public.csv"), filepath.Join(dir, "weights.csv")))
	path := filepath.Join(dir, "people.csv")
	if on == "shards" {
		path = filepath.Join(dir, "people")
		must(t, os.Mkdir(path, 0o700))
		lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
		for i := range 3 {
			part := lines[0]
			for n, line := range lines[1:] {
				if n%3 == i {
					part += strings.TrimSuffix(line, "\n") + "\n"
				}
			}
			write(t, filepath.Join(path, fmt.Sprintf("%d.csv", i)), part)
		}
	} else {
		write(t, path, string(text))
	}
	d := &dataset.Definition{File: dataset.File{Kind: "csv", Sharded: on == "shards"}, Columns: []dataset.Column{
		{Name: "who"},
		{Name: "sex", Keys: []string{"f", "m"}},
		{Name: "age", Type: "integer"},
		{Name: "x", Type: "decimal"},
		{Name: "y", Type: "decimal"},
	}}
	book := filepath.Join(dir, "budgets.db")
	must(t, ledger.Create(t.Context(), book))
	l, err := ledger.Open(t.Context(), book, ledger.Options{})
	must(t, err)
	defer func() { must(t, l.Close()) }()
	complete, err := d.Complete()
	must(t, err)
	reviewed, err := release.ReviewGrant(t.Context(), l, release.Candidate{Path: path, Definition: complete})
	must(t, err)
	limit, err := account.ParseCost("1000", "0.01")
	must(t, err)
	_, err = release.ConfirmGrant(t.Context(), l, release.Grant{Name: "people", Cap: limit}, reviewed)
	must(t, err)
	s = bare(t)
	s.Note, s.Ledger = nil, book
	return s, dir
}

// ledgerFiles are the files of a ledger.
var ledgerFiles = []string{"budgets.db", "budgets.db-wal", "budgets.db.head"}

// moment are the files of a ledger as they are now.
func moment(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	read := func() map[string][]byte {
		out := map[string][]byte{}
		for _, name := range ledgerFiles {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
				out[name] = text
			}
		}
		return out
	}
	for was := read(); ; {
		now := read()
		if maps.EqualFunc(was, now, bytes.Equal) {
			return now // nothing was written meanwhile
		}
		was = now
	}
}

// An answer that is computed twice from one charge, as after a crash, has the same bytes with
// its certificate: for each mechanism that pays, from columns in memory or read for it, on one
// processor or four. Under another request key its noise is another.
func TestResumedAnswersHaveTheSameBytes(t *testing.T) {
	randtest.SkipShort(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	key := bytes.Repeat([]byte{7}, 32)
	covered := map[string]bool{}
	stages := map[string]*service.Service{}
	dirs := map[string]string{}
	for i, of := range resumedCases() {
		for _, c := range of.covers {
			covered[c] = true
		}
		if stages[of.on] == nil {
			stages[of.on], dirs[of.on] = resumedStage(t, of.on)
		}
		dir := dirs[of.on]
		on := func(book string, memory int64, fault func(string) error, requestKey string) string {
			t.Helper()
			kept, err := service.Keep(t.Context(), book, service.KeepOptions{TableMemory: memory, Fault: fault})
			must(t, err)
			defer func() { must(t, kept.Close()) }()
			s := *stages[of.on]
			s.Ledger, s.Kept, s.NoiseKey = book, kept, func() ([]byte, error) { return key, nil }
			out, err := of.ask(&s, dir, requestKey)
			if err != nil {
				t.Fatalf("case %d, %s: %v", i, of.covers, err)
			}
			return asJSON(t, out)
		}
		var charged map[string][]byte
		book, name := filepath.Join(dir, "budgets.db"), fmt.Sprintf("case %d", i)
		want := on(book, 0, func(step string) error {
			if step == "reserved" && charged == nil {
				charged = moment(t, dir)
			}
			return nil
		}, name)
		if charged == nil {
			t.Fatalf("case %d: nothing was charged", i)
		}
		later := moment(t, dir)
		put := func(files map[string][]byte) {
			for _, name := range append(ledgerFiles, "budgets.db-shm") {
				_ = os.Remove(filepath.Join(dir, name))
			}
			for name, text := range files {
				must(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
			}
		}
		for _, other := range []struct {
			memory int64
			cores  int
		}{{0, 1}, {1, 4}} {
			put(charged)
			runtime.GOMAXPROCS(other.cores)
			if got := on(book, other.memory, nil, name); got != want {
				t.Errorf("case %d, %s, %+v:\n%s\nwant\n%s", i, of.covers, other, got, want)
			}
		}
		put(later)
		if other := on(book, 0, nil, name+" again"); released(other) == released(want) {
			t.Errorf("case %d, %s: two secrets give one answer: %s", i, of.covers, released(want))
		}
	}
	for _, need := range append(mechanisms(t), kinds.Names()...) {
		if !covered[need] {
			t.Errorf("no case is for %s", need)
		}
	}
}

// released is the SHA-256 of what a certificate within a JSON text is about.
func released(text string) string {
	found := regexp.MustCompile(`"released":\{[^}]*\}`).FindString(text)
	if found == "" {
		return text
	}
	return found
}

// mechanisms are the types with the method of a mechanism that is charged, in the sources.
func mechanisms(t *testing.T) (all []string) {
	t.Helper()
	method := regexp.MustCompile(
		`(?m)^func \(\w+ \*?(\w+)(?:\[\w+\])?\) Answer\(\w+ context\.Context, \w+ \*table\.Table, \w+ \*noise\.Source\)`)
	files, err := filepath.Glob("../*/*.go")
	must(t, err)
	deeper, err := filepath.Glob("../*/*/*.go")
	must(t, err)
	for _, path := range append(files, deeper...) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		must(t, err)
		for _, m := range method.FindAllStringSubmatch(string(text), -1) {
			all = append(all, filepath.Base(filepath.Dir(path))+"."+m[1])
		}
	}
	if len(all) < 8 {
		t.Errorf("found %s", all)
	}
	return all
}
