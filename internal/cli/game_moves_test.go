package cli_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// chargedCommands are all commands that reserve budget.
var chargedCommands = []string{
	"query count", "query sum", "query mean", "query variance", "query histogram", "query quantile",
	"outliers count", "correlated answer", "ratio fit", "ratio check", "ldp edges",
}

// adversary chooses requests. Its choices depend on what it saw before.
type adversary struct {
	rng   *rand.Rand
	model bool
	// column says that the unit is a column.
	column bool
	// levels is the state of a binary search for a level of the unknown record.
	levels []string
	edge   float64 // of another, for its age
	search int     // what the last request was a step of: 0 nothing, 1 levels, 2 edge
	clean  bool    // the request at hand has no fault on purpose
}

func newAdversary(seed uint64, model, column bool) *adversary {
	return &adversary{rng: rand.New(rand.NewPCG(seed, 13)), model: model, column: column, edge: 60}
}

func (a *adversary) chance(n int) bool { return a.rng.IntN(n) == 0 }

func (a *adversary) pick(from ...string) string { return from[a.rng.IntN(len(from))] }

// next is the next request, given what was seen of the last one.
func (a *adversary) next(last seen) []string {
	switch a.search {
	case 1:
		half := len(a.levels) / 2
		a.levels = a.levels[half:]
		if last.code == 0 {
			a.levels = a.levels[:half]
		}
	case 2:
		if last.code == 0 {
			a.edge /= 2
		} else {
			a.edge += 7.5
		}
	}
	a.search = 0
	switch a.rng.IntN(12) {
	case 0:
		if len(a.levels) < 2 {
			a.levels = nil
			for i := range 256 {
				a.levels = append(a.levels, fmt.Sprintf("l%d", i))
			}
		}
		a.search = 1
		return []string{
			"query", a.pick("count", "histogram"), "visits", "--where", "diag >= 'none'", "--epsilon", "0.000000001", "--analyst", "mori",
			"--order", "diag=none<cold<flu<" + strings.Join(a.levels[:len(a.levels)/2], "<"),
		}
	case 1:
		a.search = 2
		return []string{
			"query", "mean", "visits", "--column", "age", "--bounds", fmt.Sprintf("0,%g", a.edge), "--where", fmt.Sprintf("age > %g", a.edge),
			"--max-rows", "1", "--epsilon", "0.000000001", "--analyst", "mori",
		}
	}
	a.clean = !a.chance(3)
	name := chargedCommands[a.rng.IntN(len(chargedCommands))]
	switch {
	case a.model && a.chance(2):
		name = a.pick("correlated answer", "correlated answer", "query count", "query histogram")
	case !a.model && a.clean && name == "correlated answer":
		name = "query count" // without a model it is refused
	case a.column && a.clean && (strings.HasPrefix(name, "ratio") || strings.HasPrefix(name, "outliers")):
		name = a.pick("query quantile", "ldp edges") // for a column as unit they are refused
	}
	kind := strings.Fields(name)
	args := append(slices.Clone(kind), a.dataset())
	if name == "ratio fit" {
		args = append(args, a.mostly("public.csv", faultyPublic...))
	}
	if name == "ratio check" {
		args = append(args, a.mostly("weights.csv", "public.csv", "none.csv", "visits.csv"))
	}
	return append(append(args, a.about(name)...), a.common(kind[0])...)
}

// faultyPublic are public tables that no weights can be made of.
// Private files among them must not be read as public ones.
var faultyPublic = []string{"bad.csv", "empty.csv", "none.csv", "sub", "visits.csv", "hard.csv", "copy.csv"}

// mostly is first but in one of six choices of requests with faults.
func (a *adversary) mostly(first string, others ...string) string {
	if !a.clean && a.chance(6) {
		return a.pick(others...)
	}
	return first
}

// fault separates values that are valid in most requests from others.
const fault = "fault"

// value is one of values: of those before fault where the request is to be clean.
func (a *adversary) value(values []string) (string, bool) {
	if at := slices.Index(values, fault); at >= 0 {
		if a.clean {
			values = values[:at]
		} else {
			values = slices.Delete(slices.Clone(values), at, at+1)
		}
	}
	if len(values) == 0 {
		return "", false
	}
	return a.pick(values...), true
}

