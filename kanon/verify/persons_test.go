package verify_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// byPersons is a file of two classes, x with the persons a, b, b and none, and y
// with a and c; the last column is a pseudonym.
const byPersons = `q,who,illness,pseudonym
x,a,flu,1
x,b,flu,2
x,b,gout,
x,,flu,
y,a,flu,1
y,c,gout,3
`

func verifyPersons(t *testing.T, text string, k int, u *verify.Unit, d *privacy.Diversity) *verify.Result {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := file.Open(context.Background(), path, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	o := verify.Options{Quasi: []string{"q"}, Requirement: privacy.Requirement{K: k, Diversity: d}, Unit: u}
	if d != nil {
		o.Sensitive = []table.Field{{Name: "illness", Type: table.Category}}
	}
	r, err := verify.Verify(context.Background(), src, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestVerifyPersons(t *testing.T) {
	given := []uint32{1, 2, 2, 0, 1, 3}
	for _, c := range []struct {
		name string
		k    int
		u    verify.Unit
		d    *privacy.Diversity
		met  bool
		says string // in the failures
	}{
		{"two persons a class", 2, verify.Unit{Column: "who"}, nil, true, ""},
		{"given persons", 2, verify.Unit{Column: "who", Of: given}, nil, true, ""},
		{"three are asked for", 3, verify.Unit{Column: "who"}, nil, false, "fewer than k = 3 persons"},
		{"a record of no person counts for none", 3, verify.Unit{Column: "who", Of: given}, nil, false, "2 of 2 classes"},
		{"only a fits all records of a", 2, verify.Unit{Column: "who", Of: given, Linked: true}, nil, false, "1 of 3 persons (the least is 1)"},
		{"one sequence is its own", 2, verify.Unit{Column: "pseudonym", Of: given, Pseudonyms: true}, nil, false, "3 of 3 pseudonyms"},
		{
			"b has both illnesses, all may have flu", 2,
			verify.Unit{Column: "who", Of: given},
			&privacy.Diversity{L: 2}, false,
			"not diverse in illness",
		},
		{"one person of each illness", 2, verify.Unit{Column: "who", Of: []uint32{1, 2, 3, 0, 1, 3}}, &privacy.Diversity{L: 1}, true, ""},
	} {
		r := verifyPersons(t, byPersons, c.k, &c.u, c.d)
		if r.Met != c.met || c.says != "" && !strings.Contains(r.Failures.String(), c.says) {
			t.Errorf("%s: met %v: %v", c.name, r.Met, r.Failures)
		}
		if (noren.KindOf(r.Err()) == noren.NotMet) == c.met {
			t.Errorf("%s: error %v", c.name, r.Err())
		}
		if r.AchievedK != 2 || r.Unit.Unassigned != 1 && c.u.Column == "who" || r.ClassSize.Max != 4 {
			t.Errorf("%s: %+v", c.name, r.Unit)
		}
	}
}

// A pseudonym of two persons, one of no person, and two of one person are found.
func TestVerifyWrongPseudonyms(t *testing.T) {
	const text = "q,p\nx,1\nx,1\nx,2\nx,3\n"
	for name, of := range map[string][]uint32{
		"of two persons":    {1, 2, 3, 4},
		"of no person":      {1, 1, 0, 3},
		"two of one person": {1, 1, 2, 2},
	} {
		r := verifyPersons(t, text, 1, &verify.Unit{Column: "p", Of: of, Pseudonyms: true}, nil)
		if r.Met || r.Unit.Sequences.Wrong == 0 {
			t.Errorf("%s passes: %+v", name, r.Unit.Sequences)
		}
	}
	if r := verifyPersons(t, text, 1, &verify.Unit{Column: "p", Of: []uint32{1, 1, 2, 3}, Pseudonyms: true}, nil); !r.Met {
		t.Errorf("right ones fail: %v", r.Failures)
	}
}

// What does not fit the file is an error, and columns that are suspected are
// counted without being asked for anything.
func TestVerifyUnitOfAnotherFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.csv")
	if err := os.WriteFile(path, []byte(byPersons), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := file.Open(context.Background(), path, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	o := verify.Options{Quasi: []string{"q"}, Requirement: privacy.Requirement{K: 2}}
	for _, u := range []verify.Unit{{}, {Column: "q"}, {Column: "absent"}, {Column: "who", Of: []uint32{1}}} {
		o.Unit = &u
		if _, err := verify.Verify(context.Background(), src, o); err == nil {
			t.Errorf("%+v passes", u)
		}
	}
	o.Unit, o.Suspected = nil, []verify.Suspected{{Column: "who", Of: []uint32{1, 1, 1, 0, 1, 2}}}
	r, err := verify.Verify(context.Background(), src, o)
	if err != nil || !r.Met || len(r.Suspected) != 1 {
		t.Fatalf("%v, %+v", err, r)
	}
	if got := r.Suspected[0]; got.Persons != 2 || got.Most != 4 || got.BelowK.Classes != 1 || got.BelowK.Records != 4 || got.One != 1 {
		t.Fatalf("counted %+v", got)
	}
}
