package verify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// Five records in three classes: two of 34 M, one of 34 F, two of no age.
const five = "age,sex,illness\n34,M,flu\n34,F,flu\n,F,asthma\n34,M,asthma\n,F,flu\n"

func TestCount(t *testing.T) {
	got, err := verifyText(t, five, verify.Options{Quasi: []string{"sex", "age"}, Requirement: k(2)})
	if err != nil {
		t.Fatal(err)
	}
	want := &verify.Result{
		Schema: "noren.verify/1", File: got.File, Rows: 5, Quasi: []string{"sex", "age"}, K: 2, AchievedK: 1, Classes: 3,
		ClassSize: verify.ClassSize{Min: 1, Mean: 5.0 / 3, Max: 2}, BelowK: verify.BelowK{Classes: 1, Records: 1},
		Failures: noren.Texts{noren.Textf("%d of %d {class|classes} {1|has|have} fewer than k = %d records (%d {record|records} in them, the "+
			"smallest class has %d)", int64(1), int64(3), 2, int64(1), int64(1))},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if err := got.Err(); noren.KindOf(err) != noren.NotMet || !strings.HasPrefix(err.Error(), got.File.String()+": 1 of 3 classes") {
		t.Errorf("got %v", err)
	}
	for _, c := range []struct {
		quasi    string
		k        int
		met      bool
		achieved int64
		classes  int64
		below    verify.BelowK
	}{
		{"age", 1, true, 2, 2, verify.BelowK{}},
		{"age", 2, true, 2, 2, verify.BelowK{}},
		{"age", 3, false, 2, 2, verify.BelowK{Classes: 1, Records: 2}},
		{"age", 4, false, 2, 2, verify.BelowK{Classes: 2, Records: 5}},
		{"sex", 2, true, 2, 2, verify.BelowK{}},
		{"illness", 3, false, 2, 2, verify.BelowK{Classes: 1, Records: 2}},
		{"age,sex,illness", 1, true, 1, 5, verify.BelowK{}},
		{"age,sex,illness", 2, false, 1, 5, verify.BelowK{Classes: 5, Records: 5}},
	} {
		got, err := verifyText(t, five, verify.Options{Quasi: strings.Split(c.quasi, ","), Requirement: k(c.k)})
		if err != nil {
			t.Fatal(err)
		}
		if got.Met != c.met || got.AchievedK != c.achieved || got.Classes != c.classes || got.BelowK != c.below || (got.Err() == nil) != c.met ||
			(len(got.Failures) == 0) != c.met {
			t.Errorf("%s, k = %d: got %+v", c.quasi, c.k, got)
		}
	}
}

// Quasi-identifiers are compared as they are written: what a reader can tell
// apart is apart, whatever it is said to stand for.
func TestMissing(t *testing.T) {
	const text = "age,sex\n,M\nNA,M\n?,M\n?,M\n"
	path := writeParquet(t, t.TempDir(), []string{"n", "a"}, [][]string{{null, null}, {"-9", ""}, {"-9", "NA"}, {"0", "0"}})
	for _, missing := range [][]string{nil, {"NA"}, {"NA", "?", "-9", "0"}} {
		got, err := verifyText(t, text, verify.Options{Quasi: []string{"age", "sex"}, Requirement: k(2), Missing: missing})
		if err != nil || got.Met || got.Classes != 3 || got.AchievedK != 1 {
			t.Errorf("missing %q: %+v, %v", missing, got, err)
		}
		got, err = verifyFile(t, path, verify.Options{Quasi: []string{"n", "a"}, Requirement: k(1), Missing: missing})
		if err != nil || got.Classes != 4 {
			t.Errorf("Parquet, missing %q: %+v, %v", missing, got, err)
		}
		// A null and the empty text look the same in a text file only.
		got, err = verifyFile(t, path, verify.Options{Quasi: []string{"a"}, Requirement: k(1), Missing: missing})
		if err != nil || got.Classes != 4 {
			t.Errorf("Parquet, one column, missing %q: %+v, %v", missing, got, err)
		}
	}
}

// In a sensitive column all that stands for no value is no value of its own,
// unless it is to count: then it is one.
func TestMissingSensitive(t *testing.T) {
	const text = "age,illness\n1,\n1,NA\n2,flu\n2,?\n"
	for _, c := range []struct {
		missing []string
		count   bool
		l       int
	}{
		{nil, false, 1},
		{[]string{"NA"}, false, 0},
		{[]string{"NA", "?"}, false, 0},
		{nil, true, 2},
		{[]string{"NA"}, true, 1},
		{[]string{"NA", "?"}, true, 1},
	} {
		req := privacy.Requirement{K: 2, Diversity: &privacy.Diversity{L: 1, CountMissing: c.count}}
		got, err := verifyText(t, text, verify.Options{
			Quasi: []string{"age"}, Sensitive: []table.Field{{Name: "illness"}}, Requirement: req,
			Missing: c.missing,
		})
		if err != nil || got.Met != (c.l >= 1) || got.Sensitive[0].DistinctL != c.l {
			t.Errorf("missing %q: %+v, %v", c.missing, got, err)
		}
	}
}

// Texts that run into each other, and texts that are nearly the same, are
// classes of their own.
func TestTextsAreTakenAsTheyAre(t *testing.T) {
	for name, rows := range map[string][][]string{
		"a separator within":    {{"a,b", ""}, {"a", "b"}},
		"the border moves":      {{"ab", "c"}, {"a", "bc"}},
		"missing on two sides":  {{"", "a"}, {"a", ""}},
		"quotes":                {{`"a"`, "b"}, {"a", "b"}},
		"blanks":                {{"a ", "b"}, {"a", "b"}},
		"line breaks":           {{"a\n", "b"}, {"a", "b"}},
		"capital letters":       {{"A", "b"}, {"a", "b"}},
		"one number, two texts": {{"1", "b"}, {"1.0", "b"}},
		"two forms of a letter": {{"\u00e9", "b"}, {"e\u0301", "b"}},
		"low bytes":             {{"\x01a", "b"}, {"a", "b"}},
		"long texts":            {{strings.Repeat("a", 127), "a"}, {strings.Repeat("a", 128), ""}},
		"the text of a null":    {{null, "b"}, {"", "b"}},
	} {
		for _, quasi := range [][]string{{"a", "b"}, {"b", "a"}} {
			path := writeCSV(t, t.TempDir(), []string{"a", "b"}, rows)
			got, err := verifyFile(t, path, verify.Options{Quasi: quasi, Requirement: k(2)})
			if err != nil || got.Classes != 2 || got.Met {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		}
	}
}

func TestVerifyRefuses(t *testing.T) {
	diverse, near := &privacy.Diversity{L: 2}, &privacy.Closeness{T: 0.2}
	illness := []table.Field{{Name: "illness"}}
	for name, c := range map[string]struct {
		text string
		o    verify.Options
		kind noren.Kind
		want string
	}{
		"no quasi-identifier": {five, verify.Options{Requirement: k(2)}, noren.Usage, "no quasi-identifier is named"},
		"named twice": {
			five,
			verify.Options{Quasi: []string{"age", "sex", "age"}, Requirement: k(2)},
			noren.Usage,
			`"age" is named twice`,
		},
		"no k":           {five, verify.Options{Quasi: []string{"age"}}, noren.Usage, "k is 0"},
		"a negative k":   {five, verify.Options{Quasi: []string{"age"}, Requirement: k(-1)}, noren.Usage, "k"},
		"unknown column": {five, verify.Options{Quasi: []string{"age", "town"}, Requirement: k(2)}, noren.Usage, `no column "town"`},
		"unknown sensitive": {
			five,
			verify.Options{Quasi: []string{"age"}, Requirement: k(2), Sensitive: []table.Field{{Name: "pay"}}},
			noren.Usage, `no column "pay"`,
		},
		"diversity of nothing": {
			five,
			verify.Options{Quasi: []string{"age"}, Requirement: privacy.Requirement{K: 2, Diversity: diverse}},
			noren.Usage, "sensitive",
		},
		"closeness of nothing": {
			five,
			verify.Options{Quasi: []string{"age"}, Requirement: privacy.Requirement{K: 2, Closeness: near}},
			noren.Usage, "sensitive",
		},
		"an impossible l": {five, verify.Options{
			Quasi: []string{"age"}, Sensitive: illness,
			Requirement: privacy.Requirement{K: 2, Diversity: &privacy.Diversity{L: 0.5}},
		}, noren.Usage, "l"},
		"levels that are none": {five, verify.Options{
			Quasi: []string{"age"}, Sensitive: []table.Field{{Name: "illness", Type: table.Ordered}},
			Requirement: k(2),
		}, noren.Usage, "levels"},
		"no records":      {"age,sex\n", verify.Options{Quasi: []string{"age"}, Requirement: k(1)}, noren.BadData, "no records"},
		"a ragged record": {"age,sex\n1\n", verify.Options{Quasi: []string{"age"}, Requirement: k(1)}, noren.BadData, "line 2"},
		"wrong type": {
			"age,pay\n1,10\n1,s3cr3t\n",
			verify.Options{Quasi: []string{"age"}, Sensitive: []table.Field{{Name: "pay", Type: table.Integer}}, Requirement: k(1)},
			noren.BadData, "line 3, column 2 (pay): expected an integer",
		},
		"no level": {
			"age,pay\n1,low\n1,s3cr3t\n",
			verify.Options{
				Quasi: []string{"age"}, Sensitive: []table.Field{{Name: "pay", Type: table.Ordered, Levels: []string{"low"}}},
				Requirement: k(1),
			},
			noren.BadData, "line 3, column 2 (pay)",
		},
	} {
		got, err := verifyText(t, c.text, c.o)
		if got != nil || noren.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "release.csv") &&
			name != "levels that are none" || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	// All faults at once.
	_, err := verifyText(t, five, verify.Options{Requirement: privacy.Requirement{Diversity: diverse}})
	if got := err.Error(); !strings.Contains(got, "no quasi-identifier") || !strings.Contains(got, "sensitive") ||
		!strings.Contains(got, "k ") {
		t.Errorf("got %v", err)
	}
}

// A place in a Parquet file is a record.
func TestWrongTypeInParquet(t *testing.T) {
	path := writeParquet(t, t.TempDir(), []string{"a", "pay"}, [][]string{{"x", "1"}, {"x", "s3cr3t"}})
	_, err := verifyFile(t, path, verify.Options{
		Quasi: []string{"a"}, Sensitive: []table.Field{{Name: "pay", Type: table.Decimal}},
		Requirement: k(1),
	})
	if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), "record 2, column 2 (pay): expected a number") ||
		strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("got %v", err)
	}
}

