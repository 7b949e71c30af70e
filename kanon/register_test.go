package kanon_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"

	"github.com/parquet-go/parquet-go"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/examples/clinic"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// register is a register of dialysis: 43 patients with 4,000 sessions, of whom
// some have many more than others.
var register = []table.Field{
	{Name: "patient", Role: table.Identifier},
	{Name: "key"},
	{Name: "age", Role: table.Quasi, Type: table.Integer},
	{Name: "sex", Role: table.Quasi, Type: table.Category},
	{Name: "ward", Role: table.Quasi, Type: table.Category},
	{Name: "day", Role: table.Quasi, Type: table.Integer},
	{Name: "minutes"},
}

func makeRegister() [][]string {
	rng := rand.New(rand.NewPCG(43, 4000))
	var rows [][]string
	for i := range 4000 {
		p := i % 43
		if i >= 43 {
			p = min(rng.IntN(43), rng.IntN(60)) // the first come more often
		}
		rows = append(rows, []string{
			fmt.Sprintf("IDENT-%02d", p), fmt.Sprint("k", i), fmt.Sprint(30 + p*37%55), []string{"F", "M"}[p%2],
			[]string{"north", "south", "west"}[p%3], fmt.Sprint(rng.IntN(730)), fmt.Sprint(180 + rng.IntN(90)),
		})
	}
	return rows
}

// recount counts the persons of each class, and how many fit all records of a
// person, from the release and the source alone: rows[i] is released at shown[i].
func recount(classOf, who []string) (least int, fewest int, mean float64) {
	in, of := map[string]map[string]bool{}, map[string]map[string]bool{}
	add := func(m map[string]map[string]bool, a, b string) {
		if m[a] == nil {
			m[a] = map[string]bool{}
		}
		m[a][b] = true
	}
	for i := range classOf {
		if _, ok := in[classOf[i]]; !ok {
			in[classOf[i]] = map[string]bool{}
		}
		if who[i] != "" {
			add(in, classOf[i], who[i])
			add(of, who[i], classOf[i])
		}
	}
	least = len(classOf)
	for _, people := range in {
		least = min(least, len(people))
	}
	fewest = len(of)
	for _, mine := range of {
		n := 0
		for q := range of {
			every := true
			for c := range mine {
				if !in[c][q] {
					every = false
					break
				}
			}
			if every {
				n++
			}
		}
		fewest = min(fewest, n)
		mean += float64(n) / float64(len(of))
	}
	return least, fewest, mean
}

// classesOf are the classes of a release in the order of its source, which it
// kept.
func classesOf(t *testing.T, path string, quasi []string) []string {
	t.Helper()
	header, rows := readCSV(t, read(t, path))
	out := make([]string, len(rows))
	for i, row := range rows {
		for _, q := range quasi {
			out[i] += fmt.Sprintf("%q ", row[slices.Index(header, q)])
		}
	}
	return out
}

// By records nearly every class of the register is one patient's sessions; by
// persons each holds five patients, and linked the same five throughout.
func TestRegister(t *testing.T) {
	randtest.SkipShort(t)
	rows := makeRegister()
	dir := t.TempDir()
	in := filepath.Join(dir, "in.csv")
	writeCSV(t, in, register, rows)
	var who []string
	for _, row := range rows {
		who = append(who, row[0])
	}
	quasi := []string{"age", "sex", "ward", "day"}
	job := func(name string, o kanon.Options) kanon.Job {
		o.K, o.Refine, o.KeepOrder = 5, refine.Fast, true
		return kanon.Job{
			Source: open(t, in), Kept: []string{"key", "minutes", "note"}, Schema: table.Schema{Fields: slices.Clone(register)},
			Output: kanon.Output{Path: filepath.Join(dir, name)}, Options: o,
		}
	}
	byRecords := anonymize(t, job("records.csv", kanon.Options{}))
	if byRecords.Repeated == nil || byRecords.Repeated.Column != "patient" || byRecords.Repeated.BelowK.Classes < 700 {
		t.Fatalf("no word of the classes of one patient: %+v", byRecords.Repeated)
	}
	if least, _, _ := recount(classesOf(t, filepath.Join(dir, "records.csv"), quasi), who); least != 1 {
		t.Fatalf("the smallest class by records has %d patients: the register shows nothing", least)
	}

	one := anonymize(t, job("one.csv", kanon.Options{Unit: "patient"}))
	least, fewest, mean := recount(classesOf(t, filepath.Join(dir, "one.csv"), quasi), who)
	u := one.Verified.Unit
	if least < 5 || int(u.ClassSize.Min) != least || int(u.Fit.Min) != fewest || u.Fit.Mean < mean-1e-9 || u.Fit.Mean > mean+1e-9 {
		t.Fatalf("%d patients in a class, %d fit, %g on average; the verifier says %+v", least, fewest, mean, u)
	}
	if one.Repeated != nil || one.Groups < 150 || one.Loss > 0.01 {
		t.Fatalf("%d groups, warning %v", one.Groups, one.Repeated)
	}

	all := anonymize(t, job("all.csv", kanon.Options{Unit: "patient", Linkage: kanon.LinkAll}))
	if all.Loss == 0 || all.RefinedFrom == 0 {
		t.Errorf("linked: refined from %g to %g", all.RefinedFrom, all.Loss)
	}
	least, fewest, _ = recount(classesOf(t, filepath.Join(dir, "all.csv"), quasi), who)
	if least < 5 || fewest < 5 || int(all.Verified.Unit.Fit.Min) != fewest || all.Groups < 100 {
		t.Fatalf("%d patients in a class, %d fit, %d groups", least, fewest, all.Groups)
	}
	t.Logf("groups and loss by records %d %.4f, persons %d %.4f, linked %d %.4f", byRecords.Groups, byRecords.Loss, one.Groups, one.Loss,
		all.Groups, all.Loss)
}

