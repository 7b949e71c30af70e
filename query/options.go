package query

import (
	"errors"
	"math"
	"math/big"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/table"
)

// Kind is the kind of a query.
type Kind string

const (
	Count     Kind = "count"     // how many records
	Sum       Kind = "sum"       // of a number column
	Mean      Kind = "mean"      // of a number column
	Variance  Kind = "variance"  // of a number column, divided by n
	Histogram Kind = "histogram" // how many records in each of some bins
	Quantile  Kind = "quantile"  // of a number column
)

// Noise is how the answer is made private.
type Noise string

const (
	// Laplace adds discrete Laplace noise: pure epsilon.
	Laplace Noise = "laplace"
	// Gaussian adds discrete Gaussian noise: epsilon and delta.
	Gaussian Noise = "gaussian"
	// Exponential is the exponential mechanism, for quantiles: pure epsilon.
	Exponential Noise = "exponential"
	// Smooth adds Lomax noise scaled to the smooth sensitivity, for the median:
	// pure epsilon.
	Smooth Noise = "smooth"
)

// Bounds are the smallest and the largest value that counts. They are public:
// chosen from what is known of the column, never from the data.
type Bounds struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// Options are a query, its privacy cost and its privacy unit. All of it is public except
// Key.
type Options struct {
	// Kind is the kind of the query. Required.
	Kind Kind
	// Fields are the columns of the table, with their types. Required: those that
	// the query names.
	Fields []table.Field
	// Column is what is summed, averaged, counted into bins or ranked. Required,
	// but for a count, which has none.
	Column string
	// Where is a predicate (see [Predicate]) that selects records. Defaults to
	// all.
	Where string
	// By are the columns whose values make groups, and Keys the groups, each with
	// a value for every column of By, written as in the file; the empty text is a
	// missing value. The keys are public: a list that was read from the data reveals
	// who is in it. Every key is answered, also where no record has it; records of
	// other keys are left out. Defaults to one group of all.
	By   []string
	Keys [][]string
	// Bounds are required for sums, means, variances and quantiles.
	Bounds *Bounds
	// GridBits is j where values are rounded to multiples of 2^-j. Defaults to 0
	// for whole numbers and dates; for decimals to what cuts the bounds into 2^19
	// to 2^20 steps (quantile: 2^15 to 2^16; variance: 2^11 to 2^12); less where
	// bounds are wide.
	GridBits *int
	// Bins are the edges of a histogram of a number column, rising: bin i is
	// [Bins[i], Bins[i+1]). Values outside are in no bin. For dates the unit is
	// days (or seconds) since 1970.
	Bins []float64
	// Values are the bins of a histogram of a category or ordered column; the
	// empty text is a missing value. Public, like Keys.
	Values []string
	// Rank is the quantile that is asked, a decimal above 0 and below 1. Defaults
	// to 0.5, the median.
	Rank string
	// Noise defaults to Laplace, and to Exponential for quantiles.
	Noise Noise
	// Cost is the privacy cost, for Neighbours and Unit. Required; with a delta for
	// Gaussian and without for all others.
	Cost account.Cost
	// Rho, where it is above 0, asks for Gaussian noise of exactly this loss in zCDP. Then
	// Cost states the delta of the guarantee and its epsilon follows ([account.Rho.Cost]).
	Rho account.Rho
	// Neighbours is the relation that Cost is for. Defaults to add-remove.
	Neighbours account.Neighbours
	// Unit is "record", or the column whose equal texts mark the records of one
	// person (table.Table.Unit, whatever type the column has in Fields). Defaults to "record".
	Unit string
	// MaxRows is how many records of one person count, at most. Required where
	// Unit is a column, otherwise at most 1.
	MaxRows int64
	// Key is the secret by which the MaxRows records of a person with more are
	// picked, at least 16 bytes. Required where Unit is a column. It is in no
	// parameter, result or error.
	Key []byte
	// Level is the confidence of intervals. Defaults to 0.95.
	Level float64
}

const (
	maxGroups = 1 << 16
	maxRows   = 1 << 20 // of one person
	// maxRecords bounds the table, and maxWeight what one record adds to a sum, so
	// that no sum can overflow: their product is 2^62.
	maxRecords = 1 << 31
	maxWeight  = 1 << 31
	// maxBound bounds Bounds and Bins: not every whole number beyond is a float64, and
	// certificates have none.
	maxBound = exactLimit
	// maxAnswer bounds an answer, and maxCell what a group or bin takes of it beside its
	// key, in bytes of JSON: a certificate can be about no more. What is too large is
	// refused before anything is charged.
	maxAnswer, maxCell = 1 << 20, 320
	minKey             = 16
)

