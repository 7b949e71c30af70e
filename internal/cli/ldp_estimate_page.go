package cli

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/report"
)

// mostRows is how many labels a table for people holds; JSON holds all.
const mostRows = 100

// tables are what was learned, for terminal and page alike.
func (e *estimated) tables() []report.Table {
	var out []report.Table
	if e.survey.Kind() != survey.Several {
		out = append(out, e.table(e.found, 0)...)
	}
	for j := range e.found.Several {
		out = append(out, e.table(&e.found.Several[j], j)...)
	}
	if e.joint != nil {
		out = append(out, e.joint.table())
	}
	return out
}

func (e *estimated) table(x *survey.Estimate, attribute int) []report.Table {
	of := e.survey.Columns()[attribute]
	if of == "" {
		of = attributeName(e.survey, "what was asked")
	}
	numbers := func(n int) []bool { return append([]bool{false}, slices.Repeat([]bool{true}, n)...) }
	switch {
	case x.Shares != nil:
		return []report.Table{e.sharesTable(x.Shares, attribute, of)}
	case x.Words != nil:
		return []report.Table{wordsTable(x.Words)}
	case x.Mean != nil:
		m := x.Mean
		return []report.Table{{
			Caption: fmt.Sprintf("Mean of %s from %s; interval at %s for every number of reports: %s", of, plural(int(m.N), "report"), report.Percent(m.Level), m.Basis),
			Header:  []string{"", "value", "std. error", "from", "to"}, Numeric: numbers(4),
			Rows: [][]string{{"mean", figure(m.Value), figure(m.StdErr), figure(m.Low), figure(m.High)}},
		}}
	case x.Distribution != nil:
		d := x.Distribution
		t := report.Table{
			Caption: fmt.Sprintf("Distribution of %s from %s: mean %s, quartiles %s, %s, %s", of, plural(int(d.N), "report"), figure(d.Mean()), figure(d.Quantile(0.25)), figure(d.Quantile(0.5)), figure(d.Quantile(0.75))),
			Header:  []string{"from", "to", "share"}, Numeric: []bool{true, true, true},
		}
		by := perRow(len(d.Share))
		for i := 0; i < len(d.Share); i += by {
			to := min(i+by, len(d.Share))
			t.Rows = append(t.Rows, []string{figure(d.Edges[i]), figure(d.Edges[to]), share(total(d.Share[i:to]))})
		}
		return append([]report.Table{t}, waveTables(d.Errors)...)
	}
	return []report.Table{{Caption: "No report holds " + of, Header: []string{""}}}
}

// waveTables is what is read off a distribution, with errors.
func waveTables(e *ldp.WaveErrors) []report.Table {
	rows := waveErrors(e)
	if rows == nil {
		return nil
	}
	t := report.Table{
		Caption: fmt.Sprintf("Mean and quartiles; each interval at %s, by the bootstrap (approximate)", report.Percent(e.Level)),
		Header:  []string{"", "value", "std. error", "from", "to"}, Numeric: []bool{false, true, true, true, true},
	}
	for _, m := range rows {
		t.Rows = append(t.Rows, []string{m.Of, figure(m.Value), figure(m.StdErr), figure(m.Low), figure(m.High)})
	}
	return []report.Table{t}
}

// wordsTable has a row for each word, and one for what was not named.
func wordsTable(d *ldp.DecodedWords) report.Table {
	count := 0
	for _, w := range d.Words {
		if w.Significant {
			count++
		}
	}
	t := report.Table{
		Caption: fmt.Sprintf("Words: %d of %d candidates found, which explain %s of the reports; all intervals hold at once with %s", count, d.Candidates, report.Percent(min(max(d.Explained, 0), 1)), report.Percent(d.Confidence)),
		Header:  []string{"word", "share", "std. error", "from", "to", "p-value", "found"},
		Numeric: []bool{false, true, true, true, true, true, false},
	}
	row := func(name string, value, stdErr, low, high, p float64, found string) {
		se, tail := "-", "-"
		if orNull(stdErr) != nil {
			se = share(stdErr)
		}
		if orNull(p) != nil {
			tail = strconv.FormatFloat(p, 'g', 3, 64)
		}
		t.Rows = append(t.Rows, []string{name, share(value), se, share(low), share(high), tail, found})
	}
	for _, w := range d.Words {
		found := "yes"
		if !w.Significant {
			found = "no"
		}
		row(w.Word, w.Value, w.StdErr, w.Low, w.High, w.P, found)
	}
	u, name := d.Unnamed, "(not named)"
	if !d.Joint {
		name = "(not named, or too rare to be seen)"
	}
	row(name, u.Value, u.StdErr, u.Low, u.High, u.P, "")
	return t
}