func (a *adversary) dataset() string {
	if a.chance(4) {
		return a.pick("visits.csv", "./visits.csv", "sub/../visits.csv", "link.csv")
	}
	return a.mostly("visits", "hard.csv", "copy.csv", "VISITS.CSV", "none.csv", "sub", "", "-")
}

// common are the flags that all charged commands share.
func (a *adversary) common(family string) []string {
	args := []string{
		"--epsilon=" + a.mostly(a.pick("0.1", "0.25", "0.001", "1", "0.000000001"), "0", "-1", "x", "1e-10", "1e9", "NaN", "100"),
		"--analyst=" + a.mostly(a.pick("mori", "mori", "sato"), "unknown", "", "mori\n"),
	}
	add := func(n int, flag string, values ...string) {
		if v, ok := a.value(values); ok && a.chance(n) {
			args = append(args, "--"+flag+"="+v)
		}
	}
	flag := func(n int, flag string) {
		if a.chance(n) && !(a.clean && flag == "unaccounted") {
			args = append(args, "--"+flag)
		}
	}
	flag(2, "json")
	add(8, "lang", "en", "ja", fault, "fr")
	flag(6, "dry-run")
	flag(6, "yes")
	flag(8, "force")
	flag(8, "reuse")
	add(8, "request-key", "k1", "k2", "k3", fault, "\x00")
	if family != "ratio" {
		add(6, "output", "a.json", "b.json", fault, "sub", "none/a.json")
	}
	add(6, "certificate", "c.json", "d.json")
	add(8, "delta", "0", fault, "0.000001", "1e-9", "2", "x")
	add(30, "ledger", "noren.db", fault, "none.db", "visits.csv")
	// What would change how the table is read.
	add(25, "type", fault, "age=decimal", "id=integer", "ward=integer", "none=integer", "x")
	add(25, "order", fault, "diag=none<cold", "ward=A<B<C", "diag=none<none")
	add(25, "format", fault, "day=DD.MM.YYYY", "day=YYYY")
	add(25, "missing", fault, "unknown", "none", "")
	add(25, "delimiter", fault, "|", ";", "tab", `"`, "ab")
	add(25, "encoding", fault, "shift_jis", "utf-8", "x")
	add(25, "spec", fault, "spec.yaml", "none.yaml", "chain.json", "visits.csv")
	add(25, "neighbours", fault, "add-remove", "replace-one", "x")
	add(25, "unit", fault, "record", "id", "ward", "none")
	flag(25, "unaccounted")
	return args
}

