package release_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/spool"
)

// kept is a table of one column of numbers and one of texts.
func kept(t interface{ Fatal(...any) }, rows []int) *spool.Source {
	w, err := spool.NewWriter(spool.Options{Name: "t", Columns: []spool.Column{{Name: "n"}, {Name: "text"}, {Name: "day"}}})
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range rows {
		w.Int(spool.Integer, int64(n))
		if n%3 == 0 {
			w.Null()
		} else {
			w.Bytes(spool.Text, []byte(strings.Repeat("x", n%3-1)))
		}
		w.Int(spool.Day, int64(n))
		if err := w.EndRow(int64(i) + 1); err != nil {
			t.Fatal(err)
		}
	}
	src, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// copied returns the bytes of a copy and the prints of its columns.
func copied(t interface{ Fatal(...any) }, dir string, rows []int, keep bool) ([]byte, *dataset.Review) {
	src := kept(t, rows)
	defer func() { _ = src.Close() }()
	path, err := release.Copy(context.Background(), src, release.CopyOptions{Dir: dir, Name: "odd/name", KeepOrder: keep})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || filepath.Dir(path) != dir ||
		!strings.HasPrefix(filepath.Base(path), "odd_name.") {
		t.Fatal("the copy is not private: ", info.Mode(), path)
	}
	in, err := file.Open(context.Background(), path, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	d, err := dataset.Propose(context.Background(), in, dataset.ProposeOptions{Missing: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := dataset.Inspect(context.Background(), in, d,
		dataset.InspectOptions{Keys: dataset.KeysOf(func(string) []byte { return []byte("key") })})
	if err != nil {
		t.Fatal(err)
	}
	return text, r
}

// The same records in another order are the same copy; with keep their order counts.
func TestCopyOrder(t *testing.T) {
	randtest.SkipShort(t)
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.IntRange(1, 9), 1, 30).Draw(t, "rows")
		other := rapid.Permutation(rows).Draw(t, "other")
		a, ra := copied(t, dir, rows, false)
		b, rb := copied(t, dir, other, false)
		if !bytes.Equal(a, b) {
			t.Fatal("another order of the records is another copy")
		}
		changed := append([]int{10}, rows[1:]...)
		if _, rc := copied(t, dir, changed, false); rc.Print == ra.Print {
			t.Fatal("other records have the same print")
		}
		if rb.Print != ra.Print {
			t.Fatal("the prints differ")
		}
		_, kept := copied(t, dir, rows, true)
		_, again := copied(t, dir, other, true)
		if kept.Print != ra.Print {
			t.Fatal("keeping the order changes the print of the table")
		}
		same := true
		for i := range rows {
			same = same && rows[i] == other[i]
		}
		if (kept.Prints["n"] == again.Prints["n"]) != same {
			t.Fatal("the order was not kept")
		}
	})
}

// failing fails after its first chunk.
type failing struct{ *spool.Source }

func (f failing) Open(ctx context.Context, columns []int) (table.Reader, error) {
	r, err := f.Source.Open(ctx, columns)
	return &failingReader{Reader: r}, err
}

type failingReader struct {
	table.Reader
	read bool
}

var errGone = errors.New("gone")

func (f *failingReader) Next() (*table.Chunk, error) {
	if f.read {
		return nil, errGone
	}
	f.read = true
	return f.Reader.Next()
}

func TestCopyLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	src := kept(t, make([]int, 5000))
	defer func() { _ = src.Close() }()
	for _, keep := range []bool{false, true} {
		if _, err := release.Copy(t.Context(), failing{src}, release.CopyOptions{Dir: dir, Name: "t", KeepOrder: keep}); !errors.Is(err,
			errGone) {
			t.Errorf("got %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := release.Copy(ctx, src, release.CopyOptions{Dir: dir, Name: "t"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := release.Copy(t.Context(), src, release.CopyOptions{Dir: filepath.Join(dir, "none"), Name: "t", KeepOrder: true}); err == nil {
		t.Error("a folder that does not exist was written to")
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
