package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/report"
)

// Five records of two persons are no five candidates: figures of records are
// said of persons only where persons have one record each.
func TestPageSpeaksOfPersons(t *testing.T) {
	original := &assess.Risk{Records: 10, Classes: 10, SmallestClass: 1, LargestClass: 1, UniqueRecords: 10, UniqueShare: 1, Marketer: 1}
	release := &assess.Risk{Records: 10, Classes: 2, SmallestClass: 5, LargestClass: 5, Marketer: 0.2}
	persons := func(least, fit int64) *assess.Persons {
		return &assess.Persons{Column: "who", Persons: 4, Smallest: least, Mean: 2, Largest: 3, K: 2, Fit: privacy.Fit{Min: fit}}
	}
	byPerson := &noren.Guarantee{
		Model: "k-anonymity", K: 2, Quasi: []string{"age"}, Unit: "who", Linkage: "one",
		Diversity: []noren.Diversity{{Column: "illness", Model: "recursive", L: 2, C: 3}},
		Closeness: []noren.Closeness{{Column: "illness", Distance: "equal", T: 0.5}},
	}
	const candidates = "5 candidates or more"
	for _, c := range []struct {
		name      string
		a         assess.Assessment
		f         report.Facts
		has, lack []string
	}{
		{
			"one record a person",
			assess.Assessment{Original: original, Release: release},
			report.Facts{Guarantee: &noren.Guarantee{K: 5, Quasi: []string{"age"}}},
			[]string{candidates, "1 in 5", "cannot narrow them down to fewer than 5 records"},
			nil,
		},
		{
			"an identifier repeats",
			assess.Assessment{Original: original, Release: release},
			report.Facts{
				Repeated: true, Warnings: report.Verbatims("Warning: it repeats."),
				Guarantee: &noren.Guarantee{K: 5, Quasi: []string{"age"}},
			},
			[]string{"Warning: it repeats.", "5 records", "persons were not counted here", "even of one"},
			[]string{candidates, "1 in 5"},
		},
		{
			"persons are counted",
			assess.Assessment{Original: original, Release: release, OriginalPersons: persons(1, 1), ReleasePersons: persons(2, 1)},
			report.Facts{Guarantee: byPerson},
			[]string{
				"2 persons", "1 in 2", "in records of at least 2 persons", "in this release with 1.",
				"Among the persons whose records look alike, the most frequent value", "Each person counts once", "Each person weighs 1",
			},
			[]string{candidates, "1 in 5", "Among the records"},
		},
		{
			"all records are linked",
			assess.Assessment{Original: original, Release: release, OriginalPersons: persons(1, 1), ReleasePersons: persons(2, 2)},
			report.Facts{Guarantee: &noren.Guarantee{K: 2, Quasi: []string{"age"}, Unit: "who", Linkage: "all", Pseudonyms: true}},
			[]string{"2 persons", "1 in 2"},
			[]string{candidates, "may be left with fewer"},
		},
		{
			"persons of the release are not known",
			assess.Assessment{Original: original, Release: release, OriginalPersons: persons(1, 1)},
			report.Facts{},
			[]string{"persons were not counted here", "could not be counted in it here"},
			[]string{candidates, "1 in 5"},
		},
		{
			"no release",
			assess.Assessment{Original: original, OriginalPersons: persons(1, 1)},
			report.Facts{},
			[]string{"1 person", "1 in 1"},
			nil,
		},
	} {
		c.a.Quasi = []string{"age"}
		var page bytes.Buffer
		if err := report.Assessment(&c.a, c.f).Write(&page); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		text := page.String()
		// The section on risk is of records, and says so.
		before, risk, ok := strings.Cut(text, "Can people be singled out?</h2>")
		if !ok {
			t.Fatalf("%s: no section on risk", c.name)
		}
		_, after, _ := strings.Cut(risk, "<h2")
		text = before + after
		for _, want := range c.has {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the page lacks %q", c.name, want)
			}
		}
		for _, no := range c.lack {
			if strings.Contains(text, no) {
				t.Errorf("%s: the page says %q", c.name, no)
			}
		}
	}
}
