package text

import (
	"math"
	"strconv"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/table"
)

// Cut says by how much less or by which other values a query counts than the table holds: at most
// max-rows records of one person, and values moved to the bounds. It follows from the question
// alone; whether a record or a value was cut is private.
func Cut(q *query.Query) []api.Message {
	p, ok := q.Parameters().(query.Parameters)
	if !ok {
		return nil
	}
	var out []api.Message
	if p.Unit != account.Record {
		code := "care.rows"
		if p.Query == query.Count || p.Query == query.Histogram || p.Query == query.Sum && p.Bounds != nil && p.Bounds.Lo >= 0 {
			code = "care.rows_low"
		}
		if p.Noise == query.Exponential {
			code = "care.rows_rank"
		}
		out = append(out, api.Say(code, map[string]any{"rows": p.MaxRows, "unit": p.Unit}))
	}
	if p.Bounds != nil && p.Query != query.Quantile {
		lo, hi := Bounds(q)
		out = append(out, api.Say("care.moved", map[string]any{"lo": lo, "hi": hi}))
	}
	return out
}

// Bounds are the bounds of a query, as its column writes values; empty where it has none.
func Bounds(q *query.Query) (lo, hi string) {
	p, ok := q.Parameters().(query.Parameters)
	if !ok || p.Bounds == nil {
		return "", ""
	}
	least, most, _, bounded := q.Grid()
	for _, f := range q.Columns() {
		if f.Name == p.Column && bounded {
			return Bound(f, least), Bound(f, most)
		}
	}
	return "", ""
}

// Bound writes a bound as its column writes values.
func Bound(f table.Field, v float64) string {
	if f.Type == table.Date {
		return f.Layout.Format(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// CareRank says that the error of a quantile is one of ranks, and that no interval of values is stated.
func CareRank(within float64, at string) api.Message {
	return api.Say("care.rank", map[string]any{"within": Figure(within), "at": at})
}

// RankReach says between which percentiles of a group of about that many records a quantile lies, by the error of its rank.
func RankReach(rank string, within float64, about int64) (api.Message, bool) {
	p, err := strconv.ParseFloat(rank, 64)
	if rank == "" {
		p, err = 0.5, nil
	}
	lo, hi := 100*(p-within/float64(about)), 100*(p+within/float64(about))
	if err != nil || lo <= 0 && hi >= 100 {
		return api.Message{}, false
	}
	return api.Say("reach.rank", map[string]any{
		"about": Figure(float64(about)), "lo": Figure(math.Floor(10*max(0, lo)) / 10), "hi": Figure(math.Ceil(10*min(100, hi)) / 10),
	}), true
}