// Nothing that is said of a file, met or not, holds a value of it.
func TestNoValueIsTold(t *testing.T) {
	const text = "age,sex,pay,illness\ns3cr3t1,s3cr3t2,33331,s3cr3t4\ns3cr3t1,s3cr3t2,33331,s3cr3t4\ns3cr3t5,s3cr3t2,33332,s3cr3t6\n"
	o := verify.Options{
		Quasi:     []string{"age", "sex"},
		Sensitive: []table.Field{{Name: "pay", Type: table.Integer}, {Name: "illness"}},
		Requirement: privacy.Requirement{
			K: 2, Diversity: &privacy.Diversity{Model: privacy.Recursive, L: 2, C: 2},
			Closeness: &privacy.Closeness{T: 0.1},
		},
	}
	got, err := verifyText(t, text, o)
	if err != nil {
		t.Fatal(err)
	}
	if got.Met || len(got.Failures) != 5 {
		t.Fatalf("got %+v, want k, diversity and closeness of two columns not to be met", got)
	}
	all, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	told := string(all) + got.Err().Error()
	if strings.Contains(told, "s3cr3t") || strings.Contains(told, "3333") {
		t.Errorf("a value is shown: %s", told)
	}
	for _, name := range []string{"pay", "illness"} {
		if !strings.Contains(got.Err().Error(), "2 of 2 classes are not diverse in "+name+" as asked for (recursive 2-diversity (c = 2))") {
			t.Errorf("%s: %v", name, got.Err())
		}
		if !strings.Contains(got.Err().Error(), "2 of 2 classes are farther than 0.1 from the whole table in "+name+
			": the farthest is at 0.6667") {
			t.Errorf("%s: %v", name, got.Err())
		}
	}
}

