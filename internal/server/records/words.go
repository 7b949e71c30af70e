package records

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/service"
)

// singleSteward is what the certificate and the dossier of each release say of the decision.
func singleSteward() []string {
	return []string{"One steward decided on this release; the server asks for no second approval (single-steward)."}
}

// stated are the lines of [text.Release] that say what a release guarantees, with the codes
// of their messages.
var stated = map[string]string{"guarantee": "promise", "classes": "classes", "persons": "persons", "intersect": "intersect", "pseudonyms": "pseudonyms"}

// statement says what a release guarantees, in the words of the command line.
func statement(rel *api.Release) []Message {
	out := []Message{}
	for _, line := range text.Release(text.English, &rel.Result) {
		code, ok := stated[line.Label]
		if !ok {
			continue
		}
		m := Message{Code: code, Text: line.Text}
		switch code {
		case "promise":
			m.Args = map[string]any{"k": rel.K, "columns": strings.Join(rel.Guarantee.Quasi, ", "), "unit": rel.Unit, "linked": 0}
			if rel.Guarantee.Linkage == "all" {
				m.Args["linked"] = 1
			}
		case "classes":
			m.Args = map[string]any{"classes": rel.Classes, "least": int(rel.Verified.ClassSize.Min), "most": int(rel.Verified.ClassSize.Max)}
		case "persons", "intersect", "pseudonyms":
			m.Args = persons(line.Label, rel)
		}
		out = append(out, m)
	}
	return out
}

// persons are the arguments of a line about persons. [text.Release] writes such a line where
// a unit was named.
func persons(label string, rel *api.Release) map[string]any {
	u := rel.Verified.Unit
	if u == nil {
		return nil
	}
	switch label {
	case "persons":
		return map[string]any{
			"persons": u.Persons, "column": u.Column, "least": int(u.ClassSize.Min), "most": int(u.ClassSize.Max), "mean": text.Number(u.ClassSize.Mean), "unassigned": u.Unassigned,
		}
	case "intersect":
		args := map[string]any{"least": u.Fit.Min, "mean": text.Number(u.Fit.Mean), "k": rel.K, "asked": 0, "below": u.Fit.Below}
		if u.Linked {
			args["asked"], args["below"] = 1, 0
		}
		return args
	}
	if q := u.Sequences; q != nil {
		return map[string]any{"pseudonyms": q.Pseudonyms, "least": q.Min, "without": q.Without}
	}
	return nil
}

// notCovered says what a release does not guarantee.
func notCovered(rel *api.Release) []Message {
	out := []Message{}
	for _, a := range rel.Guarantee.Assumptions {
		out = append(out, Message{Code: "assumption", Text: sentence(a)})
	}
	if u := rel.Unique; u != nil && u.Records > 0 && len(u.Columns) > 0 {
		about := 0
		if u.Estimated {
			about = 1
		}
		for _, s := range text.Unique(text.English, u) {
			out = append(out, Message{Code: "unique", Text: sentence(s), Args: map[string]any{"about": about, "alone": u.Alone, "in_pairs": u.InPairs, "records": u.Records}})
		}
	}
	if len(rel.FreeText) > 0 {
		out = append(out, Message{Code: "free-text", Text: sentence("free text in " + strings.Join(rel.FreeText, ", ") + ": " + text.FreeTextWarning), Args: map[string]any{"columns": strings.Join(rel.FreeText, ", ")}})
	}
	if len(rel.Guarantee.Diversity) == 0 && len(rel.Guarantee.Closeness) == 0 {
		out = append(out, Message{Code: "sensitive-open", Text: "A class may show one sensitive value for all its records: neither l-diversity nor t-closeness was asked for."})
	}
	return out
}

// checks says what the verifier found, and what was noted while the release was made.
func checks(p *preview) []Check {
	rel := p.release
	what := "records"
	if rel.Unit != "" {
		what = "persons"
	}
	out := []Check{{"ok", Message{
		Code: "verified", Text: fmt.Sprintf("The file was read back: each of its %s classes holds %d %s or more.", text.Integer(rel.Classes), rel.AchievedK, what),
		Args: map[string]any{"classes": rel.Classes, "k": rel.AchievedK, "unit": what},
	}, ""}}
	for _, s := range rel.Verified.Sensitive {
		m := Message{
			Code: "sensitive", Text: fmt.Sprintf("In every class, column %s has at least %d different values and is at most %s from the whole table.", s.Column, s.DistinctL, text.Number(s.T)),
			Args: map[string]any{"column": s.Column, "l": s.DistinctL, "t": s.T},
		}
		level := "ok"
		if s.DistinctL < 2 {
			level = "attention"
		}
		out = append(out, Check{level, m, ""})
	}
	if rel.Suppressed > 0 {
		out = append(out, Check{"attention", Message{Code: "suppressed", Text: fmt.Sprintf("%s records are left out.", text.Integer(rel.Suppressed)), Args: map[string]any{"records": rel.Suppressed}}, ""})
	}
	// Notes name files with their folders, which are the server's.
	folders := strings.NewReplacer(p.dir+string(filepath.Separator), "", filepath.Dir(p.held.Input)+string(filepath.Separator), "")
	for _, n := range p.notes {
		level := "ok"
		if n.Level == api.Warning {
			level = "attention"
		}
		columns := strings.Join(n.Columns, ", ")
		out = append(out, Check{level, Message{Code: n.Code, Text: sentence(folders.Replace(n.Text)), Args: noteArgs(rel, &n, columns)}, columns})
	}
	return out
}

// noteArgs are the columns and figures of a note about a release.
func noteArgs(rel *api.Release, n *api.Note, columns string) map[string]any {
	args := map[string]any{"columns": columns}
	switch n.Code {
	case service.NoteRepeated:
		if r := rel.Repeated; r != nil {
			args["persons"], args["most"], args["below"], args["one"], args["classes"], args["k"] = r.Persons, r.Most, r.BelowK.Classes, r.One, rel.Classes, rel.K
		}
	case service.NoteFormulas, service.NoteFormulasText:
		if f := rel.Formulas; f != nil {
			args["cells"], args["names"] = f.Cells, f.Names
		}
	case service.NoteLooksMissing:
		for _, l := range rel.LooksMissing {
			if l.Column == columns {
				args["groups"], args["all"] = l.Groups, rel.Groups
			}
		}
	}
	return args
}
