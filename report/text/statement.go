package text

import (
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
)

// Statement is a guarantee in one line, as [noren.Guarantee.String] says it in English.
func Statement(l Lang, g *noren.Guarantee) string {
	if l == English {
		return g.String()
	}
	var b strings.Builder
	b.WriteString(l.Term(g.Model))
	if g.K > 0 {
		b.WriteString(l.Text(", k = %d over %s", g.K, strings.Join(g.Quasi, ", ")))
		if g.Linkage != "" {
			b.WriteString(l.Text(", persons by %s", g.Unit))
		}
		if g.Linkage == "all" {
			b.WriteString(l.Text(", all records of a person linked"))
		}
		if g.Pseudonyms {
			b.WriteString(l.Text("by pseudonyms"))
		}
	}
	if g.Epsilon > 0 || g.Delta > 0 {
		b.WriteString(l.Text(", epsilon = %s", string(api.Decimal(g.Epsilon))))
		if g.Delta > 0 {
			b.WriteString(l.Text(", delta = %s", string(api.Decimal(g.Delta))))
		}
		if g.Neighbours != "" {
			b.WriteString(l.Text(", neighbours %s", g.Neighbours))
		}
		if g.Unit != "" {
			b.WriteString(l.Text(" of one %s", l.Unit(g.Unit)))
		}
	}
	for _, d := range g.Diversity {
		b.WriteString(l.Text("; %s %g-diversity of %s", d.Model, d.L, d.Column))
		if d.CountMissing {
			b.WriteString(l.Text("(missing values counted)"))
		}
	}
	for _, c := range g.Closeness {
		b.WriteString(l.Text("; %g-closeness of %s (%s distance)", c.T, c.Column, l.Term(c.Distance)))
	}
	return b.String()
}
