package learn

import (
	"math"

	"github.com/noren-privacy/noren"
)

// Matrix holds n records x d features, record after record.
type Matrix struct {
	Rows, Cols int
	Data       []float64 // Rows*Cols numbers
}

// NewMatrix returns a matrix of zeros.
func NewMatrix(rows, cols int) *Matrix {
	return &Matrix{Rows: rows, Cols: cols, Data: make([]float64, rows*cols)}
}

// FromColumns returns the matrix whose columns are given, all of one length.
func FromColumns(columns [][]float64) (*Matrix, error) {
	if len(columns) == 0 {
		return &Matrix{}, nil
	}
	m := NewMatrix(len(columns[0]), len(columns))
	for j, c := range columns {
		if len(c) != m.Rows {
			return nil, &noren.Error{
				Kind: noren.Usage, What: "column %d has %d {record|records} and column 1 has %d",
				Args: []any{j + 1, len(c), m.Rows},
			}
		}
		for i, v := range c {
			m.Data[i*m.Cols+j] = v
		}
	}
	return m, nil
}

// Row is record i; it is part of m, not a copy.
func (m *Matrix) Row(i int) []float64 { return m.Data[i*m.Cols : (i+1)*m.Cols : (i+1)*m.Cols] }

// At is feature j of record i.
func (m *Matrix) At(i, j int) float64 { return m.Data[i*m.Cols+j] }

// Set sets feature j of record i.
func (m *Matrix) Set(i, j int, v float64) { m.Data[i*m.Cols+j] = v }

// Column returns a copy of feature j of all records.
func (m *Matrix) Column(j int) []float64 {
	c := make([]float64, m.Rows)
	for i := range c {
		c[i] = m.At(i, j)
	}
	return c
}

// Select returns the records that rows names, in that order.
func (m *Matrix) Select(rows []int) *Matrix {
	s := NewMatrix(len(rows), m.Cols)
	for i, r := range rows {
		copy(s.Row(i), m.Row(r))
	}
	return s
}

// SelectColumns returns the features that cols names, in that order.
func (m *Matrix) SelectColumns(cols []int) *Matrix {
	s := NewMatrix(m.Rows, len(cols))
	for i := range m.Rows {
		from, to := m.Row(i), s.Row(i)
		for k, j := range cols {
			to[k] = from[j]
		}
	}
	return s
}

// checkMatrix refuses what nothing can be computed from; no error holds a value.
func checkMatrix(x *Matrix) error {
	if x == nil || x.Rows < 1 || x.Cols < 1 || len(x.Data) != x.Rows*x.Cols {
		return &noren.Error{
			Kind: noren.Usage, What: "a matrix needs at least one record and one feature, and as many numbers as records times features",
		}
	}
	for i, v := range x.Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &noren.Error{
				Kind: noren.BadData, Where: noren.Textf("record %d, feature %d", i/x.Cols+1, i%x.Cols+1),
				What: "not a finite number", Hint: "leave the record out, or fill it in first",
			}
		}
	}
	return nil
}

// checkClasses returns the number of classes, 1 + the largest of y.
func checkClasses(x *Matrix, y []int) (int, error) {
	if err := checkMatrix(x); err != nil {
		return 0, err
	}
	if len(y) != x.Rows {
		return 0, &noren.Error{Kind: noren.Usage, What: "%d {class was|classes were} given for %d {record|records}", Args: []any{len(y), x.Rows}}
	}
	classes := 0
	for i, c := range y {
		if c < 0 || c >= maxClasses {
			return 0, &noren.Error{
				Kind: noren.BadData, Where: noren.Textf("record %d", i+1), What: "a class is a number from 0 to %d",
				Args: []any{maxClasses - 1},
			}
		}
		classes = max(classes, c+1)
	}
	return classes, nil
}

// maxClasses bounds the tables that are kept for each class.
const maxClasses = 1 << 16
