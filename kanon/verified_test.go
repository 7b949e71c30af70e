package kanon

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// published takes a release as far as its writing.
func published(t *testing.T, j *Job) (*run, *grouping, *made) {
	t.Helper()
	if err := j.Validate(); err != nil {
		t.Fatal(err)
	}
	r := newRun(j)
	in, err := r.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	how, _, err := j.Method(in.Rows)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.place(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	g, err := j.divide(t.Context(), p, how)
	if err != nil {
		t.Fatal(err)
	}
	if g, err = j.refine(t.Context(), g, j.Refine); err != nil {
		t.Fatal(err)
	}
	return r, g, republished(t, r, g)
}

// republished is what groups publish.
func republished(t *testing.T, r *run, g *grouping) *made {
	t.Helper()
	g, columns, err := r.publish(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	return &made{groups: g.Partition, published: columns, attributes: g.attributes}
}

// A partition that guarantees what the file does not keep: whatever went wrong
// before the writing, the verifier finds it in the file, and no file is left.
func TestVerifierStopsARelease(t *testing.T) {
	const text = "age,town,illness\n30,Ulm,flu\n31,Ulm,gout\n32,Bonn,flu\n50,Bonn,gout\n51,Ulm,flu\n52,Ulm,gout\n"
	for name, c := range map[string]struct {
		spoil func(t *testing.T, r *run, g *grouping, m *made)
		kind  noren.Kind
		want  string
	}{
		"nothing": {spoil: func(*testing.T, *run, *grouping, *made) {}},
		"each record is a group of its own": {
			func(t *testing.T, r *run, g *grouping, m *made) {
				g.Group, g.Groups = []uint32{0, 1, 2, 3, 4, 5}, 6
				*m = *republished(t, r, g)
			},
			noren.NotMet, "6 of 6 classes have fewer than k = 3 records",
		},
		"records are given the values of another group": {
			func(_ *testing.T, _ *run, _ *grouping, m *made) { m.groups.Group = []uint32{0, 0, 0, 0, 0, 1} },
			noren.NotMet, "1 of 2 classes has fewer than k = 3 records",
		},
		"classes of one illness": {
			func(t *testing.T, r *run, g *grouping, m *made) {
				g.Group = []uint32{0, 1, 0, 1, 0, 1}
				*m = *republished(t, r, g)
			},
			noren.NotMet, "2 of 2 classes are not diverse in illness",
		},
		"a record too few": {
			func(_ *testing.T, r *run, _ *grouping, _ *made) { r.result.Rows++; r.job.KeepOrder = true },
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
			r, g, m := published(t, j)
			c.spoil(t, r, g, m)
			err = r.write(t.Context(), m)
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
