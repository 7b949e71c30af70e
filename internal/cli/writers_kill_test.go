//go:build unix

package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/tempfile"
)

// killedWriters are the commands that write files, but for those whose kills other tests try
// (anonymize, query, shards). NAME stands for what each run names its files by.
var killedWriters = map[string]string{
	"ldp randomize": "ldp randomize t.csv --column colour --mechanism grr --labels red,green,blue --epsilon 1 -o NAME.txt",
	"ldp randomize, key": "ldp randomize t.csv --column colour --client id --devices NAME.key --mechanism basic-one-time --labels " +
		"red,green,blue --epsilon 1 -o NAME.txt",
	"ldp estimate": "ldp estimate words.txt --mechanism rappor --rappor k=8,h=1,m=2,p=0.2,q=0.8,f=0.1 --candidates words " +
		"--write-counts NAME.csv",
	"ldp estimate, pages": "ldp estimate words.txt --mechanism rappor --rappor k=8,h=1,m=2,p=0.2,q=0.8,f=0.1 --candidates words --report " +
		"NAME.html",
	"ldp design":         "ldp design --labels red,green,blue --epsilon 1 --repeats 10 -o NAME.yaml",
	"ldp simulate":       "ldp simulate --size 3 --mechanism subset --epsilon 2 --n 300 --trials 1 --seed 1 --report NAME.html",
	"init":               "init t.csv -o NAME.yaml",
	"hierarchy propose":  "hierarchy propose t.csv --column age -o NAME.csv",
	"assess":             "assess t.csv --quasi age,colour --report NAME.html",
	"assess curve":       "assess curve t.csv --quasi age,colour --k 2,5 --report NAME.html",
	"anonymize":          "anonymize t.csv -o NAME.csv --k 2 --quasi age,colour --identifier id --report NAME.html --certificate NAME.json",
	"anonymize, files":   "anonymize t.csv -o NAME/part-*.csv --split-rows 500 --k 2 --quasi age,colour --identifier id",
	"anonymize, Parquet": "anonymize t.csv -o NAME.parquet --k 2 --quasi age,colour --identifier id",
	"outliers count": "outliers count points.csv --columns x,y --radius 3 --step 0.1 --box 0,100 --type x=decimal --type y=decimal " +
		"--epsilon 1 --unaccounted --certificate NAME.json -o NAME.out.json",
	"correlated explain": `correlated explain chain.json --query {"count":"b"} --epsilon 1 -o NAME.html`,
	"ratio fit": "ratio fit ages.csv public.csv --columns age --spec spec.yaml --epsilon 1000 --unaccounted -o NAME.csv " +
		"--certificate NAME.json --report NAME.html",
	"ask":   "ask questions.yaml -o NAME.json --certificate NAME.cert.json",
	"query": "query count people --epsilon 0.001 --where age>=40 -o NAME.json --certificate NAME.cert.json",
	"ldp evaluate": "ldp evaluate t.csv --label colour --drop id --mechanism grr --epsilon 1 --folds 2 --repeats 1 --model forest " +
		"--trees 2 --sample 300 --report NAME.html",
	"correlated fit":       "correlated fit chain.csv --column state --length 20 --source public -o NAME.json --centre NAME.centre.json",
	"harm evaluate":        "harm evaluate costs.json --scale 2 --figure NAME.svg",
	"ratio check":          "ratio check ages.csv weights.csv --epsilon 1 --spec spec.yaml --unaccounted --certificate NAME.json",
	"ledger create":        "ledger create --ledger NAME.db",
	"ledger export":        "ledger export -o NAME.export",
	"certificate, new key": "certificate key",
}

// killable is a folder in which the commands of [killedWriters] run.
type killable struct {
	t   *testing.T
	dir string
}

