package service_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/spec"
)

// anyone writes a table of n records, of which note tells the rows apart and is released
// as it is.
func anyone(t *testing.T, path string, n int) {
	t.Helper()
	r := rand.New(rand.NewPCG(33, uint64(n)))
	var b strings.Builder
	b.WriteString("age,sex,city,income,illness\n")
	for range n {
		fmt.Fprintf(&b, "%d,%s,%s,%d,%s\n", 20+r.IntN(60), []string{"f", "m"}[r.IntN(2)], []string{"Nara", "Kobe", "Otsu"}[r.IntN(3)],
			1000*(100+r.IntN(900)), []string{"flu", "asthma", "fracture", "sprain", "burn"}[r.IntN(5)])
	}
	write(t, path, b.String())
}

// quasiOf is a specification with these quasi-identifiers.
func quasiOf(k int, quasi ...string) *spec.Spec {
	s := &spec.Spec{Version: 1, Columns: map[string]spec.Column{}, Anonymize: spec.Anonymize{K: k}}
	for _, name := range []string{"age", "sex", "city", "income", "illness"} {
		role := "other"
		if slices.Contains(quasi, name) {
			role = "quasi-identifier"
		}
		s.Columns[name] = spec.Column{Role: role}
	}
	return s
}

func rowsOf(t *testing.T, path string) (header []string, rows [][]string) {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	must(t, err)
	return all[0], all[1:]
}

// classesBy are the classes of a release by some of its columns.
func classesBy(t *testing.T, path string, quasi []string) []string {
	t.Helper()
	header, rows := rowsOf(t, path)
	var out []string
	for _, row := range rows {
		key := ""
		for _, name := range quasi {
			key += fmt.Sprintf("%q ", row[slices.Index(header, name)])
		}
		out = append(out, key)
	}
	return out
}

// The classes of an earlier release are those of its own quasi-identifiers, whatever those
// of this one: by counting the records that share both classes of each record.
func TestPreviousByItsOwnQuasiIdentifiers(t *testing.T) {
	known := 0 // of the releases whose quasi-identifiers were not stated
	for at, c := range []struct {
		now, before []string
		k           int
	}{
		{[]string{"sex"}, []string{"age", "sex", "city", "income"}, 5},
		{[]string{"age", "sex", "city", "income"}, []string{"sex", "age"}, 3},
		{[]string{"city", "income"}, []string{"age", "city"}, 4},
		{[]string{"age"}, []string{"income"}, 7},
		{[]string{"age", "city"}, []string{"age", "city"}, 5},
	} {
		dir := t.TempDir()
		in, now, before := filepath.Join(dir, "in.csv"), filepath.Join(dir, "now.csv"), filepath.Join(dir, "before.csv")
		anyone(t, in, 230+at)
		s := bare(t)
		noted(s)
		release := func(out string, quasi []string, k int) {
			sp := quasiOf(k, quasi...)
			sp.Anonymize.KeepOrder = true
			_, err := s.Anonymize(t.Context(), &api.AnonymizeRequest{Table: api.Table{Input: in, Spec: sp}, Output: out, Certificate: out + ".json"})
			must(t, err)
		}
		release(now, c.now, 6)
		release(before, c.before, c.k)
		first, second := classesBy(t, now, c.now), classesBy(t, before, c.before)
		least, sum := math.MaxInt, 0
		for i := range first {
			n := 0
			for j := range first {
				if first[i] == first[j] && second[i] == second[j] {
					n++
				}
			}
			least, sum = min(least, n), sum+n
		}
		request := api.AssessRequest{
			Table: api.Table{Input: in, Spec: quasiOf(6, c.now...)}, Against: now, KeptOrder: true, Previous: before,
			PreviousSource: in,
		}
		for _, from := range []string{"certificate", "stated", "differs"} {
			r := request
			switch from {
			case "certificate":
				r.PreviousCertificate = before + ".json"
			case "stated":
				r.PreviousQuasi = c.before
			}
			a, err := s.Assess(t.Context(), &r)
			if err != nil && from == "differs" && strings.Contains(err.Error(), "may be some of them") {
				continue // refused, and not wrong
			}
			must(t, err)
			if from == "differs" {
				known++
			}
			o := a.Overlap
			if o.Min != int64(least) || math.Abs(o.Mean-float64(sum)/float64(len(first))) > 1e-9 || o.Common != int64(len(first)) {
				t.Errorf("%v after %v, %s: least %d, mean %g, want %d and %g", c.now, c.before, from, o.Min, o.Mean, least,
					float64(sum)/float64(len(first)))
			}
			if got := slices.Sorted(slices.Values(o.Quasi)); from != "differs" && !slices.Equal(got, slices.Sorted(slices.Values(c.before))) {
				t.Errorf("%s: %v", from, got)
			}
			var kept []string
			for _, name := range append(slices.Clone(c.now), c.before...) {
				if slices.Contains(c.now, name) != slices.Contains(c.before, name) {
					kept = append(kept, name)
				}
			}
			if from != "differs" && !slices.Equal(slices.Sorted(slices.Values(o.Kept)), slices.Sorted(slices.Values(kept))) {
				t.Errorf("kept %v, want %v", o.Kept, kept)
			}
		}
	}
	t.Logf("the quasi-identifiers of %d of 5 releases were known without being stated", known)
}

