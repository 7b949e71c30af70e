package cli

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/table"
)

// queryJSON is an answer with its promise and its charge.
type queryJSON struct {
	Schema string `json:"schema"`
	*query.Result
	dpJSON
}

func printQuery(out io.Writer, path string, q *query.Query, r *query.Result, a *release.Answer) error {
	p, _ := q.Parameters().(query.Parameters)
	what := string(r.Query)
	if p.Rank != "" && p.Rank != "0.5" {
		what += " " + p.Rank
	}
	if r.Column != "" {
		what += " of " + r.Column
	}
	what += ", " + path
	if p.Where != "" {
		what += ", where " + p.Where
	}
	if r.Group != nil {
		fmt.Fprintf(out, "%s: %s\n\n", what, groupValue(r.Group))
		fmt.Fprintf(out, "  %-11s %s\n", fmt.Sprintf("%.4g %%", 100*r.Level), groupSpread(r.Group))
	} else {
		fmt.Fprintf(out, "%s\n\n", what)
		if err := printGroups(out, q, r); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "  mechanism   %s\n", r.Method)
	printPromise(out, a)
	return nil
}

func printGroups(out io.Writer, q *query.Query, r *query.Result) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	head := append([]string{}, r.By...)
	bins := len(r.Groups) > 0 && (r.Groups[0].Bin != nil || r.Groups[0].Of != nil)
	if bins {
		head = append(head, r.Column)
	}
	fmt.Fprintf(w, "  %s\t%s\t%.4g %%\n", strings.Join(head, "\t"), r.Query, 100*r.Level)
	for i := range r.Groups {
		g := &r.Groups[i]
		cells := append([]string{}, g.Key...)
		switch {
		case g.Bin != nil:
			cells = append(cells, fmt.Sprintf("[%s, %s)", edge(q, r.Column, g.Bin[0]), edge(q, r.Column, g.Bin[1])))
		case g.Of != nil:
			cells = append(cells, *g.Of)
		}
		for j, c := range cells {
			if c == "" {
				cells[j] = "(missing)"
			}
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", strings.Join(cells, "\t"), groupValue(g), groupSpread(g))
	}
	return w.Flush()
}

// edge writes the edge of a bin as the column writes its values.
func edge(q *query.Query, column string, v query.Number) string {
	for _, f := range q.Columns() {
		if f.Name == column && f.Type == table.Date {
			return f.Layout.Format(int64(v))
		}
	}
	return figure(v)
}

func groupValue(g *query.Group) string {
	switch {
	case g.Text != "":
		return g.Text
	case g.Value == nil:
		return "none: too few records"
	}
	return figure(*g.Value)
}

func groupSpread(g *query.Group) string {
	switch {
	case g.Interval != nil:
		return figure(g.Interval[0]) + " to " + figure(g.Interval[1])
	case g.RankWithin != nil:
		return "its rank is off by at most " + figure(*g.RankWithin) + " records"
	}
	return "none"
}

// figure writes a number with six digits and thousands apart.
func figure[F ~float64](x F) string {
	v := float64(x)
	if math.Abs(v) >= 1e15 || v != 0 && math.Abs(v) < 1e-4 {
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	places := 0
	for scaled := math.Abs(v); places < 6 && scaled < 1e5 && v != math.Trunc(v); places++ {
		scaled = math.Max(scaled, 1e-3) * 10
	}
	text := strconv.FormatFloat(v, 'f', places, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	whole, rest, _ := strings.Cut(text, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return sign + whole
}
