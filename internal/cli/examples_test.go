package cli_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/noren-privacy/noren/examples/bigtable"
	"github.com/noren-privacy/noren/examples/clinic"
	"github.com/noren-privacy/noren/examples/dependence"
	"github.com/noren-privacy/noren/internal/cli"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// A state is what examples need beside the files of [exampleFolder], and how they are
// run. It is for all examples that begin with match; the longest match is taken.
type state struct {
	match   string
	prepare string // shell commands that make the state
	exit    int    // exit code that is documented; 0 unless stated
	// data: the example reads the tables of NOREN_DATA and is only parsed where there
	// are none. slow: it takes more than a second, and is run by
	// [TestLongExamples] and only parsed by [TestExamples]. long: it takes more than five,
	// and is only parsed unless NOREN_EXAMPLES=all. Under -short all are
	// only parsed. Parsed means that flags and number of arguments are checked.
	data, slow, long bool
	// serves: the example is a server, which does not end, or needs one. It is only parsed.
	serves bool
}

const (
	visits   = "noren ledger create && noren ledger grant visits --file visits.csv --spec noren.yaml --epsilon 1 --yes"
	mori     = visits + " && noren ledger grant visits --analyst mori --epsilon 0.5"
	sensors  = "noren ledger create && noren ledger grant sensors --file sensors.csv --epsilon 3 --yes"
	patients = "noren ledger create && noren ledger grant patients --file patients.csv --epsilon 3 --yes"
	weighted = patients + " && noren ratio fit patients.csv survey.csv --columns age,sex --bounds age=0,110 --epsilon 1 -o weighted.csv"
	power    = "noren ledger create && noren ledger grant power --file minutes.csv --model power.json --model-column state --epsilon 3 " +
		"--neighbours replace-one --yes"
	charged  = visits + " && mkdir certificates && noren query count visits --max-rows 5 --epsilon 0.1 --certificate certificates/1.json"
	radius   = "printf 'version: 1\ncolumn: radius\nmechanism: oue\nepsilon: 2\nbins: {low: 0, high: 30, count: 5}\n' > ldp.yaml"
	reported = radius + " && noren ldp randomize table.csv --spec ldp.yaml --client id -o reports.txt && cp reports.txt reports.csv"
	daily    = "printf 'version: 1\ncolumn: radius\nmechanism: longitudinal-grr\nepsilon: 2\nlifetime: 4\nbins: {low: 0, high: 30, count: " +
		"5}\n' > daily.yaml"
	rounds = daily + " && noren ldp randomize table.csv --spec daily.yaml --client id --devices keys -o monday.txt && noren ldp " +
		"randomize table.csv --spec daily.yaml --client id --devices keys -o tuesday.txt"
	twoParts = "noren ldp randomize table.csv --column radius --mechanism oue --bins 0,30,5 --epsilon 2 -o north.txt && noren ldp " +
		"randomize sample.csv --column age --question radius --mechanism oue --bins 0,30,5 --epsilon 2 -o south.txt"
	words  = "noren ldp randomize table.csv --column page --params params.csv -o words.txt"
	counts = words +
		" && noren ldp estimate words.txt --params params.csv --candidates words.list --write-counts counts.csv --write-map map.csv"
	colours = "noren ldp randomize table.csv --spec colour.yaml --client id -o colour.txt && noren ldp randomize table.csv --spec " +
		"shape.yaml --client id -o shape.txt"
)

