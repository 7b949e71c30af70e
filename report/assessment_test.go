package report_test

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/table"
)

// sizeMost is how large a page may get, whatever the data.
const sizeMost = 400 << 10

func write(t testing.TB, p *report.Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestClinicPage(t *testing.T) {
	original := clinic(t, 800)
	a := assessment(t, original, release(t, original, 5), 5, 0.2)
	journalist, err := assess.NewJournalist([]int{1, 2}, []int{8, 4}, 0)
	if err != nil {
		t.Fatal(err)
	}
	a.OriginalJournalist = journalist
	page := write(t, report.Assessment(a, facts(a)))
	keep(t, "clinic.html", []byte(page))
	checkPage(t, page)
	for _, want := range []string{
		"Do not publish it with the release", "k-anonymity with k = 5", "Dermatology &lt;skin&gt;", "整形外科", "2022-", "Glossary",
		"Journalist risk, highest", "25%", "at least 2 different values of diagnosis",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestOriginalOnlyPage(t *testing.T) {
	a := assessment(t, clinic(t, 200), nil, 0, 0)
	page := write(t, report.Assessment(a, report.Facts{Original: noren.Place{noren.File("visits.csv")}}))
	keep(t, "original.html", []byte(page))
	checkPage(t, page)
	for _, no := range []string{"What is guaranteed", "What the release still tells", "NaN", "%!"} {
		if strings.Contains(page, no) {
			t.Errorf("the page holds %q", no)
		}
	}
}

func TestAdultPage(t *testing.T) {
	header, rows := dataFile(t, "adult.csv")
	original := &table.Table{Rows: len(rows)}
	for j, name := range header[:len(header)-1] {
		f := table.Field{Name: name, Type: table.Category}
		if name == "age" {
			f.Type = table.Integer
		}
		original.Columns = append(original.Columns, build(t, f, transpose(rows, j)))
	}
	a := assessment(t, original, release(t, original, 10), 10, 0.05)
	page := write(t, report.Assessment(a, facts(a)))
	keep(t, "adult.html", []byte(page))
	checkPage(t, page)
}

func TestCensusPage(t *testing.T) {
	header, rows := dataFile(t, "census.csv")
	original := &table.Table{Rows: len(rows)}
	for j, name := range header {
		original.Columns = append(original.Columns, build(t, table.Field{Name: name, Type: table.Integer}, transpose(rows, j)))
	}
	a := assessment(t, original, release(t, original, 3), 3, 0)
	page := write(t, report.Assessment(a, facts(a)))
	keep(t, "census.html", []byte(page))
	checkPage(t, page)
}

// The page stays small for a table of 300 columns, long names, long values and
// many of them.
func TestWidePage(t *testing.T) {
	randtest.SkipShort(t)
	const n = 300
	original := &table.Table{Rows: n}
	for j := range 300 {
		f := table.Field{Name: fmt.Sprintf("column %d %s", j, strings.Repeat("long ", 40)), Type: table.Integer}
		values := make([]string, n)
		for i := range values {
			values[i] = strconv.Itoa((i*7919 + j*104729) % 1009)
		}
		if j%2 == 1 {
			f.Type = table.Category
			for i := range values {
				values[i] += strings.Repeat("値", 5000/len(values[i]))
			}
		}
		original.Columns = append(original.Columns, build(t, f, values))
	}
	a := assessment(t, original, release(t, original, 5), 5, 0)
	page := write(t, report.Assessment(a, facts(a)))
	keep(t, "wide.html", []byte(page))
	checkPage(t, page)
}

// A guarantee that the table at hand does not keep is not repeated without a
// word.
func TestBrokenGuaranteeIsSaid(t *testing.T) {
	original := clinic(t, 60)
	a := assessment(t, original, original, 5, 0)
	page := write(t, report.Assessment(a, facts(a)))
	if !strings.Contains(page, "The guarantee does not hold for the table measured here") {
		t.Error("not said")
	}
	if strings.Contains(page, "at least 4 others") {
		t.Error("repeated all the same")
	}
	page = write(t, report.Assessment(a, report.Facts{}))
	if !strings.Contains(page, "No guarantee was verified for this release") || strings.Contains(page, "k-anonymity with k") {
		t.Error("a guarantee that was not given")
	}
}

func BenchmarkAssessmentPage(b *testing.B) {
	original := clinic(b, 5000)
	a := assessment(b, original, release(b, original, 5), 5, 0)
	for b.Loop() {
		write(b, report.Assessment(a, facts(a)))
	}
}
