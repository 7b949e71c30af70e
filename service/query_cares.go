package service

import (
	"strconv"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/report/text"
)

// queryCares says beside the values of an answer what they do not count, and that the error of a
// quantile is of its rank. Its form follows from the query alone, as that of the answer does.
func queryCares(q *query.Query, r *query.Result) []api.Message {
	out := text.Cut(q)
	groups := r.Groups
	if r.Group != nil {
		groups = []query.Group{*r.Group}
	}
	for i := range groups {
		if within := groups[i].RankWithin; within != nil {
			out = append(out, text.CareRank(*within, strconv.FormatFloat(r.Level, 'f', -1, 64)))
			break
		}
	}
	return out
}
