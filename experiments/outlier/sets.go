package outlier

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/outlier"
	"github.com/noren-privacy/noren/table/axis"
)

// step is the grid to which the scaled values are brought: far finer than any
// two distances that matter lie apart.
const step = 1e-6

// Set is one of the paper's two data sets: all records of the larger class and
// the first ten of the smaller, every column scaled to mean 0 and variance 1
// within that subset (population variance; a constant column becomes 0). Such
// scaling lets every record move all others and is no part of a private release.
type Set struct {
	Name      string
	Dimension int
	// Outlier marks the records of the smaller class.
	Outlier []bool
	// PaperRadius is the radius that the paper names, Radius one at which its
	// query makes sense.
	PaperRadius, Radius float64

	coords []int32   // in steps
	values []float64 // as they are in the file
}

// Len is the number of records.
func (s *Set) Len() int { return len(s.Outlier) }

// radius2 is a radius in squared steps.
func radius2(r float64) int64 { return int64(math.Floor(r / step * (r / step))) }

// points are the records as the library takes them.
func (s *Set) points() (*axis.Points[int32], error) {
	return outlier.NewPoints(s.Dimension, s.coords, 0)
}

// row is a record's coordinates.
func (s *Set) row(i int) []int32 { return s.coords[i*s.Dimension:][:s.Dimension] }

// minority is how many records of the smaller class are taken.
const minority = 10

type source struct {
	file, inlier        string
	paperRadius, radius float64
}

var sources = map[string]source{
	"ionosphere": {"ionosphere.csv", "good", 0.3, 5.6},
	"wdbc":       {"wdbc.csv", "benign", 1.3, 8.7},
}

// Names are the data sets of the paper.
func Names() []string { return []string{"ionosphere", "wdbc"} }

// Load reads a data set by its name from the folder dir. Its file has a header,
// and the class in its last column.
func Load(ctx context.Context, dir, name string) (*Set, error) {
	src, ok := sources[name]
	if !ok {
		return nil, &noren.Error{Kind: noren.Usage, Where: "--dataset", What: "there is no such data set", Hint: "ionosphere, wdbc"}
	}
	path := filepath.Join(dir, src.file)
	f, err := os.Open(path)
	if err != nil {
		return nil, &noren.Error{
			Kind: noren.Usage, Where: path, What: "the reference data set is not there",
			Hint: "name its folder with --data DIR or NOREN_DATA", Err: err,
		}
	}
	defer func() { _ = f.Close() }()
	s := &Set{Name: name, PaperRadius: src.paperRadius, Radius: src.radius}
	values, err := s.read(ctx, csv.NewReader(f), src.inlier)
	if err != nil {
		return nil, &noren.Error{Kind: noren.BadData, Where: path, Err: err}
	}
	s.values = values
	s.scale(values)
	return s, nil
}

// read takes the subset, record by record.
func (s *Set) read(ctx context.Context, r *csv.Reader, inlier string) ([]float64, error) {
	header, err := r.Read()
	if err != nil {
		return nil, err
	}
	s.Dimension = len(header) - 1
	var values []float64
	others := 0
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		out := record[s.Dimension] != inlier
		if out {
			if others++; others > minority {
				continue
			}
		}
		s.Outlier = append(s.Outlier, out)
		for _, text := range record[:s.Dimension] {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, errors.New("a value is no number")
			}
			values = append(values, v)
		}
	}
	if len(s.Outlier) == 0 || s.Dimension == 0 {
		return nil, errors.New("there are no records or no columns")
	}
	return values, nil
}

// scale brings every column to mean 0 and variance 1, in steps.
func (s *Set) scale(values []float64) {
	n, d := s.Len(), s.Dimension
	s.coords = make([]int32, n*d)
	for j := range d {
		mean, square := 0.0, 0.0
		for i := range n {
			mean += values[i*d+j] / float64(n)
		}
		for i := range n {
			e := values[i*d+j] - mean
			square += e * e / float64(n)
		}
		if square == 0 {
			continue
		}
		for i := range n {
			z := (values[i*d+j] - mean) / math.Sqrt(square)
			s.coords[i*d+j] = int32(math.Round(z / step))
		}
	}
}
