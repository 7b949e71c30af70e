package kanon_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// target is a table of a database that is kept in a file and may come back
// otherwise than it was written.
type target struct {
	path              string
	back              string // what comes back instead; "" for what was written
	commits, discards int
}

func (f *target) Create(_ context.Context, columns []table.StoredColumn) (table.Sink, error) {
	return file.Create(f.path, columns, csvio.Dialect{})
}

func (f *target) ReadBack(ctx context.Context) (file.Source, error) {
	if f.back != "" {
		return file.OpenStdin(ctx, strings.NewReader(f.back), file.Options{})
	}
	return file.Open(ctx, f.path, file.Options{})
}

func (f *target) Commit(context.Context) error { f.commits++; return nil }
func (f *target) Discard()                     { f.discards++ }

// The verified table is shown before it is committed, and an error of the caller gives it up.
func TestVerifiedTable(t *testing.T) {
	for _, refuse := range []bool{false, true} {
		src, err := file.OpenStdin(t.Context(), strings.NewReader("age,note\n20,a\n21,b\n40,c\n41,d\n"), file.Options{})
		if err != nil {
			t.Fatal(err)
		}
		to := &target{path: filepath.Join(t.TempDir(), "out.csv")}
		var sum [table.SumSize]byte
		job := kanon.Job{
			Source: src, Schema: table.Schema{Fields: []table.Field{{Name: "age", Role: table.Quasi, Type: table.Integer}, {Name: "note"}}},
			Kept: []string{"note"},
			Output: kanon.Output{Path: "pg:out", Target: to, VerifiedTable: func(_ *kanon.Result, released table.Source) error {
				if to.commits > 0 {
					t.Error("it was committed before")
				}
				if sum, _, err = table.SumRecords(t.Context(), released); refuse {
					return errors.New("no certificate")
				}
				return err
			}}, Options: kanon.Options{K: 2},
		}
		_, err = kanon.Anonymize(t.Context(), job)
		if (err != nil) != refuse || (to.commits == 0) != refuse {
			t.Errorf("refused %v: %v, %d commits", refuse, err, to.commits)
		}
		_ = src.Close()
		again, err := file.Open(t.Context(), to.path, file.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := table.SumRecords(t.Context(), again); err != nil || got != sum {
			t.Errorf("%v: another table was shown", err)
		}
		_ = again.Close()
	}
}

// A table is committed once it was read back and verified, and else given up.
func TestTarget(t *testing.T) {
	const in = "age,note\n20,a\n21,b\n40,c\n41,d\n"
	for name, c := range map[string]struct {
		back string
		kind noren.Kind
		want string
	}{
		"as written":     {"", 0, ""},
		"a record alone": {"age,note\n20,a\n21,b\n40,c\n40,d\n", noren.NotMet, "fewer than k = 2"},
		"a record less":  {"age,note\n20,a\n20,b\n", noren.Internal, "another number of records"},
	} {
		t.Run(name, func(t *testing.T) {
			src, err := file.OpenStdin(t.Context(), strings.NewReader(in), file.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = src.Close() }()
			to := &target{path: filepath.Join(t.TempDir(), "out.csv"), back: c.back}
			job := kanon.Job{
				Source: src, Schema: table.Schema{Fields: []table.Field{{Name: "age", Role: table.Quasi, Type: table.Integer}, {Name: "note"}}},
				Kept:   []string{"note"},
				Output: kanon.Output{Path: "pg:out", Target: to}, Options: kanon.Options{K: 2},
			}
			result, err := kanon.Anonymize(t.Context(), job)
			if c.want == "" {
				if err != nil || to.commits != 1 || result.AchievedK != 2 {
					t.Errorf("%v, %d commits", err, to.commits)
				}
			} else if err == nil || noren.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) || to.commits != 0 {
				t.Errorf("%v, %d commits", err, to.commits)
			}
			if to.discards != 1 {
				t.Errorf("given up %d times", to.discards)
			}
		})
	}
}
