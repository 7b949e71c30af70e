package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
)

// manyRows are the rows of two columns with n different values each.
func manyRows(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "%d,v%d\n", 30+i, i)
	}
	return text.String()
}

// A file with the values of another data set's column, under any name, needs the
// declaration; a column of few values does not.
func TestSimilarValues(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	ctx := t.Context()
	limit := Cost{Epsilon: one, Delta: 0}
	grant := func(name, text string, others bool) (*Book, error) {
		t.Helper()
		path := filepath.Join(f.dir, name+".csv")
		write(t, path, text)
		g := pinned(t, name, path, limit)
		g.OtherPeople = others
		return l.Grant(ctx, g)
	}
	for n, many := range map[int]bool{10: false, 11: true} {
		first, second := fmt.Sprint("a", n), fmt.Sprint("b", n)
		if _, err := grant(first, fmt.Sprintf("x%d,y%d\n", n, n)+manyRows(n), false); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("p%d,q%d\n", n, n) + strings.Replace(manyRows(n), ",v3\n", ",w\n", 1)
		b, err := grant(second, text, false)
		if !many {
			if err != nil || b.OtherPeople != nil {
				t.Errorf("%d values: %v", n, err)
			}
			continue
		}
		wantCode(t, err, "other-people", noren.Usage, `its column "p11" has the values of column "x11" of data set a11`)
		if b, err = grant(second, text, true); err != nil || fmt.Sprint(b.OtherPeople) != "[a11]" || b.ByNames != nil {
			t.Errorf("%+v, %v", b, err)
		}
	}
	verifyClean(t, l)
}

// Names are compared after NFKC, trimming and case folding, each once.
func TestSimilarNames(t *testing.T) {
	for _, names := range [][]string{
		{"Age", "age"},
		{" age\u3000", "ＡＧＥ"},
		{"ｶﾞｸ", "ガク"},
		{"Straße", "STRASSE"},
		{"ﬁn", "FIN"},
		{"ΣΑΣ", "σας"},
	} {
		if columnName(names[0]) != columnName(names[1]) {
			t.Errorf("%q and %q differ", names[0], names[1])
		}
	}
	if columnName("age") == columnName("ages") {
		t.Error("age is ages")
	}
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	other := filepath.Join(f.dir, "b.csv")
	write(t, other, "AGE,Age,ward,day\n1,2,3,4\n")
	if _, err := l.Grant(t.Context(), pinned(t, "b", other, Cost{Epsilon: one, Delta: 0})); noren.CodeOf(err) != "other-people" ||
		!strings.Contains(err.Error(), "shares 1 of 2 columns") {
		t.Error(err)
	}
	write(t, other, "ＡＧＥ ,SEX\n1,2\n")
	_, err := l.Grant(t.Context(), pinned(t, "b", other, Cost{Epsilon: one, Delta: 0}))
	wantCode(t, err, "other-people", noren.Usage, "shares 2 of 2 columns with data set adult")
}