// share writes a share, or its error, for people.
func share(v float64) string {
	text := strconv.FormatFloat(v, 'f', 5, 64)
	if strings.Trim(text, "-0.") == "" {
		return "0"
	}
	return text
}

// perRow is how many buckets of a distribution go together in a table for people.
func perRow(buckets int) int { return (buckets + 31) / 32 }

func total(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum
}

// sharesTable has a row for each label, at most mostRows: the largest.
func (e *estimated) sharesTable(f *ldp.Frequencies, attribute int, of string) report.Table {
	t := report.Table{
		Caption: fmt.Sprintf("Shares of %s from %s; all intervals hold at once with %s", of, plural(int(f.N), "report"), report.Percent(f.Level)),
		Header:  []string{"label", "share", "std. error", "from", "to", "reports"},
		Numeric: []bool{false, true, true, true, true, true, true},
	}
	if e.found.Rounds > 0 {
		t.Caption = fmt.Sprintf("Shares of %s among %s in %s; all intervals hold at once with %s (empirical Bernstein)", of, people(int(f.N)), plural(e.found.Rounds, "round"), report.Percent(f.Level))
		t.Header[len(t.Header)-1] = "people"
	}
	var projected []float64
	if e.project {
		t.Header = append(t.Header, "projected")
		projected = f.Projected()
	}
	names := e.survey.Labels(attribute)
	order := make([]int, len(names))
	for l := range order {
		order[l] = l
	}
	if len(order) > mostRows {
		slices.SortStableFunc(order, func(a, b int) int {
			switch {
			case f.Value[a] > f.Value[b]:
				return -1
			case f.Value[a] < f.Value[b]:
				return 1
			}
			return 0
		})
		order = order[:mostRows]
		t.Caption += fmt.Sprintf("; the largest %d of %d labels", mostRows, len(names))
	}
	for _, l := range order {
		row := []string{names[l], share(f.Value[l]), share(f.StdErr[l]), share(f.Low[l]), share(f.High[l]), report.Integer(int64(math.Round(f.Value[l] * float64(f.N))))}
		if e.project {
			row = append(row, share(projected[l]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (a *association) table() report.Table {
	t := report.Table{
		Caption: fmt.Sprintf("%s and %s together, from the reports of %s (share and standard error)", a.names[0], a.names[1], people(a.N)),
		Header:  append([]string{a.names[0] + " \\ " + a.names[1]}, a.labels[1]...),
		Numeric: append([]bool{false}, slices.Repeat([]bool{true}, len(a.labels[1]))...),
	}
	for x, row := range a.Share {
		cells := []string{a.labels[0][x]}
		for y, v := range row {
			cell := share(v)
			if se := orNull(a.StdErr[x][y]); se != nil {
				cell += " ± " + share(*se)
			}
			cells = append(cells, cell)
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

func people(n int) string {
	if n == 1 {
		return "1 person"
	}
	return report.Integer(n) + " people"
}

// print tells all to people.
func (e *estimated) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s by %s; %s\n\n", strings.Join(e.files, ", "), plural(int(e.found.N), "report"), e.survey.Mechanism(), e.found.Rejected)
	for _, t := range e.tables() {
		printTable(w, &t)
		fmt.Fprintln(w)
	}
	p := privacyOf(e.survey)
	p.print(w)
	if e.joint != nil && e.joint.loss != e.survey.Loss() {
		fmt.Fprintf(w, "  both        %s\n", e.joint.loss)
	}
}

// page is what was learned with a picture of each.
func (e *estimated) page() *report.Page {
	s := e.survey
	p := &report.Page{
		Title:  "What " + plural(int(e.found.N), "report") + " say",
		Lead:   fmt.Sprintf("Estimates from reports that were randomised by %s before they left their owners. %s.", s.Mechanism(), upper(e.found.Rejected.String())) + e.doubts(),
		Footer: "noren " + Version(),
	}
	add := func(x *survey.Estimate, j int, title string) {
		section := report.Section{Title: title}
		for i, t := range e.table(x, j) {
			if chart := e.chart(x, j); chart != nil && i == 0 {
				section.Blocks = append(section.Blocks, report.Block{Picture: &report.Picture{Chart: chart, Caption: t.Caption, Table: &t}})
			} else {
				section.Blocks = append(section.Blocks, report.Block{Table: &t})
			}
		}
		p.Sections = append(p.Sections, section)
	}
	if s.Kind() != survey.Several {
		add(e.found, 0, "Estimate")
	}
	for j := range e.found.Several {
		add(&e.found.Several[j], j, s.Columns()[j])
	}
	if e.joint != nil {
		t := e.joint.table()
		p.Sections = append(p.Sections, report.Section{Title: "Together", Blocks: []report.Block{{Table: &t}}})
	}
	p.Sections = append(p.Sections, privacySection(privacyOf(s)))
	return p
}

// privacySection states the promise on a page.
func privacySection(p privacyJSON) report.Section {
	life := "unbounded"
	if v := orNull(p.Loss.Lifetime); v != nil {
		life = report.Number(*v)
	}
	return report.Section{Title: "What is promised, and what is not", Blocks: []report.Block{
		{Figures: []report.Figure{
			{Value: report.Number(p.Loss.Report), Name: "epsilon of one report", Explain: "No report is more than e^epsilon times as likely from one value as from another."},
			{Value: report.Number(p.Loss.Record), Name: "epsilon of a record", Explain: "All attributes of a record, reported once."},
			{Value: life, Name: "epsilon of a lifetime", Explain: "All reports ever made of values that stay."},
		}},
		{Text: "Not protected:"},
		{List: p.NotProtected},
		{Text: "The promise rests on this:"},
		{List: p.Guarantee.Assumptions},
	}}
}

// doubts are the warnings, as sentences.
func (e *estimated) doubts() string {
	text := ""
	for _, w := range e.found.Warnings {
		text += " Warning: " + w + "."
	}
	return text
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// chart draws an estimate, nil where there is nothing to draw.
func (e *estimated) chart(x *survey.Estimate, attribute int) report.Chart {
	const most = 40
	switch {
	case x.Shares != nil:
		f := x.Shares
		names := e.survey.Labels(attribute)
		if b := e.survey.Bins(attribute); b != nil {
			c := report.Curve{Name: "share, with its interval", Y: f.Value, Low: f.Low, High: f.High}
			for l := range names {
				c.X = append(c.X, b.Midpoint(l))
			}
			return &report.Lines{Title: "Shares of bins", Curves: []report.Curve{c}, Across: "middle of the bin", Axis: "share", FromZero: true}
		}
		if len(names) > most {
			return nil
		}
		return &report.Bars{
			Title: "Shares of labels", Labels: names, Axis: "share", Horizontal: true,
			Series: []report.Series{{Name: "estimate, with its interval", Values: f.Value, Low: f.Low, High: f.High}},
		}
	case x.Words != nil && len(x.Words.Words) > 0:
		bars := &report.Bars{Title: "Shares of words", Axis: "share", Horizontal: true, Series: []report.Series{{Name: "estimate, with its interval"}}}
		for _, w := range x.Words.Words[:min(most, len(x.Words.Words))] {
			bars.Labels = append(bars.Labels, w.Word)
			s := &bars.Series[0]
			s.Values, s.Low, s.High = append(s.Values, w.Value), append(s.Low, w.Low), append(s.High, w.High)
		}
		return bars
	case x.Distribution != nil:
		d := x.Distribution
		c := report.Curve{Name: "share of the bucket", Y: d.Share}
		for i := range d.Share {
			c.X = append(c.X, (d.Edges[i]+d.Edges[i+1])/2)
		}
		return &report.Lines{Title: "Distribution", Curves: []report.Curve{c}, Across: "value", Axis: "share", FromZero: true}
	}
	return nil
}
