package tables

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/plainfile"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/spec"
)

// MostHierarchy is the size of the largest file of a hierarchy.
const MostHierarchy = 32 << 20

// column finds a column of a table by its name.
func (d *document) column(name string) (*Column, int, error) {
	for i := range d.Columns {
		if d.Columns[i].Name == name {
			return &d.Columns[i], i, nil
		}
	}
	return nil, 0, problem.NotFound()
}

// SetHierarchy stores the hierarchy of a column. A text that is no hierarchy is refused,
// and the one that was there stays. Values without a line are counted.
func (t *Tables) SetHierarchy(ctx context.Context, id string, version int64, column string, text []byte) (*Table, error) {
	r, d, err := t.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := matches(r, version); err != nil {
		return nil, err
	}
	c, at, err := d.column(column)
	if err != nil {
		return nil, err
	}
	if err := d.unread(); err != nil {
		return nil, err
	}
	if c.Type != "category" {
		return nil, problem.New("invalid", "expected a column of type category: numbers, dates and levels need no hierarchy")
	}
	dir := filepath.Join(t.folder(id), hierarchyFolder)
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return nil, FileError(err)
	}
	// A new name for each text: a job that runs reads the one before.
	name := plain(column) + "-" + strconv.Itoa(at+1) + "-" + strconv.FormatInt(r.Version, 10) + ".csv"
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, FileError(err)
	}
	found, err := t.config.Apart.Operations().HierarchyCover(ctx, &api.HierarchyCoverRequest{
		Table: api.Table{Input: t.data(id, d), Spec: &spec.Spec{Version: spec.Version, Input: d.inputMissing()}}, Hierarchy: path, Column: column,
	})
	if err == nil {
		err = SyncAll(dir)
	}
	before := d.Files[column]
	if err == nil {
		c.Hierarchy = &Hierarchy{Levels: found.Levels, Values: found.Values, Covered: found.Covered, Uncovered: found.Uncovered}
		if d.Files == nil {
			d.Files = map[string]string{}
		}
		d.Files[column] = name
		if d.Sums == nil {
			d.Sums = map[string]string{}
		}
		d.Sums[column] = sumOf(text)
		err = t.save(ctx, r, d)
	}
	if err != nil {
		if name != before {
			_ = os.Remove(path)
		}
		return nil, err
	}
	if before != "" && before != name {
		_ = os.Remove(filepath.Join(dir, before))
	}
	return t.shown(ctx, r)
}

// Hierarchy is the text of the hierarchy of a column.
func (t *Tables) Hierarchy(ctx context.Context, id, column string) ([]byte, error) {
	_, d, err := t.find(ctx, id)
	if err != nil {
		return nil, err
	}
	name := d.Files[column]
	if name == "" {
		return nil, problem.NotFound()
	}
	return ReadHierarchy(filepath.Join(t.folder(id), hierarchyFolder, name), d.Sums[column])
}

// ReadHierarchy reads the file of a hierarchy, no link, and refuses one whose SHA-256 is not
// sum: it is not the one that was stored. No sum is compared where it is "".
func ReadHierarchy(path, sum string) ([]byte, error) {
	f, err := plainfile.OpenPath(path)
	if err != nil {
		return nil, alteredHierarchy()
	}
	defer func() { _ = f.Close() }()
	text, err := meter.ReadAll(f, MostHierarchy, "the hierarchy")
	if err != nil {
		return nil, FileError(err)
	}
	if sum != "" && sumOf(text) != sum {
		return nil, alteredHierarchy()
	}
	return text, nil
}

func alteredHierarchy() error {
	return problem.New("unavailable", "The server's copy of a hierarchy is not the file that was stored.").Hinted("store the hierarchy again")
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// DropHierarchy removes the hierarchy of a column.
func (t *Tables) DropHierarchy(ctx context.Context, id string, version int64, column string) (*Table, error) {
	r, d, err := t.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := matches(r, version); err != nil {
		return nil, err
	}
	if err := d.unread(); err != nil {
		return nil, err
	}
	name := d.Files[column]
	if name == "" {
		return nil, problem.NotFound()
	}
	c, _, err := d.column(column)
	if err != nil {
		return nil, err
	}
	c.Hierarchy = nil
	delete(d.Files, column)
	delete(d.Sums, column)
	if err := t.save(ctx, r, d); err != nil {
		return nil, err
	}
	_ = os.Remove(filepath.Join(t.folder(id), hierarchyFolder, name)) // else it stays unused
	return t.shown(ctx, r)
}

// ProposeHierarchy is the text of a hierarchy that is proposed for the values of a column.
func (t *Tables) ProposeHierarchy(ctx context.Context, id, column string) ([]byte, error) {
	_, d, err := t.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if _, _, err := d.column(column); err != nil {
		return nil, err
	}
	if err := d.unread(); err != nil {
		return nil, err
	}
	found, err := t.config.Apart.Operations().HierarchyPropose(ctx, &api.HierarchyProposeRequest{
		Table:  api.Table{Input: t.data(id, d), Spec: &spec.Spec{Version: spec.Version, Input: d.inputMissing()}},
		Column: column,
	})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.WriteAll(found.Rows); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
