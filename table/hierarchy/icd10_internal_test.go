package hierarchy

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// The table is checked by the rules that the classification keeps: ranges of two
// categories in order, disjoint, in the order of the letters but for chapter XXII (U);
// every block in one chapter; every chapter begins and ends with a block; every letter
// has a chapter.
func TestICD10Table(t *testing.T) {
	if len(icd10Chapters) != 22 {
		t.Errorf("%d chapters", len(icd10Chapters))
	}
	code := regexp.MustCompile(`^[A-Z][0-9]{2}(-[A-Z][0-9]{2})?$`)
	ends := func(r string) (from, to string) {
		if !code.MatchString(r) {
			t.Fatalf("%s is no range of categories", r)
		}
		from, to, found := strings.Cut(r, "-")
		if !found {
			to = from
		}
		if from > to {
			t.Errorf("%s ends before it begins", r)
		}
		return from, to
	}
	for name, ranges := range map[string][]string{"chapters": icd10Chapters, "blocks": icd10Blocks} {
		owner := map[string]string{}
		last := ""
		for _, r := range ranges {
			from, to := ends(r)
			if from <= last && from[0] != 'U' {
				t.Errorf("%s: %s is out of order", name, r)
			}
			last = to
			for l := from[0]; l <= to[0]; l++ {
				for n := range 100 {
					c := fmt.Sprintf("%c%02d", l, n)
					if c < from || c > to {
						continue
					}
					if other := owner[c]; other != "" {
						t.Errorf("%s: %s is in %s and %s", name, c, other, r)
					}
					owner[c] = r
				}
			}
		}
		if name == "chapters" {
			for l := 'A'; l <= 'Z'; l++ {
				if c := fmt.Sprintf("%c00", l); owner[c] == "" && l != 'V' {
					t.Errorf("no chapter holds %s", c)
				}
			}
		}
	}
	first, end := map[string]string{}, map[string]string{}
	for _, b := range icd10Blocks {
		from, to := ends(b)
		chapter := within(icd10Chapters, from)
		if chapter == "" || chapter != within(icd10Chapters, to) {
			t.Errorf("block %s is in no chapter", b)
		}
		if first[chapter] == "" {
			first[chapter] = from
		}
		end[chapter] = to
	}
	for _, c := range icd10Chapters {
		if from, to := ends(c); first[c] != from || end[c] != to {
			t.Errorf("the blocks of chapter %s are from %s to %s", c, first[c], end[c])
		}
	}
}
