package cli_test

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// exits runs noren with the arguments after the first, which is the exit code
// that it must have.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec("noren", args[1:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("noren did not run: %v", err)
	}
	if got != want {
		ts.Fatalf("noren %s exits with %d, not with %d", strings.Join(args[1:], " "), got, want)
	}
}

// only demands that the working folder holds exactly these files, hidden ones
// included, apart from the folders that the test itself needs.
func only(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: only FILES...")
	}
	var found []string
	root := ts.MkAbs(".")
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		found = append(found, filepath.ToSlash(name))
		return err
	}))
	slices.Sort(args)
	slices.Sort(found)
	if !slices.Equal(args, found) {
		ts.Fatalf("the folder holds %v, not %v", found, args)
	}
}

// tally demands that in a CSV file every combination of the values of some
// columns occurs in K records at least, by counting: tally FILE K COLUMNS.
// With a leading ! one must occur in fewer.
func tally(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: tally FILE K COLUMN,COLUMN")
	}
	k, err := strconv.Atoi(args[1])
	ts.Check(err)
	records, err := csv.NewReader(strings.NewReader(ts.ReadFile(args[0]))).ReadAll()
	ts.Check(err)
	var at []int
	for _, name := range strings.Split(args[2], ",") {
		i := slices.Index(records[0], name)
		if i < 0 {
			ts.Fatalf("%s has no column %s", args[0], name)
		}
		at = append(at, i)
	}
	count := map[string]int{}
	for _, r := range records[1:] {
		key := ""
		for _, i := range at {
			key += strconv.Quote(r[i])
		}
		count[key]++
	}
	small := 0
	for _, n := range count {
		if n < k {
			small++
		}
	}
	if len(count) == 0 || (small > 0) != neg {
		ts.Fatalf("%d of %d combinations occur in fewer than %d records", small, len(count), k)
	}
}

// sameValue demands that two answers in JSON, of commands or of their files, have
// the same value.
func sameValue(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: samevalue A B")
	}
	var values [2]*float64
	for i, name := range args {
		var answer struct{ Value *float64 }
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(name)), &answer))
		values[i] = answer.Value
		if values[i] == nil {
			ts.Fatalf("%s has no value", name)
		}
	}
	if *values[0] != *values[1] {
		ts.Fatalf("the values are %g and %g", *values[0], *values[1])
	}
}

// mode demands that a file has these permissions: mode FILE 0600.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode FILE PERMISSIONS")
	}
	want, err := strconv.ParseUint(args[1], 8, 32)
	ts.Check(err)
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := info.Mode().Perm(); got != fs.FileMode(want) {
		ts.Fatalf("%s is of mode %04o, not %04o", args[0], got, want)
	}
}

// compress makes B, a gzip copy of A: gzip A B.
func compress(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: gzip FILE COPY")
	}
	f, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	w := gzip.NewWriter(f)
	_, err = w.Write([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(w.Close())
	ts.Check(f.Close())
}
