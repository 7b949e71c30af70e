package release_test

import (
	"compress/gzip"
	"crypto/ed25519"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/release"
)

// sharded is a data set in two files of equal length.
type sharded struct {
	ledger *ledger.Ledger
	dir    string
	key    ed25519.PrivateKey
}

var shardFile = map[string][2][]string{
	"person": {{"a", "b", "c"}, {"d", "e", "f"}},
	"age":    {{"30", "40", "50"}, {"31", "41", "51"}},
}

// writeShards writes the files of columns; those named in swapped are exchanged.
func writeShards(t *testing.T, dir string, swapped ...string) {
	t.Helper()
	for i := range 2 {
		text := "person,age\n"
		for row := range 3 {
			var cells []string
			for _, name := range []string{"person", "age"} {
				at := i
				if slices.Contains(swapped, name) {
					at = 1 - i
				}
				cells = append(cells, shardFile[name][at][row])
			}
			text += strings.Join(cells, ",") + "\n"
		}
		path := filepath.Join(dir, fmt.Sprint(i, ".csv"))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Unix(1e9, 0), time.Unix(1e9, 0)); err != nil {
			t.Fatal(err)
		}
	}
}

func newSharded(t *testing.T, unit string) *sharded {
	t.Helper()
	s := &sharded{dir: t.TempDir()}
	book := filepath.Join(t.TempDir(), "noren.db")
	_, key, err := ed25519.GenerateKey(nil)
	if err == nil {
		err = ledger.Create(t.Context(), book)
	}
	if err == nil {
		s.ledger, err = ledger.Open(t.Context(), book, ledger.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	s.key = key
	t.Cleanup(func() { _ = s.ledger.Close() })
	writeShards(t, s.dir)
	def, err := (&dataset.Definition{
		File: dataset.File{Sharded: true}, Unit: unit, AtMost: 100,
		Columns: []dataset.Column{{Name: "person"}, {Name: "age", Type: "integer"}},
	}).Complete()
	if err != nil {
		t.Fatal(err)
	}
	reviewed, err := release.ReviewGrant(t.Context(), s.ledger, release.Candidate{Path: s.dir, Definition: def})
	if err == nil {
		_, err = release.ConfirmGrant(t.Context(), s.ledger, release.Grant{Name: "visits", Cap: account.Cost{Epsilon: 1 << 60}}, reviewed)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ask asks a count; step gets where the request stands.
func (s *sharded) ask(t *testing.T, where, unit string, step func(string)) error {
	t.Helper()
	return askShards(t, s.ledger, s.dir, s.key, where, unit, release.Budget{Principal: "mori"}, step)
}

func askShards(t *testing.T, l *ledger.Ledger, dir string, key ed25519.PrivateKey, where, unit string, budget release.Budget,
	step func(string),
) error {
	t.Helper()
	data, err := release.Find(t.Context(), l, "visits")
	if err != nil {
		t.Fatal(err)
	}
	data.Path = dir
	o := query.Options{Fields: data.Definition.Fields(), Unit: unit, Kind: query.Count, Where: where, Cost: account.Cost{Epsilon: milli}}
	if unit != account.Record {
		o.MaxRows, o.Key = 1, []byte("0123456789abcdef")
	}
	q, err := query.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = release.Run(t.Context(), release.Request{
		Mechanism: q, Dataset: data, Signer: key, Tool: certificate.Tool{Name: "test", Version: "1"}, Budget: budget,
		Step: func(name string) error {
			if step != nil {
				step(name)
			}
			return nil
		},
	})
	return err
}

// A column that is exchanged between two files of equal length is seen: before the charge
// by the files' times, and after it by the prints of each file, where the times are as they
// were. Exchanging all columns, which is the same files under other names, is nothing.
func TestExchangedColumn(t *testing.T) {
	for _, unit := range []string{account.Record, "person"} {
		s := newSharded(t, unit)
		where := "person = 'a' or age >= 40" // reads both columns
		if err := s.ask(t, where, unit, nil); err != nil {
			t.Fatal(err)
		}
		for _, swapped := range []string{"person", "age"} {
			writeShards(t, s.dir, swapped)
			if err := s.ask(t, where, unit, nil); noren.CodeOf(err) != "withheld" {
				t.Errorf("%s exchanged between files: %v", swapped, err)
			}
			later := filepath.Join(s.dir, "0.csv")
			if err := os.Chtimes(later, time.Unix(2e9, 0), time.Unix(2e9, 0)); err != nil {
				t.Fatal(err)
			}
			if err := s.ask(t, where, unit, nil); noren.CodeOf(err) != "changed" {
				t.Errorf("%s exchanged between files at another time: %v", swapped, err)
			}
			writeShards(t, s.dir)
			err := s.ask(t, where, unit, func(name string) {
				if name == "reserved" {
					writeShards(t, s.dir, swapped)
				}
			})
			if noren.CodeOf(err) != "withheld" {
				t.Errorf("%s exchanged after the charge: %v", swapped, err)
			}
		}
		writeShards(t, s.dir, "person", "age")
		if err := s.ask(t, where, unit, nil); err != nil {
			t.Errorf("the files under each other's names: %v", err)
		}
	}
}

// A count of all records, which reads no column, is of the granted files too.
func TestCountOfExchangedFiles(t *testing.T) {
	s := newSharded(t, account.Record)
	err := s.ask(t, "", account.Record, func(name string) {
		if name != "reserved" {
			return
		}
		path := filepath.Join(s.dir, "1.csv")
		if err := os.WriteFile(path, []byte("person,age\nx,1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	if noren.CodeOf(err) != "withheld" {
		t.Error(err)
	}
	writeShards(t, s.dir)
	if err := s.ask(t, "", account.Record, nil); err != nil {
		t.Error(err)
	}
}

// oldLedger is a ledger that a program wrote before it kept prints of values and of files,
// with its files: the data set people in one file, and visits in two.
func oldLedger(t *testing.T) (l *ledger.Ledger, dir string, key ed25519.PrivateKey) {
	t.Helper()
	dir = t.TempDir()
	from := filepath.Join("..", "ledger", "testdata", "schema3")
	for _, s := range []string{"", ".head"} {
		in, err := os.Open(filepath.Join(from, "prints.db"+s+".gz"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = in.Close() }()
		z, err := gzip.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "noren.db"+s), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "data"), os.DirFS(filepath.Join(from, "data"))); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), filepath.Join(dir, "noren.db"), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if err := l.Sealed(); err != nil {
		t.Fatal(err)
	}
	_, key, err = ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return l, filepath.Join(dir, "data"), key
}

// swapColumn exchanges a column between the two files of the old data set.
func swapColumn(t *testing.T, dir string, column int) {
	t.Helper()
	var rows [2][][]string
	for i := range rows {
		text, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(i+1, ".csv")))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			rows[i] = append(rows[i], strings.Split(strings.TrimSpace(line), ","))
		}
	}
	for n := range rows[0] {
		rows[0][n][column], rows[1][n][column] = rows[1][n][column], rows[0][n][column]
	}
	for i := range rows {
		var text strings.Builder
		for _, row := range rows[i] {
			fmt.Fprintln(&text, strings.Join(row, ","))
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i+1, ".csv")), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A sharded version that was granted before prints were kept file by file is checked by its
// table print at the next reading. Exchanged files, which were answered then, are refused;
// the granted ones are usable, and from then on compared file by file. What was answered
// before is not found again: whether its files were the granted ones is not known.
func TestOldShardedVersion(t *testing.T) {
	l, dir, key := oldLedger(t)
	dir = filepath.Join(dir, "visits")
	again := release.Budget{Principal: "ana", Reuse: true}
	swapColumn(t, dir, 1)
	err := askShards(t, l, dir, key, "years >= 40", account.Record, again, nil)
	if noren.CodeOf(err) != "changed" {
		t.Fatalf("files with an exchanged column: %v", err)
	}
	if has, err := l.HasContents(t.Context(), "visits"); has || err != nil {
		t.Fatal("exchanged files are kept", err)
	}
	swapColumn(t, dir, 1)
	asked := false
	err = askShards(t, l, dir, key, "years >= 40", account.Record, again, func(name string) { asked = asked || name == "reserved" })
	if err != nil || !asked {
		t.Fatalf("the granted files: %v; charged anew: %v", err, asked)
	}
	asked = false
	err = askShards(t, l, dir, key, "years >= 40", account.Record, again, func(name string) { asked = asked || name == "reserved" })
	if err != nil || asked {
		t.Fatalf("asked again: %v; charged anew: %v", err, asked)
	}
	err = askShards(t, l, dir, key, "years >= 40", account.Record, release.Budget{Principal: "ana", Key: "k1"}, nil)
	if noren.CodeOf(err) != "conflict" {
		t.Errorf("under the key of an old answer: %v", err)
	}
	if has, err := l.HasContents(t.Context(), "visits"); !has || err != nil {
		t.Error("the files are not kept", err)
	}
	swapColumn(t, dir, 0)
	if err := askShards(t, l, dir, key, "years >= 40 and visitor = 'v1'", account.Record, release.Budget{Principal: "ana"},
		nil); noren.CodeOf(err) != "changed" {
		t.Errorf("exchanged later: %v", err)
	}
	report, err := l.Verify(t.Context())
	if err != nil || report.Err() != nil {
		t.Error(err, report.Err())
	}
}

// A version that was granted before values were compared is compared by names, which the
// grant says, until its file is read.
func TestOldVersionIsComparedByNames(t *testing.T) {
	l, dir, key := oldLedger(t)
	text, err := os.ReadFile(filepath.Join(dir, "people.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.SplitN(string(text), "\n", 2)[1]
	copied := func(name, header string) (*ledger.Book, error) {
		t.Helper()
		path := filepath.Join(dir, name+".csv")
		if err := os.WriteFile(path, []byte(header+"\n"+rows), 0o600); err != nil {
			t.Fatal(err)
		}
		d := dataset.Definition{}
		for column := range strings.SplitSeq(header, ",") {
			d.Columns = append(d.Columns, dataset.Column{Name: strings.TrimSpace(column)})
		}
		reviewed, err := release.ReviewGrant(t.Context(), l, release.Candidate{Path: path, Definition: &d})
		if err != nil {
			t.Fatal(err)
		}
		return release.ConfirmGrant(t.Context(), l, release.Grant{Name: name, Cap: account.Cost{Epsilon: 1000}}, reviewed)
	}
	if _, err := copied("folded", "ＰＥＲＳＯＮ,Ward,AGE,x,y"); noren.CodeOf(err) != "other-people" {
		t.Errorf("names in another form: %v", err)
	}
	book, err := copied("first", "a,b,c,d,e")
	if err != nil || fmt.Sprint(book.ByNames) != "[{people [1]} {visits [1]}]" {
		t.Fatalf("%v, %v", book, err)
	}
	// The file is read as the granted version.
	data, err := release.Find(t.Context(), l, "people")
	if err != nil {
		t.Fatal(err)
	}
	data.Path = filepath.Join(dir, "people.csv")
	q, err := query.New(t.Context(), query.Options{
		Fields: data.Definition.Fields(), Unit: account.Record, Kind: query.Count,
		Cost: account.Cost{Epsilon: milli},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := release.Run(t.Context(), release.Request{
		Mechanism: q, Dataset: data, Signer: key,
		Tool: certificate.Tool{Name: "test", Version: "1"}, Budget: release.Budget{Principal: "ana"},
	}); err != nil {
		t.Fatal(err)
	}
	_, err = copied("second", "f,g,h,i,j")
	if noren.CodeOf(err) != "other-people" || !strings.Contains(err.Error(), "of data set people") &&
		!strings.Contains(err.Error(), "of data set first") {
		t.Errorf("after the file was read: %v", err)
	}
	// A grant of the same version is compared too, and a declaration makes a version.
	def := *data.Definition
	reviewed, err := release.ReviewGrant(t.Context(), l, release.Candidate{Path: filepath.Join(dir, "people.csv"), Definition: &def})
	if err != nil {
		t.Fatal(err)
	}
	again := release.Grant{Name: "people", Cap: account.Cost{Epsilon: 20_000 * milli}}
	if _, err := release.ConfirmGrant(t.Context(), l, again, reviewed); noren.CodeOf(err) != "other-people" {
		t.Errorf("granted again: %v", err)
	}
	again.OtherPeople = true
	if book, err = release.ConfirmGrant(t.Context(), l, again, reviewed); err != nil || book.Version != 2 ||
		fmt.Sprint(book.OtherPeople) != "[first]" {
		t.Errorf("%+v, %v", book, err)
	}
}

// A grant of an old version gives it its prints, as a query does.
func TestOldVersionGrantedAgain(t *testing.T) {
	l, dir, _ := oldLedger(t)
	for name, path := range map[string]string{"people": filepath.Join(dir, "people.csv"), "visits": filepath.Join(dir, "visits")} {
		data, err := release.Find(t.Context(), l, name)
		if err != nil {
			t.Fatal(err)
		}
		reviewed, err := release.ReviewGrant(t.Context(), l, release.Candidate{Path: path, Definition: data.Definition})
		if err != nil {
			t.Fatal(err)
		}
		book, err := release.ConfirmGrant(t.Context(), l, release.Grant{Name: name, Cap: account.Cost{Epsilon: 20_000 * milli}}, reviewed)
		if err != nil || book.Version != 1 {
			t.Fatalf("%+v, %v", book, err)
		}
		if has, err := l.HasContents(t.Context(), name); !has || err != nil {
			t.Error(name, has, err)
		}
		files, err := l.Files(t.Context(), name, 1)
		if err != nil || len(files) != map[string]int{"people": 0, "visits": 2}[name] {
			t.Error(name, files, err)
		}
	}
}

// A file that is not the granted version gives the version no prints.
func TestOldVersionOfAnotherFile(t *testing.T) {
	l, dir, key := oldLedger(t)
	path := filepath.Join(dir, "people.csv")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), ",27,", ",28,", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	data, err := release.Find(t.Context(), l, "people")
	if err != nil {
		t.Fatal(err)
	}
	data.Path = path
	_, err = release.Run(t.Context(), release.Request{
		Mechanism: ask(1), Dataset: data, Signer: key,
		Tool: certificate.Tool{Name: "test", Version: "1"}, Budget: release.Budget{Principal: "ana"},
	})
	if noren.CodeOf(err) != "changed" {
		t.Error(err)
	}
	if has, err := l.HasContents(t.Context(), "people"); has || err != nil {
		t.Error(has, err)
	}
}

// Files are the granted ones exactly if, in some order, each has the columns that are
// compared as one granted file has them together: whatever is exchanged between them.
func TestSameFiles(t *testing.T) {
	names := []string{"a", "b", "c"}
	rapid.Check(t, func(t *rapid.T) {
		files := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) map[string]string {
			of := map[string]string{}
			for _, name := range names {
				of[name] = rapid.SampledFrom([]string{"p", "q", "r"}).Draw(t, name)
			}
			return of
		}), 1, 4).Draw(t, "files")
		other := make([]map[string]string, len(files))
		read := rapid.SampledFrom([][]string{{"a"}, {"b", "c"}, {"a", "b", "c"}}).Draw(t, "columns")
		orders := map[string][]int{}
		for _, name := range read {
			var index []int
			for i := range files {
				index = append(index, i)
			}
			orders[name] = rapid.Permutation(index).Draw(t, "order of "+name)
		}
		var have, want []string
		for i := range files {
			other[i] = map[string]string{}
			for _, name := range read {
				other[i][name] = files[orders[name][i]][name]
			}
			before := map[string]string{}
			for _, name := range read {
				before[name] = files[i][name]
			}
			have, want = append(have, fmt.Sprint(other[i])), append(want, fmt.Sprint(before))
		}
		slices.Sort(have)
		slices.Sort(want)
		if got := dataset.SameFiles(files, other); got != slices.Equal(have, want) {
			t.Fatalf("%v of %v: %v", other, files, got)
		}
		if dataset.SameFiles(files, other[1:]) || dataset.SameFiles(files, append(other, other[0])) || dataset.SameFiles(files, nil) {
			t.Fatal("another number of files is the same")
		}
	})
}