// states lists the states; an example without an entry runs in a copy of the folder.
var states = []state{
	{match: "noren query ", prepare: visits},
	{match: "noren ask ", prepare: visits},
	{match: "noren ledger ", prepare: visits},
	{match: "noren serve", serves: true}, // serve_test.go runs it
	{match: "noren ledger create"},
	{match: "noren ledger create --ledger budgets.db --anchor", serves: true}, // on another disk
	{match: "noren ledger check-export", prepare: visits + " && noren ledger export -o book.jsonl"},
	{match: "noren ledger check-export book.jsonl --key", serves: true}, // the key of somebody
	{match: "noren init visits.csv -o noren.yaml --interactive", serves: true},
	{match: "noren ledger grant visits --file visits.csv --spec noren.yaml --epsilon 1", prepare: "noren ledger create"},
	{match: "noren ledger close-analyst visits --analyst mori", prepare: mori},
	{match: "noren ledger history visits --analyst mori", prepare: mori},
	{match: "noren ledger reconcile certificates", prepare: charged},
	{match: "noren ledger reconcile --without-head", prepare: charged + " && rm noren.db.head"},
	{
		match: "noren verify out.csv --k 5 --quasi age,sex --sensitive diagnosis --l 3",
		prepare: "noren anonymize visits.csv -o out.csv --force --k 5 --quasi age,sex --identifier visit_id,person_id,name --other " +
			"postcode,visit_date,department,severity,insurance,weight_kg,note --sensitive diagnosis --l 3",
	},
	{
		match: "noren verify out.csv --k 5 --quasi age,sex --sensitive severity --t 0.2",
		prepare: "noren anonymize visits.csv -o out.csv --force --k 5 --quasi age,sex --identifier visit_id,person_id,name --other " +
			"postcode,visit_date,department,insurance,weight_kg,note --sensitive severity --t 0.2",
	},
	{match: "noren hierarchy check ages.csv", prepare: "noren hierarchy propose visits.csv --column age -o ages.csv"},
	{match: "noren outliers count sensors", prepare: sensors},
	{match: "noren correlated answer", prepare: power},
	{match: "noren correlated answer power --query query.json", prepare: power + ` && echo '{"count":"on"}' > query.json`},
	{match: "noren ratio fit", prepare: patients},
	{match: "noren ratio answer", prepare: weighted},
	{match: "noren ratio check", prepare: weighted},
	{
		match:   "noren ratio check patients.csv weighted.parquet",
		prepare: strings.ReplaceAll(weighted, "-o weighted.csv", "-o weighted.parquet"),
	},
	{match: "noren ldp edges visits", prepare: visits},
	{match: "noren ldp randomize table.csv --column radius --spec ldp.yaml", prepare: radius},
	{match: "noren ldp randomize table.csv --spec ldp.yaml", prepare: radius + " && sed -i.old 's/oue/longitudinal-oue/' ldp.yaml"},
	{match: "noren ldp simulate --spec ldp.yaml", prepare: radius},
	{match: "noren ldp estimate reports.", prepare: reported},
	{match: "noren ldp estimate north.txt", prepare: twoParts},
	{match: "noren ldp estimate monday.txt", prepare: rounds},
	{match: "noren ldp estimate words.txt", prepare: words},
	{match: "noren ldp estimate counts.csv", prepare: counts},
	{match: "noren ldp estimate colour.txt", prepare: colours},
	{match: "noren ldp evaluate wdbc.csv", prepare: `cp "$NOREN_DATA/wdbc.csv" .`, data: true, slow: true},
	{match: "noren ldp evaluate wdbc.csv --label diagnosis --mechanism", prepare: `cp "$NOREN_DATA/wdbc.csv" .`, data: true, long: true},
	{match: "noren ldp evaluate adult.csv", prepare: `cp "$NOREN_DATA/adult.csv" .`, data: true, long: true},
	{match: "noren assess curve visits.csv --spec noren.yaml --k 2..50", long: true},
	{match: "noren assess curve visits.csv --quasi age,sex,postcode", slow: true},
	{match: "noren correlated calibrate power.json", slow: true},
	{match: "noren correlated explain power.json", slow: true},
	{match: "noren correlated leakage power.json", slow: true},
	{match: "noren harm optimise costs.json --epsilon-max 1 --model power.json", slow: true},
	{match: "noren ldp evaluate visits.csv", slow: true},
	{match: "noren ldp simulate --mechanism hybrid", slow: true},
	{match: "noren ldp simulate --size 5 --mechanism grr --epsilon 1 --n 10000", slow: true},
	{match: "noren ldp simulate table.csv", slow: true},
}

