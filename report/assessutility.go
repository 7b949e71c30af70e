package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/noren-privacy/noren/assess"
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
func value(c *assess.NumberColumn) func(float64) string {
	if c.Layout == "" {
		return Number
	}
	return func(v float64) string { return table.Layout(c.Layout).Format(int64(math.Round(v))) }
}

// width writes a difference of a column's values: for dates, days or seconds.
func width(c *assess.NumberColumn) func(float64) string {
	switch {
	case c.Layout == "":
		return Number
	case table.Layout(c.Layout).HasTime():
		return func(v float64) string { return Number(v) + " s" }
	}
	return func(v float64) string { return Number(v) + " days" }
}

// figure writes a figure, with its bounds or the reason for its absence.
func figure(f assess.Figure) string {
	switch {
	case f.Value != nil && f.Low != nil && f.High != nil && *f.High-*f.Low > 0.01*(*f.Value):
		return fmt.Sprintf("%s (%s to %s)", Percent(*f.Value), Percent(*f.Low), Percent(*f.High))
	case f.Value != nil:
		return Percent(*f.Value)
	case f.Low != nil:
		return "at least " + Percent(*f.Low)
	}
	return "–"
}

func (b *assessment) utility() []Block {
	u := b.a.Utility
	var blocks []Block
	text := "The release was compared with the original column by column."
	if u.Corresponding {
		text += " Its rows are in the order of the original, so that losses are exact, record by record."
	} else {
		text += " Which row belongs to which was not used, as a release shuffles its rows; figures that need it are absent or have bounds."
	}
	blocks = append(blocks, Block{Text: text})
	t := &Table{Keep: b.columns(), Header: []string{"Measure", "Value", "What it says"}, Numeric: []bool{false, true}}
	t.Rows = append(t.Rows, []string{"Records", Integer(u.OriginalRecords) + " → " + Integer(u.ReleaseRecords), "original → release"})
	covers := "of the columns " + quoteList(u.Loss.Columns)
	if len(u.Loss.Columns) == 0 {
		covers = "not available: " + u.Loss.MinMax.Reason.String()
	} else if u.Loss.Method == "decomposition" {
		covers += "; what is published is taken to be group means, and the bounds allow for their rounding"
	}
	t.Rows = append(
		t.Rows,
		[]string{"Squared error of the published numbers, of their spread (columns scaled to [0,1])", figure(u.Loss.MinMax), covers},
		[]string{"The same, columns standardised", figure(u.Loss.ZScore), "every column counts alike"},
	)
	if m := b.f.Grouping; m != nil {
		t.Rows = append(
			t.Rows,
			[]string{"Information loss (SSE/SST, scale " + m.Scale + ")", Percent(m.Loss), "of the groups, over all quasi-identifiers: squared distance of records from the centre of their group, over that from the centre of all"},
			[]string{"Certainty penalty (NCP)", Percent(m.NCP), "mean width of a class, divided by the width of its column"},
		)
	} else {
		if l := b.a.ClassLoss; l != nil {
			t.Rows = append(t.Rows, []string{"Information loss (SSE/SST, scale " + l.Scale + ")", Percent(l.Loss), "of the classes, over all quasi-identifiers: squared distance of records from the centre of their class, over that from the centre of all"})
		}
		t.Rows = append(t.Rows, b.penalty())
	}
	if c := u.Correlations; c != nil && c.MeanChange != nil {
		t.Rows = append(t.Rows, []string{"Mean change of a correlation", correlation(*c.MeanChange), "over " + pairs(c.Pairs)})
	}
	return append(blocks, Block{Table: t})
}

// penalty is the row of the certainty penalty as it is measured on a release.
func (b *assessment) penalty() []string {
	u := b.a.Utility
	if u.NCP.Value != nil {
		return []string{"Certainty penalty (NCP)", figure(u.NCP), "mean width of what is shown of a value, over the width of its column"}
	}
	return []string{"Certainty penalty (NCP)", "–", "not available: " + u.NCP.Reason.String()}
}

// pairs counts pairs of columns.
func pairs(n int) string {
	if n == 1 {
		return "1 pair of columns"
	}
	return Integer(n) + " pairs of columns"
}

