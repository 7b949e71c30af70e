package kanon

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/noren-privacy/noren/report"
)

// Figures draws the paper's figures 5 to 8 from rows, each as far as the rows
// go: influence of m, of k, of the number of records and of the coarse cells.
func Figures(rows []Row) *report.Page {
	p := &report.Page{
		Title: report.Verbatim("k-partitions of the paper's data sets"),
		Lead: report.Verbatim("Information loss (SSE/SST) and time of the methods of the Tomobiki paper and of ours, drawn as the paper's " +
			"figures 5 to 8. The times are this machine's."),
		Footer: report.Verbatim("Text columns enter as their alphabetical rank, as in the paper."),
	}
	for _, s := range []report.Section{overM(rows), overK(rows), overRecords(rows), overCells(rows)} {
		if len(s.Blocks) > 1 {
			p.Sections = append(p.Sections, s)
		}
	}
	return p
}

// curves gathers points by curve, in the order in which they come.
type curves struct {
	names []string
	list  []report.Curve
}

func (c *curves) add(name string, x, y float64) {
	at := slices.Index(c.names, name)
	if at < 0 {
		c.names = append(c.names, name)
		c.list = append(c.list, report.Curve{Name: report.Verbatim(name)})
		at = len(c.list) - 1
	}
	c.list[at].X = append(c.list[at].X, x)
	c.list[at].Y = append(c.list[at].Y, y)
}

// picture adds a line chart of the curves that have two points at least.
func picture(s *report.Section, title, across, axis string, x, y report.Scale, c *curves) {
	list := slices.DeleteFunc(slices.Clone(c.list), func(k report.Curve) bool { return len(k.X) < 2 })
	if len(list) == 0 {
		return
	}
	t := &report.Table{Header: report.Verbatims("curve", across, axis), Numeric: []bool{false, true, true}}
	for _, k := range list {
		for i := range k.X {
			t.Rows = append(t.Rows, report.Verbatims(k.Name.String(), strconv.FormatFloat(k.X[i], 'g', -1, 64),
				strconv.FormatFloat(k.Y[i], 'g', 5, 64)))
		}
	}
	s.Blocks = append(s.Blocks, report.Block{Picture: &report.Picture{
		Chart: &report.Lines{
			Title: report.Verbatim(title), Across: report.Verbatim(across), Axis: report.Verbatim(axis), Curves: list, ScaleX: x,
			ScaleY: y,
		},
		Table: t,
	}})
}

func section(title, text string) report.Section {
	return report.Section{Title: report.Verbatim(title), Blocks: []report.Block{{Text: report.Verbatim(text)}}}
}

// traced is a row of the paper's own Tomobiki, of which only m changes.
func traced(r Row) bool {
	return r.Algorithm == "tomobiki" && r.Params.Ties == "index" && r.Params.Start == fromLowest
}

func overM(rows []Row) report.Section {
	s := section("Figure 5: loss and time over m", "Tomobiki, relative to m = 1, for the first k of each data set. The loss falls until m "+
		"= 3 and changes little after; the time grows with the graph.")
	loss, seconds := &curves{}, &curves{}
	base := map[string]Row{}
	for _, r := range rows {
		if !traced(r) {
			continue
		}
		one, known := base[r.Dataset]
		if !known && r.Params.M == 1 {
			one, base[r.Dataset], known = r, r, true
		}
		if !known || one.K != r.K || one.Loss == 0 || one.Seconds == 0 {
			continue
		}
		loss.add(r.Dataset, float64(r.Params.M), r.Loss/one.Loss)
		seconds.add(r.Dataset, float64(r.Params.M), r.Seconds/one.Seconds)
	}
	picture(&s, "Relative loss", "m", "loss / loss at m = 1", report.Linear, report.Linear, loss)
	picture(&s, "Relative time", "m", "time / time at m = 1", report.Linear, report.Linear, seconds)
	return s
}

// method names the rows that are compared over k and over the number of
// records, empty for others.
func method(r Row) string {
	switch {
	case r.Algorithm == "mdav":
		return "MDAV"
	case r.Algorithm == "vmdav" && r.Params.Limit != "2k":
		return fmt.Sprintf("V-MDAV, gamma %g", r.Params.Gamma)
	case r.Algorithm == "tomobiki" && r.Params.M == 3 && traced(r):
		return "Tomobiki, m = 3"
	case r.Algorithm == "mondrian" && r.Params.Cut == balancedCut:
		return "Mondrian"
	case r.Algorithm == "noren" && r.Params.Refine == "fast":
		return "Noren, refine fast"
	}
	return ""
}

func overK(rows []Row) report.Section {
	s := section("Figure 6: loss over k", "The loss of every method, for each data set.")
	var names []string
	by := map[string]*curves{}
	for _, r := range rows {
		if m := method(r); m != "" && r.Part == 0 {
			if by[r.Dataset] == nil {
				by[r.Dataset] = &curves{}
				names = append(names, r.Dataset)
			}
			by[r.Dataset].add(m, float64(r.K), r.Loss)
		}
	}
	for _, name := range names {
		picture(&s, name, "k", "SSE/SST", report.Linear, report.Linear, by[name])
	}
	return s
}

func overRecords(rows []Row) report.Section {
	s := section("Figure 7: loss and time over the number of records",
		"Parts of Adult, for the first k. The methods that look at all pairs take time in the square of the number of records.")
	loss, seconds := &curves{}, &curves{}
	k := 0
	for _, r := range rows {
		if m := method(r); m != "" && r.Part > 0 && (k == 0 || r.K == k) {
			k = r.K
			loss.add(m, float64(r.Part), r.Loss)
			seconds.add(m, float64(r.Part), r.Seconds)
		}
	}
	picture(&s, "Loss", "records", "SSE/SST", report.Linear, report.Linear, loss)
	picture(&s, "Time", "records", "seconds", report.Log, report.Log, seconds)
	return s
}

func overCells(rows []Row) report.Section {
	s := section("Figure 8: loss and time over the size of coarse cells",
		"Tomobiki in cells of k# records or more, for the first k. Larger cells lose less and take longer.")
	loss, seconds := &curves{}, &curves{}
	k := map[string]int{}
	for _, r := range rows {
		if r.Algorithm != "tomobiki#" {
			continue
		}
		if k[r.Dataset] == 0 {
			k[r.Dataset] = r.K
		}
		if k[r.Dataset] == r.K {
			loss.add(r.Dataset, float64(r.Params.Ksharp), r.Loss)
			seconds.add(r.Dataset, float64(r.Params.Ksharp), r.Seconds)
		}
	}
	picture(&s, "Loss", "k#", "SSE/SST", report.Log, report.Linear, loss)
	picture(&s, "Time", "k#", "seconds", report.Log, report.Log, seconds)
	return s
}
