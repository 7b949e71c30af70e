package records

import (
	"cmp"
	"maps"
	"slices"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/service"
)

// Warning is what the reader of a preview has to know before the release, with what can be done.
type Warning struct {
	Message  Message  `json:"message" doc:"What was found."`
	Remedies []Remedy `json:"remedies" nullable:"false" doc:"Changes of the recipe that answer it; none where the table has to change."`
}

// Remedy is a change of the recipe that answers a warning. A trial tells its effect.
type Remedy struct {
	Act        string     `json:"act" enum:"drop,quasi-identifier,diversity,diversity-suppress,keep-all,formulas" doc:"What it does."`
	Column     string     `json:"column,omitempty" doc:"The column that it is about."`
	Parameters Parameters `json:"parameters" doc:"The parameters of the recipe with it."`
}

// mostRemedied is the number of columns that the remedies of a warning are about.
const mostRemedied = 3

// warnings are those among the remarks of a preview that need a decision.
func warnings(p *preview) []Warning {
	out := []Warning{}
	rel, now := p.release, &p.parameters
	if u := rel.Unique; u != nil && u.InPairs > 0 && len(u.Columns) > 0 {
		said := sentences("unique", nil, func(l lang.Lang) string { return uniqueSentence(l, rel) })
		out = append(out, Warning{said, slices.Concat(p.withRole("drop", uniqueColumns(rel)),
			p.withRole("quasi-identifier", uniqueColumns(rel)))})
	}
	if len(rel.FreeText) > 0 {
		out = append(out, Warning{notCoveredFreeText(rel), p.withRole("drop", rel.FreeText)})
	}
	open := len(rel.Guarantee.Diversity) == 0 && len(rel.Guarantee.Closeness) == 0 && hasSensitive(rel)
	for _, c := range checks(p) {
		if c.Level != "attention" {
			continue
		}
		w := Warning{Message: c.Message, Remedies: []Remedy{}}
		switch c.Message.Code {
		case "totals", "hidden": // decided before the columns were confirmed
			continue
		case "sensitive":
			w.Remedies, open = diverse(now), false
		case "suppressed":
			q := *now
			q.Suppress = ""
			w.Remedies = append(w.Remedies, Remedy{"keep-all", "", q})
		case service.NoteFormulas:
			q := *now
			q.Formulas = "text"
			w.Remedies = append(w.Remedies, Remedy{"formulas", "", q})
		default:
			w.Remedies = p.withRole("drop", c.columns)
		}
		out = append(out, w)
	}
	if open {
		out = append(out, Warning{api.Say("sensitive-open", nil), diverse(now)})
	}
	return out
}

// uniqueSentence says how many records are unique on the kept columns, by the strongest of the figures.
func uniqueSentence(l lang.Lang, rel *api.Release) string {
	return text.Unique(l, rel.Unique)[min(1, len(rel.Unique.Columns)-1)]
}

// hasSensitive reports whether a sensitive column leaves.
func hasSensitive(rel *api.Release) bool {
	for _, c := range rel.Columns {
		if c.Role == "sensitive" && c.Fate != "dropped" {
			return true
		}
	}
	return false
}

// uniqueColumns are the kept columns, those with the most unique records first.
func uniqueColumns(rel *api.Release) []string {
	var out []string
	for _, c := range rel.Unique.Columns {
		out = append(out, c.Column)
	}
	return out
}

// withRole gives columns that leave another role, of which the recipe can still be used.
func (p *preview) withRole(role string, columns []string) []Remedy {
	out := []Remedy{}
	quasi := 0
	roles := map[string]string{}
	for _, c := range p.release.Columns {
		if c.Fate == "dropped" || c.Role == "identifier" {
			continue
		}
		roles[c.Column] = c.Role
		if c.Role == quasiIdentifier {
			quasi++
		}
	}
	for _, name := range columns {
		now, leaves := roles[name]
		if !leaves || now == role || now == quasiIdentifier && quasi == 1 || role == quasiIdentifier && now == "sensitive" ||
			len(out) == mostRemedied {
			continue
		}
		q := p.parameters
		q.Columns = maps.Clone(q.Columns)
		if q.Columns == nil {
			q.Columns = map[string]Role{}
		}
		q.Columns[name] = Role{role}
		out = append(out, Remedy{role, name, q})
	}
	return out
}

const quasiIdentifier = "quasi-identifier"

// diverse asks for two different sensitive values in each class, also with some records left out, which
// may cost less.
func diverse(p *Parameters) []Remedy {
	if p.L >= 2 {
		return []Remedy{}
	}
	q := *p
	q.L, q.LModel, q.C = 2, "", 0
	out := []Remedy{{"diversity", "", q}}
	if cmp.Or(q.Suppress, "off") == "off" {
		q.Suppress = "1%"
		out = append(out, Remedy{"diversity-suppress", "", q})
	}
	return out
}
