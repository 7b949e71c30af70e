package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/table"
)

func correlation(v float64) string {
	s := fmt.Sprintf("%.2f", v)
	if s == "-0.00" {
		return "0.00"
	}
	return strings.Replace(s, "-", "−", 1)
}

// value writes a number of a column: dates as dates.
func value(c *assess.NumberColumn) func(float64) noren.Text {
	return func(v float64) noren.Text {
		if c.Layout == "" {
			return Verbatim(Number(v))
		}
		return Verbatim(table.Layout(c.Layout).Format(int64(math.Round(v))))
	}
}

// width writes a difference of a column's values: for dates, days or seconds.
func width(c *assess.NumberColumn) func(float64) noren.Text {
	return func(v float64) noren.Text {
		switch {
		case c.Layout == "":
			return Verbatim(Number(v))
		case table.Layout(c.Layout).HasTime():
			return noren.Textf("%s s", Number(v))
		}
		return noren.Textf("%s {day|days}", Number(v))
	}
}

// figure writes a figure, with its bounds or the reason for its absence.
func figure(f assess.Figure) noren.Text {
	switch {
	case f.Value != nil && f.Low != nil && f.High != nil && *f.High-*f.Low > 0.01*(*f.Value):
		return noren.Textf("%s (%s to %s)", Percent(*f.Value), Percent(*f.Low), Percent(*f.High))
	case f.Value != nil:
		return Verbatim(Percent(*f.Value))
	case f.Low != nil:
		return noren.Textf("at least %s", Percent(*f.Low))
	}
	return Verbatim(dash)
}

// dash stands for what is not known.
const dash = "–"

// known writes *v with f, or a dash when there is none.
func known(v *float64, f func(float64) noren.Text) noren.Text {
	if v == nil {
		return Verbatim(dash)
	}
	return f(*v)
}

// change is a figure of the original and of the release.
func change(was, now noren.Text) noren.Text { return noren.Textf("%s → %s", was, now) }

func (b *assessment) utility() []Block {
	u := b.a.Utility
	var blocks []Block
	rows := noren.Textf(
		"Which row belongs to which was not used, as a release shuffles its rows; figures that need it are absent or have bounds.")
	if u.Corresponding {
		rows = noren.Textf("Its rows are in the order of the original, so that losses are exact, record by record.")
	}
	blocks = append(blocks, Block{Text: paragraph(noren.Textf("The release was compared with the original column by column."), rows)})
	t := &Table{Header: Header("Measure", "Value", "What it says"), Numeric: []bool{false, true}}
	add := func(measure, figure, meaning noren.Text) {
		t.Rows = append(t.Rows, []noren.Text{measure, figure, meaning})
	}
	original, release := noren.Textf("original"), noren.Textf("release")
	add(noren.Textf("Records"), change(Verbatim(Integer(u.OriginalRecords)), Verbatim(Integer(u.ReleaseRecords))), change(original, release))
	covers := noren.Textf("of the columns %s", listed(u.Loss.Columns))
	if len(u.Loss.Columns) == 0 {
		covers = noren.Textf("not available: %s", u.Loss.MinMax.Reason)
	} else if u.Loss.Method == "decomposition" {
		covers = noren.Textf("%s; %s", covers,
			noren.Textf("what is published is taken to be group means, and the bounds allow for their rounding"))
	}
	add(noren.Textf("Squared error of the published numbers, of their spread (columns scaled to [0,1])"), figure(u.Loss.MinMax), covers)
	add(noren.Textf("The same, columns standardised"), figure(u.Loss.ZScore), noren.Textf("every column counts alike"))
	if m := b.f.Grouping; m != nil {
		add(lossOf(m.Scale), Verbatim(Percent(m.Loss)), noren.Textf("of the groups, over all quasi-identifiers: squared distance of records "+
			"from the centre of their group, over that from the centre of all"))
		add(noren.Textf("Certainty penalty (NCP)"), Verbatim(Percent(m.NCP)),
			noren.Textf("mean width of a class, divided by the width of its column"))
	} else {
		if l := b.a.ClassLoss; l != nil {
			add(lossOf(l.Scale), Verbatim(Percent(l.Loss)), noren.Textf("of the classes, over all quasi-identifiers: squared distance of records "+
				"from the centre of their class, over that from the centre of all"))
		}
		add(b.penalty())
	}
	if c := u.Correlations; c != nil && c.MeanChange != nil {
		add(noren.Textf("Mean change of a correlation"), Verbatim(correlation(*c.MeanChange)),
			text.Counted(c.Pairs, "over %s {pair|pairs} of columns"))
	}
	return append(blocks, Block{Table: t})
}

