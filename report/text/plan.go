package text

import (
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/gate"
)

// ReleasePlan says what a release would do, before anything is written.
func ReleasePlan(l Lang, p *api.ReleasePlan) []Line {
	of := l.Text("of at least %d records", p.K)
	lines := []Line{}
	if p.Unit != "" {
		of = l.Text("of at least %d persons", p.K)
		lines = append(lines, Line{"persons", l.Text("%s, by %s", Integer(p.Persons), p.Unit)})
	}
	groups := Line{"classes", of}
	method := p.Method
	if !p.MethodReason.IsZero() {
		method = l.Shown(p.MethodReason)
	}
	method += l.Text(", refine %s, scale %s, published by %s", p.Refine, p.Scale, p.Publish)
	if p.Block > 0 {
		method += l.Text(", in blocks of at least %s records", Integer(p.Block))
	}
	lines = append(lines, groups, Line{"method", method})
	if len(p.Missing) > 0 {
		lines = append(lines, Line{"missing", l.Text("the empty field, and %s", strings.Join(p.Missing, ", "))})
	}
	count := map[string]int{}
	for _, c := range p.Columns {
		count[c.Fate]++
	}
	lines = append(lines, Line{"columns", l.Text("%d dropped, %d transformed, %d kept as they are", count[gate.Dropped],
		count[gate.Transformed], count[gate.Untouched])})
	if len(p.FreeText) > 0 {
		lines = append(lines, Line{"free text", strings.Join(p.FreeText, ", ")})
	}
	if n := count[kanon.Undecided]; n > 0 {
		lines = append(lines, Line{"refused", l.Text("%s: the release would be refused until each has a role, or is kept by name", undecided(n))})
	}
	if p.Output != "" {
		lines = append(lines, Line{"output", p.Output})
	}
	return lines
}

// undecided counts columns without a decision.
func undecided(n int) noren.Text { return Counted(n, "%s {column has|columns have} no decision") }