func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	path := filepath.Join(t.TempDir(), "release.csv")
	if err := os.WriteFile(path, []byte(five), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := file.Open(ctx, path, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	cancel()
	if _, err := verify.Verify(ctx, src, verify.Options{Quasi: []string{"age"}, Requirement: k(1)}); noren.KindOf(err) != noren.Interrupted {
		t.Errorf("got %v", err)
	}
}

// A verification may end under way, too, when its context does.
func TestContextUnderWay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "release.csv")
	if err := os.WriteFile(path, []byte("age\n"+strings.Repeat("34\n", 3_000_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	src, err := file.Open(ctx, path, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	told := 0
	_, err = verify.Verify(ctx, src, verify.Options{
		Quasi: []string{"age"}, Requirement: k(1),
		Progress: func(stage string, done, total int64) {
			if stage != "verifying" || total != 1000 || done < 0 || done > 1000 {
				t.Errorf("%s: %d of %d", stage, done, total)
			}
			told++
			cancel()
		},
	})
	if noren.KindOf(err) != noren.Interrupted || told == 0 {
		t.Errorf("told %d times, %v", told, err)
	}
}

// A file comes in many pieces: each is counted, and each record's class and
// value stay together.
func TestManyPieces(t *testing.T) {
	const n, classes = 200_000, 1000
	var text strings.Builder
	text.WriteString("a,s\n")
	for i := range n {
		fmt.Fprintf(&text, "%d,%d\n", i*7%classes, i*7%classes/500) // 7 and 1000 have no factor in common
	}
	got, err := verifyText(t, text.String(), verify.Options{
		Quasi: []string{"a"}, Requirement: k(n / classes),
		Sensitive: []table.Field{{Name: "s"}},
	})
	if err != nil || !got.Met || got.Rows != n || got.Classes != classes ||
		got.ClassSize != (verify.ClassSize{Min: n / classes, Mean: n / classes, Max: n / classes}) {
		t.Fatalf("%+v, %v", got, err)
	}
	if s := got.Sensitive[0]; s.DistinctL != 1 || s.T != 0.5 {
		t.Errorf("got %+v, want one value a class, as half of the table has", s)
	}
}

// closing is a source whose readers end the context when they are done.
type closing struct {
	table.Source
	cancel func()
}

type closingReader struct {
	table.Reader
	cancel func()
}

func (c closing) Open(ctx context.Context, columns []int) (table.Reader, error) {
	r, err := c.Source.Open(ctx, columns)
	return closingReader{r, c.cancel}, err
}

func (r closingReader) Close() error {
	r.cancel()
	return r.Reader.Close()
}

// The context holds for the time after reading too.
func TestContextAfterReading(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	src, err := file.OpenStdin(ctx, strings.NewReader(five), file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	_, err = verify.Verify(ctx, closing{src, cancel},
		verify.Options{Quasi: []string{"age"}, Requirement: k(1), Sensitive: []table.Field{{Name: "illness"}}})
	if noren.KindOf(err) != noren.Interrupted {
		t.Errorf("got %v", err)
	}
}
