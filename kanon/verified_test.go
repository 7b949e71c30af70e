package kanon

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// published takes a release as far as its writing.
func published(t *testing.T, j *Job) *run {
	t.Helper()
	if err := j.Validate(); err != nil {
		t.Fatal(err)
	}
	r := &run{job: j, effort: j.Refine, began: time.Now(), result: &Result{K: j.K}}
	choose := func(context.Context) error {
		_, err := r.choose()
		return err
	}
	for _, step := range []func(context.Context) error{r.read, choose, r.gather, r.place, r.divide, r.enforce, r.refine, r.publish} {
		if err := step(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// A partition that guarantees what the file does not keep: whatever went wrong
// before the writing, the verifier finds it in the file, and no file is left.
func TestVerifierStopsARelease(t *testing.T) {
	const text = "age,town,illness\n30,Ulm,flu\n31,Ulm,gout\n32,Bonn,flu\n50,Bonn,gout\n51,Ulm,flu\n52,Ulm,gout\n"
	for name, c := range map[string]struct {
		spoil func(t *testing.T, r *run)
		kind  noren.Kind
		want  string
	}{
		"nothing": {spoil: func(*testing.T, *run) {}},
		"each record is a group of its own": {
			func(t *testing.T, r *run) {
				r.groups.Group, r.groups.Groups = []uint32{0, 1, 2, 3, 4, 5}, 6
				if err := r.publish(context.Background()); err != nil {
					t.Fatal(err)
				}
			},
			noren.NotMet, "6 of 6 classes have fewer than k = 3 records",
		},
		"records are given the values of another group": {
			func(_ *testing.T, r *run) { r.groups.Group = []uint32{0, 0, 0, 0, 0, 1} },
			noren.NotMet, "1 of 2 classes has fewer than k = 3 records",
		},
		"classes of one illness": {
			func(t *testing.T, r *run) {
				r.groups.Group = []uint32{0, 1, 0, 1, 0, 1}
				if err := r.publish(context.Background()); err != nil {
					t.Fatal(err)
				}
			},
			noren.NotMet, "2 of 2 classes are not diverse in illness",
		},
		"a record too few": {
			func(_ *testing.T, r *run) { r.rows++; r.job.KeepOrder = true },
			noren.BadData, "the file has shrunk",
		},
	} {
		for _, output := range []string{"out.csv", "out.parquet", "-"} {
			dir := t.TempDir()
			src, err := file.OpenStdin(context.Background(), strings.NewReader(text), file.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var stdout bytes.Buffer
			path := output
			if path != "-" {
				path = filepath.Join(dir, output)
			}
			j := &Job{
				Kept:   []string{"key", "note"},
				Source: src,
				Schema: table.Schema{Fields: []table.Field{
					{Name: "age", Role: table.Quasi, Type: table.Integer},
					{Name: "town", Role: table.Quasi},
					{Name: "illness", Role: table.Sensitive},
				}},
				Output:  Output{Path: path, Stdout: &stdout},
				Options: Options{K: 3, Diversity: &privacy.Diversity{L: 2}},
			}
			r := published(t, j)
			c.spoil(t, r)
			err = r.write(context.Background())
			_ = src.Close()
			left, e := os.ReadDir(dir)
			if e != nil {
				t.Fatal(e)
			}
			out := len(left) > 0 || stdout.Len() > 0
			if c.want == "" {
				if err != nil || !out {
					t.Errorf("%s, %s: %v", name, output, err)
				}
				continue
			}
			if noren.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) || out {
				t.Errorf("%s, %s: %v; %d files and %d bytes are left", name, output, err, len(left), stdout.Len())
			}
			for _, value := range []string{"flu", "gout", "Ulm", "Bonn", "30", "52"} {
				if strings.Contains(strings.ReplaceAll(err.Error(), dir, ""), value) {
					t.Errorf("%v tells %s", err, value)
				}
			}
		}
	}
}
