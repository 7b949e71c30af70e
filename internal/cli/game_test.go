package cli_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/cli"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// program runs one command in the working folder, as [cli.Run] does.
type program func(args []string) (code int, stdout, stderr string)

func noren(args []string) (int, string, string) {
	var out, errs bytes.Buffer
	code := cli.Run(context.Background(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// world is a folder with a private table, a ledger that holds it as data set
// visits, and public files.
type world struct {
	t   testing.TB
	dir string
	run program
}

// play runs a command in the world's folder.
func (w *world) play(args ...string) (int, string, string) {
	w.t.Helper()
	if err := os.Chdir(w.dir); err != nil {
		w.t.Fatal(err)
	}
	return w.run(args)
}

// must is play for a command that has to succeed.
func (w *world) must(args ...string) {
	w.t.Helper()
	if code, _, stderr := w.play(args...); code != 0 {
		w.t.Fatalf("noren %s: exit code %d: %s", strings.Join(args, " "), code, stderr)
	}
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// files lists names and modes.
func (w *world) files() string {
	w.t.Helper()
	var out strings.Builder
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			w.t.Fatal(err)
		}
		fmt.Fprintln(&out, e.Name(), info.Mode())
	}
	return out.String()
}

// pair is what the adversary chooses: two neighbouring tables, and their grant.
type pair struct {
	name    string
	left    []string // records
	right   []string
	grant   []string
	model   bool // granted under a model of diag
	parquet bool
}

const header = "id,age,w,diag,ward,day"

// others are the records that the adversary knows.
func others() []string {
	var out []string
	for i := range 40 {
		out = append(out, fmt.Sprintf("p%d,%d,%d.5,%s,%s,2024-01-%02d", i%20, 20+(i*7)%60, i%9,
			[]string{"none", "cold", "flu"}[i%3], []string{"A", "B", "C"}[i%3], 1+i%28))
	}
	return out
}

func with(records ...string) []string { return append(others(), records...) }

// pairs are neighbouring tables of all relations and units. Each differs in what a
// reading that is no total function would fail on.
func pairs() []pair {
	long := strings.Repeat("x", 1<<18)
	plain := "p99,35,1.5,none,A,2024-01-03"
	unit := func(id, age, ward string) string { return id + "," + age + ",2.5,cold," + ward + ",2024-02-02" }
	addRemove, replaceOne := []string(nil), []string{"--neighbours", "replace-one"}
	column := []string{"--unit", "id"}
	columnReplace := []string{"--unit", "id", "--neighbours", "replace-one"}
	return []pair{
		{name: "a cell that is no integer", left: others(), right: with("p99,unknown,1.5,none,A,2024-01-03"), grant: addRemove},
		{
			name: "delimiter and quotes in a cell", left: with(plain), right: with(`p99,35,1.5,none,"A|B;""C"",` + "\n" + `d",2024-01-03`),
			grant: replaceOne,
		},
		{
			name: "unknown level, overflow, no such day", left: with(plain), right: with("p99,9223372036854775808,1e400,hiv,A,2024-02-31"),
			grant: replaceOne,
		},
		{name: "a very long cell", left: others(), right: with("p99,35,1.5,none," + long + ",2024-01-03"), grant: addRemove},
		{name: "the only record", left: nil, right: []string{plain}, grant: addRemove},
		{
			name: "units 07 and 7", left: with(unit("7", "20", "A")), right: with(unit("7", "20", "A"), unit("07", "99", "B"), unit("07", "x", "")),
			grant: column,
		},
		{
			name: "units of 17 digits", left: with(unit("12345678901234567", "50", "A")),
			right: with(unit("12345678901234567", "50", "A"), unit("12345678901234568", "50", "A")), grant: column,
		},
		{name: "a unit's records exchanged", left: with(unit("p99", "20", "A")), right: with(unit("p99", "", "Z"), unit("p99", "1e9", `"q""x"`),
			unit("p99", "+5", "B")), grant: columnReplace},
		{name: "a record without a unit", left: others(), right: with(unit("", "77", "A")), grant: column},
		{name: "nulls in Parquet", left: with(plain), right: with("p99,,NaN,hiv,,2024-1-3"), grant: replaceOne, parquet: true},
		{name: "a cell that is no state", left: with(plain), right: with("p99,35,1.5,hiv,A,2024-01-03"), grant: replaceOne, model: true},
	}
}

const gameSpec = `version: 1
columns:
  id: {type: category}
  age: {type: integer, bounds: [0, 120]}
  w: {type: decimal, bounds: [0, 10]}
  diag: {type: ordered, order: [none, cold, flu]}
  ward: {type: category, keys: [A, B]}
  day: {type: date, format: YYYY-MM-DD}
`

// newWorld makes a folder with a granted table. Public files are the same in all.
func newWorld(t testing.TB, run program, public map[string]string, records []string, p *pair) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), run: run}
	grant, text := p.grant, header+"\n"+strings.Join(records, "\n")+"\n"
	w.write("visits.csv", text)
	w.write("copy.csv", withCRLF(text))
	if p.parquet { // by its first bytes, whatever its name
		text = parquetOf(t, text)
		w.write("visits.csv", text)
		w.write("copy.csv", text)
	}
	w.write("spec.yaml", gameSpec)
	w.write("chain.json",
		fmt.Sprintf(
			`{"type":"chain","states":["none","cold","flu"],"init":[0.4,0.3,0.3],"P":[[0.4,0.3,0.3],[0.3,0.4,0.3],[0.3,0.3,0.4]],"length":%d}`,
			len(records)))
	for name, text := range public {
		w.write(name, text)
	}
	for _, err := range []error{
		os.Mkdir(filepath.Join(w.dir, "sub"), 0o700),
		os.Symlink("visits.csv", filepath.Join(w.dir, "link.csv")),
		os.Link(filepath.Join(w.dir, "visits.csv"), filepath.Join(w.dir, "hard.csv")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if p.model {
		grant = append(slices.Clone(grant), "--model", "chain.json", "--model-column", "diag")
	}
	w.must("ledger", "create")
	args := []string{
		"ledger", "grant", "visits", "--file", "visits.csv", "--spec", "spec.yaml", "--epsilon", "40", "--delta", "0.001",
		"--yes",
	}
	if !slices.Contains(grant, "replace-one") || slices.Contains(grant, "--unit") {
		args = append(args, "--at-most", "50")
	}
	w.must(append(args, grant...)...)
	w.must("ledger", "grant", "visits", "--analyst", "mori", "--epsilon", "36", "--delta", "0.001")
	w.must("ledger", "grant", "visits", "--analyst", "sato", "--epsilon", "0.9")
	return w
}

// parquetOf is a text table in Parquet, with null for empty cells.
func parquetOf(t testing.TB, text string) string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	columns := make([]table.StoredColumn, len(rows[0]))
	chunk := &table.Chunk{Rows: len(rows) - 1, Cols: make([]table.Vector, len(columns))}
	for i, name := range rows[0] {
		columns[i] = table.StoredColumn{Name: name, Nullable: true}
		for _, row := range rows[1:] {
			chunk.Cols[i].Texts = append(chunk.Cols[i].Texts, []byte(row[i]))
			chunk.Cols[i].Null = append(chunk.Cols[i].Null, row[i] == "")
		}
	}
	var out bytes.Buffer
	sink, err := file.NewSink(&out, "visits.parquet", columns, csvio.Dialect{})
	if err == nil {
		err = sink.Write(chunk)
	}
	if err == nil {
		err = sink.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// publicFiles are what adversaries know: a public table, weights of it, keys and
// scales.
func publicFiles(t testing.TB) map[string]string {
	t.Helper()
	var rows strings.Builder
	for i := range 40 {
		fmt.Fprintf(&rows, "%d,%d.25,%s\n", 20+(i*11)%70, i%10, []string{"A", "B"}[i%2])
	}
	out := map[string]string{
		"public.csv": "age,w,ward\n" + rows.String(),
		"groups.csv": "ward,diag\nA,none\nB,flu\n",
		"scale.csv":  "column,low,high,scale\nage,0,120,10\nw,0,10,1\n",
		"bad.csv":    "age,ward\nunknown,A\n",
		"empty.csv":  "",
	}
	w := &world{t: t, dir: t.TempDir(), run: noren}
	w.write("public.csv", out["public.csv"])
	w.write("last.csv", "age,w,ward\n30,1,A\n40,2,B\n50,3,B\n")
	w.must("ratio", "fit", "last.csv", "public.csv", "--type", "age=integer", "--type", "w=decimal", "--type", "ward=category",
		"--columns", "age,ward", "--epsilon", "100", "--unaccounted", "-o", "weights.csv")
	for _, name := range []string{"weights.csv", "weights.csv.ratio.json"} {
		text, err := os.ReadFile(filepath.Join(w.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(text)
	}
	return out
}

// difference is a request on which two worlds do not agree.
type difference struct {
	args        []string
	what        string
	left, right string
}

func (d *difference) String() string {
	return fmt.Sprintf("noren %s\n%s differs:\n--- left\n%s\n--- right\n%s", strings.Join(d.args, " "), d.what, clip(d.left), clip(d.right))
}

func clip(s string) string {
	if len(s) > 3000 {
		return s[:3000] + "..."
	}
	return s
}

// score counts what a game saw, so that a game in which every request is refused
// is not taken for one that was won.
type score struct {
	requests int
	codes    map[int]int
	answered map[string]int          // charged answers by command
	lengths  map[string][2][]float64 // of answers, left and right
}

// round sends n requests of the adversary to both worlds and returns the first on
// which they differ, or that failed after it was accepted.
func round(a *adversary, n int, left, right *world, sum *score) *difference {
	var last seen
	for range n {
		args := a.next(last)
		both := [2]seen{observe(left, args), observe(right, args)}
		if d := compare(args, &both[0], &both[1]); d != nil {
			return d
		}
		last = both[0]
		faulty := slices.ContainsFunc(args, func(arg string) bool {
			_, value, _ := strings.Cut(arg, "=")
			return slices.Contains(faultyPublic, arg) || slices.Contains(faultyPublic, value) || strings.HasPrefix(arg, "--ledger=") ||
				strings.HasPrefix(arg, "--meta=")
		})
		if (last.code == 1 || last.code == 3) && !faulty {
			return &difference{args, "the failure of an accepted request, which no fault explains,", last.stderr, both[1].stderr}
		}
		sum.requests++
		sum.codes[last.code]++
		if last.code == 0 && !slices.Contains(args, "--dry-run") && !slices.Contains(args, "--accuracy") {
			name := strings.Join(args[:2], " ")
			sum.answered[name]++
			l := sum.lengths[name]
			for i := range both {
				l[i] = append(l[i], float64(both[i].length))
			}
			sum.lengths[name] = l
		}
	}
	return nil
}

// TestGame is the game of the guarantee. The adversary knows all records but one,
// chooses two neighbouring tables and sends adaptive requests, over every charged
// command and every flag, to a data set that holds one of them. The worlds must
// give equal exit codes, messages, file names, modes and ledger entries, and
// answers that are equal but for noisy figures, ids, times and prints.
//
// Before data sets had pinned schemas the game was lost in eight requests: a query
// with a list of levels of the adversary's (--order) failed at no cost where the
// record's level was not in the list, so that a binary search over 256 levels found
// it. [TestGameFindsLeaks] plays that search against a program which still does so.
func TestGame(t *testing.T) { testGame(t, randtest.Size(12, 60)) }

func TestLongGame(t *testing.T) {
	randtest.Long(t)
	testGame(t, 1000)
}

func testGame(t *testing.T, requests int) {
	t.Setenv("NOREN_KEY", filepath.Join(t.TempDir(), "key.pem"))
	t.Setenv("NOREN_LEDGER", "")
	t.Chdir(t.TempDir())
	public := publicFiles(t)
	all := pairs()
	if testing.Short() {
		all = all[:3] // of records alone
	}
	sum := &score{codes: map[int]int{}, answered: map[string]int{}, lengths: map[string][2][]float64{}}
	for i, p := range all {
		left := newWorld(t, noren, public, p.left, &p)
		right := newWorld(t, noren, public, p.right, &p)
		a := newAdversary(uint64(i), p.model, slices.Contains(p.grant, "--unit"))
		if d := round(a, requests/len(all)+1, left, right, sum); d != nil {
			t.Errorf("%s: %v", p.name, d)
			continue
		}
		if l, r := ledgerRows(left), ledgerRows(right); l != r {
			t.Errorf("%s: %v", p.name, &difference{what: "the ledger", left: l, right: r})
		}
		left.must("ledger", "verify")
		right.must("ledger", "verify")
	}
	t.Logf("%d requests, exit codes %v, answered %v", sum.requests, sum.codes, sum.answered)
	for name, l := range sum.lengths {
		if fit := randtest.TwoSample(l[0], l[1]); fit.P < randtest.FitLevel {
			t.Errorf("%s: the lengths of %d answers differ: D = %.3f, p = %.3g", name, len(l[0]), fit.Statistic, fit.P)
		}
	}
	if requests < 1000 {
		return // too few to reach every command
	}
	for _, name := range chargedCommands {
		if sum.answered[name] == 0 {
			t.Errorf("no request of %s was answered: the game does not reach it", name)
		}
	}
	if sum.codes[2] == 0 || sum.codes[5] == 0 {
		t.Errorf("exit codes %v: the game reaches no refusal", sum.codes)
	}
}

// TestGameFindsLeaks plays the game against programs with planted leaks.
func TestGameFindsLeaks(t *testing.T) {
	randtest.SkipShort(t)
	t.Setenv("NOREN_KEY", filepath.Join(t.TempDir(), "key.pem"))
	t.Setenv("NOREN_LEDGER", "")
	t.Chdir(t.TempDir())
	public := publicFiles(t)
	secret := func(level string) []string { return with("p99,35,1.5," + level + ",A,2024-01-03") }
	worlds := func(run program) (left, right *world) {
		return newWorld(t, run, public, others(), &pair{}), newWorld(t, run, public, secret("l137"), &pair{})
	}

	// A query whose reading takes the asker's levels, as before schemas were
	// pinned: a level that is not in the list is an error.
	asked := regexp.MustCompile(`^diag=(.*)$`)
	leaky := func(args []string) (int, string, string) {
		at := slices.Index(args, "--order")
		if at < 0 || at+1 == len(args) || !asked.MatchString(args[at+1]) {
			return noren(args)
		}
		levels := strings.Split(strings.TrimPrefix(args[at+1], "diag="), "<")
		text, err := os.ReadFile("visits.csv")
		if err != nil {
			return 1, "", err.Error()
		}
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
			if !slices.Contains(levels, strings.Split(line, ",")[3]) {
				return 3, "", "noren: visits.csv: a value is none of the levels\n"
			}
		}
		return 0, "", ""
	}
	left, right := worlds(leaky)
	if found, queries := searchLevels(right); found != "l137" || queries != 8 {
		t.Errorf("the binary search over levels found %q in %d queries, want l137 in 8", found, queries)
	}
	sum := &score{codes: map[int]int{}, answered: map[string]int{}, lengths: map[string][2][]float64{}}
	if d := round(newAdversary(1, false, false), 300, left, right, sum); d == nil {
		t.Error("the game does not find a query that fails on an asker's levels")
	}
	// The same search finds nothing now: all of its queries are refused alike.
	left.run, right.run = noren, noren
	l, _ := searchLevels(left)
	if r, _ := searchLevels(right); l != r {
		t.Errorf("the binary search over levels found %q and %q in the two worlds", l, r)
	}

	// A mechanism that fails on a value, and files that show it.
	value := []byte("l137")
	plant := func(leak func(code *int, stdout, stderr *string)) program {
		return func(args []string) (int, string, string) {
			code, stdout, stderr := noren(args)
			if text, _ := os.ReadFile("visits.csv"); bytes.Contains(text, value) && args[0] == "query" && code == 0 {
				leak(&code, &stdout, &stderr)
			}
			return code, stdout, stderr
		}
	}
	for name, leak := range map[string]func(code *int, stdout, stderr *string){
		"an exit code":     func(code *int, _, _ *string) { *code = 3 },
		"a message":        func(_ *int, _, stderr *string) { *stderr += "note: read 41 records\n" },
		"a line of output": func(_ *int, stdout, _ *string) { *stdout = strings.Replace(*stdout, "add-remove", "replace-one", 1) },
		"a file's mode":    func(*int, *string, *string) { _ = os.Chmod("public.csv", 0o640) },
		"a file":           func(*int, *string, *string) { _ = os.WriteFile("core", nil, 0o600) },
		"a charge not made": func(*int, *string, *string) {
			noren([]string{"query", "count", "visits", "--analyst", "mori", "--epsilon", "0.001"})
		},
	} {
		left, right := worlds(plant(leak))
		a := newAdversary(7, false, false)
		if d := round(a, 60, left, right, sum); d == nil && ledgerRows(left) == ledgerRows(right) {
			t.Errorf("the game does not find a leak by %s", name)
		}
	}
	// The length of an answer, under the mask of its figures.
	var lengths [2][]float64
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		for i, digits := range []int{3, 4} {
			lengths[i] = append(lengths[i], float64(100+digits+rng.IntN(3)))
		}
	}
	if fit := randtest.TwoSample(lengths[0], lengths[1]); fit.P > randtest.RejectLevel {
		t.Errorf("the test of lengths does not notice one digit: p = %.3g", fit.P)
	}
}

// searchLevels finds the level of the record that the adversary does not know, by
// halving 256 levels, and says how many queries it took.
func searchLevels(w *world) (found string, queries int) {
	var levels []string
	for i := range 256 {
		levels = append(levels, fmt.Sprintf("l%d", i))
	}
	for len(levels) > 1 {
		half := levels[:len(levels)/2]
		order := "diag=none<cold<flu<" + strings.Join(half, "<")
		code, _, _ := w.play("query", "count", "visits.csv", "--analyst", "mori", "--epsilon", "0.000000001", "--where", "diag >= 'none'",
			"--order", order)
		queries++
		if code == 0 {
			levels = half
		} else {
			levels = levels[len(levels)/2:]
		}
	}
	return levels[0], queries
}

// withCRLF is the same CSV table with other line ends: a line end in quotes is a part
// of its cell and stays, or the copy would be another table.
func withCRLF(text string) string {
	var out strings.Builder
	quoted := false
	for _, r := range text {
		if r == '"' {
			quoted = !quoted
		}
		if r == '\n' && !quoted {
			out.WriteByte('\r')
		}
		out.WriteRune(r)
	}
	return out.String()
}