// about are the flags of a command of its own.
func (a *adversary) about(name string) (args []string) {
	add := func(n int, flag string, values ...string) {
		if v, ok := a.value(values); ok && (n == 1 || a.chance(n)) {
			args = append(args, "--"+flag+"="+v)
		}
	}
	number := func() string { return a.mostly(a.pick("age", "w", "day"), "diag", "ward", "id", "none", "") }
	bounds := func() string {
		return a.mostly(a.pick("0,100", "-5,5", "34,36"), "0,1e300", "0,0", "1,0", "NaN,1", "-1e308,1e308", "0,1e999", "1",
			"2024-01-01,2024-12-31")
	}
	family, kind, _ := strings.Cut(name, " ")
	switch family {
	case "query", "ldp":
		if a.clean || a.chance(2) || family == "ldp" {
			args = append(args, "--max-rows="+a.mostly(a.maxRows(), "0", "-1", "2", "9223372036854775807"))
		}
		if kind != "count" {
			column := number()
			args = append(args, "--column="+column)
			switch {
			case kind == "histogram":
			case column == "day" && a.clean:
				args = append(args, "--bounds=2024-01-01,2024-12-31")
			case a.chance(3):
				args = append(args, "--bounds="+bounds())
			}
		}
	}
	switch name {
	case "query count", "query sum", "query mean", "query variance", "query histogram", "query quantile":
		if a.chance(2) {
			args = append(args, "--where="+a.predicate(0))
		}
		if a.chance(4) {
			args = append(args, "--by="+a.mostly(a.pick("ward", "diag", "ward,diag"), "age", "id", "none", "ward,ward"))
			add(2, "keys", "A,B", "A,,Z", fault, "none,hiv", "")
			add(6, "keys", fault, "none,cold")
			add(6, "keys-file", fault, "groups.csv", "none.csv", "empty.csv", "visits.csv", "hard.csv")
		}
		add(8, "level", "0.5", "0.999", fault, "0", "2")
		add(12, "records", "10", fault, "-1")
		add(8, "mechanism", fault, "laplace", "gaussian", "exponential", "smooth", "x")
		if a.chance(25) {
			args = append(args, "--accuracy")
		}
		if kind == "sum" || kind == "mean" || kind == "variance" || kind == "quantile" {
			add(8, "grid-bits", "0", "10", fault, "60", "-60", "2000")
		}
		if kind == "quantile" {
			add(3, "rank", "0.1", "0.9", fault, "0", "1", "x")
		}
		if kind == "histogram" {
			if at := slices.IndexFunc(args, func(s string) bool { return strings.HasPrefix(s, "--column=") }); args[at] == "--column=age" ||
				!a.clean && a.chance(3) {
				add(1, "bins", "0,10,50,100", fault, "10,0", "0,1e300", "2024-01-01,2024-02-01,2024-03-01", "x")
			} else {
				args = append(args, "--column="+a.pick("ward", "diag", "id"))
				add(2, "values", "A,B", "none,cold,flu", "A|B", "07,7", fault, "A,A")
			}
		}
	case "ldp edges":
		add(2, "count", "2", "4", fault, "1", "1000", "-1")
	case "outliers count":
		args = append(args, "--columns="+a.mostly(a.pick("age", "age,w", "w,day"), "ward", "age,age", "none", "diag"))
		add(1, "radius", "3", "0.5", fault, "0", "-1", "1e9", "NaN")
		add(3, "step", "1", "0.5", fault, "0", "1e-9", "100")
		add(2, "box", "0,100", "0,120", fault, "0,100,0,10", "5,5", "-1e300,1e300", "x")
		add(5, "public-scale", fault, "scale.csv", "none.csv", "bad.csv", "visits.csv")
		add(5, "scale", "none", fault, "bounds", "zscore", "x")
		add(3, "k", "1", "2", "5", fault, "0", "1000")
		add(10, "records", fault, "41", "40", "-1")
		add(6, "mechanism", "lomax", "student-t", "global-laplace", fault, "laplace", "gaussian", "x")
		add(6, "guess", "1", "10", fault, "-1")
		add(6, "interval-share", fault, "0.1", "0.5", "1", "2", "-1")
	case "correlated answer":
		args = append(args, "--query="+a.mostly(`{"count":"`+a.pick("none", "cold", "flu")+`"}`, `{"count":"hiv"}`, `{"count":9}`, "{",
			"none.json", "visits.csv", ""))
		add(5, "adversaries", "all", "empty", "full", fault, "none.json")
		add(5, "method", "auto", "quilt", "tanh", "range", fault, "exact", "x")
		add(10, "budget", "100000", fault, "10", "-1")
		add(10, "gap", "0.5", fault, "-1", "NaN")
	case "ratio fit", "ratio check":
		add(10, "public-delimiter", ",", fault, "|", "x", "ab")
		add(10, "public-encoding", "utf-8", fault, "shift_jis", "x")
		add(10, "records", fault, "41", "40", "-1", "0")
		if kind == "check" {
			add(10, "meta", "weights.csv.ratio.json", fault, "chain.json", "none.json", "visits.csv")
			add(6, "output", "a.json", "b.json", fault, "sub")
			return args
		}
		args = append(args, "--columns="+a.mostly(a.pick("age", "age,ward", "w,age"), "ward,ward", "none", "day", "id"))
		args = append(args, "--output="+a.mostly(a.pick("w1.csv", "w2.csv", "w3.parquet"), "-", "", "w.xlsx", "sub", "none/w.csv"))
		add(4, "mechanism", "rkhs-pure", "laplace", "parametric", fault, "rkhs-gaussian", "noisy-centres", "c", "x")
		add(6, "centres", "2", "8", "40", fault, "41", "-1", "100000")
		add(6, "sigma", "0.3", "0.1,0.9", fault, "0", "-1", "NaN", "1e-300")
		add(6, "lambda", "0.1", fault, "0", "-1", "1e300", "NaN")
		add(6, "post", "plain", "nnls", "clip", fault, "x")
		add(8, "raw", "true", "false")
		add(8, "count-share", fault, "0.2", "1", "-1", "2")
		add(8, "outside-share", "0", "0.1", "0.05", fault, "2")
		add(3, "features", "kernels", "marginals", "both", fault)
		add(6, "bounds", fault, "age=0,100", "age=5,5", "none=0,1", "ward=0,1", "age=-1e300,1e300")
		add(6, "categories", fault, "ward=A,B,C", "ward=A,A", "age=1,2", "ward=")
		add(10, "public-scale", "scale.csv", fault, "bad.csv", "copy.csv")
		add(10, "weight-column", "x", fault, "ward", "")
		add(8, "report", "page.html", fault, "sub")
	}
	return args
}

