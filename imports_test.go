package noren_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// goPackage is the part of the output of `go list -json` that is used here.
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
	all, err := listed()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return all
}

// listed lists the packages once; no test changes them.
var listed = sync.OnceValues(func() ([]goPackage, error) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...").Output()
	if err != nil {
		return nil, err
	}
	var all []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		p.ImportPath = short(p.ImportPath)
		for _, paths := range [][]string{p.Imports, p.Deps} {
			for i := range paths {
				paths[i] = short(paths[i])
			}
		}
		all = append(all, p)
	}
})

// short is an import path without the host and the owner of this module.
func short(path string) string { return strings.TrimPrefix(path, "github.com/noren-privacy/") }

// in reports whether path is one of the roots or lies below one.
func in(path string, roots ...string) bool {
	for _, r := range roots {
		if path == r || strings.HasPrefix(path, r+"/") {
			return true
		}
	}
	return false
}

// layers are the trees of packages from the lowest layer up. A package imports from its
// own tree and from lower layers, never from another tree of its own layer or from a
// higher layer: ARCHITECTURE.md has the same list.
var layers = [][]string{
	{"noren"},
	{"noren/internal/meter"},
	{"noren/internal/plainfile", "noren/internal/bootclock", "noren/internal/cputime", "noren/internal/tempfile"},
	{
		"noren/internal/atomicfile", "noren/internal/frames", "noren/internal/geom", "noren/internal/entropy", "noren/internal/grid",
		"noren/internal/access", "noren/internal/statements", "noren/internal/streams", "noren/internal/lint", "noren/internal/names",
		"noren/lang",
	},
	{"noren/table", "noren/noise", "noren/account", "noren/learn"},
	{"noren/internal/randtest", "noren/certificate", "noren/ledger"},
	{"noren/internal/identity"},
	{"noren/kanon", "noren/dataset", "noren/query", "noren/outlier", "noren/ldp", "noren/correlated", "noren/ratio"},
	{"noren/assess", "noren/kinds", "noren/release"},
	{"noren/spec", "noren/examples"},
	{"noren/api"},
	{"noren/report"},
	{"noren/service"},
	{"noren/experiments", "noren/internal/server", "noren/web"},
	{"noren/internal/cli", "noren/internal/reproduce"},
	{"noren/cmd", "noren/internal/acceptance"},
}

// treeOf is the layer and the tree of a package; the root package is a tree of its own
// and not the parent of all.
func treeOf(path string) (layer int, tree string) {
	for l, trees := range layers {
		for _, r := range trees {
			if path == r || r != "noren" && strings.HasPrefix(path, r+"/") {
				return l, r
			}
		}
	}
	return -1, ""
}

func TestImportsPointDownward(t *testing.T) {
	for _, p := range listPackages(t) {
		layer, tree := treeOf(p.ImportPath)
		if layer < 0 {
			t.Errorf("%s is in no layer: add it to ARCHITECTURE.md and to this test", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			if !in(imported, "noren") {
				continue
			}
			below, other := treeOf(imported)
			if other != tree && below >= layer {
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
		{
			"knows SQLite",
			[]string{"database/sql", "modernc.org/sqlite"},
			[]string{"noren/ledger", "noren/table/sqlite", "noren/internal/server/store", "noren/internal/statements"},
		},
		{"migrates a database", []string{"github.com/pressly/goose"}, []string{"noren/ledger", "noren/internal/server/store"}},
		{"knows PostgreSQL", []string{"github.com/jackc/pgx"}, []string{"noren/table/pg"}},
		{
			"draws secret randomness",
			[]string{"crypto/rand"},
			[]string{
				"noren/internal/entropy", "noren/ledger", "noren/certificate", "noren/table/shuffle", "noren/table/pseudonym",
				"noren/internal/server/store",
			},
		},
		{
			"draws randomness that is no secret",
			[]string{"math/rand", "math/rand/v2"},
			[]string{
				"noren/assess", "noren/kanon/bound", "noren/kanon/refine", "noren/table/shuffle", "noren/examples", "noren/experiments",
				"noren/internal/randtest", "noren/internal/entropy", "noren/learn", "noren/ldp/simulate", "noren/ratio/redraw",
			},
		},
		{
			"draws seeded noise",
			[]string{"noren/internal/entropy"},
			[]string{"noren/noise", "noren/internal/randtest", "noren/ldp/simulate", "noren/experiments"},
		},
		{"knows Parquet", []string{"github.com/parquet-go/parquet-go"}, []string{"noren/table/parquetio", "noren/internal/meter/bombs"}},
		{"answers HTTP", []string{"github.com/danielgtaylor/huma"}, []string{"noren/internal/server"}},
		{"parses commands", []string{"github.com/spf13/cobra"}, []string{"noren/internal/cli", "noren/internal/reproduce"}},
		{"runs the experiments of the papers", []string{"noren/experiments"}, []string{"noren/experiments", "noren/internal/reproduce"}},
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

// The program of users holds no experiment of a paper.
func TestProgramHoldsNoExperiment(t *testing.T) {
	found := 0
	for _, p := range listPackages(t) {
		if !in(p.ImportPath, "noren/cmd/noren", "noren/cmd/noren-reproduce") {
			continue
		}
		found++
		holds := slices.ContainsFunc(p.Deps, func(dep string) bool { return in(dep, "noren/experiments", "noren/internal/reproduce") })
		if want := in(p.ImportPath, "noren/cmd/noren-reproduce"); holds != want {
			t.Errorf("%s holds experiments: %v, want %v", p.ImportPath, holds, want)
		}
	}
	if found != 2 {
		t.Errorf("found %d programs, want 2", found)
	}
}

// Only what finds the texts in the code reads code.
func TestProgramReadsNoCode(t *testing.T) {
	for _, p := range listPackages(t) {
		if slices.Contains(p.Deps, "golang.org/x/tools/go/packages") && !in(p.ImportPath, "noren/lang/sources", "noren/lang/check") {
			t.Errorf("%s depends on golang.org/x/tools/go/packages", p.ImportPath)
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

// Noise and accounting do no input or output of their own: their input
// comes as arguments.
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

// The server has operations from package service alone: it knows neither the ledger nor
// the steps of a release, and draws no noise.
func TestServerHasOperationsFromService(t *testing.T) {
	allowed := []string{
		"noren/internal/server", "noren/internal/atomicfile", "noren/internal/bootclock", "noren/internal/cputime", "noren/internal/frames",
		"noren/internal/meter", "noren/internal/names", "noren/internal/plainfile", "noren/internal/tempfile", "noren/internal/statements",
		"noren/api", "noren/certificate", "noren/kinds", "noren/lang", "noren/report", "noren/service", "noren/spec",
	}
	found := false
	for _, p := range listPackages(t) {
		if !in(p.ImportPath, "noren/internal/server") {
			continue
		}
		found = true
		for _, imported := range p.Imports {
			if in(imported, "noren") && imported != "noren" && !in(imported, allowed...) {
				t.Errorf("%s imports %s: the server has operations from noren/service alone", p.ImportPath, imported)
			}
		}
	}
	if !found {
		t.Error("found no package of the server")
	}
}
