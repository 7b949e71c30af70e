package noren_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
)

// told is an argument with a text of its own.
type told struct{ files []noren.File }

func (s told) Texts() noren.Texts {
	var all noren.Texts
	for _, f := range s.files {
		all = append(all, noren.Textf("%s", f))
	}
	return all
}

// A file is its last part wherever it is in an argument; a string is a name and stays as it is.
func TestWithoutFolders(t *testing.T) {
	const path = "/srv/Patient files (2026)/visits.csv"
	system := &fs.PathError{Op: "open", Path: path, Err: errors.New("no such file")}
	for want, arg := range map[string]any{
		"visits.csv":                    noren.File(path),
		"b.csv":                         noren.File(`C:\Patient files (2026)\b.csv`),
		"c.csv":                         noren.File(`\\host\Patient files (2026)\c.csv`),
		"d":                             noren.File("/srv/Patient files (2026)/d/"),
		"visits.csv: age":               noren.Place{noren.File(path), "age"},
		"visits.csv: line 3":            noren.Position{File: path, Line: 3},
		"see visits.csv":                noren.Textf("see %s", noren.Textf("%s", noren.File(path))),
		"visits.csv; e.csv":             told{[]noren.File{path, "/Patient files (2026)/e.csv"}},
		"open visits.csv: no such file": system,
		"open visits.csv: no such":      fmt.Errorf("reading %s: %w", path, &fs.PathError{Op: "open", Path: path, Err: errors.New("no such")}),
		"unexpected EOF":                fmt.Errorf("%s: %w", path, fmt.Errorf("reading %s: %w", path, io.ErrUnexpectedEOF)),
		"copy q.csv: EOF":               &fs.PathError{Op: "copy", Path: "/Patient files (2026)/q.csv", Err: fmt.Errorf("%s: %w", path, io.EOF)},
		"permission denied":             fmt.Errorf("%s: %w (%w)", path, fs.ErrPermission, system),
		"see r.csv":                     fmt.Errorf("%s: %w", path, noren.Reasonf("see %s", noren.File("/Patient files (2026)/r.csv"))),
		"s.csv: no: open s.csv: EOF": &noren.Error{
			Where: noren.File("/x y/s.csv"), What: "no", Err: fmt.Errorf("%s: %w", path, &fs.PathError{Op: "open", Path: "/x y/s.csv", Err: io.EOF}),
		},
		"rename a b: no such file": &os.LinkError{
			Op: "rename", Old: "/Patient files (2026)/a", New: "/Patient files (2026)/b",
			Err: system.Err,
		},
		"f.csv: cannot be read: no": &noren.Error{
			Where: noren.File("/Patient files (2026)/f.csv"), What: "cannot be read",
			Err: errors.New("no"),
		},
		"/systolic/diastolic": "/systolic/diastolic",
		"see g.csv, h.csv": noren.Textf("see %s", noren.Commas{
			noren.Textf("%s", noren.File("/Patient files (2026)/g.csv")),
			noren.Textf("%s", noren.File("/Patient files (2026)/h.csv")),
		}),
		"See i.csv. ":  noren.Textf("%s ", noren.Sentence(noren.Textf("see %s", noren.File("/Patient files (2026)/i.csv")))),
		"It is j.csv.": noren.Paragraph{noren.Textf("It is %s.", noren.File("/Patient files (2026)/j.csv"))},
		"k.csv: cannot be read: l.csv": &noren.Error{
			Where: noren.File("/Patient files (2026)/k.csv"), What: "cannot be read",
			Err: noren.Reasonf("%s", noren.File("/Patient files (2026)/l.csv")),
		},
		"m.csv: no: x: n.csv": &noren.Error{
			Where: noren.File("m.csv"), What: "no", Err: fmt.Errorf("%w",
				&noren.Error{Where: "x", What: "%s", Args: []any{noren.File("/Patient files (2026)/n.csv")}}),
		},
		"o.csv: no\np.csv: no": errors.Join(&noren.Error{Where: noren.File("/Patient files (2026)/o.csv"), What: "no"},
			&noren.Error{Where: noren.File("/Patient files (2026)/p.csv"), What: "no"}),
	} {
		got := noren.Textf("%s", noren.WithoutFolders(arg)).String()
		if strings.Contains(got, "Patient") || got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// An error that hides what is below it shows no more of it without folders.
func TestWithoutFoldersHidesWhatWasHidden(t *testing.T) {
	err := hiding{&noren.Error{Where: noren.File("/srv/x.csv"), What: "the cause"}}
	if got := noren.WithoutFolders(err); got != error(err) {
		t.Errorf("%v", got)
	}
}

// hiding is an error that does not show its cause.
type hiding struct{ cause error }

func (hiding) Error() string   { return "withheld" }
func (h hiding) Unwrap() error { return h.cause }
