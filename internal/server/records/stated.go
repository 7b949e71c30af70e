package records

import (
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report/text"
)

// singleSteward is what the certificate and the dossier of each release say of the decision.
func singleSteward() []string {
	const said noren.Term = "One steward decided on this release; the server asks for no second approval (single-steward)."
	return []string{string(said)}
}

// notCovered says what a release does not guarantee.
func notCovered(rel *api.Release) []Message {
	out := []Message{}
	for _, a := range rel.Guarantee.Assumptions {
		out = append(out, sentences("assumption", nil, func(l lang.Lang) string { return l.Shown(a) }))
	}
	if u := rel.Unique; u != nil && u.Records > 0 && len(u.Columns) > 0 {
		for i := range text.Unique(lang.English, u) {
			// A count that is known to be 0 is no gap of the guarantee.
			if !u.Estimated && (i == 0 && u.Alone == 0 || i == 1 && len(u.Columns) > 1 && u.InPairs == 0 && u.Paired == len(u.Columns)) {
				continue
			}
			out = append(out, sentences("unique", nil, func(l lang.Lang) string { return text.Unique(l, u)[i] }))
		}
	}
	if len(rel.FreeText) > 0 {
		out = append(out, notCoveredFreeText(rel))
	}
	if len(rel.Guarantee.Diversity) == 0 && len(rel.Guarantee.Closeness) == 0 {
		out = append(out, api.Say("sensitive-open", nil))
	}
	return out
}

// notCoveredFreeText says that sentences leave which no check reads.
func notCoveredFreeText(rel *api.Release) Message {
	return api.Say("free-text", map[string]any{"columns": strings.Join(rel.FreeText, ", ")})
}

// checks says what the verifier found, and what was noted while the release was made.
func checks(p *preview) []Check {
	rel := p.release
	unit := "records"
	if rel.Unit != "" {
		unit = "persons"
	}
	out := []Check{{"ok", api.Say("verified", map[string]any{"classes": rel.Classes, "k": rel.AchievedK, "unit": unit}), "", nil}}
	for _, s := range rel.Verified.Sensitive {
		level := "ok"
		if s.DistinctL < 2 {
			level = "attention"
		}
		out = append(out, Check{level, api.Say("sensitive", map[string]any{"column": s.Column, "l": s.DistinctL, "t": s.T}), "", nil})
	}
	if rel.Suppressed > 0 {
		out = append(out, Check{"attention", api.Say("suppressed", map[string]any{"records": rel.Suppressed}), "", nil})
	}
	for _, n := range p.notes {
		level := "ok"
		if n.Level == api.Warning {
			level = "attention"
		}
		columns := strings.Join(n.Columns, ", ")
		args := n.Args
		if args == nil {
			args = map[string]any{"columns": columns}
		}
		bare := n.Whole.WithoutFolders() // the folders of files are the server's
		m := sentences(n.Code, args, func(l lang.Lang) string { return l.Shown(bare) })
		out = append(out, Check{level, m, columns, n.Columns})
	}
	return out
}

// sentences is a message of texts that are no sentences: each begins with a capital letter and ends
// with a point.
func sentences(code string, args map[string]any, said func(lang.Lang) string) Message {
	in := func(l lang.Lang) string { return sentence(l, said(l)) }
	return Message{Code: code, Text: in(lang.English), Args: args, Said: in}
}

// sentence begins a text with a capital letter and ends it with a point.
func sentence(l lang.Lang, s string) string {
	if s == "" {
		return s
	}
	if l == lang.Japanese {
		return strings.TrimRight(s, ".。") + "。"
	}
	return strings.TrimRight(l.Beginning(s), ".") + "."
}