// exampleFolder makes the folder that examples run in, once: the clinic, small tables
// of the repository's generators, models, and what the program makes of them.
func exampleFolder(t *testing.T, env []string) string {
	t.Helper()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.CopyFS(dir, clinic.FS()); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"power.json": "power.json", "household.json": "family.json", "costs.json": "costs.json"} {
		text, err := os.ReadFile(filepath.Join("../../examples/dependence", from))
		if err != nil {
			t.Fatal(err)
		}
		writeExample(t, in(to), text)
	}
	generate := func(name string, write func(w io.Writer) error) []byte {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		writeExample(t, in(name), b.Bytes())
		return b.Bytes()
	}
	ctx := t.Context()
	generate("minutes.csv", func(w io.Writer) error { return dependence.Write(ctx, w, 1, 7) })
	generate("lastyear.csv", func(w io.Writer) error { return dependence.Write(ctx, w, 20, 1) })
	generate("sensors.csv", func(w io.Writer) error { return bigtable.WriteSensors(ctx, w, bigtable.Options{Rows: 2000}) })
	generate("register.csv", func(w io.Writer) error { return bigtable.Write(ctx, w, bigtable.Options{Rows: 2000}) })
	generate("sample.csv", func(w io.Writer) error { return bigtable.Write(ctx, w, bigtable.Options{Rows: 100}) })
	generate("patients.csv", func(w io.Writer) error { return bigtable.Write(ctx, w, bigtable.Options{Rows: 500, Seed: 2}) })
	big := generate("big.csv", func(w io.Writer) error { return bigtable.Write(ctx, w, bigtable.Options{Rows: 1000, Seed: 3}) })
	generate("big.csv.gz", func(w io.Writer) error {
		z := gzip.NewWriter(w)
		if _, err := z.Write(big); err != nil {
			return err
		}
		return z.Close()
	})
	rows := func(name, header string, n int, row func(i int) string) {
		var b strings.Builder
		b.WriteString(header + "\n")
		for i := range n {
			b.WriteString(row(i) + "\n")
		}
		writeExample(t, in(name), []byte(b.String()))
	}
	word := func(i int, words ...string) string { return words[i%len(words)] }
	rows("grid.csv", "x,y", 200, func(i int) string { return fmt.Sprintf("%d,%d", i*7%40, i*11%60) })
	rows("table.csv", "id,colour,shape,radius,page", 400, func(i int) string {
		return fmt.Sprintf("p%d,%s,%s,%d.5,%s", i, word(i*i, "red", "green", "blue"), word(i, "round", "square"), i%29,
			word(i*i/3, "home", "news", "sport"))
	})
	rows("survey.csv", "age,sex,income,a,b,c", 300, func(i int) string {
		return fmt.Sprintf("%d,%s,%d,%s,%s,%s", 20+i*13%60, word(i, "female", "male"), 20000+i*331%90000, word(i, "no", "yes"),
			word(i/2, "no", "yes"), word(i/3, "no", "yes"))
	})
	for name, text := range map[string]string{
		"query.json":  `{"count":"infected"}`,
		"words.list":  "home\nnews\nsport\nmusic\n",
		"params.csv":  "k,h,m,p,q,f\n32,2,64,0.25,0.75,0.5\n",
		"colour.yaml": "version: 1\ncolumn: colour\nmechanism: grr\nepsilon: 2\nlabels: [red, green, blue]\n",
		"shape.yaml":  "version: 1\ncolumn: shape\nmechanism: grr\nepsilon: 2\nlabels: [round, square]\n",
	} {
		writeExample(t, in(name), []byte(text))
	}
	convert(t, in("visits.csv"), in("visits.parquet"))
	convert(t, in("visits.csv"), in("visits.xlsx"))
	convert(t, in("survey.csv"), in("survey.parquet"))
	if err := os.Mkdir(in("visits"), 0o700); err != nil {
		t.Fatal(err)
	}
	convert(t, in("visits.csv"), in("visits/2024.parquet"))
	out, code := shell(t, dir, env, `set -e
noren certificate key > office.pem
noren anonymize visits.csv -o out.csv --spec noren.yaml --refine off --certificate out.cert.json
noren anonymize visits.csv -o out.parquet --spec noren.yaml --refine off`)
	if code != 0 {
		t.Fatalf("the folder of examples cannot be made:\n%s", out)
	}
	return dir
}

