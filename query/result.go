package query

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/table"
)

// Format names the form of [Result] as JSON.
const Format = "noren.query/1"

// Number is a number of an answer. As JSON it is a number, and beyond 2^53 - 1, where
// readers of JSON round, a string of as many decimal digits as read back the same.
type Number float64

const exactLimit = 1<<53 - 1

// MarshalJSON implements [json.Marshaler].
func (n Number) MarshalJSON() ([]byte, error) {
	f := float64(n)
	if math.Abs(f) <= exactLimit {
		return json.Marshal(f)
	}
	return json.Marshal(strconv.FormatFloat(f, 'f', -1, 64))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (n *Number) UnmarshalJSON(text []byte) error {
	if s := string(text); len(s) > 1 && s[0] == '"' {
		f, _, err := table.ParseDecimal(text[1 : len(text)-1])
		*n = Number(f)
		return err
	}
	return json.Unmarshal(text, (*float64)(n))
}

// number is x as a value of an answer, nil where it is not finite.
func number(x float64) *Number {
	if finite(x) == nil {
		return nil
	}
	n := Number(x)
	return &n
}

// Interval is a closed interval of values.
type Interval [2]Number

func interval(lo, hi float64) *Interval { return &Interval{Number(lo), Number(hi)} }

// Result is an answer. All of it was released and is public.
type Result struct {
	// Format is the form of the released answer, noren.query/1.
	Format string `json:"format"`
	// Query is the kind of query: count, sum, mean, variance, histogram or quantile.
	Query Kind `json:"query"`
	// Noise is the mechanism: laplace, gaussian, exponential or smooth.
	Noise Noise `json:"mechanism"`
	// Column is the column of the statistic; absent for a count.
	Column string `json:"column,omitempty"`
	// Group is the answer where it is one, with neither groups nor bins.
	*Group
	// Groups are the answers in the order of the keys, and in a group in the order of
	// the bins.
	Groups []Group `json:"groups,omitempty"`
	// By are the columns whose values are the keys.
	By []string `json:"by,omitempty"`
	// Level is the confidence of each interval by itself.
	Level float64 `json:"level"`
}

// Group is the answer for one group, or one bin of it.
type Group struct {
	// Key is the group, with a value for each column of `by`.
	Key []string `json:"key,omitempty"`
	// Bin is the bin of a number column, without its upper edge.
	Bin *Interval `json:"bin,omitempty"`
	// Of is the value that is the bin of a category or ordered column.
	Of *string `json:"bin_value,omitempty"`
	// Value is the answer; null where there is none: a mean or variance of a group whose noisy
	// size is below one half.
	Value *Number `json:"value"`
	// Records is, for a mean or variance, the approximate number of records of the group: from
	// the same noisy sums as Value, and at no further cost.
	Records *Number `json:"records,omitempty"`
	// Text is Value as the column writes it, for dates.
	Text string `json:"text,omitempty"`
	// Interval is an interval that contains, with confidence `level`, the value without noise
	// and rounding, for the clamped values. Quantiles by the exponential mechanism have none:
	// their guarantee is about a rank and not about a distance.
	Interval *Interval `json:"interval,omitempty"`
	// RankWithin is, for quantiles by the exponential mechanism, the largest error of the rank
	// of Value in records, with confidence `level`.
	RankWithin *float64 `json:"rank_within,omitempty"`
}

// result puts the groups, in the order of keys and bins, into their form.
func (q *Query) result(groups []Group) *Result {
	r := &Result{Format: Format, Query: q.o.Kind, Noise: q.o.Noise, Column: q.o.Column, Level: q.o.Level, By: q.o.By}
	bins := q.bins()
	for i := range groups {
		g := &groups[i]
		g.Key = q.groups.texts[i/bins]
		if q.o.Kind == Histogram {
			if b := i % bins; q.o.Bins != nil {
				g.Bin = interval(q.o.Bins[b], q.o.Bins[b+1])
			} else {
				g.Of = &q.o.Values[b]
			}
		}
		if g.Value != nil && q.isDate() && (q.o.Kind == Mean || q.o.Kind == Quantile) {
			g.Text = q.field.Layout.Format(int64(math.Round(float64(*g.Value))))
		}
	}
	if len(q.groups.fields) == 0 && q.o.Kind != Histogram {
		r.Group = &groups[0]
	} else {
		r.Groups = groups
	}
	return r
}

func (q *Query) isDate() bool { return q.field != nil && q.field.Type == table.Date }

// bins is the number of bins of a group.
func (q *Query) bins() int {
	if q.o.Kind != Histogram {
		return 1
	}
	if q.o.Bins != nil {
		return len(q.o.Bins) - 1
	}
	return len(q.o.Values)
}

// Parameters are the public parameters of a query, as certificates state them
// and in the ledger: together with the table they determine the distribution of the
// answer.
type Parameters struct {
	Query      Kind              `json:"query"`
	Noise      Noise             `json:"mechanism"`
	Column     string            `json:"column,omitempty"`
	Type       string            `json:"type,omitempty"`
	Where      string            `json:"where,omitempty"`
	By         []string          `json:"by,omitempty"`
	Keys       [][]string        `json:"keys,omitempty"`
	Bounds     *Bounds           `json:"bounds,omitempty"`
	GridBits   *int              `json:"grid_bits,omitempty"`
	Bins       []float64         `json:"bins,omitempty"`
	Values     []string          `json:"values,omitempty"`
	Rank       string            `json:"rank,omitempty"`
	Epsilon    string            `json:"epsilon"` // decimal, exact
	Delta      string            `json:"delta"`
	Neighbours string            `json:"neighbours"`
	Unit       string            `json:"unit"`
	MaxRows    int64             `json:"max_rows"`
	Level      float64           `json:"level"`
	Added      *NoiseParameters  `json:"noise,omitempty"`
	Choice     *ChoiceParameters `json:"choice,omitempty"`
	Smooth     *SmoothParameters `json:"smooth,omitempty"`
}

// Parameters returns what is public about q: a [Parameters]. The key that picks
// records is not in it.
func (q *Query) Parameters() any { return q.public() }

func (q *Query) public() Parameters {
	p := Parameters{
		Query: q.o.Kind, Noise: q.o.Noise, Column: q.o.Column, By: q.o.By, Bounds: q.o.Bounds,
		Bins: q.o.Bins, Values: q.o.Values, Rank: q.o.Rank, Epsilon: account.Decimal(q.o.Cost.Epsilon, 9),
		Delta: account.Decimal(q.o.Cost.Delta, 18), Neighbours: q.o.Neighbours.String(), Unit: q.o.Unit,
		MaxRows: q.o.MaxRows, Level: q.o.Level,
	}
	if q.field != nil {
		p.Type = q.field.Type.String()
	}
	if q.predicate != nil {
		p.Where = q.predicate.String()
	}
	if len(q.o.By) > 0 {
		p.Keys = q.groups.texts
	}
	q.kernel.parameters(&p)
	return p
}

// Accuracy is how far an answer lies from the exact one, by public parameters
// alone, before anything is read.
type Accuracy struct {
	// Level is the confidence.
	Level float64 `json:"level"`
	// HalfWidth is the largest error of the answer with confidence Level: of the value,
	// or of the rank in records where Rank is set. It is null where no bound holds for
	// this number of records.
	HalfWidth *float64 `json:"half_width"`
	// Rank is true if HalfWidth is about the rank and not about the value.
	Rank bool `json:"rank,omitempty"`
	// Records is the number of records of a group for which HalfWidth was computed; 0 where
	// HalfWidth does not depend on the number of records.
	Records int64 `json:"records,omitempty"`
	// EvenSpread is, for a quantile, the error of the value if the values of the records were
	// spread evenly between the bounds. It serves to compare the two mechanisms, and is not
	// guaranteed.
	EvenSpread *float64 `json:"even_spread,omitempty"`
}

// Accuracy is the largest error of the answer of one group, or one bin, with the
// confidence level, 0 < level < 1. records is a public guess of how
// many records a group has, at least 1; counts and sums do not depend on it. Error:
// [noren.Usage].
func (q *Query) Accuracy(level float64, records int64) (Accuracy, error) {
	if !(level > 0 && level < 1) {
		return Accuracy{}, noren.Usagef("level", "the confidence must be above 0 and below 1").Hinted("0.95 is usual")
	}
	if records < 1 || records > maxRecords {
		return Accuracy{}, noren.Usagef("records", "a guess of how many records a group has must be 1 to 2^31")
	}
	return q.kernel.accuracy(level, records)
}

// finite returns nil for what is no finite number.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
