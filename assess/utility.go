package assess

import "github.com/noren-privacy/noren"

// Utility tells how a release differs from its original, over the columns that
// both have.
type Utility struct {
	// OriginalRecords is the number of rows of the table.
	OriginalRecords int64 `json:"original_records"`
	// ReleaseRecords is the number of rows of the release.
	ReleaseRecords int64 `json:"release_records"`
	// Corresponding is true if row i of both tables was taken to be the same record. Otherwise
	// the tables were compared as bags of rows.
	Corresponding bool `json:"corresponding"`
	// Numbers are the columns of integers, decimals or dates, in the original's order.
	Numbers []NumberColumn `json:"numbers,omitempty"`
	// Categories are all other columns, in the original's order.
	Categories []CategoryColumn `json:"categories,omitempty"`
	// Correlations are the correlations of the columns in Numbers, pair by pair. Absent where
	// there are fewer than two.
	Correlations *Correlations `json:"correlations,omitempty"`
	// Loss is SSE/SST of the columns in Numbers.
	Loss Loss `json:"loss"`
	// NCP is the mean normalised certainty penalty over all columns and records; absent when a
	// column has none.
	NCP Figure `json:"ncp"`
}

// Figure is a number that may not be had.
type Figure struct {
	// Value is the figure; null where it cannot be computed, for the stated Reason.
	Value *float64 `json:"value"`
	// Low is a lower bound of the figure where Value is not exact; absent where Value is exact
	// or no bound is known.
	Low *float64 `json:"low,omitempty"`
	// High is an upper bound of the figure where Value is not exact; absent where Value is
	// exact or no bound is known.
	High *float64 `json:"high,omitempty"`
	// Reason is the reason why there is no Value.
	Reason noren.Text `json:"reason,omitzero"`
}

func exact(v float64) Figure {
	return Figure{Value: finite(v)}.orReason(noren.Textf("too large to be computed"))
}

func noFigure(reason noren.Text) Figure { return Figure{Reason: reason} }

func (f Figure) orReason(reason noren.Text) Figure {
	if f.Value == nil {
		f.Reason = reason
	}
	return f
}

// Moments describe the values of one column that are present. Those of a
// release that publishes ranges are taken of the ranges' midpoints. All are nil
// for a column without values; SD is nil for fewer than two.
type Moments struct {
	// Count is the number of values that are present.
	Count int64 `json:"count"`
	// Missing is the number of missing values.
	Missing int64 `json:"missing"`
	// MissingShare is the share of missing values.
	MissingShare float64 `json:"missing_share"`
	// Mean is the mean.
	Mean *float64 `json:"mean"`
	// SD is the sample standard deviation (n - 1).
	SD *float64 `json:"sd"`
	// Min is the smallest value.
	Min *float64 `json:"min"`
	// Q1 is the first quartile, interpolated linearly between order statistics (Hyndman
	// and Fan's type 7, as in R and NumPy), as are Median and Q3.
	Q1 *float64 `json:"q1"`
	// Median is the median.
	Median *float64 `json:"median"`
	// Q3 is the third quartile.
	Q3 *float64 `json:"q3"`
	// Max is the largest value.
	Max *float64 `json:"max"`
}

// NumberColumn compares a column of numbers. Dates count days, or seconds when
// their layout tells the time, since 1 January 1970.
type NumberColumn struct {
	// Name is the name of the column.
	Name string `json:"name"`
	// Type of the column: integer, decimal or date.
	Type string `json:"type"`
	// Layout is how the dates of a date column are written.
	Layout string `json:"layout,omitempty"`
	// Ranges is true if the release publishes ranges and not numbers.
	Ranges bool `json:"ranges"`
	// Unread is the number of values of the release that are neither a number nor a range; the
	// figures leave them out.
	Unread int64 `json:"unread,omitempty"`
	// Original is a summary of the values of the table.
	Original Moments `json:"original"`
	// Release is a summary of the values of the release.
	Release Moments `json:"release"`
	// MeanChange is the change of the mean, in standard deviations of the original; nil
	// where the original has no spread.
	MeanChange *float64 `json:"mean_change"`
	// SDRatio is the release's standard deviation over the original's; nil where the
	// original has no spread.
	SDRatio *float64 `json:"sd_ratio"`
	// Loss is SSE/SST of this column alone.
	Loss Figure `json:"loss"`
	// NCP is the normalised certainty penalty: the mean over records of (width of the record's
	// range) / (width of the column). It is exact for a release of ranges; for a release of
	// numbers it needs corresponding rows and classes.
	NCP Figure `json:"ncp"`
	// EntropyLoss is the share of the column's information that is gone,
	// H(original | release) / H(original), from the joint frequencies of
	// corresponding rows (non-uniform entropy, Gionis and Tassa 2009,
	// averaged over records and scaled to [0,1]). Exact; absent without
	// correspondence.
	EntropyLoss Figure `json:"entropy_loss"`
	// Histogram is the histogram of both tables over the same bins; nil where the original has
	// no values.
	Histogram *Histogram `json:"histogram"`
}

// Histogram counts values in bins of equal width: bin i spans Edges[i] to
// Edges[i+1], the last one with its end. The edges of whole numbers and dates lie
// halfway between two of them; their last bin may be narrower. A range counts in parts,
// in proportion to its overlap, hence the counts of a release are not whole.
type Histogram struct {
	// Edges are the ends of the bins, one more than there are bins.
	Edges []float64 `json:"edges"`
	// Original is the number of values of the table in each bin.
	Original []float64 `json:"original"`
	// Release is the number of values of the release in each bin.
	Release []float64 `json:"release"`
}