func newKillable(t *testing.T) *killable {
	k := &killable{t, t.TempDir()}
	var table strings.Builder
	table.WriteString("id,age,colour\n")
	for i := range 2000 {
		fmt.Fprintf(&table, "c%d,%d,%s\n", i, i%80, []string{"red", "green", "blue"}[i%3])
	}
	for name, text := range map[string]string{
		"t.csv": table.String(), "ages.csv": "age\n" + strings.Repeat("20\n30\n40\n40\n", 500), "public.csv": "age\n" +
			strings.Repeat("20\n30\n40\n70\n", 50), "chain.csv": "state\n" + strings.Repeat("a\na\nb\nb\na\n", 100),
		"costs.json": `{"damage_slope":1,"concealment_slope":2,"credit_slope":0.1,"false_alarm":2,"concealment":3,"prior":[{"count":0,"p":0.7},{"count":1,"p":0.3}]}`,
		"words":      "red\ngreen\nblue\n", "points.csv": "x,y\n" + strings.Repeat("1.5,2\n40,50.5\n", 50), "people.csv": "age,town\n" +
			strings.Repeat("31,Nara\n47,Kobe\n", 50),
		"spec.yaml":      "version: 1\ncolumns:\n  age: {type: integer, bounds: ['0', '110']}\n",
		"questions.yaml": "version: 1\ndataset: people\nquestions:\n  - {kind: count, pay: {epsilon: '0.001'}, where: 'age >= 40'}\n",
		"chain.json":     `{"type":"chain","states":["a","b"],"init":[0.5,0.5],"P":[[0.9,0.1],[0.1,0.9]],"length":20}`,
	} {
		if err := os.WriteFile(filepath.Join(k.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k.run("certificate key")
	k.run("ledger create")
	k.run("ledger grant people --file people.csv --type age=integer --type town=category --epsilon 100")
	k.run("ldp randomize t.csv --column colour --mechanism rappor --rappor k=8,h=1,m=2,p=0.2,q=0.8,f=0.1 -o words.txt")
	k.run("ratio fit ages.csv public.csv --columns age --spec spec.yaml --epsilon 1000 --unaccounted -o weights.csv")
	return k
}

// command is a command in a folder of its own below the folder, whose names are those of the inputs.
func (k *killable) command(line string) *exec.Cmd {
	c := exec.CommandContext(k.t.Context(), "noren", strings.Fields(line)...)
	c.Dir = k.dir
	c.Env = append(os.Environ(), "NOREN_LEDGER="+filepath.Join(k.dir, "noren.db"), "NOREN_KEY="+filepath.Join(k.dir, "key", "key.pem"),
		"TMPDIR="+k.dir)
	return c
}

func (k *killable) run(line string) time.Duration {
	k.t.Helper()
	begun := time.Now()
	if out, err := k.command(line).CombinedOutput(); err != nil {
		k.t.Fatalf("noren %s: %v\n%s", line, err, out)
	}
	return time.Since(begun)
}

// files are the files below the folder, by their names, with their texts.
func (k *killable) files() map[string]string {
	k.t.Helper()
	out := map[string]string{}
	if err := filepath.WalkDir(k.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(k.dir, path)
		text, err := os.ReadFile(path)
		out[name] = string(text)
		return err
	}); err != nil {
		k.t.Fatal(err)
	}
	return out
}

// temporary reports whether a path lies in or is a temporary file or folder.
func temporary(name string) bool {
	return slices.ContainsFunc(strings.Split(name, string(filepath.Separator)), tempfile.IsName)
}

// whole compares a file of a killed run with that of one that ended: it has as many lines,
// where its form tells how many, and its end.
func whole(name, text, of string) error {
	switch {
	case strings.HasSuffix(name, ".json") && !json.Valid([]byte(text)):
		return fmt.Errorf("no JSON")
	case strings.HasSuffix(name, ".html") && !strings.HasSuffix(text, "</html>\n"):
		return fmt.Errorf("a page that does not end")
	case strings.HasSuffix(name, ".parquet") && !strings.HasSuffix(text, "PAR1"):
		return fmt.Errorf("no end of a Parquet file")
	case strings.HasSuffix(name, ".db"):
		return nil // opened below
	case !strings.HasSuffix(name, ".parquet") && (strings.Count(text, "\n") != strings.Count(of, "\n") || text == ""):
		return fmt.Errorf("%d lines, expected %d", strings.Count(text, "\n"), strings.Count(of, "\n"))
	}
	return nil
}

// try runs a writer once, kills it n times at random moments, and runs it once more.
func (k *killable) try(what, line string, n int) (left int) {
	t := k.t
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(n), uint64(len(what))))
	before := k.files()
	name := func(i int) string {
		return fmt.Sprintf("%s%03d", strings.NewReplacer(" ", "", ",", "").Replace(what), i)
	}
	at := func(i int) string { return strings.ReplaceAll(line, "NAME", name(i)) }
	if what == "certificate, new key" {
		delete(before, filepath.Join("key", "key.pem"))
	}
	fresh := func() {
		if what == "certificate, new key" {
			_ = os.RemoveAll(filepath.Join(k.dir, "key"))
		}
	}
	fresh()
	took := k.run(at(0))
	made := map[string]string{} // by the name with NAME in it
	for file, text := range k.files() {
		if _, was := before[file]; !was && !temporary(file) {
			made[strings.ReplaceAll(file, name(0), "NAME")] = text
		}
	}
	if len(made) == 0 {
		t.Fatalf("%s writes nothing", what)
	}
	for i := 1; i <= n; i++ {
		fresh()
		c := k.command(at(i))
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		// Files appear at the end of a run.
		time.Sleep(time.Duration(float64(took) * (0.3 + 0.8*random.Float64())))
		_ = c.Process.Kill()
		_ = c.Wait()
		for file, text := range k.files() {
			full := filepath.Join(k.dir, file)
			if temporary(file) {
				left++
				info, err := os.Lstat(full)
				if errors.Is(err, fs.ErrNotExist) {
					continue // the verification of a ledger has removed it
				}
				if err != nil {
					t.Fatal(err)
				}
				if info.Mode().Perm()&0o077 != 0 && !strings.Contains(file, string(filepath.Separator)) {
					t.Errorf("%s, kill %d: %s has mode %v", what, i, file, info.Mode())
				}
				continue
			}
			if _, was := before[file]; was {
				continue
			}
			of, known := made[strings.ReplaceAll(file, name(i), "NAME")]
			switch {
			case !known && !strings.Contains(file, name(i)):
				continue // of an earlier run
			case !known && strings.HasSuffix(file, ".lock"):
				continue // taken by the next run
			case !known:
				t.Errorf("%s, kill %d: %s is there, which a whole run does not make", what, i, file)
				continue
			}
			if err := whole(file, text, of); err != nil {
				t.Errorf("%s, kill %d: %s is cut: %v", what, i, file, err)
			}
			if strings.HasSuffix(file, ".db") {
				k.run("ledger verify --ledger " + file)
			}
		}
	}
	// The next run goes on without help, and removes what is left of the killed ones.
	for i := range n {
		if key := filepath.Join(k.dir, name(i+1)+".key"); what == "ldp randomize, key" && exists(key) {
			k.run(strings.ReplaceAll(at(i+1), "-o ", "--force -o "))
		}
	}
	fresh()
	k.run(at(n + 1))
	for file := range k.files() {
		if temporary(file) {
			t.Errorf("%s: %s is left after the next run", what, file)
		}
	}
	return left
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Every command that writes a file is killed at random moments: no part of a file has its
// name, temporary files are named as such and private, and the next run removes them.
func TestKilledWriters(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	k := newKillable(t)
	for _, what := range []string{"ldp randomize, key", "anonymize, files", "ledger create", "certificate, new key", "anonymize"} {
		k.try(what, killedWriters[what], 2)
	}
}

func TestLongKilledWriters(t *testing.T) {
	randtest.Long(t)
	k := newKillable(t)
	for what, line := range killedWriters {
		t.Logf("%s: %d temporary files were seen", what, k.try(what, line, 50))
	}
}

// What a killed process leaves is removed by the next writer in that folder, whichever it is, and what a
// living one uses is not.
func TestRemainsOfKilledWriters(t *testing.T) {
	t.Parallel()
	k := newKillable(t)
	one, folder := tempfile.Name(k.dir), tempfile.Name(k.dir)
	for _, path := range []string{one, filepath.Join(folder, "part"), filepath.Join(folder, "sub", "part")} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 10), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	held, err := tempfile.CreateNamed(filepath.Join(k.dir, ".."))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Remove(held.Name()); _ = held.Close() }()
	used := tempfile.Name(k.dir)
	if err := os.Rename(held.Name(), used); err != nil {
		t.Fatal(err)
	}
	k.run("ldp design --labels red,green,blue --epsilon 1 --repeats 10 -o design.yaml")
	for _, path := range []string{one, folder} {
		if exists(path) {
			t.Errorf("%s is left", path)
		}
	}
	if !exists(used) {
		t.Error("the file of a living process was removed")
	}
}
