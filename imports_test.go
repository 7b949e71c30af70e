package noren_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// goPackage is what `go list -json` tells of a package.
type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is needed to list packages")
	}
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		p.ImportPath = short(p.ImportPath)
		for _, paths := range [][]string{p.Imports, p.Deps} {
			for i := range paths {
				paths[i] = short(paths[i])
			}
		}
		all = append(all, p)
	}
}

// short is an import path without the host and the owner of this module.
func short(path string) string { return strings.TrimPrefix(path, "github.com/noren-privacy/") }

// in reports whether path is one of the rooms or lies below one.
func in(path string, rooms ...string) bool {
	for _, r := range rooms {
		if path == r || strings.HasPrefix(path, r+"/") {
			return true
		}
	}
	return false
}

// floors are the rooms from the ground up. A package imports from its own room
// and from the floors below, never from its own floor's other rooms or from
// above: this is ARCHITECTURE.md's map.
var floors = [][]string{
	{"noren"},
	{"noren/internal/atomicfile", "noren/internal/tempfile", "noren/internal/geom", "noren/internal/entropy"},
	{"noren/table", "noren/noise", "noren/account", "noren/learn"},
	{"noren/internal/randtest", "noren/certificate", "noren/ledger"},
	{"noren/kanon", "noren/dataset", "noren/query", "noren/outlier", "noren/ldp", "noren/correlated", "noren/ratio"},
	{"noren/assess", "noren/release"},
	{"noren/report", "noren/spec", "noren/examples"},
	{"noren/api"},
	{"noren/report"},
	{"noren/service"},
	{"noren/experiments"},
	{"noren/internal/cli"},
	{"noren/cmd"},
}

// roomOf is the floor and the room of a package; the root package is a room
// for itself and not the parent of all.
func roomOf(path string) (floor int, room string) {
	for f, rooms := range floors {
		for _, r := range rooms {
			if path == r || r != "noren" && strings.HasPrefix(path, r+"/") {
				return f, r
			}
		}
	}
	return -1, ""
}

func TestImportsPointDownward(t *testing.T) {
	for _, p := range listPackages(t) {
		floor, room := roomOf(p.ImportPath)
		if floor < 0 {
			t.Errorf("%s stands on no floor: give it a place in ARCHITECTURE.md and in this test", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			if !in(imported, "noren") {
				continue
			}
			below, other := roomOf(imported)
			if other != room && below >= floor {
				t.Errorf("%s must not import %s", p.ImportPath, imported)
			}
		}
	}
}

func TestOnlyOneRoomEach(t *testing.T) {
	rules := []struct {
		what    string
		imports []string
		allowed []string
	}{
		{"knows SQLite", []string{"database/sql", "modernc.org/sqlite"}, []string{"noren/ledger", "noren/table/sqlite"}},
		{"migrates a database", []string{"github.com/pressly/goose"}, []string{"noren/ledger"}},
		{"knows PostgreSQL", []string{"github.com/jackc/pgx"}, []string{"noren/table/pg"}},
		{
			"draws secret randomness",
			[]string{"crypto/rand"},
			[]string{"noren/internal/entropy", "noren/ledger", "noren/certificate", "noren/table/shuffle", "noren/table/pseudonym"},
		},
		{
			"draws randomness that is no secret",
			[]string{"math/rand", "math/rand/v2"},
			[]string{"noren/assess", "noren/kanon/bound", "noren/kanon/refine", "noren/table/shuffle", "noren/examples", "noren/experiments", "noren/internal/randtest", "noren/internal/entropy", "noren/learn", "noren/ratio/redraw"},
		},
		{
			"gets at the door to seeded noise",
			[]string{"noren/internal/entropy"},
			[]string{"noren/noise", "noren/internal/randtest", "noren/experiments"},
		},
		{"knows Parquet", []string{"github.com/parquet-go/parquet-go"}, []string{"noren/table/parquetio"}},
		{"parses commands", []string{"github.com/spf13/cobra"}, []string{"noren/internal/cli"}},
	}
	for _, p := range listPackages(t) {
		for _, r := range rules {
			for _, imported := range p.Imports {
				if in(imported, r.imports...) && !in(p.ImportPath, r.allowed...) {
					t.Errorf("%s imports %s: only %s %s", p.ImportPath, imported, strings.Join(r.allowed, ", "), r.what)
				}
			}
		}
	}
}

// The verifier must not know how the groups were made, or it would check a
// partition and not a file.
func TestVerifierKnowsNoPartition(t *testing.T) {
	for _, p := range listPackages(t) {
		if !in(p.ImportPath, "noren/kanon/verify", "noren/kanon/privacy") {
			continue
		}
		for _, dep := range p.Deps {
			if in(dep, "noren/kanon") && !in(dep, "noren/kanon/verify", "noren/kanon/privacy") {
				t.Errorf("%s depends on %s", p.ImportPath, dep)
			}
		}
	}
}

// Noise and accounting do no input or output of their own: whatever they are
// told comes as an argument.
func TestNoiseAndAccountDoNoIO(t *testing.T) {
	for _, p := range listPackages(t) {
		if !in(p.ImportPath, "noren/noise", "noren/account") {
			continue
		}
		for _, imported := range p.Imports {
			if slices.Contains([]string{"os", "net", "io/ioutil", "log", "log/slog", "syscall"}, imported) {
				t.Errorf("%s imports %s", p.ImportPath, imported)
			}
		}
	}
}
