package verify_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// salaries is the example of the paper on t-closeness (Li, Li and
// Venkatasubramanian 2007, section 5): the class of the three lowest salaries is
// 0.375 away from the whole.
const salaries = `zip,age,salary,disease
476**,2*,3000,gastric ulcer
476**,2*,4000,gastritis
476**,2*,5000,stomach cancer
4790*,>=40,6000,gastritis
4790*,>=40,11000,flu
4790*,>=40,8000,bronchitis
476**,3*,7000,bronchitis
476**,3*,9000,pneumonia
476**,3*,10000,stomach cancer
`

func TestSalaries(t *testing.T) {
	o := verify.Options{
		Quasi:       []string{"zip", "age"},
		Sensitive:   []table.Field{{Name: "salary", Type: table.Integer}, {Name: "disease"}},
		Requirement: privacy.Requirement{K: 3, Closeness: &privacy.Closeness{T: 0.4}, Diversity: &privacy.Diversity{L: 3}},
	}
	got, err := verifyText(t, salaries, o)
	if err != nil {
		t.Fatal(err)
	}
	salary, disease := got.Sensitive[0], got.Sensitive[1]
	if fmt.Sprintf("%.3f %s", salary.T, salary.Distance) != "0.375 ordered" {
		t.Errorf("salary: %+v", salary)
	}
	// By hand: six diseases with shares of 1, 2, 2, 1, 2 and 1 ninths. Each
	// class has one of 1 and two of 2 ninths, at 3 ninths each: 2 + 1 + 1.
	if fmt.Sprintf("%.4f %s", disease.T, disease.Distance) != "0.4444 equal" {
		t.Errorf("disease: %+v", disease)
	}
	if got.Met || salary.NotClose != 0 || disease.NotClose != 3 || salary.NotDiverse+disease.NotDiverse != 0 || disease.DistinctL != 3 {
		t.Errorf("got %+v", got)
	}
	// The bound itself is close enough, and the least below it is not.
	for _, c := range []struct {
		t   float64
		met bool
	}{{0.375, true}, {0.37499999, false}} {
		o.Sensitive, o.Requirement.Closeness = o.Sensitive[:1], &privacy.Closeness{T: c.t}
		if got, err := verifyText(t, salaries, o); err != nil || got.Met != c.met {
			t.Errorf("t = %v: %+v, %v", c.t, got, err)
		}
	}
}

// Columns that are only looked at are reported, whatever they hold.
func TestSensitiveThatNothingIsAskedOf(t *testing.T) {
	got, err := verifyText(t, five, verify.Options{
		Quasi: []string{"age", "sex"}, Requirement: k(1),
		Sensitive: []table.Field{{Name: "illness"}},
	})
	if err != nil || !got.Met || len(got.Sensitive) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if s := got.Sensitive[0]; s.DistinctL != 1 || s.EntropyL != 1 || s.RecursiveL != nil || s.NotDiverse != 0 || s.NotClose != 0 ||
		fmt.Sprintf("%.1f", s.T) != "0.4" {
		t.Errorf("got %+v", s)
	}
}

// A column may be known and sensitive at a time: it is the same in a class.
func TestQuasiIdentifierThatIsSensitive(t *testing.T) {
	got, err := verifyText(t, five, verify.Options{Quasi: []string{"illness"}, Requirement: k(1), Sensitive: []table.Field{{Name: "illness"}}})
	if err != nil || got.Sensitive[0].DistinctL != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// What a Parquet file holds as a day or a number is read as what it is shown
// as, whatever the layout that the column has elsewhere.
func TestTypedSensitive(t *testing.T) {
	type record struct {
		Ward string   `parquet:"ward"`
		Day  int32    `parquet:"day,date"`
		Pay  *float64 `parquet:"pay,optional"`
		Code int32    `parquet:"code"`
	}
	pay := func(v float64) *float64 { return &v }
	path := filepath.Join(t.TempDir(), "release.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	w := parquet.NewGenericWriter[record](f)
	if _, err := w.Write([]record{{"a", 0, pay(1.5), 1}, {"a", 1, nil, -9}, {"b", 0, nil, 2}, {"b", 2, pay(2.5), -9}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	src, err := file.Open(context.Background(), path, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	got, err := verify.Verify(context.Background(), src, verify.Options{
		Quasi: []string{"ward"}, Requirement: k(2), Missing: []string{"-9"},
		Sensitive: []table.Field{
			{Name: "day", Type: table.Date, Layout: "DD.MM.YYYY"},
			{Name: "pay", Type: table.Decimal},
			{Name: "code", Type: table.Integer},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	// Days 0, 0, 1 and 2: class a has 0 and 1. Cumulated shares differ by 0 at
	// 0 and by 1/4 at 1, over the two steps between three values.
	for i, want := range []string{"day 2 0.1250", "pay 1 0.2500", "code 1 0.2500"} {
		s := got.Sensitive[i]
		if text := fmt.Sprintf("%s %d %.4f", s.Column, s.DistinctL, s.T); text != want {
			t.Errorf("got %s, want %s", text, want)
		}
	}
}

// Bytes that are shown as words are missing by those words.
func TestShownBytes(t *testing.T) {
	type record struct {
		Ward string   `parquet:"ward"`
		ID   [16]byte `parquet:"id,uuid"`
	}
	path := filepath.Join(t.TempDir(), "release.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	w := parquet.NewGenericWriter[record](f)
	if _, err := w.Write([]record{{"a", [16]byte{}}, {"a", [16]byte{1}}, {"a", [16]byte{2}}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		missing []string
		l       int
	}{{nil, 3}, {[]string{"00000000-0000-0000-0000-000000000000", "01000000-0000-0000-0000-000000000000"}, 1}} {
		got, err := verifyFile(t, path, verify.Options{
			Quasi: []string{"ward"}, Sensitive: []table.Field{{Name: "id"}}, Requirement: k(3), Missing: c.missing,
		})
		if err != nil || !got.Met || got.Sensitive[0].DistinctL != c.l {
			t.Errorf("missing %q: %+v, %v", c.missing, got, err)
		}
	}
}

func TestClassesOfOneValue(t *testing.T) {
	got, err := verifyText(t, "a,s\n1,x\n1,x\n1,x\n", verify.Options{
		Quasi: []string{"a"}, Sensitive: []table.Field{{Name: "s"}},
		Requirement: privacy.Requirement{K: 3, Closeness: &privacy.Closeness{T: 0}, Diversity: &privacy.Diversity{L: 2}},
	})
	if err != nil || got.Met || got.Sensitive[0].NotClose != 0 || got.Sensitive[0].NotDiverse != 1 || noren.KindOf(got.Err()) != noren.NotMet {
		t.Errorf("%+v, %v", got, err)
	}
}