// setDefaults fills what was left out.
func (o *Options) setDefaults() {
	if o.Rho > 0 {
		if o.Noise == "" {
			o.Noise = Gaussian
		}
		if c, err := o.Rho.Cost(o.Cost.Delta); err == nil {
			o.Cost = c
		}
	}
	if o.Noise == "" {
		o.Noise = Laplace
		if o.Kind == Quantile {
			o.Noise = Exponential
		}
	}
	if o.Unit == "" {
		o.Unit = account.Record
	}
	if o.Unit == account.Record && o.MaxRows == 0 {
		o.MaxRows = 1
	}
	if o.Level == 0 {
		o.Level = 0.95
	}
	if o.Kind == Quantile && o.Rank == "" {
		o.Rank = "0.5"
	}
}

// validate returns all faults of the options that can be seen without the grid.
func (o *Options) validate() error {
	var faults []error
	fault := func(where string, what, hint noren.Format, args ...any) {
		faults = append(faults, noren.Usagef(where, what, args...).Hinted(hint))
	}
	needsColumn, needsBounds := true, true
	known := true // a column that does not exist has no bounds to ask for
	switch o.Kind {
	case Count:
		needsColumn, needsBounds = false, false
	case Histogram:
		needsBounds = false
	case Sum, Mean, Variance, Quantile:
	default:
		fault("query", "there is no query %q", "one of count, sum, mean, variance, histogram, quantile", string(o.Kind))
		return errors.Join(faults...)
	}
	switch {
	case needsColumn && o.Column == "":
		faults = append(faults, noren.Usagef("column", "a %s needs a column", o.Kind).Hinted("the columns are %s", fieldNames(o.Fields)))
	case !needsColumn && o.Column != "":
		fault("column", "a count has no column: it counts records", "count those that have a value with the condition: not column is missing")
	case needsColumn:
		f, err := findField(o.Fields, "column", o.Column)
		switch {
		case err != nil:
			faults = append(faults, err)
			known = false
		case needsBounds && !f.Type.IsNumber():
			faults = append(faults, &noren.Error{
				Kind: noren.Usage, Code: columnType, Where: noren.Textf("column %s", f.Name), What: "%s expects integer, decimal or date, got %s",
				Args: []any{noren.Term(o.Kind), noren.Term(f.Type.String())},
				Hint: "name a column of numbers",
			})
		case o.Kind == Histogram:
			faults = append(faults, o.validateBins(f)...)
		}
	}
	switch b := o.Bounds; {
	case needsBounds && b == nil && known:
		fault("bounds", "a %s needs public bounds of the values",
			"say the least and the greatest value that is possible, from what is known about the column and not from the data", o.Kind)
	case b == nil:
	case !needsBounds:
		fault("bounds", "a %s has no bounds", "a histogram has bins instead", o.Kind)
	case !(math.Abs(b.Lo) <= maxBound && math.Abs(b.Hi) <= maxBound):
		fault("bounds", "are not finite numbers below 2^53", "")
	case !(b.Lo < b.Hi):
		fault("bounds", "the lower bound is not below the upper", "")
	}
	if o.Kind != Histogram && (o.Bins != nil || o.Values != nil) {
		fault("bins", "are for a histogram", "")
	}
	if o.Kind != Quantile && o.Rank != "" {
		fault("rank", "is for a quantile", "")
	}
	if !needsBounds && o.GridBits != nil {
		fault("grid", "counts have no grid", "")
	}
	faults = append(faults, o.validatePrivacy()...)
	return errors.Join(faults...)
}

func (o *Options) validateBins(f *table.Field) (faults []error) {
	where := noren.Textf("column %s", f.Name)
	if !f.Type.IsNumber() {
		if o.Bins != nil {
			faults = append(faults, noren.Usagef(where, "is %s and has no edges of bins", f.Type).Hinted("list its values"))
		}
		if len(o.Values) == 0 {
			faults = append(faults, noren.Usagef(where, "a histogram needs the public list of the values that are counted").
				Hinted("list what can occur, from what is known about the column and not from the data"))
		}
		return faults
	}
	if o.Values != nil {
		faults = append(faults, noren.Usagef(where, "is %s and has no list of values", f.Type).Hinted("give the edges of its bins"))
	}
	if len(o.Bins) < 2 {
		return append(faults, noren.Usagef(where, "a histogram needs at least two public edges of bins").
			Hinted("they rise: 0,10,20 makes two bins"))
	}
	for i, e := range o.Bins {
		if !(math.Abs(e) <= maxBound) || i > 0 && !(o.Bins[i-1] < e) {
			return append(faults, noren.Usagef("bins", "edge %d is not a finite number above the one before and below 2^53", i+1).
				Hinted("edges rise: 0,10,20"))
		}
	}
	return faults
}

