package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/report/text"
)

// mostLDPRows is the largest number of labels in a table for people; JSON holds all.
const mostLDPRows = 100

// LDPEstimateTables are the tables of an estimate from reports.
func LDPEstimateTables(e *api.LDPEstimate) []Table {
	var out []Table
	if e.Kind != survey.Several {
		out = append(out, learnedTables(e, &e.LDPLearned, subject(e), e.Reports)...)
	}
	for j := range e.Attributes {
		a := &e.Attributes[j]
		out = append(out, learnedTables(e, &a.LDPLearned, Verbatim(a.Column), a.Reports)...)
	}
	if e.Association != nil {
		out = append(out, associationTable(e.Association))
	}
	return out
}

// subject names what the reports of one attribute are about.
func subject(e *api.LDPEstimate) noren.Text {
	for _, name := range []string{e.Column, e.Question} {
		if name != "" {
			return Verbatim(name)
		}
	}
	return noren.Textf("what was asked")
}

func numericAfter(n int) []bool { return append([]bool{false}, slices.Repeat([]bool{true}, n)...) }

func learnedTables(e *api.LDPEstimate, x *api.LDPLearned, of noren.Text, reports int64) []Table {
	switch {
	case x.Shares != nil:
		return []Table{sharesTable(e, x.Shares, of, reports)}
	case x.Words != nil:
		return []Table{wordsTable(e, x.Words)}
	case x.Mean != nil:
		m := x.Mean
		return []Table{{
			Caption: noren.Textf("Mean of %s from %s; interval at %s for every number of reports: %s", of, reportsOf(reports), Percent(m.Level),
				noren.Term(m.Basis)),
			Header: Header("", "value", "std. error", "from", "to"), Numeric: numericAfter(4),
			Rows: [][]noren.Text{meanRow(m.Value, m.StdErr, m.Low, m.High)},
		}}
	case x.Distribution != nil:
		d := x.Distribution
		t := Table{
			Caption: noren.Textf("Distribution of %s from %s: mean of the shares %s, quartiles %s, %s, %s", of, reportsOf(reports),
				text.Figure(d.Mean), text.Figure(d.Quartiles[0]), text.Figure(d.Quartiles[1]), text.Figure(d.Quartiles[2])),
			Header: Header("from", "to", "share"), Numeric: []bool{true, true, true},
		}
		by := bucketsPerRow(len(d.Shares))
		for i := 0; i < len(d.Shares); i += by {
			to := min(i+by, len(d.Shares))
			t.Add(Verbatim(text.Figure(d.Edges[i])), text.Figure(d.Edges[to]), share(total(d.Shares[i:to])))
		}
		return append([]Table{t}, waveTables(d.Errors)...)
	}
	return []Table{{Caption: noren.Textf("No report holds %s", of), Header: Header("")}}
}

// meanRow is a row of a mean.
func meanRow(figures ...float64) []noren.Text {
	row := Header("mean")
	for _, f := range figures {
		row = append(row, Verbatim(text.Figure(f)))
	}
	return row
}

// waveTables holds statistics of a distribution with their errors.
func waveTables(rows []api.LDPMeasured) []Table {
	if rows == nil {
		return nil
	}
	t := Table{
		Caption: noren.Textf("Mean and quartiles; each interval at %s, that of the mean for every number of reports", Percent(rows[0].Level)),
		Header:  Header("", "value", "std. error", "from", "to", "interval by"), Numeric: append(numericAfter(4), false),
	}
	for _, m := range rows {
		t.Add(noren.Textf("%s", noren.Term(m.Of)), text.Figure(m.Value), text.Figure(m.StdErr), text.Figure(m.Low), text.Figure(m.High))
		last := len(t.Rows) - 1
		t.Rows[last] = append(t.Rows[last], noren.Textf("%s", noren.Term(m.Basis)))
	}
	return []Table{t}
}

