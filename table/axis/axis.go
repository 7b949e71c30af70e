// Package axis describes columns as the coordinates of a metric space, and holds
// the points of records in it.
//
// The mechanisms that measure distances between records (outliers, density ratios)
// share these types. Everything that an [Axis] holds is public: bounds, scales and
// categories must come from what is known about a column, never from private data.
package axis

import "github.com/noren-privacy/noren/table"

// Axis is a column as one coordinate, or, for a category, as one coordinate for
// each of its values.
type Axis struct {
	// Field describes the column. Its name is required.
	Field table.Field
	// Low and High bound a column of numbers, in its own unit (days for dates, seconds
	// with a time of day, ranks from 0 for ordered columns). Values outside count as
	// the nearer bound. Required, except for a category.
	Low, High float64
	// Scale is how much of the column's unit is one unit of distance. The mechanism
	// states its default.
	Scale float64
	// Categories are the public values of a category, each a coordinate of its own
	// (one-hot encoding). Every other value counts as none of them.
	Categories []string
}

// Coordinate is the type of a coordinate: steps of a grid, or a real number.
type Coordinate interface{ int32 | float64 }

// Points are n points of d coordinates, record by record.
type Points[T Coordinate] struct {
	// Rows is n, Dim is d.
	Rows, Dim int
	// Data holds the coordinates, Rows x Dim.
	Data []T
	// Outside, where it is not nil, says of each point whether the record lies outside
	// of the public range of its columns. It is a function of that record alone.
	Outside []bool
	// Unplaced is the number of further records, which lack a coordinate and have no
	// point. Mechanisms on real numbers keep such a record as a point of NaN instead.
	Unplaced int
}

// NewPoints returns rows points of dim coordinates, all at the origin.
func NewPoints[T Coordinate](rows, dim int) *Points[T] {
	return &Points[T]{Rows: rows, Dim: dim, Data: make([]T, rows*dim)}
}

// Row is point i, a slice of Dim coordinates which may be written to.
func (p *Points[T]) Row(i int) []T { return p.Data[i*p.Dim : (i+1)*p.Dim : (i+1)*p.Dim] }

// Records is the number of records, those without a point included.
func (p *Points[T]) Records() int { return p.Rows + p.Unplaced }
