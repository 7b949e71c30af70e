package problem_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/internal/server/limit"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/spec"
)

// Every error has a status, a code that is explained, and no text of the host.
func TestFrom(t *testing.T) {
	host := &fs.PathError{Op: "open", Path: "/etc/canary", Err: fs.ErrPermission}
	for name, c := range map[string]struct {
		err                       error
		status                    int
		code, detail, where, hint string
	}{
		"usage": {
			noren.Usagef("k", "expected 2 or more, got 1").Hinted("say more"), 422, "invalid", "expected 2 or more, got 1",
			"k", "say more",
		},
		"with a code": {
			noren.Usagef("columns", "no column age").Coded("column-missing"), 422, "column-missing", "no column age",
			"columns", "",
		},
		"data": {&noren.Error{Kind: noren.BadData, Where: noren.Place{
			noren.File("/srv/my noren/tables/tb_a/visits.csv"),
			noren.Position{Line: 3},
		}, What: "expected 4 fields, got 5"}, 422, "unfit", "expected 4 fields, got 5", "visits.csv: line 3", ""},
		"not met": {
			&noren.Error{Kind: noren.NotMet, What: "a class has 3 records"}, 422, "guarantee-not-met",
			"a class has 3 records", "", "",
		},
		"refused": {&noren.Error{Kind: noren.Refused, What: "no"}, 409, "refused", "no", "", ""},
		"internal": {
			&noren.Error{Where: "/var/lib/x", What: "canary", Err: host}, 500, "internal",
			"The server failed; its own log has the reason.", "", "",
		},
		"a cause": {
			&noren.Error{Kind: noren.Usage, Where: noren.File("/a/b c.csv"), What: "cannot be opened", Err: host}, 422,
			"invalid", "cannot be opened", "b c.csv", "",
		},
		"two levels": {&noren.Error{
			Kind: noren.BadData, What: "outer",
			Err: fmt.Errorf("canary: %w", noren.Usagef("", "inner").Hinted("do")),
		}, 422, "unfit", "outer: inner", "", "do"},
		"two folders": {noren.Usagef("x", "see %s and %s", noren.File("/srv/canary (2026)/tables/"),
			noren.File(`C:\data\canary 'x'\f.csv`)), 422, "invalid", "see tables and f.csv", "x", ""},
		"a name of a column": {
			noren.Usagef("x", "see %s and %s", "/systolic/diastolic", `C:\a`), 422, "invalid",
			`see /systolic/diastolic and C:\a`, "x", "",
		},
		"a folder with blanks": {noren.Usagef(noren.Position{File: "/data/canary files (2026)/visits.csv", Line: 3}, "%s: %s",
			noren.File(`D:\canary "x", (2)\b.csv`), noren.Place{noren.File("/canary a/c d.db?table=t"), "x"}).
			Hinted("see %s", noren.File("/canary b/e.csv")), 422, "invalid", "b.csv: c d.db?table=t: x", "visits.csv: line 3", "see e.csv"},
		"a ratio":   {noren.Usagef("x", "and/or 1/2 text/csv"), 422, "invalid", "and/or 1/2 text/csv", "x", ""},
		"other":     {errors.New("canary"), 500, "internal", "The server failed; its own log has the reason.", "", ""},
		"cancelled": {fmt.Errorf("canary: %w", context.Canceled), 503, "unavailable", "The request was interrupted.", "", ""},
		"large":     {&http.MaxBytesError{Limit: 7}, 413, "too-large", "expected at most 7 bytes", "", ""},
		"slow": {
			fmt.Errorf("reading: %w", limit.SlowError{}), 408, "slow", "The body of the request arrived too slowly.", "",
			"",
		},
		"a problem": {problem.NotFound(), 404, "not-found", "There is no such object, or the principal has no role on it.", "", ""},
		"sealed":    {(&noren.Error{What: "sealed"}).Coded("sealed"), 503, "sealed", "sealed", "", ""},
	} {
		p := problem.From(c.err)
		if p.Status != c.status || p.Code != c.code || p.Detail != c.detail || p.Where != c.where || p.Hint != c.hint {
			t.Errorf("%s: %+v", name, p)
		}
		if p.Type != "/problems/"+c.code || p.Title == "" {
			t.Errorf("%s: %+v", name, p)
		}
		w := httptest.NewRecorder()
		p.Write(w)
		if strings.Contains(w.Body.String(), "canary") || w.Code != c.status || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// All faults of a specification are listed.
func TestSeveralFaults(t *testing.T) {
	faults := spec.Faults{noren.Usagef("columns: age", "expected a type"), noren.Usagef("k", "expected 2 or more")}
	joined := errors.Join(noren.Usagef("columns: age", "expected a type"), noren.Usagef("k", "expected 2 or more"))
	for _, err := range []error{faults, joined} {
		p := problem.From(err)
		if len(p.Errors) != 2 || p.Errors[1].Pointer != "k" || p.Errors[0].Detail != "expected a type" || p.Status != 422 {
			t.Errorf("%+v", p)
		}
	}
}

// Every code of the library and of the interface has an explanation and a status of an
// error, and the table is sorted, which finding a code needs.
func TestCodes(t *testing.T) {
	if !slices.IsSortedFunc(problem.Codes(), func(a, b problem.Code) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the codes are not sorted")
	}
	names := []string{}
	for _, c := range problem.Codes() {
		names = append(names, c.Name)
	}
	for _, c := range noren.Codes() {
		names = append(names, c.Name)
	}
	for _, name := range names {
		c, ok := problem.Explain(name)
		if !ok || c.Status < 400 || c.Status > 599 || !strings.HasSuffix(string(c.Meaning), ".") {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if _, ok := problem.Explain("none"); ok {
		t.Error("a code that is none is explained")
	}
	if problem.New("none", "").Code != "internal" {
		t.Error("a code that is none was used")
	}
}

// No folder of a file is in a problem, in any language, however it is spelt on any system.
func FuzzFolders(f *testing.F) {
	f.Add("canary", "f.csv")
	f.Add("Patient files (2026)", "x")
	f.Add(`a "b", 'c'; d: e`, "visits (1).csv")
	f.Add("日本", "é.csv")
	f.Fuzz(func(t *testing.T, folder, file string) {
		metertest.Hold(t, len(folder)+len(file))
		if strings.ContainsAny(folder+file, `/\`) || file == "" || strings.Contains(file, "canary-") {
			t.Skip()
		}
		for _, path := range []noren.File{
			noren.File("/srv/canary-" + folder + "/" + file), noren.File(`D:\canary-` + folder + `\` + file),
			noren.File(`\\host\canary-` + folder + `\` + file),
		} {
			inner := &noren.Error{
				Kind: noren.BadData, Where: noren.Position{File: path, Line: 3}, What: "see %s",
				Args: []any{noren.Place{path, "age"}},
			}
			p := problem.From(&noren.Error{
				Kind: noren.Usage, Where: path, What: "see %s", Args: []any{noren.Textf("%s", path)}, Hint: "%s",
				HintArgs: []any{path}, Err: inner,
			})
			for _, l := range lang.All() {
				if said := p.In(l); strings.Contains(said.Where+said.Detail+said.Hint, "canary-") || !strings.HasSuffix(said.Where, file) {
					t.Errorf("%+v", said)
				}
			}
		}
	})
}

// The title of a file that takes too much memory is true of files, in both languages.
func TestTooLargeFile(t *testing.T) {
	p := problem.From(meter.TooLarge("a.xlsx", 1<<20))
	if p.Code != "too-large" || p.Status != 413 || !strings.Contains(p.Title, "a file is larger") ||
		!strings.Contains(p.In(lang.Japanese).Title, "ファイルが上限を超えている") {
		t.Errorf("%+v", p)
	}
}
