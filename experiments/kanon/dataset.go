package kanon

import (
	"context"
	"errors"
	"io"
	"math"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// Dataset is a table in the paper's code space: every column a number, text
// entered as its alphabetical rank 0..c-1.
type Dataset struct {
	Name    string
	Columns []string
	Values  [][]float64 // one slice of n values a column
}

// Len is the number of records.
func (d *Dataset) Len() int {
	if len(d.Values) == 0 {
		return 0
	}
	return len(d.Values[0])
}

// reference says which columns of a reference file the published figures use
// (the data's README); where keep is nil all but those in drop.
type reference struct {
	file string
	keep []string
	drop []string
	name string // in results; empty: the name it is asked by
}

// amounts are the ten amounts of EIA.
var amounts = []string{
	"RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES", "INDREVENUE", "INDSALES",
	"OTHREVENUE", "OTHRSALES", "TOTREVENUE", "TOTSALES",
}

// references holds the paper's data sets. On z-scores the literature uses EIA
// with UTILITYID and the ten amounts, the paper's min-max figures leave out
// UTILITYID, UTILNAME and YEAR.
func references(name string, scaling space.Scaling) (reference, bool) {
	switch name {
	case "census", "tarragona":
		return reference{file: name + ".csv"}, true
	case "eia":
		if scaling == space.ZScore {
			return reference{file: "eia.csv", keep: append([]string{"UTILITYID"}, amounts...), name: "eia (UTILITYID + 10 amounts)"}, true
		}
		return reference{file: "eia.csv", drop: []string{"UTILITYID", "UTILNAME", "YEAR"}}, true
	case "adult":
		return reference{file: "adult.csv", drop: []string{"salary-class"}}, true
	}
	return reference{}, false
}

// find is the path of a data set, and which of its columns are used where it is a reference.
func find(dir, name string, scaling space.Scaling) (path string, ref *reference, err error) {
	if ref, known := references(name, scaling); known {
		return filepath.Join(dir, ref.file), &ref, nil
	}
	if !strings.ContainsAny(name, "./\\") {
		return "", nil, &noren.Error{
			Kind: noren.Usage, Where: "--dataset", What: "no reference data set is called %q", Args: []any{name},
			Hint: "census, eia, tarragona, adult, or the path of a file",
		}
	}
	return name, nil, nil
}

// Load reads a reference data set by its name from the folder dir, or any CSV
// or Parquet file by its path. drop names columns to leave out of a file
// given by path or, beyond the usual ones, of a reference.
func Load(ctx context.Context, dir, name string, scaling space.Scaling, drop []string) (*Dataset, error) {
	path, ref, err := find(dir, name, scaling)
	if err != nil {
		return nil, err
	}
	known := ref != nil
	if !known {
		ref = &reference{}
	}
	src, err := file.Open(ctx, path, file.Options{})
	if err != nil {
		if known {
			return nil, &noren.Error{
				Kind: noren.Usage, Where: path, What: "the reference data set is not there",
				Hint: "name its folder with --data DIR or NOREN_DATA", Err: err,
			}
		}
		return nil, err
	}
	defer func() { _ = src.Close() }()
	d := &Dataset{Name: name}
	if ref.name != "" {
		d.Name = ref.name
	}
	var at []int
	for i, c := range src.Columns() {
		if ref.keep != nil && !slices.Contains(ref.keep, c.Name) || slices.Contains(ref.drop, c.Name) || slices.Contains(drop, c.Name) {
			continue
		}
		at = append(at, i)
		d.Columns = append(d.Columns, c.Name)
	}
	for _, name := range append(slices.Clone(ref.keep), drop...) {
		if !slices.ContainsFunc(src.Columns(), func(c table.StoredColumn) bool { return c.Name == name }) {
			return nil, &noren.Error{Kind: noren.Usage, Where: path, What: "there is no column %s", Args: []any{name}}
		}
	}
	nothing := &noren.Error{Kind: noren.BadData, Where: path, What: "nothing to partition: no records or no columns"}
	if len(at) == 0 {
		return nil, nothing
	}
	d.Values, err = readCodes(ctx, src, at)
	if err != nil {
		return nil, err
	}
	if d.Len() == 0 {
		return nil, nothing
	}
	return d, nil
}

// readCodes reads columns whole: a column of which every value is a finite
// number as numbers, any other as alphabetical ranks.
func readCodes(ctx context.Context, src table.Source, at []int) ([][]float64, error) {
	texts := make([][]string, len(at))
	r, err := src.Open(ctx, at)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	stored := src.Columns()
	var buf []byte
	for {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for j := range c.Cols {
			for i := range c.Rows {
				buf = table.AppendText(buf[:0], &stored[at[j]], &c.Cols[j], i)
				texts[j] = append(texts[j], string(buf))
			}
		}
	}
	values := make([][]float64, len(at))
	for j, column := range texts {
		values[j] = numbers(column)
		if values[j] == nil {
			values[j] = ranks(column)
		}
	}
	return values, nil
}

func numbers(column []string) []float64 {
	out := make([]float64, len(column))
	for i, s := range column {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		out[i] = v
	}
	return out
}

func ranks(column []string) []float64 {
	distinct := slices.Clone(column)
	sort.Strings(distinct)
	distinct = slices.Compact(distinct)
	out := make([]float64, len(column))
	for i, s := range column {
		out[i] = float64(sort.SearchStrings(distinct, s))
	}
	return out
}