func (o *Options) validatePrivacy() (faults []error) {
	fault := func(where string, what, hint noren.Format, args ...any) {
		faults = append(faults, noren.Usagef(where, what, args...).Hinted(hint))
	}
	delta := o.Noise == Gaussian
	switch o.Noise {
	case Laplace, Gaussian:
		if o.Kind == Quantile {
			fault("mechanism", "a quantile has no %s noise", "use exponential, or smooth for the median", o.Noise)
		}
	case Exponential, Smooth:
		if o.Kind != Quantile {
			fault("mechanism", "%s is for quantiles", "use laplace or gaussian", o.Noise)
		}
	default:
		fault("mechanism", "there is no mechanism %q", "one of laplace, gaussian, exponential, smooth", string(o.Noise))
		delta = o.Cost.Delta > 0
	}
	switch {
	case o.Rho < 0:
		fault("rho", "must be above 0", "say, for instance, 0.005")
	case o.Rho > 0 && !delta:
		fault("mechanism", "%s noise is paid in epsilon, not in rho", "use gaussian", o.Noise)
	case o.Rho > 0 && (o.Cost.Delta <= 0 || o.Cost.Delta >= account.DeltaUnits):
		fault("delta", "a loss in zCDP needs a delta above 0 and below 1 to be stated at", "for instance 1e-9")
	case o.Cost.Epsilon <= 0:
		fault("epsilon", "must be above 0", "say, for instance, 0.1")
	case o.Cost.Epsilon > 1000*account.EpsilonUnits:
		fault("epsilon", "is above 1000", "such an epsilon gives no protection")
	}
	switch {
	case delta && (o.Cost.Delta <= 0 || o.Cost.Delta >= account.DeltaUnits):
		fault("delta", "gaussian noise needs a delta above 0 and below 1",
			"choose one far below 1 divided by the number of records, for instance 1e-9")
	case !delta && o.Cost.Delta != 0:
		fault("delta", "%s needs no delta", "leave it out, or use gaussian noise", o.Noise)
	}
	if o.Neighbours > account.ReplaceOne {
		fault("neighbours", "is neither add-remove nor replace-one", "")
	}
	if o.Unit == account.Record {
		if o.MaxRows != 1 {
			fault("max-rows", "is for a unit with several records", "name the column that tells whose records belong together as the unit")
		}
	} else {
		if _, err := findField(o.Fields, "unit", o.Unit); err != nil {
			faults = append(faults, err)
		}
		if o.MaxRows < 1 || o.MaxRows > maxRows {
			fault("max-rows", "expected the largest number of records of one %s that count, 1 to %d",
				"few: noise grows with it; records beyond are left out", o.Unit, maxRows)
		}
		if len(o.Key) < minKey {
			fault("key", "the secret that picks the records of one %s has less than %d {byte|bytes}", "", o.Unit, minKey)
		}
	}
	if !(o.Level > 0 && o.Level < 1) {
		fault("level", "the confidence of intervals must be above 0 and below 1", "0.95 is usual")
	}
	return faults
}

// parseRank reads a decimal above 0 and below 1 as a/b in lowest terms.
func parseRank(text string) (a, b int64, err error) {
	units, err := account.ParseEpsilon(text)
	if err != nil || units >= account.EpsilonUnits || units%1000 != 0 {
		return 0, 0, noren.Usagef("rank", "is not a decimal above 0 and below 1 with at most 6 places").
			Hinted("0.5 is the median, 0.9 the ninth decile")
	}
	r := big.NewRat(units, account.EpsilonUnits)
	return r.Num().Int64(), r.Denom().Int64(), nil
}

// ParseBound reads a bound or an edge of a bin as the column f writes its values: a
// number, or a date, which counts in days (or seconds) since 1970. It is public; the
// error does not repeat it all the same. Error: [noren.Usage].
func ParseBound(f table.Field, text string) (float64, error) {
	if f.Type == table.Date {
		v, err := f.Layout.Parse(text)
		if err != nil {
			return 0, noren.Usagef("bounds", "column %s: %v", f.Name, err)
		}
		return float64(v), nil
	}
	v, _, err := table.ParseDecimal([]byte(text))
	if err != nil {
		return 0, noren.Usagef("bounds", "%v", err).Hinted("write numbers like 0 or 99.5")
	}
	return v, nil
}
