package cli_test

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/noren-privacy/noren/internal/cli"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "worker" { // of a server that a test runs in its own process
		os.Exit(cli.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	testscript.Main(m, map[string]func(){
		"noren": func() {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			defer stop()
			os.Exit(cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
		"noren-drive": func() { os.Exit(driveShards()) },
	})
}

// rareCollection is GOGC of the many small processes of scripts, examples and documents:
// a fifth of their time went into collecting what ends with them.
const rareCollection = "400"

// TestScripts runs each behaviour of the command line as a user would: a script
// in testdata/script, in a folder of its own. There, `exits N` runs the noren
// command and demands its exit code, `only FILES` demands that the folder holds
// these files and no others, `samevalue A B` that two answers in JSON have one
// value, `mode FILE 0600` that a file has these permissions; `gzip A B` compresses.
func TestScripts(t *testing.T) {
	data, _ := filepath.Abs("../../../shared/data")
	if d := os.Getenv("NOREN_DATA"); d != "" {
		data = d
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits,
			"only":  only,
			"tally": tally,
			"mode":  mode,
			"gzip":  compress,

			"samevalue": sameValue,
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("DATA", data)
			env.Setenv("GOGC", rareCollection)
			parquet, err := filepath.Abs("../../table/parquetio/testdata")
			if err != nil {
				return err
			}
			env.Setenv("PARQUET", parquet)
			env.Setenv("TMPDIR", filepath.Join(env.WorkDir, ".tmp"))
			return postgresEnv(env)
		},
		Condition: func(cond string) (bool, error) {
			if cond == "postgres" {
				return os.Getenv("NOREN_PG_DSN") != "", nil
			}
			if cond != "data" {
				return false, nil
			}
			_, err := os.Stat(filepath.Join(data, "adult.csv"))
			return err == nil, nil
		},
	})
}