// The contents are kept, change with nothing, and leave in no export; a change by hand is
// found, and a reconciliation puts the version back to one that is compared by names.
func TestContents(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	ctx := t.Context()
	if has, err := l.HasContents(ctx, "adult"); !has || err != nil {
		t.Fatal(has, err)
	}
	if files, err := l.Files(ctx, "adult", 1); files != nil || err != nil {
		t.Error(files, err)
	}
	print := func(s string) string { return filePrint + hexHash([]byte(s)) }
	folder := filepath.Join(f.dir, "folder")
	g := pinned(t, "adult", f.file, Cost{Epsilon: one, Delta: 0})
	g.Name, g.Path, g.Print, g.OtherPeople = "sharded", folder, print("sharded"), true
	g.Contents.Files = []map[string]string{{"age": print("a1"), "sex": print("s1")}, {"age": print("a2"), "sex": print("s2")}}
	_, err := l.Grant(ctx, g)
	if err != nil {
		t.Fatal(err)
	}
	if files, err := l.Files(ctx, "sharded", 1); err != nil || fmt.Sprint(files) != fmt.Sprint(g.Contents.Files) {
		t.Errorf("%v, %v", files, err)
	}
	// The same files in another order are the same version, exchanged columns are not.
	swapped := g
	swapped.Contents = &Contents{Values: g.Contents.Values, Files: []map[string]string{g.Contents.Files[1], g.Contents.Files[0]}}
	if b, err := l.Grant(ctx, swapped); err != nil || b.Version != 1 {
		t.Errorf("%+v, %v", b, err)
	}
	swapped.Contents.Files = []map[string]string{{"age": print("a2"), "sex": print("s1")}, {"age": print("a1"), "sex": print("s2")}}
	_, err = l.Grant(ctx, swapped)
	wantCode(t, err, "changed", noren.Refused)
	verifyClean(t, l)
	// What leaves holds no print of values and of files: two data sets have the same here.
	var out bytes.Buffer
	if err := l.Export(ctx, func(e ExportEntry) error { _, err := out.Write(e.Body); return err },
		func(ExportAnswer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	secrets := []string{hexHash([]byte("a1")), hexHash([]byte("s2"))}
	for _, v := range g.Contents.Values {
		secrets = append(secrets, v.Prints...)
	}
	for _, secret := range secrets {
		if strings.Contains(out.String(), secret) {
			t.Error("a print leaves")
		}
	}
	hmacs := map[string]bool{}
	for part := range strings.SplitSeq(out.String(), `"contents_hmac":"`) {
		if digits, _, found := strings.Cut(part, `"`); found && len(digits) == 64 {
			if hmacs[digits] {
				t.Error("two versions have one HMAC: an export tells that their columns are equal")
			}
			hmacs[digits] = true
		}
	}
	if len(hmacs) != 2 {
		t.Errorf("%d HMACs in the export", len(hmacs))
	}
	// By hand.
	for _, change := range []string{
		"UPDATE dataset_contents SET column_values = '{}' WHERE account = 1",
		"UPDATE dataset_contents SET files = zeroblob(128) WHERE account = 2",
		"INSERT INTO dataset_contents VALUES (1, 7, '{}', zeroblob(0))",
	} {
		l := copyOf(t, f)
		for _, trigger := range []string{"dataset_contents_keep", "dataset_contents_fixed"} {
			if _, err := l.db.ExecContext(ctx, "DROP TRIGGER "+trigger); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := l.db.ExecContext(ctx, change); err != nil {
			t.Fatal(err)
		}
		l.Close()
		l, err := Open(ctx, l.path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		mustSealed(t, l)
		if _, err := l.Reconcile(ctx, ReconcileOptions{}); err != nil {
			t.Errorf("%s: %v", change, err)
		}
		verifyClean(t, l)
		l.Close()
	}
}

// copyOf opens a copy of the fixture's ledger.
func copyOf(t *testing.T, f *fixture) *Ledger {
	t.Helper()
	l := f.open(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "noren.db")
	if _, err := l.db.ExecContext(t.Context(), "VACUUM INTO ?", path); err != nil {
		t.Fatal(err)
	}
	l.Close()
	copyFile(t, headPath(f.path), headPath(path))
	out, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A version without contents, as one that was granted before they were kept, gets them from
// a later reading and an entry of the chain; what was rolled forward lacks them again.
func TestContentsLater(t *testing.T) {
	t.Parallel()
	f := unpack(t, "schema3", "prints")
	ctx := t.Context()
	l := f.open(t)
	if err := l.Sealed(); err != nil {
		t.Fatal(err)
	}
	verifyClean(t, l)
	for _, name := range []string{"people", "visits"} {
		if has, err := l.HasContents(ctx, name); has || err != nil {
			t.Error(name, has, err)
		}
		if size, mtime, err := l.Seen(ctx, name); size != 0 || mtime != 0 || err != nil {
			t.Error("the file of a version without contents needs no reading", size, mtime, err)
		}
		if files, err := l.Files(ctx, name, 1); files != nil || err != nil {
			t.Error(files, err)
		}
	}
	b, err := l.Book(ctx, "people")
	if err != nil {
		t.Fatal(err)
	}
	c := &Contents{Values: map[string]Values{}}
	for name := range b.Prints {
		c.Values[name] = Values{Prints: []string{hexHash([]byte(name))}, Many: true}
	}
	if err := l.SetContents(ctx, "people", 2, c, 7, 8); err != nil {
		t.Error(err)
	}
	if has, err := l.HasContents(ctx, "people"); has || err != nil {
		t.Error("contents of a version that is not", err)
	}
	for range 2 { // the second does nothing
		if err := l.SetContents(ctx, "people", 1, c, 7, 8); err != nil {
			t.Fatal(err)
		}
	}
	if size, mtime, err := l.Seen(ctx, "people"); size != 7 || mtime != 8 || err != nil {
		t.Error(size, mtime, err)
	}
	if report, err := l.Verify(ctx); err != nil || report.Err() != nil || report.Links != 6 {
		t.Errorf("%+v, %v: expected one entry more than the 5 of the old program", report, err)
	}
	l.Close()
	l = f.open(t)
	if err := l.Sealed(); err != nil {
		t.Fatal(err)
	}
	if has, err := l.HasContents(ctx, "people"); !has || err != nil {
		t.Error(has, err)
	}
	l.Close()
	// An older copy, rolled forward: the entry is there, and the prints are read again.
	old := unpack(t, "schema3", "prints")
	copyFile(t, headPath(f.path), headPath(old.path))
	l = old.open(t)
	mustSealed(t, l)
	if _, err := l.Reconcile(ctx, ReconcileOptions{}); err != nil {
		t.Fatal(err)
	}
	if has, err := l.HasContents(ctx, "people"); has || err != nil {
		t.Error(has, err)
	}
	if err := l.SetContents(ctx, "people", 1, c, 7, 8); err != nil {
		t.Fatal(err)
	}
	if has, err := l.HasContents(ctx, "people"); !has || err != nil {
		t.Error(has, err)
	}
	verifyClean(t, l)
	l.Close()
	l = old.open(t)
	if l.Sealed() != nil {
		t.Error(l.Sealed())
	}
}

// Contents of other columns than those of the grant are refused.
func TestContentsAreChecked(t *testing.T) {
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	for name, change := range map[string]func(*Contents){
		"a column less":         func(c *Contents) { delete(c.Values, "age") },
		"a column more":         func(c *Contents) { c.Values["ward"] = Values{} },
		"an empty print":        func(c *Contents) { c.Values["age"] = Values{Prints: []string{""}} },
		"a file without prints": func(c *Contents) { c.Files = []map[string]string{{}} },
		"a print of a file":     func(c *Contents) { c.Files = []map[string]string{{"age": "x", "sex": "y"}} },
	} {
		g := pinned(t, "adult", f.file, Cost{Epsilon: one, Delta: 0})
		g.Changed, g.Print = true, printOf(name)
		change(g.Contents)
		if _, err := l.Grant(context.Background(), g); err == nil {
			t.Errorf("%s: granted", name)
		}
	}
	verifyClean(t, l)
}

// A checkpoint holds the HMACs of contents.
func TestContentsInACheckpoint(t *testing.T) {
	p := newBooks()
	p.versions[versionKey{1, 2}], p.versions[versionKey{1, 3}] = "digest", "other"
	p.contents[versionKey{1, 2}] = "hmac"
	text, err := p.encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeBooks(7, text)
	if err != nil || fmt.Sprint(got.contents) != fmt.Sprint(p.contents) || fmt.Sprint(got.versions) != fmt.Sprint(p.versions) {
		t.Errorf("%v, %v", got, err)
	}
}

// An entry that gives prints to a version that was never granted is a fault of the chain.
func TestContentsOfNoVersion(t *testing.T) {
	p := newBooks()
	for i, k := range []struct {
		kind string
		body any
		ok   bool
	}{
		{kindCreate, createBody{Ledger: "l"}, true},
		{kindGrant, grantBody{Account: 1, Kind: kindDataset, Name: "a", Unit: "record", CapEps: 5}, true},
		{kindContents, contentsBody{Account: 1, Version: 1, Contents: "x"}, false},
		{kindGrant, grantBody{Account: 1, Kind: kindDataset, Name: "a", Unit: "record", CapEps: 5, Contents: "x"}, false},
	} {
		text, err := json.Marshal(k.body)
		if err != nil {
			t.Fatal(err)
		}
		p.seq = int64(i)
		if _, err := p.take(&link{Seq: int64(i + 1), Kind: k.kind, Body: text}); (err == nil) != k.ok {
			t.Errorf("%s: %v", k.kind, err)
		}
	}
}

// A version that is granted again is compared again: with data sets that got their prints
// after it was granted. The declaration makes a version, which certificates then name.
func TestGrantedAgainIsComparedAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	ctx := t.Context()
	limit := Cost{Epsilon: one, Delta: 0}
	first, second := filepath.Join(f.dir, "first.csv"), filepath.Join(f.dir, "second.csv")
	write(t, first, "a,b\n"+manyRows(12))
	write(t, second, "c,d\n"+manyRows(12))
	old := pinned(t, "first", first, limit)
	contents := old.Contents
	old.Contents = nil // as before values were compared
	if _, err := l.Grant(ctx, old); err != nil {
		t.Fatal(err)
	}
	g := pinned(t, "second", second, limit)
	b, err := l.Grant(ctx, g)
	if err != nil || fmt.Sprint(b.ByNames) != "[{first [1]}]" {
		t.Fatalf("%+v, %v", b, err)
	}
	if err := l.SetContents(ctx, "first", 1, contents, 1, 2); err != nil {
		t.Fatal(err)
	}
	_, err = l.Grant(ctx, g)
	wantCode(t, err, "other-people", noren.Usage, "of data set first")
	g.OtherPeople = true
	if b, err = l.Grant(ctx, g); err != nil || b.Version != 2 || fmt.Sprint(b.OtherPeople) != "[first]" || b.ByNames != nil {
		t.Fatalf("%+v, %v", b, err)
	}
	g.OtherPeople = false
	if b, err = l.Grant(ctx, g); err != nil || b.Version != 2 {
		t.Errorf("%+v, %v", b, err)
	}
	old.Contents = contents
	if b, err = l.Grant(ctx, old); err != nil || b.Version != 1 {
		t.Errorf("%+v, %v", b, err)
	}
	verifyClean(t, l)
}

// A declaration is about the table that it was made for: a new version that has come to hold
// the values of the other data set needs it again, from either side, and monthly tables that
// share names or what they shared before do not.
func TestDeclarationsDoNotCoverLaterCopies(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	grant := func(name, text string, others, changed bool) error {
		t.Helper()
		path := filepath.Join(f.dir, name+".csv")
		write(t, path, text)
		g := pinned(t, name, path, Cost{Epsilon: one, Delta: 0})
		g.OtherPeople, g.Changed = others, changed
		_, err := l.Grant(t.Context(), g)
		return err
	}
	table := func(numbers, word string) string { // numbers from 1, and words
		text := numbers + "\n"
		for i := range 20 {
			text += fmt.Sprintf("%d,%s%d\n", i, word, i)
		}
		return text
	}
	for _, err := range []error{
		grant("one", table("no,name", "a"), false, false),
		grant("two", table("lfd,wer", "b"), true, false),     // the numbers
		grant("two", table("lfd,wer", "c"), false, true),     // next month: the numbers again
		grant("one", table("no,name", "d"), false, true),     // and here
		grant("one", table("nummer,name", "d"), false, true), // under another name
		grant("three", table("lfd,wer", "e"), true, false),   // of two data sets
		grant("three", table("lfd,wer", "f")+"20,g\n", false, true),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, grant("two", table("lfd,wer", "a"), false, true), "other-people", noren.Usage,
		`its column "wer" has the values of column "name" of data set one`)
	wantCode(t, grant("one", table("no,name", "c"), false, true), "other-people", noren.Usage,
		`its column "name" has the values of column "wer" of data set two`)
	if err := grant("two", table("lfd,wer", "a"), true, true); err != nil {
		t.Error(err)
	}
	verifyClean(t, l)
}