// penalty is the row of the certainty penalty as it is measured on a release.
func (b *assessment) penalty() (measure, value, meaning noren.Text) {
	measure = noren.Textf("Certainty penalty (NCP)")
	u := b.a.Utility
	if u.NCP.Value != nil {
		return measure, figure(u.NCP), noren.Textf("mean width of what is shown of a value, over the width of its column")
	}
	return measure, Verbatim(dash), noren.Textf("not available: %s", u.NCP.Reason)
}

func (b *assessment) numbers() []Block {
	columns := b.a.Utility.Numbers
	if len(columns) == 0 {
		return nil
	}
	t := &Table{
		Caption: noren.Textf("All columns of numbers, original → release"),
		Header:  Header("Column", "Mean", "Standard deviation", "Missing", "Loss", "NCP"),
		Numeric: []bool{false, true, true, true, true, true},
	}
	for i := range columns {
		c := &columns[i]
		t.Rows = append(t.Rows, []noren.Text{
			named(c.Name),
			change(known(c.Original.Mean, value(c)), known(c.Release.Mean, value(c))),
			change(known(c.Original.SD, width(c)), known(c.Release.SD, width(c))),
			change(Verbatim(Percent(c.Original.MissingShare)), Verbatim(Percent(c.Release.MissingShare))),
			figure(c.Loss), figure(c.NCP),
		})
	}
	shorten(t)
	blocks := []Block{
		{Text: noren.Textf("Means of groups keep the mean of a column and lower its standard deviation, as values move to the middle of their " +
			"class. Matched values keep about both. The pictures show where values moved.")},
		{Table: t},
	}
	for i := range columns {
		c := &columns[i]
		if i == columnsPictured {
			blocks = append(blocks, Block{Note: noren.Textf("%d more {column has|columns have} no picture.", len(columns)-i)})
			break
		}
		blocks = append(blocks, Block{Heading: named(c.Name)}, Block{Text: describe(c)})
		if h := c.Histogram; h != nil {
			blocks = append(blocks, Block{Picture: &Picture{
				Chart: &Overlay{
					Edges: h.Edges, Layout: table.Layout(c.Layout), Across: named(c.Name),
					First: Series{Name: noren.Textf("original"), Values: h.Original}, Second: Series{Name: noren.Textf("release"), Values: h.Release},
				},
				Table: numberTable(c),
			}})
		} else {
			blocks = append(blocks, Block{Table: numberTable(c)})
		}
	}
	return blocks
}

// columnsListed is how many columns of a table are listed.
const columnsListed = 100

// shorten drops the rows beyond columnsListed, and the last columns of t as
// long as they hold nothing but dashes.
func shorten(t *Table) {
	if len(t.Rows) > columnsListed {
		t.Caption = noren.Textf("%s (the first %d of %d)", t.Caption, columnsListed, len(t.Rows))
		t.Rows = t.Rows[:columnsListed]
	}
	for last := len(t.Header) - 1; last > 0; last-- {
		for _, row := range t.Rows {
			if row[last].String() != dash {
				return
			}
		}
		t.Header = t.Header[:last]
		for i := range t.Rows {
			t.Rows[i] = t.Rows[i][:last]
		}
	}
}

