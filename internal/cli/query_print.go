package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/query"
	words "github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/table"
)

func printQuery(out io.Writer, path string, a *api.Query) error {
	r, l := a.Result, lang.Of(out)
	asked := l.Shown(subject(r, a.Rank)) + ", " + path
	if a.Where != "" {
		asked += l.Text(", where %s", a.Where)
	}
	if r.Group != nil {
		value, spread := words.Group(l, r.Group)
		fmt.Fprintf(out, "%s: %s\n\n", asked, value)
		printLine(out, noren.Term(fmt.Sprintf("%.4g %%", 100*r.Level)), spread)
		printMessages(out, "note", a.Care)
	} else {
		fmt.Fprintf(out, "%s\n\n", asked)
		if err := printGroups(out, &a.Field, r); err != nil {
			return err
		}
		printMessages(out, "note", a.Care)
		fmt.Fprintln(out)
	}
	lang.Fprintf(out, "  mechanism   %s\n", r.Noise)
	printLines(out, words.Guarantee(lang.Of(out), &a.Receipt))
	return nil
}

// subject says what was asked, as in "mean of age".
func subject(r *query.Result, rank string) noren.Text {
	switch r.Query {
	case query.Sum:
		return noren.Textf("sum of %s", r.Column)
	case query.Mean:
		return noren.Textf("mean of %s", r.Column)
	case query.Variance:
		return noren.Textf("variance of %s", r.Column)
	case query.Histogram:
		return noren.Textf("histogram of %s", r.Column)
	case query.Quantile:
		if rank != "" && rank != "0.5" {
			return noren.Textf("quantile %s of %s", rank, r.Column)
		}
		return noren.Textf("quantile of %s", r.Column)
	}
	return noren.Textf("count")
}

func printGroups(out io.Writer, column *table.Field, r *query.Result) error {
	w := grid.New(out)
	head := append([]string{}, r.By...)
	bins := len(r.Groups) > 0 && (r.Groups[0].Bin != nil || r.Groups[0].Of != nil)
	if bins {
		head = append(head, r.Column)
	}
	fmt.Fprintf(w, "  %s\t%s\t%.4g %%\n", strings.Join(head, "\t"), lang.Of(out).Term(string(r.Query)), 100*r.Level)
	for i := range r.Groups {
		g := &r.Groups[i]
		cells := append([]string{}, g.Key...)
		switch {
		case g.Bin != nil:
			cells = append(cells, fmt.Sprintf("[%s, %s)", edge(column, g.Bin[0]), edge(column, g.Bin[1])))
		case g.Of != nil:
			cells = append(cells, *g.Of)
		}
		for j, c := range cells {
			if c == "" {
				cells[j] = lang.Of(out).Text("(missing)")
			}
		}
		value, spread := words.Group(lang.Of(out), g)
		lang.Fprintf(w, "  %s\t%s\t%s\n", strings.Join(cells, "\t"), value, spread)
	}
	return w.Flush()
}

// edge writes the edge of a bin as the column writes its values.
func edge(column *table.Field, v query.Number) string {
	if column.Type == table.Date {
		return column.Layout.Format(int64(v))
	}
	return figure(v)
}

// figure writes a number with six digits and thousands apart.
func figure[F ~float64](x F) string { return words.Figure(x) }
