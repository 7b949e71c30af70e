package service_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/noren-privacy/noren/api"
)

// A release is created last: where it, its page or its certificate cannot be created, none
// of the three is there that was not there before, and nothing of another process is
// replaced.
func TestReleaseIsCreatedLast(t *testing.T) {
	files := []string{"out.csv", "page.html", "cert.json"}
	for _, taken := range files {
		for _, split := range []bool{false, true} {
			if split && taken == "page.html" {
				continue // a folder has no page
			}
			table, dir := visits(t)
			s := bare(t)
			at := func(name string) string { return filepath.Join(dir, name) }
			q := &api.AnonymizeRequest{Table: table, Output: at("out.csv"), Report: at("page.html"), Certificate: at("cert.json")}
			if split {
				q.Output, q.Report, q.SplitRows = at("out.csv")+"/", "", 30
			}
			// Another process takes a name while the release is made.
			var once sync.Once
			s.Progress = func(stage string, _, _ int64) {
				if stage != "verifying" {
					return
				}
				once.Do(func() {
					path := at(taken)
					if split && taken == "out.csv" {
						must(t, os.MkdirAll(path, 0o700))
						path = filepath.Join(path, "another.txt")
					}
					write(t, path, "another")
				})
			}
			want := "created by another process"
			if split && taken == "out.csv" {
				want = "the folder is not empty"
			}
			if _, err := s.Anonymize(t.Context(), q); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s is taken, split %t: %v", taken, split, err)
			}
			if split && taken == "out.csv" {
				if text, err := os.ReadFile(filepath.Join(at(taken), "another.txt")); err != nil || string(text) != "another" {
					t.Errorf("the file of another process: %q, %v", text, err)
				}
				must(t, os.RemoveAll(at(taken)))
				write(t, at(taken), "another")
			}
			for _, name := range files {
				text, err := os.ReadFile(at(name))
				if name == taken && (err != nil || string(text) != "another") || name != taken && err == nil {
					t.Errorf("%s is taken, split %t: %s holds %.20q, %v", taken, split, name, text, err)
				}
			}
			if left, _ := filepath.Glob(at(".noren-*")); len(left) > 0 {
				t.Errorf("%s is taken: %s is left", taken, left)
			}
		}
	}
}

// With force the page and the certificate that were replaced are back where the release cannot
// be created; the error names what could not, and a second run makes all three.
func TestReplacedCompanionsAreBack(t *testing.T) {
	table, dir := visits(t)
	s := bare(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	out := filepath.Join(dir, "below", "out.csv")
	must(t, os.Mkdir(filepath.Dir(out), 0o700))
	for _, name := range []string{"page.html", "cert.json"} {
		write(t, at(name), "earlier")
	}
	write(t, out, "earlier")
	q := &api.AnonymizeRequest{Table: table, Output: out, Report: at("page.html"), Certificate: at("cert.json"), Force: true}
	var once sync.Once
	s.Progress = func(stage string, _, _ int64) {
		if stage != "verifying" {
			return
		}
		once.Do(func() { // a name that no file can be renamed to
			must(t, os.Remove(out))
			must(t, os.MkdirAll(filepath.Join(out, "full"), 0o700))
		})
	}
	_, err := s.Anonymize(t.Context(), q)
	if err == nil {
		t.Fatal("the release took the name of a folder")
	}
	if got := err.Error(); !strings.HasPrefix(got, out+": cannot be completed") {
		t.Errorf("the error does not name the release: %v", err)
	}
	for _, name := range []string{"page.html", "cert.json"} {
		if text, err := os.ReadFile(at(name)); err != nil || string(text) != "earlier" {
			t.Errorf("%s is not as it was: %q, %v", name, text, err)
		}
	}
	must(t, os.RemoveAll(out))
	s.Progress = nil
	_, err = s.Anonymize(t.Context(), q)
	must(t, err)
	for _, name := range []string{"page.html", "cert.json"} {
		if text, err := os.ReadFile(at(name)); err != nil || string(text) == "earlier" {
			t.Errorf("%s was not made: %v", name, err)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(out))
	must(t, err)
	if len(entries) != 1 || !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == "out.csv" }) {
		t.Errorf("%v", entries)
	}
}