// describe says in a sentence what happened to a column.
func describe(c *assess.NumberColumn) noren.Text {
	if c.Original.Count == 0 {
		return noren.Textf("The original has no values in this column.")
	}
	if c.Release.Count == 0 {
		return noren.Textf("The release shows no values of this column.")
	}
	var parts noren.Texts
	if c.MeanChange != nil {
		switch m := abs(*c.MeanChange); {
		case m < 0.005:
			parts = append(parts, noren.Textf("the mean stays where it was"))
		default:
			direction := noren.Phrase("up")
			if *c.MeanChange < 0 {
				direction = noren.Phrase("down")
			}
			parts = append(parts, noren.Textf("the mean moves %s by %s standard deviations", direction, Number(math.Round(m*1000)/1000)))
		}
	}
	if c.SDRatio != nil {
		switch r := *c.SDRatio; {
		case math.Abs(r-1) < 0.005:
			parts = append(parts, noren.Textf("the spread is kept"))
		case r < 1:
			parts = append(parts, noren.Textf("the spread shrinks by %s", Percent(1-r)))
		default:
			parts = append(parts, noren.Textf("the spread grows by %s", Percent(r-1)))
		}
	}
	if c.Ranges {
		parts = append(parts, noren.Textf("ranges are counted at their midpoints"))
	}
	if c.Unread > 0 {
		parts = append(parts, noren.Textf("%s could not be read as numbers and are left out", records(c.Unread)))
	}
	if len(parts) == 0 {
		return noren.Textf("The original has one value only.")
	}
	return noren.Textf("%s", noren.Sentence(parts.Text()))
}

func numberTable(c *assess.NumberColumn) *Table {
	t := &Table{Header: append([]noren.Text{named(c.Name)}, Header("original", "release")...), Numeric: []bool{false, true, true}}
	row := func(name noren.Format, f func(m *assess.Moments) noren.Text) {
		t.Rows = append(t.Rows, []noren.Text{noren.Textf(name), f(&c.Original), f(&c.Release)})
	}
	v := value(c)
	row("Values", func(m *assess.Moments) noren.Text { return Verbatim(Integer(m.Count)) })
	row("Missing", func(m *assess.Moments) noren.Text {
		return noren.Textf("%s (%s)", Integer(m.Missing), Percent(m.MissingShare))
	})
	row("Mean", func(m *assess.Moments) noren.Text { return known(m.Mean, v) })
	row("Standard deviation", func(m *assess.Moments) noren.Text { return known(m.SD, width(c)) })
	row("Smallest", func(m *assess.Moments) noren.Text { return known(m.Min, v) })
	row("First quartile", func(m *assess.Moments) noren.Text { return known(m.Q1, v) })
	row("Median", func(m *assess.Moments) noren.Text { return known(m.Median, v) })
	row("Third quartile", func(m *assess.Moments) noren.Text { return known(m.Q3, v) })
	row("Largest", func(m *assess.Moments) noren.Text { return known(m.Max, v) })
	return t
}

// barsMost is how many values of a column of words have a bar, and
// valuesListed how many are in the table beside it.
const (
	barsMost     = 12
	valuesListed = 25
)

func (b *assessment) categories() []Block {
	columns := b.a.Utility.Categories
	if len(columns) == 0 {
		return nil
	}
	t := &Table{
		Caption: noren.Textf("All columns of words"),
		Header:  Header("Column", "Values", "Values not shown alone", "Frequencies moved", "Records changed", "NCP"),
		Numeric: []bool{false, true, true, true, true, true},
	}
	for i := range columns {
		c := &columns[i]
		t.Rows = append(t.Rows, []noren.Text{
			named(c.Name), Verbatim(Integer(c.Values)), Verbatim(Integer(c.Lost)),
			Verbatim(Percent(c.TotalVariation)), figure(c.Changed), figure(c.NCP),
		})
	}
	shorten(t)
	blocks := []Block{
		{Text: noren.Textf("All records of a class show the same value, set or shares. A value that is rare in every class may not be shown " +
			"at all: its bar for the release is then 0.")},
		{Table: t},
	}
	for i := range columns {
		c := &columns[i]
		if i == columnsPictured {
			blocks = append(blocks, Block{Note: noren.Textf("%d more {column has|columns have} no picture.", len(columns)-i)})
			break
		}
		blocks = append(blocks, Block{Heading: named(c.Name)}, Block{Picture: categoryPicture(c, b.a.Utility)})
	}
	return blocks
}