func (b *assessment) numbers() []Block {
	columns := b.a.Utility.Numbers
	if len(columns) == 0 {
		return nil
	}
	t := &Table{
		Caption: "All columns of numbers, original → release",
		Names:   true,
		Header:  []string{"Column", "Mean", "Standard deviation", "Missing", "Loss", "NCP"},
		Numeric: []bool{false, true, true, true, true, true},
	}
	for i := range columns {
		c := &columns[i]
		t.Rows = append(t.Rows, []string{
			plain(c.Name),
			optional(c.Original.Mean, value(c)) + " → " + optional(c.Release.Mean, value(c)),
			optional(c.Original.SD, width(c)) + " → " + optional(c.Release.SD, width(c)),
			Percent(c.Original.MissingShare) + " → " + Percent(c.Release.MissingShare),
			figure(c.Loss), figure(c.NCP),
		})
	}
	shorten(t)
	blocks := []Block{
		{Text: "Means of groups keep the mean of a column and lower its standard deviation, as values move to the middle of their class. Matched values keep about both. The pictures show where values moved."},
		{Table: t},
	}
	for i := range columns {
		c := &columns[i]
		if i == columnsPictured {
			blocks = append(blocks, Block{Note: fmt.Sprintf("%d more columns have no picture.", len(columns)-i)})
			break
		}
		blocks = append(blocks, Block{Heading: plain(c.Name)}, Block{Text: describe(c)})
		if h := c.Histogram; h != nil {
			blocks = append(blocks, Block{Picture: &Picture{
				Chart: &Overlay{
					Title: "", Edges: h.Edges, Layout: table.Layout(c.Layout), Across: c.Name,
					First: Series{Name: "original", Values: h.Original}, Second: Series{Name: "release", Values: h.Release},
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
		t.Caption += fmt.Sprintf(" (the first %d of %d)", columnsListed, len(t.Rows))
		t.Rows = t.Rows[:columnsListed]
	}
	for last := len(t.Header) - 1; last > 0; last-- {
		for _, row := range t.Rows {
			if row[last] != "–" {
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
func describe(c *assess.NumberColumn) string {
	if c.Original.Count == 0 {
		return "The original has no values in this column."
	}
	if c.Release.Count == 0 {
		return "The release shows no values of this column."
	}
	var parts []string
	if c.MeanChange != nil {
		switch m := abs(*c.MeanChange); {
		case m < 0.005:
			parts = append(parts, "the mean stays where it was")
		default:
			direction := "up"
			if *c.MeanChange < 0 {
				direction = "down"
			}
			parts = append(parts, fmt.Sprintf("the mean moves %s by %s standard deviations", direction, Number(math.Round(m*1000)/1000)))
		}
	}
	if c.SDRatio != nil {
		switch r := *c.SDRatio; {
		case math.Abs(r-1) < 0.005:
			parts = append(parts, "the spread is kept")
		case r < 1:
			parts = append(parts, fmt.Sprintf("the spread shrinks by %s", Percent(1-r)))
		default:
			parts = append(parts, fmt.Sprintf("the spread grows by %s", Percent(r-1)))
		}
	}
	if c.Ranges {
		parts = append(parts, "ranges are counted at their midpoints")
	}
	if c.Unread > 0 {
		parts = append(parts, fmt.Sprintf("%s could not be read as numbers and are left out", records(c.Unread)))
	}
	if len(parts) == 0 {
		return "The original has one value only."
	}
	s := strings.Join(parts, "; ")
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

func numberTable(c *assess.NumberColumn) *Table {
	t := &Table{Header: []string{plain(c.Name), "original", "release"}, Numeric: []bool{false, true, true}}
	row := func(name string, f func(m *assess.Moments) string) {
		t.Rows = append(t.Rows, []string{name, f(&c.Original), f(&c.Release)})
	}
	v := value(c)
	row("Values", func(m *assess.Moments) string { return Integer(m.Count) })
	row("Missing", func(m *assess.Moments) string {
		return fmt.Sprintf("%s (%s)", Integer(m.Missing), Percent(m.MissingShare))
	})
	row("Mean", func(m *assess.Moments) string { return optional(m.Mean, v) })
	row("Standard deviation", func(m *assess.Moments) string { return optional(m.SD, width(c)) })
	row("Smallest", func(m *assess.Moments) string { return optional(m.Min, v) })
	row("First quartile", func(m *assess.Moments) string { return optional(m.Q1, v) })
	row("Median", func(m *assess.Moments) string { return optional(m.Median, v) })
	row("Third quartile", func(m *assess.Moments) string { return optional(m.Q3, v) })
	row("Largest", func(m *assess.Moments) string { return optional(m.Max, v) })
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
		Caption: "All columns of words",
		Names:   true,
		Header:  []string{"Column", "Values", "Values not shown alone", "Frequencies moved", "Records changed", "NCP"},
		Numeric: []bool{false, true, true, true, true, true},
	}
	for i := range columns {
		c := &columns[i]
		t.Rows = append(t.Rows, []string{plain(c.Name), Integer(c.Values), Integer(c.Lost), Percent(c.TotalVariation), figure(c.Changed), figure(c.NCP)})
	}
	shorten(t)
	blocks := []Block{
		{Text: "All records of a class show the same value, set or shares. A value that is rare in every class may not be shown at all: its bar for the release is then 0."},
		{Table: t},
	}
	for i := range columns {
		c := &columns[i]
		if i == columnsPictured {
			blocks = append(blocks, Block{Note: fmt.Sprintf("%d more columns have no picture.", len(columns)-i)})
			break
		}
		blocks = append(blocks, Block{Heading: plain(c.Name)}, Block{Picture: categoryPicture(c, b.a.Utility)})
	}
	return blocks
}

func categoryPicture(c *assess.CategoryColumn, u *assess.Utility) *Picture {
	n, m := float64(max(1, u.OriginalRecords)), float64(max(1, u.ReleaseRecords))
	chart := &Bars{Horizontal: true, Format: Percent, Axis: "share of records"}
	t := &Table{Keep: []string{plain(c.Name)}, Header: []string{plain(c.Name), "Original", "Share", "Release", "Share"}, Numeric: []bool{false, true, true, true, true}}
	var first, second []float64
	var others assess.Frequency
	add := func(name string, f assess.Frequency) {
		chart.Labels = append(chart.Labels, name)
		first, second = append(first, f.Original/n), append(second, f.Release/m)
	}
	row := func(name string, f assess.Frequency) {
		t.Rows = append(t.Rows, []string{name, Number(f.Original), Percent(f.Original / n), Number(f.Release), Percent(f.Release / m)})
	}
	var unlisted assess.Frequency
	sum := func(to *assess.Frequency, f assess.Frequency) {
		to.Original += f.Original
		to.Release += f.Release
	}
	for i, f := range c.Frequencies {
		if i < valuesListed {
			row(plain(f.Value), f)
			t.Keep = append(t.Keep, plain(f.Value))
		} else {
			sum(&unlisted, f)
		}
		if i < barsMost {
			add(f.Value, f)
		} else {
			sum(&others, f)
		}
	}
	if c.Rest != nil {
		sum(&unlisted, *c.Rest)
		sum(&others, *c.Rest)
	}
	if unlisted != (assess.Frequency{}) {
		row("all other values", unlisted)
	}
	if others != (assess.Frequency{}) {
		add("all other values", others)
		chart.Ours++
	}
	if c.OriginalMissing+c.ReleaseMissing > 0 {
		missing := assess.Frequency{Original: float64(c.OriginalMissing), Release: float64(c.ReleaseMissing)}
		add("missing", missing)
		chart.Ours++
		row("missing", missing)
	}
	chart.Series = []Series{{Name: "original", Values: first}, {Name: "release", Values: second}}
	var parts []string
	if c.Lost > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s values do not occur on their own in the release", Integer(c.Lost), Integer(c.Values)))
	} else {
		parts = append(parts, "Every value occurs in the release")
	}
	if c.Sets {
		parts = append(parts, "sets count in equal parts for each of their values")
	}
	if c.New > 0 {
		parts = append(parts, fmt.Sprintf("%s values of the release are unknown to the original and have no bar", Integer(c.New)))
	}
	return &Picture{Chart: chart, Caption: strings.Join(parts, "; ") + ".", Table: t}
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
	blocks := []Block{{Text: "A correlation says whether two columns rise and fall together: 1 in step, 0 not related, −1 opposite. An analysis of several columns is right only as far as they are kept."}}
	chart := &HeatMap{Names: c.Columns[:n], Panels: []Panel{{"original", cut(c.Original)}, {"release", cut(c.Release)}}}
	blocks = append(blocks, Block{Picture: &Picture{Chart: chart, Caption: "Equal squares mean that all correlations are kept.", Table: pairTable(c)}})
	if len(c.Columns) > n {
		blocks = append(blocks, Block{Note: fmt.Sprintf("The picture shows the first %d of %d columns; the table has the largest changes among all.", n, len(c.Columns))})
	}
	return blocks
}