// CategoryColumn compares a column of words.
type CategoryColumn struct {
	// Name is the name of the column.
	Name string `json:"name"`
	// Type of the column: category or ordered.
	Type string `json:"type"`
	// Sets is true if the release publishes sets of values, levels of a hierarchy or ranges of
	// levels.
	Sets bool `json:"sets"`
	// OriginalMissing is the number of missing values of the table.
	OriginalMissing int64 `json:"original_missing"`
	// ReleaseMissing is the number of missing values of the release.
	ReleaseMissing int64 `json:"release_missing"`
	// Values is the number of distinct values of the original.
	Values int64 `json:"values"`
	// Lost is the number of values that the release never has on their own, though a set may
	// contain them.
	Lost int64 `json:"lost"`
	// New is the number of values of the release that the original has neither as a value, nor
	// as a set, nor in its hierarchy.
	New int64 `json:"new"`
	// Frequencies are the most frequent values of the original, at most 40. A set counts in
	// equal parts for each of its values that the original has.
	Frequencies []Frequency `json:"frequencies"`
	// Rest is the sum over all other values.
	Rest *Frequency `json:"rest,omitempty"`
	// TotalVariation is half the sum of the differences between the shares of all values,
	// missing included: 0 for equal frequencies, 1 where no value is in both. Exact for single
	// values; a set counts in equal parts for each of its values.
	TotalVariation float64 `json:"total_variation"`
	// Changed is the share of records whose value the release no longer states. With
	// corresponding rows it is exact. Otherwise its `value` is null and its `low` is a lower
	// bound: records that kept their value agree in both tables, so at least the total
	// variation of the values as published has changed.
	Changed Figure `json:"changed"`
	// NCP is the normalised certainty penalty: the mean over records of |set| / |all values|
	// for sets of two values or more, and 0 for single ones (Xu et al. 2006). In a hierarchy,
	// values are its leaves. It is exact for sets; for single values it needs corresponding
	// rows and classes.
	NCP Figure `json:"ncp"`
	// EntropyLoss is the share of the column's information that is lost, as for a column of
	// numbers.
	EntropyLoss Figure `json:"entropy_loss"`
}

// FrequencyLimit is how many values of a column are listed.
const FrequencyLimit = 40

// Frequency is a value and how many records have it.
type Frequency struct {
	// Value is the value; empty for the sum of others.
	Value string `json:"value"`
	// Original is the number of records of the table with this value.
	Original float64 `json:"original"`
	// Release is the number of records of the release with this value.
	Release float64 `json:"release"`
}

// Correlations are Pearson's, over the records that have both values. An entry
// is nil where it is not defined (a constant column, fewer than two records).
type Correlations struct {
	// Columns are the names of the rows and columns of both matrices.
	Columns []string `json:"columns"`
	// Original is the matrix of the table.
	Original [][]*float64 `json:"original"`
	// Release is the matrix of the release.
	Release [][]*float64 `json:"release"`
	// Largest is the pair whose correlation changed most.
	Largest *CorrelationChange `json:"largest_change"`
	// MeanChange is the mean absolute change over the pairs.
	MeanChange *float64 `json:"mean_absolute_change"`
	// Pairs is the number of pairs that are defined in both.
	Pairs int `json:"pairs"`
}

// CorrelationChange is a pair of columns, before and after.
type CorrelationChange struct {
	// First is the first column of the pair.
	First string `json:"first"`
	// Second is the second column of the pair.
	Second string `json:"second"`
	// Original is the correlation in the table.
	Original float64 `json:"original"`
	// Release is the correlation in the release.
	Release float64 `json:"release"`
}

// Loss is SSE/SST, the share of the spread of the number columns that the
// release gives up: SSE sums (value - published)^2, SST sums (value - mean)^2,
// columns scaled first. It lies in [0,1] for a release of group means.
//
// With corresponding rows it is exact as published (a value that the release
// withholds counts as replaced by the mean; ranges by their midpoints). Without, it follows for group
// means from the decomposition of variance: within a group of records with
// mean m, the sum of (x - m) is zero, so that
//
//	SST = sum (x - m)^2 + sum (m - mean)^2 = SSE + SSA,
//
// and SSA can be computed from the release alone, whatever the order of its
// rows. Published means are rounded; when every one is off by at most q/2,
// sqrt(SSA) is off by at most sqrt(n) q/2, and what is published is farther
// from the values than the means by at most n q^2/4 in SSE: that gives Low and
// High, which may exceed 1 where the rounding is coarse. Columns
// where the premise visibly fails (missing values, other numbers of records, a
// mean that moved by more than q/2, ranges) have no figure and are not covered.
// The premise itself, that what is published are means of groups, is the
// release's word; Low and High hold if it is true.
type Loss struct {
	// Columns are the columns that the figures cover.
	Columns []string `json:"columns"`
	// Method is the method of computation: "rows" or "decomposition"; empty when no column is
	// covered.
	Method string `json:"method,omitempty"`
	// MinMax is the loss with each column scaled to [0,1], without constant columns.
	MinMax Figure `json:"min_max"`
	// ZScore is the loss with each column scaled by its standard deviation, without constant
	// columns.
	ZScore Figure `json:"z_score"`
}