func categoryPicture(c *assess.CategoryColumn, u *assess.Utility) *Picture {
	n, m := float64(max(1, u.OriginalRecords)), float64(max(1, u.ReleaseRecords))
	chart := &Bars{Horizontal: true, Format: Percent, Axis: noren.Textf("share of records")}
	t := &Table{
		Header:  append([]noren.Text{named(c.Name)}, Header("Original", "Share", "Release", "Share")...),
		Numeric: []bool{false, true, true, true, true},
	}
	var first, second []float64
	var others assess.Frequency
	add := func(name noren.Text, f assess.Frequency) {
		chart.Labels = append(chart.Labels, name)
		first, second = append(first, f.Original/n), append(second, f.Release/m)
	}
	row := func(name noren.Text, f assess.Frequency) {
		t.Add(name, Number(f.Original), Percent(f.Original/n), Number(f.Release), Percent(f.Release/m))
	}
	var unlisted assess.Frequency
	sum := func(to *assess.Frequency, f assess.Frequency) {
		to.Original += f.Original
		to.Release += f.Release
	}
	for i, f := range c.Frequencies {
		if i < valuesListed {
			row(named(f.Value), f)
		} else {
			sum(&unlisted, f)
		}
		if i < barsMost {
			add(named(f.Value), f)
		} else {
			sum(&others, f)
		}
	}
	if c.Rest != nil {
		sum(&unlisted, *c.Rest)
		sum(&others, *c.Rest)
	}
	if unlisted != (assess.Frequency{}) {
		row(noren.Textf("all other values"), unlisted)
	}
	if others != (assess.Frequency{}) {
		add(noren.Textf("all other values"), others)
	}
	if c.OriginalMissing+c.ReleaseMissing > 0 {
		missing := assess.Frequency{Original: float64(c.OriginalMissing), Release: float64(c.ReleaseMissing)}
		add(noren.Textf("missing"), missing)
		row(noren.Textf("missing"), missing)
	}
	chart.Series = []Series{{Name: noren.Textf("original"), Values: first}, {Name: noren.Textf("release"), Values: second}}
	var parts noren.Texts
	if c.Lost > 0 {
		parts = append(parts, noren.Textf("%s of %s {value|values} {1|does|do} not occur on their own in the release", Integer(c.Lost),
			Integer(c.Values)))
	} else {
		parts = append(parts, noren.Textf("Every value occurs in the release"))
	}
	if c.Sets {
		parts = append(parts, noren.Textf("sets count in equal parts for each of their values"))
	}
	if c.New > 0 {
		parts = append(parts, noren.Textf("%s {value|values} of the release {1|is|are} unknown to the original and {1|has|have} no bar",
			Integer(c.New)))
	}
	return &Picture{Chart: chart, Caption: noren.Textf("%s.", parts.Text()), Table: t}
}

// matrixMost is how many columns a heat map shows.
const matrixMost = 12

func (b *assessment) correlations() []Block {
	c := b.a.Utility.Correlations
	if c == nil {
		return nil
	}
	n := min(matrixMost, len(c.Columns))
	cut := func(m [][]*float64) [][]*float64 {
		part := make([][]*float64, n)
		for i := range part {
			part[i] = m[i][:n]
		}
		return part
	}
	blocks := []Block{{Text: noren.Textf("A correlation says whether two columns rise and fall together: 1 in step, 0 not related, −1 " +
		"opposite. An analysis of several columns is right only as far as they are kept.")}}
	chart := &HeatMap{Names: c.Columns[:n], Panels: []Panel{
		{noren.Textf("original"), cut(c.Original)},
		{noren.Textf("release"), cut(c.Release)},
	}}
	blocks = append(blocks, Block{Picture: &Picture{
		Chart: chart, Caption: noren.Textf("Equal squares mean that all correlations are kept."),
		Table: pairTable(c),
	}})
	if len(c.Columns) > n {
		blocks = append(blocks,
			Block{Note: noren.Textf("The picture shows the first %d of %d {column|columns}; the table has the largest changes among all.", n,
				len(c.Columns))})
	}
	return blocks
}