// Real tables, with persons drawn for them: adult and census have none of their
// own.
func TestPersonsOfRealTables(t *testing.T) {
	randtest.SkipShort(t)
	data := os.Getenv("NOREN_DATA")
	if data == "" {
		t.Skip("NOREN_DATA is not set")
	}
	for _, c := range []struct {
		file  string
		quasi int
	}{{"adult.csv", 8}, {"census.csv", 13}} {
		t.Run(c.file, func(t *testing.T) {
			f, err := os.Open(filepath.Join(data, c.file))
			if err != nil {
				t.Skip(err)
			}
			defer func() { _ = f.Close() }()
			r := csv.NewReader(f)
			r.FieldsPerRecord = -1
			all, err := r.ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			header, rows := all[0], all[1:min(len(all), 6001)]
			fields := []table.Field{{Name: "who", Role: table.Identifier}}
			for j, name := range header {
				field := table.Field{Name: name, Type: table.Category}
				if j < c.quasi {
					field.Role = table.Quasi
				}
				if strings.Trim(rows[0][j], "0123456789.- ") == "" {
					field.Type = table.Decimal
				}
				fields = append(fields, field)
			}
			var who []string
			var out [][]string
			for _, row := range rows {
				who = append(who, fmt.Sprint("IDENT-", rng.IntN(len(rows)/3)))
				trimmed := []string{who[len(who)-1]}
				for _, cell := range row {
					trimmed = append(trimmed, strings.TrimSpace(cell))
				}
				out = append(out, trimmed)
			}
			dir := t.TempDir()
			in := filepath.Join(dir, "in.csv")
			writeCSV(t, in, fields, out)
			var quasi []string
			for _, field := range fields {
				if field.Role == table.Quasi {
					quasi = append(quasi, field.Name)
				}
			}
			for _, linkage := range []kanon.Linkage{kanon.LinkOne, kanon.LinkAll} {
				path := filepath.Join(dir, linkage.String()+".csv")
				result, err := kanon.Anonymize(context.Background(), kanon.Job{
					Source: open(t, in), Schema: table.Schema{Fields: slices.Clone(fields)}, Missing: []string{"?"}, Output: kanon.Output{Path: path},
					Options: kanon.Options{K: 5, Refine: refine.Fast, KeepOrder: true, Unit: "who", Linkage: linkage},
				})
				if err != nil {
					t.Fatal(err)
				}
				least, fewest, _ := recount(classesOf(t, path, quasi), who)
				if least < 5 || int(result.Verified.Unit.ClassSize.Min) != least || int(result.Verified.Unit.Fit.Min) != fewest {
					t.Fatalf("%s: %d persons, %d fit; the verifier says %+v", linkage, least, fewest, result.Verified.Unit)
				}
				if linkage == kanon.LinkAll && fewest < 5 {
					t.Fatalf("%d persons fit all records of one", fewest)
				}
				t.Logf("%s: %d groups, loss %.4f, %d fit at least", linkage, result.Groups, result.Loss, fewest)
			}
		})
	}
}