func writeExample(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// convert copies a CSV file as texts.
func convert(t *testing.T, from, to string) {
	t.Helper()
	src, err := file.Open(t.Context(), from, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := src.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sink, err := file.Create(to, src.Columns(), csvio.Dialect{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		chunk, err := r.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = sink.Write(chunk)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
}

// exampleEnv is the environment of examples: a home and a key of their own, English, and
// neither a ledger nor colours.
func exampleEnv(t *testing.T) []string {
	home := t.TempDir()
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "NOREN_LEDGER=") || strings.HasPrefix(v, "XDG_") || strings.HasPrefix(v, "LC_")
	})
	return append(env, "HOME="+home, "NOREN_KEY="+filepath.Join(home, "key.pem"), "TERM=dumb", "LANG=C.UTF-8", "GOGC="+rareCollection,
		"TMPDIR="+t.TempDir(), "ROOT="+repository(t))
}

func repository(t *testing.T) string {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// shell runs a command line, and returns what it printed to both outputs.
func shell(t *testing.T, dir string, env []string, script string) (string, int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-c", script)
	c.Dir, c.Env = dir, env
	text, err := c.CombinedOutput()
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	return string(text), c.ProcessState.ExitCode()
}

// parse runs a command line in which each noren checks its flags and the number of
// its arguments only, and reads no file.
func parse(t *testing.T, dir string, env []string, line string) (string, int) {
	t.Helper()
	said := filepath.Join(t.TempDir(), "arguments") // of each noren: how many, and which
	out, code := shell(t, dir, append(slices.Clip(env), "SAID="+said), `noren() { printf '%s\0' "$#" "$@" >>"$SAID"; }; `+line)
	text, err := os.ReadFile(said)
	if err != nil {
		t.Fatalf("%s\nno noren was run: %v", line, err)
	}
	var faults strings.Builder
	for rest := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"); len(rest) > 0; {
		n, err := strconv.Atoi(rest[0])
		if err != nil || n >= len(rest) {
			t.Fatalf("%s\narguments are mixed up: %q", line, text)
		}
		code = max(code, cli.ParseOnly(t.Context(), rest[1:n+1], &faults))
		rest = rest[n+1:]
	}
	return out + faults.String(), code
}

// target finds the files that a command line makes.
var target = regexp.MustCompile(`(?:-o|--report|--certificate|--figure|--figures|--keep)[ =]([\w.]+)`)

// TestExamples runs the examples of all help texts as they are printed, each in a
// fresh copy of a folder in the state that it needs, without the files that it is to
// make. An example that does not exit as documented is false.
func TestExamples(t *testing.T) { testExamples(t, false) }

// TestLongExamples runs the examples that take more than a second.
func TestLongExamples(t *testing.T) {
	randtest.Long(t)
	testExamples(t, true)
}

func testExamples(t *testing.T, slow bool) {
	if runtime.GOOS == "windows" {
		t.Skip("examples are for a POSIX shell")
	}
	env := exampleEnv(t)
	folders := &folders{t: t, env: env, made: map[string]func() (string, error){
		"": sync.OnceValues(func() (string, error) { return exampleFolder(t, env), nil }),
	}}
	examples := cli.HelpExamples()
	if len(examples) < 100 {
		t.Fatalf("found %d examples", len(examples))
	}
	used := make([]bool, len(states))
	seen := map[string]bool{}
	for _, e := range examples {
		best := -1
		for i := range states {
			if strings.HasPrefix(e.Line, states[i].match) {
				used[i] = true
				if best < 0 || len(states[i].match) > len(states[best].match) {
					best = i
				}
			}
		}
		if seen[e.Line] {
			continue
		}
		seen[e.Line] = true
		s := state{}
		if best >= 0 {
			s = states[best]
		}
		if slow && !s.slow {
			continue
		}
		s.slow = s.slow && !slow
		t.Run(e.Line, func(t *testing.T) {
			t.Parallel()
			runExample(t, folders, env, e, s)
		})
	}
	for i, ok := range used {
		if !ok {
			t.Errorf("no example is of the state %q", states[i].match)
		}
	}
}

// byPath matches examples whose ledger has to know the path of the file: their state is
// made where they run.
var byPath = regexp.MustCompile(`^noren (query \w+|outliers count|ratio \w+) \w+\.csv `)

// folders are the folders that examples run in, one for each state, made once.
type folders struct {
	t    *testing.T
	env  []string
	mu   sync.Mutex
	made map[string]func() (string, error)
}

// in is the folder in a state.
func (f *folders) in(prepare string) (string, error) {
	f.mu.Lock()
	make, ok := f.made[prepare]
	if !ok {
		make = sync.OnceValues(func() (string, error) {
			empty, err := f.in("")
			if err != nil {
				return "", err
			}
			dir := f.t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(empty)); err != nil {
				return "", err
			}
			if out, code := shell(f.t, dir, f.env, prepare); code != 0 {
				return "", fmt.Errorf("its state cannot be made (exit code %d):\n%s", code, out)
			}
			return dir, nil
		})
		f.made[prepare] = make
	}
	f.mu.Unlock()
	return make()
}

func runExample(t *testing.T, folders *folders, env []string, e cli.Example, s state) {
	line := e.Line
	skip := s.serves || s.long && os.Getenv("NOREN_EXAMPLES") != "all" || s.data && os.Getenv("NOREN_DATA") == ""
	skip = skip || strings.Contains(e.Line, "pg:") // a database is not at hand everywhere
	dir := t.TempDir()
	run := shell
	if skip || s.slow || testing.Short() {
		run = parse
	} else {
		shared := s.prepare
		if byPath.MatchString(line) {
			shared = ""
		}
		folder, err := folders.in(shared)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(dir, os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
		if shared != s.prepare {
			if out, code := shell(t, dir, env, s.prepare); code != 0 {
				t.Fatalf("its state cannot be made (exit code %d):\n%s", code, out)
			}
		}
	}
	for _, m := range target.FindAllStringSubmatch(line, -1) {
		if err := os.RemoveAll(filepath.Join(dir, m[1])); err != nil {
			t.Fatal(err)
		}
	}
	if out, code := run(t, dir, env, line); code != s.exit {
		t.Errorf("%s --help shows: %s\nexpected exit code %d, got %d:\n%s", e.Command, line, s.exit, code, out)
	}
}
