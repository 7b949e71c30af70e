package reproduce_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/noren-privacy/noren/internal/access"
	"github.com/noren-privacy/noren/internal/cli"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/reproduce"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"noren-reproduce": func() {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			defer stop()
			os.Exit(reproduce.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
		},
	})
}

func data(t *testing.T) string {
	if d := os.Getenv("NOREN_DATA"); d != "" {
		return d
	}
	d, err := filepath.Abs("../../../shared/data")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestScripts runs the commands as a user would; `exits N` demands the exit code N.
func TestScripts(t *testing.T) { testScripts(t, "testdata/script") }

// TestLongScripts runs the scripts whose commands take seconds.
func TestLongScripts(t *testing.T) {
	randtest.Long(t)
	testScripts(t, "testdata/long")
}

func testScripts(t *testing.T, dir string) {
	testscript.Run(t, testscript.Params{
		Dir:  dir,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits},
		Setup: func(env *testscript.Env) error {
			env.Setenv("DATA", data(t))
			return nil
		},
		Condition: func(cond string) (bool, error) {
			_, err := os.Stat(filepath.Join(data(t), "adult.csv"))
			return cond == "data" && err == nil, nil
		},
	})
}

func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	var exit *exec.ExitError
	err, got := ts.Exec("noren-reproduce", args[1:]...), 0
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("noren-reproduce %s exits with %d, not with %d", strings.Join(args[1:], " "), got, want)
	}
}

func run(t *testing.T, args ...string) (code int, out, problems string) {
	var stdout, stderr bytes.Buffer
	code = reproduce.Run(t.Context(), args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

var command = regexp.MustCompile(`(?m)^  ([a-z]+) +Reproduce `)

// commands are the experiments that the first page of help lists.
func commands(t *testing.T) (names []string) {
	code, out, _ := run(t)
	for _, m := range command.FindAllStringSubmatch(out, -1) {
		names = append(names, m[1])
	}
	if code != 0 || len(names) != 5 {
		t.Fatalf("exit code %d, %d experiments\n%s", code, len(names), out)
	}
	return names
}

// Each experiment has a text and examples that parse. The long trials of the scripts run them.
func TestHelp(t *testing.T) {
	example := regexp.MustCompile(`(?m)^  noren-reproduce (\S.*)$`)
	for _, name := range commands(t) {
		code, out, _ := run(t, name, "--help")
		examples := example.FindAllStringSubmatch(out, -1)
		if code != 0 || len(examples) < 3 || strings.HasPrefix(out, "Reproduce ") || strings.Contains(out, "[") &&
			strings.Contains(out, "(default [") {
			t.Errorf("%s: exit code %d, %d examples\n%s", name, code, len(examples), out)
		}
		for _, e := range examples {
			args := strings.Fields(e[1])
			if !slices.Contains(append(commands(t), name), args[0]) {
				t.Errorf("%s: %s is no experiment", e[0], args[0])
			}
			if code, _, problems := run(t, append(args, "--help")...); code != 0 {
				t.Errorf("%s: %s", e[0], problems)
			}
		}
	}
}

// onGranted are the arguments of the experiments that take a table.
var onGranted = map[string]string{
	"kanon": "--dataset T.csv --drop id --k 2 --quick", "ldp": "--data reference --repeats 2 --tables",
	"outlier": "--data reference --dataset wdbc", "ratio": "--data reference --repeats 2",
}

// An experiment refuses a granted table, whose figures would not be charged.
func TestGrantedTables(t *testing.T) {
	t.Setenv("NOREN_LEDGER", filepath.Join(t.TempDir(), "noren.db"))
	t.Setenv("NOREN_KEY", filepath.Join(t.TempDir(), "key.pem"))
	t.Chdir(t.TempDir())
	const table = "id,ward,age\na,1,30\nb,2,31\nc,2,32\nd,3,33\ne,1,34\nf,1,35\ng,2,36\nh,3,37\n"
	if err := os.Mkdir("reference", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"T.csv", "reference/wdbc.csv", "reference/adult.csv"} {
		if err := os.WriteFile(name, []byte(table), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{
		"ledger create",
		"ledger grant T --file T.csv --type id=category --type ward=category --type age=integer --epsilon 1 --yes",
	} {
		var out, problems bytes.Buffer
		if code := cli.Run(t.Context(), strings.Fields(line), strings.NewReader(""), &out, &problems); code != 0 {
			t.Fatalf("noren %s: %s", line, &problems)
		}
	}
	var listed []string
	for _, w := range access.Experiments() {
		listed = append(listed, w.Name)
		if !w.Has(access.Ungranted) {
			continue
		}
		code, out, problems := run(t, append([]string{w.Name}, strings.Fields(onGranted[w.Name])...)...)
		if code != 5 || out != "" {
			t.Errorf("%s: exit code %d, want a refusal with 5\n%s%s", w.Name, code, out, problems)
		}
	}
	have := commands(t)
	slices.Sort(have)
	slices.Sort(listed)
	if !slices.Equal(have, listed) {
		t.Errorf("internal/access lists the experiments %v, the program has %v", listed, have)
	}
}

// The program is in English, whatever the environment says.
func TestEnglishOnly(t *testing.T) {
	t.Setenv("LANG", "ja_JP.UTF-8")
	code, out, problems := run(t, "ldp", "--data", t.TempDir(), "--repeats", "2")
	if code != 2 || out != "" || !strings.Contains(problems, "the table wdbc.csv cannot be opened") {
		t.Errorf("exit code %d\n%s%s", code, out, problems)
	}
}