// A pseudonym that is another person's, or one whose sequence is its own, is
// found; and the file alone can be checked by its pseudonyms.
func TestPseudonymsAreVerified(t *testing.T) {
	rows := makeRegister()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.csv")
	writeCSV(t, in, register, rows)
	anonymize(t, kanon.Job{
		Source: open(t, in), Kept: []string{"key", "minutes", "note"}, Schema: table.Schema{Fields: slices.Clone(register)}, Output: kanon.Output{
			Path: out,
		},
		Options: kanon.Options{K: 5, Unit: "patient", Linkage: kanon.LinkAll, Pseudonym: true},
	})
	judge := func(path string) *verify.Result {
		t.Helper()
		r, err := verify.Verify(context.Background(), open(t, path), verify.Options{
			Quasi: []string{"age", "sex", "ward", "day"}, Requirement: privacy.Requirement{K: 5},
			Unit: &verify.Unit{Column: "patient", Linked: true},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := judge(out); !r.Met || r.Unit.Persons != 43 || r.Unit.Sequences.Min < 5 {
		t.Fatalf("the release does not keep its pseudonyms: %+v", r)
	}
	// One record loses its pseudonym: its sequence is now its own.
	header, released := readCSV(t, read(t, out))
	for _, row := range released {
		if row[0] != "" {
			row[0] = ""
			break
		}
	}
	fields := make([]table.Field, len(header))
	for i, name := range header {
		fields[i].Name = name
	}
	broken := filepath.Join(dir, "broken.csv")
	writeCSV(t, broken, fields, released)
	if r := judge(broken); r.Met || r.Unit.Sequences.Below == 0 {
		t.Fatalf("a sequence of its own passes: %+v", r.Unit.Sequences)
	}
}

// Two releases share no pseudonym, also with one seed.
func TestPseudonymsAreFresh(t *testing.T) {
	randtest.SkipShort(t)
	rows := makeRegister()
	dir := t.TempDir()
	in := filepath.Join(dir, "in.csv")
	writeCSV(t, in, register, rows)
	seen := map[string]bool{}
	for n := range 2 {
		out := filepath.Join(dir, fmt.Sprint(n, ".csv"))
		anonymize(t, kanon.Job{
			Source: open(t, in), Kept: []string{"key", "minutes", "note"}, Schema: table.Schema{Fields: slices.Clone(register)},
			Output:  kanon.Output{Path: out},
			Options: kanon.Options{K: 5, Unit: "patient", Linkage: kanon.LinkAll, Pseudonym: true, Seed: ptr(uint64(1))},
		})
		_, released := readCSV(t, read(t, out))
		mine := map[string]bool{}
		for _, row := range released {
			if row[0] != "" {
				mine[row[0]] = true
			}
		}
		for p := range mine {
			if seen[p] {
				t.Fatal("a pseudonym came twice")
			}
			seen[p] = true
		}
	}
}

// What contradicts itself about persons is refused, and nothing is left.
func TestUnitRefusals(t *testing.T) {
	rows := makeRegister()[:200]
	for name, c := range map[string]struct {
		o    kanon.Options
		says string
		kind noren.Kind
	}{
		"no such column":         {kanon.Options{K: 5, Unit: "person"}, "has no column", noren.Usage},
		"a kept column":          {kanon.Options{K: 5, Unit: "minutes"}, "expected identifier", noren.Usage},
		"a quasi-identifier":     {kanon.Options{K: 5, Unit: "age"}, "expected identifier", noren.Usage},
		"linkage without a unit": {kanon.Options{K: 5, Linkage: kanon.LinkAll}, "about persons", noren.Usage},
		"pseudonyms of one":      {kanon.Options{K: 5, Unit: "patient", Pseudonym: true}, "linkage of all", noren.Usage},
		"too few persons":        {kanon.Options{K: 44, Unit: "patient"}, "records of 43 persons", noren.BadData},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			in := filepath.Join(dir, "in.csv")
			writeCSV(t, in, register, rows)
			_, err := kanon.Anonymize(context.Background(), kanon.Job{
				Source: open(t, in), Kept: []string{"key", "minutes", "note"}, Schema: table.Schema{Fields: slices.Clone(register)},
				Output: kanon.Output{Path: filepath.Join(dir, "out.csv")}, Options: c.o,
			})
			if err == nil || noren.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got %v", err)
			}
			if list(t, dir) != "in.csv" {
				t.Fatalf("left behind: %s", list(t, dir))
			}
		})
	}
}