// What cannot be known is refused: a column that does not differ and may be a
// quasi-identifier, a certificate of another file, a column that is not there.
func TestPreviousRefused(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	var in, before strings.Builder
	in.WriteString("age,sex,illness\n")
	before.WriteString("age,sex,illness\n")
	for i := range 40 {
		sex := []string{"f", "m"}[i%2]
		fmt.Fprintf(&in, "%d,%s,i%d\n", 20+i, sex, i%7)
		fmt.Fprintf(&before, "%d,%s,i%d\n", 25+i/20*20, sex, i%7)
	}
	write(t, at("in.csv"), in.String())
	write(t, at("before.csv"), before.String())
	s := bare(t)
	noted(s)
	sp := &spec.Spec{Version: 1, Columns: map[string]spec.Column{
		"age": {Role: "quasi-identifier"}, "sex": {Role: "other"},
		"illness": {Role: "sensitive"},
	}, Anonymize: spec.Anonymize{K: 4, KeepOrder: true}}
	_, err := s.Anonymize(t.Context(), &api.AnonymizeRequest{
		Table: api.Table{Input: at("in.csv"), Spec: sp}, Output: at("now.csv"),
		Certificate: at("now.json"),
	})
	must(t, err)
	request := api.AssessRequest{
		Table: api.Table{Input: at("in.csv"), Spec: sp}, Against: at("now.csv"), KeptOrder: true,
		Previous: at("before.csv"), PreviousSource: at("in.csv"),
	}
	// hidden demands that an error names its files by their type: a server shows no folder.
	hidden := func(err error) {
		t.Helper()
		if shown, _ := noren.WithoutFolders(err).(error); shown == nil || strings.Contains(shown.Error(), dir) {
			t.Errorf("a server shows %v", shown)
		}
	}
	_, err = s.Assess(t.Context(), &request)
	if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), "sex") || strings.Contains(err.Error(), "age") {
		t.Errorf("sex may be a quasi-identifier: %v", err)
	}
	hidden(err)
	for name, c := range map[string]struct {
		quasi       []string
		certificate string
	}{
		"a column that is not there":    {[]string{"income"}, ""},
		"a certificate of another file": {nil, at("now.json")},
		"both":                          {[]string{"age"}, at("now.json")},
	} {
		r := request
		r.PreviousQuasi, r.PreviousCertificate = c.quasi, c.certificate
		_, err := s.Assess(t.Context(), &r)
		if err == nil {
			t.Fatalf("%s was accepted", name)
		}
		hidden(err)
	}
	for _, quasi := range [][]string{{"age"}, {"age", "sex"}} {
		r := request
		r.PreviousQuasi = quasi
		a, err := s.Assess(t.Context(), &r)
		must(t, err)
		if !slices.Equal(a.Overlap.Quasi, quasi) {
			t.Errorf("%v", a.Overlap.Quasi)
		}
	}
	r := request
	r.Previous = at("in.csv")
	_, err = s.Assess(t.Context(), &r)
	if noren.KindOf(err) != noren.BadData {
		t.Errorf("the source itself: %v", err)
	}
	hidden(err)
}

// What a column is now says nothing of what it was: one that is an identifier now may have
// been a quasi-identifier. A column that the earlier release numbers anew is none.
func TestPreviousByRolesOfThen(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	text := "age,city,note\n"
	for i := range 200 {
		text += fmt.Sprintf("%d,c%d,n%d\n", 20+i*7%60, i*i%9, i)
	}
	write(t, at("in.csv"), text)
	s := bare(t)
	noted(s)
	release := func(out, city string, k int) *spec.Spec {
		sp := &spec.Spec{Version: 1, Columns: map[string]spec.Column{
			"age": {Role: "quasi-identifier"}, "city": {Role: city},
			"note": {Role: "other"},
		}, Anonymize: spec.Anonymize{K: k, KeepOrder: true, Publish: "generalize"}}
		_, err := s.Anonymize(t.Context(), &api.AnonymizeRequest{Table: api.Table{Input: at("in.csv"), Spec: sp}, Output: out})
		must(t, err)
		return sp
	}
	release(at("before.csv"), "quasi-identifier", 5)
	now := release(at("now.csv"), "identifier", 6)
	first, second := classesBy(t, at("now.csv"), []string{"age"}), classesBy(t, at("before.csv"), []string{"age", "city"})
	sum := 0
	for i := range first {
		for j := range first {
			if first[i] == first[j] && second[i] == second[j] {
				sum++
			}
		}
	}
	numbered := func(from, to, prefix string) {
		header, rows := rowsOf(t, at(from))
		var b strings.Builder
		w := csv.NewWriter(&b)
		must(t, w.Write(append(header, "number")))
		for i, row := range rows {
			must(t, w.Write(append(row, prefix+fmt.Sprint(i))))
		}
		w.Flush()
		write(t, at(to), b.String())
	}
	numbered("in.csv", "numbered.csv", "n")
	numbered("before.csv", "renumbered.csv", "m")
	for _, c := range [][2]string{{"before.csv", "in.csv"}, {"renumbered.csv", "numbered.csv"}} {
		a, err := s.Assess(t.Context(), &api.AssessRequest{
			Table: api.Table{Input: at("in.csv"), Spec: now}, Against: at("now.csv"),
			KeptOrder: true, Previous: at(c[0]), PreviousSource: at(c[1]),
		})
		if err != nil && strings.Contains(err.Error(), "may be some of them: city") {
			continue // refused, and not wrong
		}
		must(t, err)
		if got, want := a.Overlap.Mean, float64(sum)/float64(len(first)); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: mean %g, want %g, by %v", c[0], got, want, a.Overlap.Quasi)
		}
	}
}
