package ldp

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/learn"
)

// labels is the paper's l.
const labels = 5

// space is one representation of the records: all attributes, five of them, or
// five components. All matrices are scaled by the scaler of the raw one.
type space struct {
	bins   []*ldp.Bins   // one each attribute, fitted on raw data
	label  [][]int       // attributes x records
	raw    *learn.Matrix // records x attributes
	gen    *learn.Matrix // the labels' midpoints
	middle [][]float64   // attributes x labels: scaled midpoints
}

// attributes is d.
func (s *space) attributes() int { return len(s.bins) }

// data is the breast-cancer table in the three representations.
type data struct {
	y                []int         // 1 is malignant
	values           *learn.Matrix // as in the file
	all, cov5, pca5  *space
	chosen           []int    // the five attributes of cov5, from 0
	names            []string // of the attributes
	generalisedPlain *learn.Matrix
}

func pathIn(dir string) string { return filepath.Join(dir, "wdbc.csv") }

// load reads wdbc.csv: 30 columns of numbers and the diagnosis.
func load(dir string) (*data, error) {
	path := pathIn(dir)
	f, err := os.Open(path)
	if err != nil {
		return nil, &noren.Error{
			Kind: noren.Usage, Where: "--data", What: "the table wdbc.csv cannot be opened",
			Hint: "name the folder of the reference data sets", Err: err,
		}
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, &noren.Error{Kind: noren.BadData, Where: path, What: "not a table", Err: err}
	}
	const d = len(table1)
	if len(rows) < 2 || len(rows[0]) != d+1 || rows[0][d] != "diagnosis" {
		return nil, &noren.Error{
			Kind: noren.BadData, Where: path,
			What: "not the breast-cancer table: %d columns of numbers and diagnosis were expected", Args: []any{d},
		}
	}
	t := &data{names: rows[0][:d], values: learn.NewMatrix(len(rows)-1, d), y: make([]int, len(rows)-1)}
	for i, row := range rows[1:] {
		for j := range d {
			v, err := strconv.ParseFloat(row[j], 64)
			if err != nil {
				at := noren.Position{File: path, Line: int64(i + 2), Field: j + 1, Column: t.names[j]}
				return nil, &noren.Error{Kind: noren.BadData, Where: at, What: "not a number"}
			}
			t.values.Set(i, j, v)
		}
		if row[d] == "malignant" {
			t.y[i] = 1
		}
	}
	return t, t.prepare()
}

// prepare makes the representations. Edges, scaler, components and the choice of
// attributes are all fitted on raw data, as in the paper: none is private.
func (t *data) prepare() error {
	var err error
	if t.all, err = newSpace(t.values); err != nil {
		return err
	}
	if t.chosen, err = learn.SelectByCovariance(t.all.raw, t.y, 5); err != nil {
		return err
	}
	if t.cov5, err = newSpace(t.values.SelectColumns(t.chosen)); err != nil {
		return err
	}
	p, err := learn.FitPCA(t.all.raw, 5)
	if err != nil {
		return err
	}
	scores, err := p.Apply(t.all.raw)
	if err != nil {
		return err
	}
	if t.pca5, err = newSpace(scores); err != nil {
		return err
	}
	t.generalisedPlain = learn.NewMatrix(t.values.Rows, t.values.Cols)
	for j, b := range t.all.bins {
		for i, l := range t.all.label[j] {
			t.generalisedPlain.Set(i, j, b.Midpoint(l))
		}
	}
	return nil
}

// newSpace discretises the attributes of values and scales.
func newSpace(values *learn.Matrix) (*space, error) {
	scaler, err := learn.FitScaler(values)
	if err != nil {
		return nil, err
	}
	s := &space{gen: learn.NewMatrix(values.Rows, values.Cols)}
	if s.raw, err = scaler.Apply(values); err != nil {
		return nil, err
	}
	for j := range values.Cols {
		column := values.Column(j)
		b, err := ldp.FitEqualFrequency(column, labels)
		if err != nil {
			return nil, err
		}
		label, err := b.Labels(column)
		if err != nil {
			return nil, err
		}
		middle := make([]float64, b.Len())
		for l := range middle {
			middle[l] = (b.Midpoint(l) - scaler.Shift[j]) / scaler.Scale[j]
		}
		for i, l := range label {
			s.gen.Set(i, j, middle[l])
		}
		s.bins, s.label, s.middle = append(s.bins, b), append(s.label, label), append(s.middle, middle)
	}
	return s, nil
}