// The clinic, recounted: 542 of 872 classes by records hold fewer than five
// persons (issue 15), none by persons.
func TestClinicByPersons(t *testing.T) {
	randtest.SkipShort(t)
	dir := t.TempDir()
	in := filepath.Join(dir, "in.csv")
	text, err := clinic.FS().Open(clinic.VisitsFile)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(text).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	src := func() file.Source { return open(t, in) }
	fields := make([]table.Field, len(rows[0]))
	for i, name := range rows[0] {
		fields[i] = table.Field{Name: name, Type: table.Category}
		switch name {
		case "visit_id", "person_id", "name":
			fields[i].Role = table.Identifier
		case "age", "sex", "postcode", "visit_date", "department":
			fields[i].Role = table.Quasi
		}
		if name == "age" {
			fields[i].Type = table.Integer
		}
		if name == "visit_date" {
			fields[i].Type, fields[i].Layout = table.Date, table.ISODate
		}
	}
	writeCSV(t, in, fields, rows[1:])
	var who []string
	for _, row := range rows[1:] {
		who = append(who, row[1])
	}
	quasi := []string{"age", "sex", "postcode", "visit_date", "department"}
	for _, unit := range []string{"", "person_id"} {
		out := filepath.Join(dir, "out"+unit+".csv")
		r := anonymize(t, kanon.Job{
			Source: src(), Schema: table.Schema{Fields: slices.Clone(fields)}, Kept: names(fields), Output: kanon.Output{Path: out},
			Options: kanon.Options{K: 5, Refine: refine.Fast, KeepOrder: true, Unit: unit},
		})
		least, _, _ := recount(classesOf(t, out, quasi), who)
		switch {
		case unit == "" && (r.Repeated == nil || r.Repeated.Column != "person_id" || least >= 5):
			t.Fatalf("no warning of classes with %d persons: %+v", least, r.Repeated)
		case unit != "" && (least < 5 || r.AchievedK != least):
			t.Fatalf("%d persons in a class, %d said", least, r.AchievedK)
		}
	}
}

// session is a session of the register in a Parquet file, with a number for a
// patient, who may be unknown.
type session struct {
	Patient *int64 `parquet:"patient,optional"`
	Key     string `parquet:"key"`
	Age     int16  `parquet:"age"`
	Day     int32  `parquet:"day"`
}

// A unit that is a number in a Parquet file is read as its text; pseudonyms are
// texts, or null.
func TestUnitOfParquet(t *testing.T) {
	dir := t.TempDir()
	var all []session
	for i := range 300 {
		s := session{Patient: ptr(int64(i*i%31) - 7), Key: fmt.Sprint("k", i), Age: int16(i * i % 31), Day: int32(i)}
		if i%11 == 0 {
			s.Patient = nil
		}
		all = append(all, s)
	}
	in, out := filepath.Join(dir, "in.parquet"), filepath.Join(dir, "out.parquet")
	if err := parquet.WriteFile(in, all); err != nil {
		t.Fatal(err)
	}
	r := anonymize(t, kanon.Job{
		Source: open(t, in), Schema: table.Schema{Fields: []table.Field{
			{Name: "patient", Role: table.Identifier, Type: table.Integer},
			{Name: "key"},
			{Name: "age", Role: table.Quasi, Type: table.Integer},
			{Name: "day", Role: table.Quasi, Type: table.Integer},
		}},
		Kept:    []string{"key", "note"},
		Output:  kanon.Output{Path: out},
		Options: kanon.Options{K: 4, Unit: "patient", Linkage: kanon.LinkAll, Pseudonym: true},
	})
	type shown struct {
		Patient *string `parquet:"patient,optional"`
		Key     string  `parquet:"key"`
	}
	rows, err := parquet.ReadFile[shown](out)
	if err != nil || len(rows) != len(all) {
		t.Fatalf("%d records, %v", len(rows), err)
	}
	of := map[string]int64{}
	for _, row := range rows {
		var at int
		if _, err := fmt.Sscanf(row.Key, "k%d", &at); err != nil {
			t.Fatal(err)
		}
		if row.Patient == nil {
			continue
		}
		if all[at].Patient == nil || len(*row.Patient) != 32 {
			t.Fatalf("record %d shows a pseudonym of %d digits", at, len(*row.Patient))
		}
		if known, ok := of[*row.Patient]; ok && known != *all[at].Patient {
			t.Fatal("one pseudonym of two persons")
		}
		of[*row.Patient] = *all[at].Patient
	}
	persons := map[int64]bool{}
	for _, s := range all {
		if s.Patient != nil {
			persons[*s.Patient] = true
		}
	}
	if u := r.Verified.Unit; len(of) != len(persons) || u.Persons != int64(len(persons)) || u.Unassigned != 28 {
		t.Fatalf("%d pseudonyms of %d persons, %+v", len(of), len(persons), u)
	}
}
