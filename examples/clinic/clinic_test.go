package clinic_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren/examples/clinic"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
)

func ExampleFS() {
	data, err := fs.ReadFile(clinic.FS(), clinic.VisitsFile)
	if err != nil {
		panic(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		panic(err)
	}
	fmt.Println(len(rows)-1, "visits")
	fmt.Println(rows[0])
	// Output:
	// 5000 visits
	// [visit_id person_id name age sex postcode visit_date department diagnosis severity insurance weight_kg systolic cost_yen note]
}

func embedded(t *testing.T, name string) []byte {
	t.Helper()
	data, err := fs.ReadFile(clinic.FS(), name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func rows(t *testing.T, name string) [][]string {
	t.Helper()
	all, err := csv.NewReader(bytes.NewReader(embedded(t, name))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// record is a visit by column name.
type record map[string]string

func (r record) number(t *testing.T, column string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(r[column], 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func (r record) day(t *testing.T) time.Time {
	t.Helper()
	day, err := time.Parse(time.DateOnly, r["visit_date"])
	if err != nil {
		t.Fatal(err)
	}
	return day
}

func visits(t *testing.T) []record {
	t.Helper()
	all := rows(t, clinic.VisitsFile)
	records := make([]record, len(all)-1)
	for i, row := range all[1:] {
		records[i] = record{}
		for j, name := range all[0] {
			records[i][name] = row[j]
		}
	}
	return records
}

func TestEmbeddedFilesAreGenerated(t *testing.T) {
	made, err := clinic.Generate(clinic.Seed)
	if err != nil {
		t.Fatal(err)
	}
	if len(made) != 4 {
		t.Errorf("%d files made, expected 4", len(made))
	}
	for name, want := range made {
		if !bytes.Equal(embedded(t, name), want) {
			t.Errorf("%s is not what the generator makes: run go generate ./examples/clinic", name)
		}
	}
	if size := len(made[clinic.VisitsFile]); size > 700_000 {
		t.Errorf("%s has %d bytes, expected 700000 at most: it is part of the program", clinic.VisitsFile, size)
	}
	other, err := clinic.Generate(clinic.Seed + 1)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(other[clinic.VisitsFile], made[clinic.VisitsFile]) {
		t.Error("two seeds gave one table")
	}
}

// The specification must name every column, and every value must be what it
// says, down to the leaves of the hierarchies.
func TestTableFitsItsSpecification(t *testing.T) {
	s, err := spec.Parse(clinic.SpecFile, embedded(t, clinic.SpecFile))
	if err != nil {
		t.Fatal(err)
	}
	var stored []table.StoredColumn
	for _, name := range clinic.Columns() {
		stored = append(stored, table.StoredColumn{Name: name})
		if _, named := s.Columns[name]; !named {
			t.Errorf("%s does not name column %s", clinic.SpecFile, name)
		}
	}
	schema, err := s.Resolve(stored, nil, func(p string) (*table.Hierarchy, error) {
		return table.NewHierarchy(p, rows(t, path.Clean(p)), nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	roles := map[table.Role]int{}
	records := visits(t)
	for _, field := range schema.Fields {
		roles[field.Role]++
		builder, err := table.NewBuilder(field, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range records {
			value := r[field.Name]
			if err := builder.Append([]byte(value)); err != nil {
				t.Fatalf("column %s, record %d: %v", field.Name, i+1, err)
			}
			if field.Hierarchy != nil && value != "" {
				if _, known := field.Hierarchy.Leaf(value); !known {
					t.Fatalf("column %s, record %d: %q is no leaf of %s", field.Name, i+1, value, field.Hierarchy.Name())
				}
			}
		}
	}
	want := map[table.Role]int{table.Identifier: 3, table.Quasi: 5, table.Sensitive: 2, table.Other: 5}
	for role, n := range want {
		if roles[role] != n {
			t.Errorf("%d columns of role %s, expected %d", roles[role], role, n)
		}
	}
}

func TestDiagnosesHaveAHierarchy(t *testing.T) {
	h, err := table.NewHierarchy(clinic.DiagnosisFile, rows(t, clinic.DiagnosisFile), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range visits(t) {
		if _, known := h.Leaf(r["diagnosis"]); !known && r["diagnosis"] != "" {
			t.Fatalf("record %d: %q is no leaf", i+1, r["diagnosis"])
		}
	}
}

// What does not change about a person must not change from visit to visit.
func TestPeopleStayThemselves(t *testing.T) {
	type last struct {
		record record
		day    time.Time
	}
	seen := map[string]last{}
	previous := time.Time{}
	for i, r := range visits(t) {
		day := r.day(t)
		if day.Before(previous) {
			t.Fatalf("record %d is earlier than the one before", i+1)
		}
		previous = day
		before, again := seen[r["person_id"]]
		seen[r["person_id"]] = last{r, day}
		if !again {
			continue
		}
		for _, column := range []string{"name", "sex", "postcode"} {
			if before.record[column] != r[column] {
				t.Errorf("record %d: %s of the person changed", i+1, column)
			}
		}
		grown := r.number(t, "age") - before.record.number(t, "age")
		years := day.Sub(before.day).Hours() / 24 / 365.25
		if grown < 0 || grown > years+1 {
			t.Errorf("record %d: aged %v years in %.2f", i+1, grown, years)
		}
	}
	if n := len(seen); n < 1200 || n > 1600 {
		t.Errorf("%d people, expected about 1400", n)
	}
}

func TestPostcodesKeepTheirZeros(t *testing.T) {
	zeros, others := 0, 0
	for i, r := range visits(t) {
		code := r["postcode"]
		if code == "" {
			continue
		}
		if len(code) != 7 || strings.Trim(code, "0123456789") != "" {
			t.Fatalf("record %d: a postcode is not seven digits", i+1)
		}
		if code[0] == '0' {
			zeros++
		} else {
			others++
		}
	}
	if zeros < 4000 || others < 100 {
		t.Errorf("%d postcodes with a leading zero and %d without, expected 4000 and 100 at least", zeros, others)
	}
}

func TestMissingValuesStandWhereTheyMay(t *testing.T) {
	records := visits(t)
	// Bounds in per mille of all visits.
	bounds := map[string][2]int{
		"sex": {8, 30}, "postcode": {3, 25}, "diagnosis": {2, 12}, "severity": {20, 40},
		"insurance": {5, 20}, "weight_kg": {70, 200}, "systolic": {100, 280}, "note": {380, 520},
	}
	for _, column := range clinic.Columns() {
		missing := 0
		for _, r := range records {
			if r[column] == "" {
				missing++
			}
		}
		b := bounds[column]
		if share := missing * 1000 / len(records); share < b[0] || share > b[1] || b[1] == 0 && missing > 0 {
			t.Errorf("%s is missing in %d of 1000 visits, expected %d to %d", column, share, b[0], b[1])
		}
	}
}

func count(records []record, keep func(record) bool) int {
	n := 0
	for _, r := range records {
		if keep(r) {
			n++
		}
	}
	return n
}

func mean(t *testing.T, records []record, column string, keep func(record) bool) float64 {
	t.Helper()
	sum, n := 0.0, 0
	for _, r := range records {
		if r[column] != "" && keep(r) {
			sum += r.number(t, column)
			n++
		}
	}
	if n < 30 {
		t.Fatalf("%s: %d values, too few for a mean", column, n)
	}
	return sum / float64(n)
}

// The dependencies that the README speaks of.
func TestColumnsDependOnEachOther(t *testing.T) {
	all := visits(t)
	month := func(r record) time.Month { return r.day(t).Month() }
	is := func(column, value string) func(record) bool {
		return func(r record) bool { return r[column] == value }
	}
	aged := func(lo, hi float64) func(record) bool {
		return func(r record) bool { a := r.number(t, "age"); return a >= lo && a <= hi }
	}

	flu := is("diagnosis", "influenza")
	cold := count(all, func(r record) bool { return flu(r) && (month(r) <= time.March || month(r) == time.December) })
	warm := count(all, func(r record) bool { return flu(r) && month(r) >= time.May && month(r) <= time.August })
	if cold < 20*warm || cold < 100 {
		t.Errorf("influenza: %d visits from December to March and %d from May to August, expected 20 times as many", cold, warm)
	}
	sunday := count(all, func(r record) bool { return r.day(t).Weekday() == time.Sunday })
	monday := count(all, func(r record) bool { return r.day(t).Weekday() == time.Monday })
	if sunday == 0 || monday < 10*sunday {
		t.Errorf("%d visits on Mondays and %d on Sundays, expected 10 times as many", monday, sunday)
	}
	if n := count(all, func(r record) bool {
		return r.day(t).Weekday() == time.Sunday && r["department"] != "emergency"
	}); n > 0 {
		t.Errorf("%d visits on Sundays outside emergency care", n)
	}
	if n := count(all, func(r record) bool { return r["diagnosis"] == "enlarged prostate" && r["sex"] == "female" }); n > 0 {
		t.Errorf("%d women with an enlarged prostate", n)
	}
	if n := count(all, func(r record) bool { return r["diagnosis"] == "pregnancy care" && r["sex"] == "male" }); n > 0 {
		t.Errorf("%d men in pregnancy care", n)
	}
	if n := count(all, func(r record) bool { return r["department"] == "paediatrics" && !aged(0, 14)(r) }); n > 0 {
		t.Errorf("%d grown people in paediatrics", n)
	}
	adult := aged(20, 65)
	men := mean(t, all, "weight_kg", func(r record) bool { return adult(r) && r["sex"] == "male" })
	women := mean(t, all, "weight_kg", func(r record) bool { return adult(r) && r["sex"] == "female" })
	if men-women < 8 || men-women > 20 {
		t.Errorf("men weigh %.1f kg, women %.1f, expected a difference of 8 to 20", men, women)
	}
	if young, old := mean(t, all, "systolic", aged(15, 35)), mean(t, all, "systolic", aged(70, 90)); old-young < 15 {
		t.Errorf("systolic pressure %.0f of the young, %.0f of the old, expected 15 more", young, old)
	}
	mild, severe := mean(t, all, "cost_yen", is("severity", "mild")), mean(t, all, "cost_yen", is("severity", "severe"))
	if severe < 3*mild {
		t.Errorf("a mild case costs %.0f, a severe one %.0f, expected 3 times as much", mild, severe)
	}
	if rare, common := count(all, is("diagnosis", "HIV infection")), count(all, is("diagnosis", "common cold")); rare == 0 ||
		common < 20*rare {
		t.Errorf("%d visits of the rarest kind, %d of the commonest, expected some and 20 times as many", rare, common)
	}
}

// The untouched column must hold what a careless reader or writer breaks.
func TestNotesAreHardToCopy(t *testing.T) {
	all := visits(t)
	for _, part := range []string{",", `"`, "\n", "\t", ";", `\`, "経過", "🙂", "NULL", "007", "=1+1"} {
		if count(all, func(r record) bool { return strings.Contains(r["note"], part) }) == 0 {
			t.Errorf("no note holds %q", part)
		}
	}
	for _, edge := range []string{" ", "\n", `"`} {
		if count(all, func(r record) bool { return strings.HasSuffix(r["note"], edge) }) == 0 {
			t.Errorf("no note ends in %q", edge)
		}
	}
}