// wordsTable has a row for each word, and one for words that are no candidates.
func wordsTable(e *api.LDPEstimate, d *api.LDPWords) Table {
	count := 0
	for _, w := range d.Found {
		if w.Significant {
			count++
		}
	}
	of, words := noren.Phrase("the reports"), noren.Textf("Words")
	if e.Rounds > 0 {
		words = noren.Textf("Words among %s in %s", people(int(e.People)), rounds(e.Rounds))
		of = "the words"
	}
	t := Table{
		Caption: noren.Textf("%s: %d of %d {candidate|candidates} found, which explain %s of %s; all intervals hold at once with %s", words,
			count, d.Candidates, Percent(min(max(d.Explained, 0), 1)), of, Percent(d.Level)),
		Header:  Header("word", "share", "std. error", "from", "to", "p-value", "found"),
		Numeric: []bool{false, true, true, true, true, true, false},
	}
	row := func(name noren.Text, value float64, stdErr *float64, low, high float64, p *float64, found noren.Format) {
		se, tail := "-", "-"
		if stdErr != nil {
			se = share(*stdErr)
		}
		if p != nil {
			tail = strconv.FormatFloat(*p, 'g', 3, 64)
		}
		cells := append([]noren.Text{name}, texts([]string{share(value), se, share(low), share(high), tail}, Verbatim)...)
		t.Rows = append(t.Rows, append(cells, noren.Textf(found)))
	}
	for i := range d.Found {
		w, found := &d.Found[i], noren.Format("yes")
		if !w.Significant {
			found = "no"
		}
		row(Verbatim(w.Word), w.Share, w.StdErr, w.Low, w.High, &w.P, found)
	}
	u, name := d.Unnamed, noren.Textf("(not named)")
	if !d.Joint {
		name = noren.Textf("(not named, or too rare to be seen)")
	}
	row(name, u.Share, u.StdErr, u.Low, u.High, u.P, "")
	return t
}

// share writes a share, or its error, for people.
func share(v float64) string {
	s := strconv.FormatFloat(v, 'f', 5, 64)
	if strings.Trim(s, "-0.") == "" {
		return "0"
	}
	return s
}

// bucketsPerRow is how many buckets of a distribution a row of a table joins.
func bucketsPerRow(buckets int) int { return (buckets + 31) / 32 }

func total(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum
}

// sharesTable has a row for each label, at most mostLDPRows: the largest.
func sharesTable(e *api.LDPEstimate, f *api.LDPShares, of noren.Text, reports int64) Table {
	t := Table{
		Caption: noren.Textf("Shares of %s from %s; all intervals hold at once with %s", of, reportsOf(reports), Percent(f.Level)),
		Header:  Header("label", "share", "std. error", "from", "to", "estimated number"),
		Numeric: []bool{false, true, true, true, true, true, true},
	}
	if e.Rounds > 0 {
		t.Caption = noren.Textf("Shares of %s among %s in %s; all intervals hold at once with %s (empirical Bernstein)", of,
			people(int(e.People)), rounds(e.Rounds), Percent(f.Level))
	}
	if len(f.Labels) > 0 && f.Labels[0].Projected != nil {
		t.Header = append(t.Header, noren.Textf("projected"))
	}
	rows := f.Labels
	if len(rows) > mostLDPRows {
		rows = slices.Clone(rows)
		slices.SortStableFunc(rows, func(a, b api.LDPShare) int {
			switch {
			case a.Share > b.Share:
				return -1
			case a.Share < b.Share:
				return 1
			}
			return 0
		})
		rows = rows[:mostLDPRows]
		t.Caption = noren.Textf("%s; the largest %d of %d {label|labels}", t.Caption, mostLDPRows, len(f.Labels))
	}
	for i := range rows {
		l := &rows[i]
		row := []string{share(l.Share), share(l.StdErr), share(l.Low), share(l.High), Integer(int64(math.Round(l.Count)))}
		if l.Projected != nil {
			row = append(row, share(*l.Projected))
		}
		t.Add(Verbatim(l.Label), row...)
	}
	return t
}

func associationTable(a *api.LDPAssociation) Table {
	t := Table{
		Caption: noren.Textf("%s and %s together, from the reports of %s (share and standard error)", a.First, a.Second, people(a.People)),
		Header:  texts(append([]string{a.First + " \\ " + a.Second}, a.SecondLabels...), Verbatim),
		Numeric: numericAfter(len(a.SecondLabels)),
	}
	for x, row := range a.Shares {
		var cells []string
		for y, v := range row {
			cell := share(v)
			if se := a.StdErr[x][y]; se != nil {
				cell += " ± " + share(*se)
			}
			cells = append(cells, cell)
		}
		t.Add(Verbatim(a.FirstLabels[x]), cells...)
	}
	return t
}

func people(n int) noren.Text { return text.Counted(n, "%s {person|people}") }

func reportsOf(n int64) noren.Text { return text.Counted(n, "%s {report|reports}") }

func rounds(n int) noren.Text { return text.Counted(n, "%s {round|rounds}") }
