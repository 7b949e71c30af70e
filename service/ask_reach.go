package service

import (
	"slices"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/report/text"
)

// publicSize is what is public of the number of records of a data set. Nothing of it was
// counted in the private file.
type publicSize struct {
	records int64
	// basis is exact (the definition fixes the number), stated (by the steward), or most (an
	// upper bound).
	basis string
}

// sizeOf is the public size of a data set; stated is what its steward has said of it, or 0.
func sizeOf(d *dataset.Definition, stated int64) publicSize {
	switch {
	case d.Records > 0:
		return publicSize{d.Records, "exact"}
	case stated > 0:
		return publicSize{min(stated, d.AtMost), "stated"}
	}
	return publicSize{d.AtMost, "most"}
}

// groupsOf is the number of groups that the public values of the columns of a question make,
// also of those that it leaves out.
func (q *pricedQuestion) groupsOf(a *openSet) int64 {
	if f, ok := q.form.(*queryForm); ok {
		return publicGroups(a.Definition, f.query)
	}
	return 1
}

func publicGroups(d *dataset.Definition, m *query.Query) int64 {
	all := int64(1)
	p, _ := m.Parameters().(query.Parameters)
	for j, name := range p.By {
		distinct := map[string]bool{}
		for _, key := range p.Keys {
			distinct[key[j]] = true
		}
		if c := d.Column(name); c != nil {
			all = min(all*int64(max(1, len(distinct), len(c.Keys), len(c.Levels))), 1<<31)
		}
	}
	return max(all, int64(m.Groups()))
}

// guess is about how many records a group has, by public facts. known is false where these say only that
// it has no more, as of a condition, which leaves fewer.
func (q *pricedQuestion) guess() (about int64, known bool) {
	return q.size.ofGroup(q.all, q.question.Where())
}

// ofGroup is about how many records each of so many groups has. Where only an upper bound is
// public, it is assumedRecords and no more than a group of the average size can have.
func (s publicSize) ofGroup(groups int64, where string) (about int64, known bool) {
	mean := max(1, s.records/groups)
	if s.basis == "most" || where != "" {
		return min(assumedRecords, mean), false
	}
	return mean, true
}

// reach says for which groups the margin of a question will hold, and warns where groups of
// the average size will miss it or the noise is wider than the bounds.
func (q *pricedQuestion) reach(p *api.Promise) (reach *api.Message, warnings []api.Message) {
	if p.Rank && p.Within != nil {
		return q.rankReach(*p.Within)
	}
	if w := q.drowned(p); w != nil {
		return nil, []api.Message{*w}
	}
	if !q.needsAbout() {
		return nil, nil
	}
	if p.Within == nil || q.beyondBounds(*p.Within) {
		return nil, []api.Message{text.SaysNothing(q.about)}
	}
	groups, _ := q.cells()
	most := min(int64(groups), q.size.records/q.about)
	mean := q.size.records / q.all
	said := text.Reach(q.size.basis, q.size.records, mean, q.about, q.all)
	if q.question.Where() != "" {
		said = text.ReachWhere(q.about)
	}
	if q.size.basis == "most" {
		if 2*most < int64(groups) {
			warnings = append(warnings, text.MostMiss("most", q.size.records, 0, q.about, most, groups))
		}
		return &said, warnings
	}
	if mean < q.about {
		warnings = append(warnings, text.MostMiss(q.size.basis, q.size.records, mean, q.about, most, groups))
	}
	return &said, warnings
}

// beyondBounds reports whether a mean or variance that is within that of the true one may be any
// value that the public bounds allow.
func (q *pricedQuestion) beyondBounds(within float64) bool {
	f, ok := q.form.(*queryForm)
	if !ok || f.kind != query.Mean && f.kind != query.Variance {
		return false
	}
	lo, hi, _, ok := f.query.Grid()
	if f.kind == query.Variance {
		return ok && within >= (hi-lo)*(hi-lo)/4
	}
	return ok && within >= hi-lo
}

// rankReach says between which percent points a quantile lies, by the error of its rank, and warns
// where that is all of them.
func (q *pricedQuestion) rankReach(within float64) (reach *api.Message, warnings []api.Message) {
	about := q.about
	if q.question.Margin == nil || q.question.Margin.About == 0 {
		about, _ = q.guess()
	}
	if said, ok := text.RankReach(q.question.Rank(), within, about); ok {
		return &said, nil
	}
	return nil, []api.Message{text.AnyRank(about)}
}

// drowned warns of a count or sum whose noise is as large as all that the public size of the table
// and the public bounds allow; nil for any other.
func (q *pricedQuestion) drowned(p *api.Promise) *api.Message {
	f, ok := q.form.(*queryForm)
	if !ok || p.Within == nil {
		return nil
	}
	most := float64(q.size.records)
	switch f.kind {
	case query.Count, query.Histogram:
		if mean := q.size.records / q.all; q.size.basis != "most" && q.all > 1 && q.question.Where() == "" && *p.Within >= float64(mean) {
			said := text.DrownedGroup(*p.Within, mean, q.all)
			return &said
		}
	case query.Sum:
		lo, hi, _, _ := f.query.Grid()
		most *= max(hi, 0) - min(lo, 0)
	default:
		return nil
	}
	if q.size.basis == "most" && *p.Within < most && q.question.Margin == nil {
		if guess := most / float64(q.size.records) * assumedRecords; *p.Within >= guess {
			said := text.DrownedGuess(*p.Within, assumedRecords, f.kind == query.Sum)
			return &said
		}
	}
	if *p.Within < most {
		return nil
	}
	said := text.Drowned(*p.Within, q.size.records, f.kind == query.Sum)
	return &said
}

// unlisted warns of labels in the question that are not among the public values of their column.
func (q *pricedQuestion) unlisted(a *openSet) (out []api.Message) {
	f, ok := q.form.(*queryForm)
	if !ok {
		return nil
	}
	for _, n := range f.query.Named() {
		c := a.Definition.Column(n.Column)
		if c == nil {
			continue
		}
		public := append(slices.Clone(c.Keys), c.Levels...)
		other := slices.DeleteFunc(n.Labels, func(s string) bool { return slices.Contains(public, s) })
		if len(public) > 0 && len(other) > 0 {
			out = append(out, text.Unlisted(n.Column, other, public))
		}
	}
	return out
}

// cut says what the values of an answer leave out or count as other values, and that the error of
// a quantile is of its rank.
func (q *pricedQuestion) cut(rows []api.AnswerRow) []api.Message {
	f, ok := q.form.(*queryForm)
	if !ok {
		return nil
	}
	out := text.Cut(f.query)
	for i := range rows {
		if rows[i].Noise != nil && rows[i].Low == nil {
			return append(out, text.CareRank(*rows[i].Noise, q.at))
		}
	}
	return out
}

// saysNothing counts the values whose intervals are the whole of the public bounds, and names
// these; 0 of them where the question has none.
func (q *pricedQuestion) saysNothing(rows []api.AnswerRow) (n int, least, most string) {
	f, ok := q.form.(*queryForm)
	if !ok || f.kind != query.Mean {
		return 0, "", ""
	}
	lo, hi, _, ok := f.query.Grid()
	if !ok {
		return 0, "", ""
	}
	for i := range rows {
		if r := &rows[i]; r.Value != nil && r.Low != nil && r.High != nil && float64(*r.Low) <= lo && float64(*r.High) >= hi {
			n++
		}
	}
	least, most = text.Bounds(f.query)
	return n, least, most
}