// maxRows is a number that a data set of its unit takes.
func (a *adversary) maxRows() string {
	if a.column {
		return a.pick("1", "2", "100")
	}
	return "1"
}

// predicate is a condition, most often a valid one.
func (a *adversary) predicate(depth int) string {
	if depth < 2 && a.chance(3) {
		switch a.rng.IntN(3) {
		case 0:
			return "not (" + a.predicate(depth+1) + ")"
		case 1:
			return "(" + a.predicate(depth+1) + ") or (" + a.predicate(depth+1) + ")"
		}
		return a.predicate(depth+1) + " and " + a.predicate(depth+1)
	}
	if !a.clean && a.chance(6) {
		return a.pick("age >", "age = 'x'", "id > 0", "none = 1", "ward < 'B'", strings.Repeat("(", 300), "age in ()", "w = 1e400", "w = NaN",
			"day > 'x'", "diag = 'hiv'", "\xff")
	}
	sign := a.pick("=", "!=", "<", "<=", ">", ">=")
	same := a.pick("=", "!=")
	switch a.rng.IntN(8) {
	case 0:
		return a.pick("id", "age", "w", "diag", "ward", "day") + a.pick(" is missing", " is not missing")
	case 1:
		return "id " + same + " '" + a.pick("07", "7", "p99", "12345678901234567", "12345678901234568", "") + "'"
	case 2:
		return "ward " + a.pick("in", "not in") + ` ('A|B', 'Z', 'A|B;"C",')`
	case 3:
		return "diag " + sign + " '" + a.pick("none", "cold", "flu") + "'"
	case 4:
		return "day " + sign + " '2024-0" + a.pick("1-03", "2-31", "2-02") + "'"
	case 5:
		return "w " + sign + " " + a.pick("1.5", "1e308", "-1e308", "0")
	case 6:
		return "age in (35, 20, 99)"
	}
	return "age " + sign + " " + a.pick("35", "0", "9223372036854775807", "-9223372036854775808", "50")
}

// TestGameKnowsEveryFlag keeps the adversary's moves complete.
func TestGameKnowsEveryFlag(t *testing.T) {
	used := map[string]bool{"--help": true}
	flags := regexp.MustCompile(`--[a-z0-9-]+`)
	for seed, model := range []bool{false, true} {
		a := newAdversary(uint64(seed), model, false)
		for range 20000 {
			args := a.next(seen{code: a.rng.IntN(2)})
			name := strings.Join(args[:2], " ")
			for _, arg := range args[3:] {
				if flag := flags.FindString(arg); strings.HasPrefix(arg, "--") {
					used[name+" "+flag] = true
				}
			}
		}
	}
	for _, name := range chargedCommands {
		_, help, _ := noren(append(strings.Fields(name), "--help"))
		_, list, found := strings.Cut(help, "Flags:")
		if !found {
			t.Fatalf("%s: the help lists no flags", name)
		}
		for _, line := range strings.Split(list, "\n") {
			if flag := flags.FindString(line); flag != "" && strings.HasPrefix(strings.TrimLeft(line, " -oh,"), strings.TrimLeft(flag, "-oh")) &&
				flag != "--help" && !used[name+" "+flag] {
				t.Errorf("%s %s: no move of the game uses it", name, flag)
			}
		}
	}
}
