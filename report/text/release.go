package text

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/table/formula"
)

// Release describes a k-anonymous release: guarantee, classes, information loss, its
// lower bound, uniqueness and method. It is for the steward: the loss and the number of
// unique records come from private data.
func Release(l Lang, r *kanon.Result) []Line {
	var lines []Line
	for _, m := range Stated(r) {
		label := noren.Term(m.Code)
		if m.Code == "promise" {
			label = "guarantee"
		}
		lines = append(lines, Line{label, m.In(l).Text})
	}
	loss := l.Text("%s of the spread of the quasi-identifiers (SSE/SST, %s)", Percent(r.Loss), r.Scale)
	if r.RefinedFrom > r.Loss && r.Merged == 0 {
		loss += l.Text(", %s before refinement", Percent(r.RefinedFrom))
	}
	lines = append(lines,
		Line{"groups", l.Text("%s, of %d to %d {record|records}, %.2f on average", Integer(r.Groups), r.GroupSize.Min, r.GroupSize.Max,
			r.GroupSize.Mean)},
		Line{"loss", loss},
		Line{"width", l.Text("a class spans %s of a column on average (NCP)", Percent(r.NCP))},
	)
	if e := r.Excluded; e != nil {
		outsiders := l.Text("%s (%s to %s) of persons who are not in the table are shown not to be", Percent(e.Shown), Percent(e.ShownLow),
			Percent(e.ShownHigh))
		if e.Shown != e.Tight {
			outsiders += l.Text("; %s (%s to %s) with tight ranges", Percent(e.Tight), Percent(e.TightLow), Percent(e.TightHigh))
		}
		lines = append(lines, Line{"outsiders", l.Text("%s; estimated with %s {record|records}, with 95 %% intervals", outsiders,
			Integer(e.Sampled))})
	}
	if r.Suppressed > 0 {
		lines = append(lines, Line{"suppressed", Suppressed(l, r)})
	}
	if r.Formulas != nil {
		lines = append(lines, Line{"formulas", Formulas(r.Formulas).In(l).Text})
	}
	if r.Large > 0 {
		lines = append(lines, Line{"large", Large(l, r)})
	}
	lines = append(lines, Line{"lower bound", lowerBound(l, r)})
	lines = append(lines, unique(l, r)...)
	if r.Merged > 0 {
		lines = append(lines, Line{"merged", l.Text("%s {group|groups}, for diversity or closeness", Integer(r.Merged))})
	}
	method := r.Method
	if r.Coarse > 0 {
		method += l.Text(" in cells of %s {record|records} or more", Integer(r.Coarse))
	}
	s := r.Seconds
	lines = append(lines, Line{"method", l.Text("%s, refine %s, scale %s, published by %s", method, r.Refine, r.Scale, r.Publish)})
	if s.Total == 0 { // of a release in shards, which the engine times
		return lines
	}
	return append(lines,
		Line{"seconds", l.Text("%.2f: check %.2f, read %.2f, partition %.2f, refine %.2f, bound %.2f, publish %.2f, verify %.2f", s.Total,
			s.Check, s.Read, s.Partition, s.Refine, s.Bound, s.Publish, s.Verify)},
	)
}

// Suppressed says how many records were left out, and what they are of the loss.
func Suppressed(l Lang, r *kanon.Result) string {
	return l.Text("%s of %s {record|records}, which {1|is|are} %s of the loss", Integer(r.Suppressed), Integer(r.Rows+r.Suppressed),
		Percent(r.SuppressedLoss/max(r.Loss, math.SmallestNonzeroFloat64)))
}

// Large says why groups have more than ten times k records.
func Large(l Lang, r *kanon.Result) string {
	line := l.Text("%s {group|groups} of more than %d records", Integer(r.Large), 10*r.K)
	if r.LargeEqual > 0 {
		line += l.Text(", %s of equal records, which a division would leave in one class", Integer(r.LargeEqual))
	}
	switch {
	case r.Large == r.LargeEqual:
	case r.MostGroups > 0:
		line += l.Text("; the data force it: the values of the sensitive columns allow %s {group|groups} that {1|is|are} diverse at most, of "+
			"%.1f records on average", Integer(r.MostGroups), float64(r.Rows)/float64(r.MostGroups))
	default:
		line += l.Text("; no division of them keeps what is required of sensitive columns, alone, with a group beside them or with records " +
			"that other groups can spare")
	}
	return line
}

// Stated says what a release guarantees: the guarantee itself, the sizes of its classes and, where a
// unit was named, what was found of persons.
func Stated(r *kanon.Result) []api.Message {
	g := &r.Guarantee
	linked := 0
	if g.Linkage == "all" {
		linked = 1
	}
	out := []api.Message{
		{
			Code: "promise", Text: Statement(English, g), Said: func(l Lang) string { return Statement(l, g) },
			Args: map[string]any{"k": g.K, "columns": strings.Join(g.Quasi, ", "), "unit": r.Unit, "linked": linked},
		},
		api.Say("classes", map[string]any{"classes": r.Classes, "least": int(r.Verified.ClassSize.Min), "most": int(r.Verified.ClassSize.Max)}),
	}
	u := r.Verified.Unit
	if u == nil {
		return out
	}
	out = append(out,
		api.Say("persons", map[string]any{
			"persons": u.Persons, "column": u.Column, "least": int(u.ClassSize.Min), "most": int(u.ClassSize.Max), "mean": fixed2(u.ClassSize.Mean),
			"unassigned": u.Unassigned,
		}),
		Intersection(u, r.K))
	if q := u.Sequences; q != nil {
		out = append(out, api.Say("pseudonyms", map[string]any{"pseudonyms": q.Pseudonyms, "least": q.Min, "without": q.Without}))
	}
	return out
}

// Intersection says how many persons fit all records of a person. k is how many were asked for; 0 where that
// is not to be said.
func Intersection(u *verify.Persons, k int) api.Message {
	args := map[string]any{"least": u.Fit.Min, "mean": fixed2(u.Fit.Mean), "k": k, "asked": 0, "below": 0}
	switch {
	case k == 0:
	case u.Linked:
		args["asked"] = 1
	default:
		args["below"] = u.Fit.Below
	}
	return api.Say("intersect", args)
}

// fixed2 writes a mean with two decimal places.
func fixed2(mean float64) string { return strconv.FormatFloat(mean, 'f', 2, 64) }

// lowerBound says how much information any grouping loses at least.
func lowerBound(l Lang, r *kanon.Result) string {
	b := &r.Bound
	how := ""
	switch b.Method {
	case "none":
		return l.Text("not known: %s", b.Reason)
	case "simple":
		how = l.Text("by nearest neighbours")
	default:
		how = l.Text("by dual prices")
	}
	line := l.Text("%s, %s; optimality gap: at most %s", PercentDown(r.LowerBound), how, PercentUp(r.Gap))
	if !b.Reason.IsZero() {
		line += " (" + l.Shown(b.Reason) + ")"
	}
	return line
}

// PercentDown is a share in percent with four digits, rounded down: a statement about a
// lower bound holds as it is printed.
func PercentDown(share float64) string { return percentTowards(share, math.Floor) }

// PercentUp is PercentDown, rounded up.
func PercentUp(share float64) string { return percentTowards(share, math.Ceil) }

func percentTowards(share float64, round func(float64) float64) string {
	if share <= 0 {
		return "0%"
	}
	x := 100 * share
	unit := math.Pow(10, 3-math.Floor(math.Log10(x)))
	return strconv.FormatFloat(round(x*unit)/unit, 'g', 4, 64) + "%"
}

// unique describes how many records are unique on the kept columns.
func unique(l Lang, r *kanon.Result) []Line {
	u := r.Unique
	if u == nil && slices.ContainsFunc(r.Columns, func(f gate.Fate) bool { return f.Fate == gate.Untouched }) {
		return freeText(l,
			[]Line{{"unique", l.Text("records that are unique on the kept columns were not counted: no process of a cluster holds these columns")}},
			r)
	}
	if u == nil || u.Records == 0 {
		return []Line{{"unique", l.Text("no column is kept as it is")}}
	}
	var lines []Line
	for i, sentence := range Unique(l, u) {
		label := noren.Term("")
		if i == 0 {
			label = "unique"
		}
		lines = append(lines, Line{label, sentence})
	}
	return freeText(l, lines, r)
}

// freeText adds the kept columns that are free text.
func freeText(l Lang, lines []Line, r *kanon.Result) []Line {
	if len(r.FreeText) > 0 {
		lines = append(lines, Line{"free text", strings.Join(r.FreeText, ", ") + ": " + l.Text(FreeTextWarning)})
	}
	return lines
}

// Uncounted says of which identifiers it is not known whether they repeat. The sentence
// is about source columns and holds no figure.
func Uncounted(l Lang, r *kanon.Result) string {
	return l.Text("it was not counted whether %s repeats, which takes all records and more memory than is allowed: where persons have "+
		"several records, name their column as the unit", strings.Join(r.Uncounted, ", "))
}

// Repeated says how many persons the classes hold by an identifier that repeats. It is
// for the steward.
func Repeated(r *kanon.Result) api.Message {
	p := r.Repeated
	return api.Say("identifier-repeats", map[string]any{
		"columns": p.Column, "persons": p.Persons, "most": p.Most, "below": p.BelowK.Classes, "classes": r.Classes, "k": r.K,
		"records": p.BelowK.Records, "one": p.One,
	})
}

// Formulas says how many texts of a release spreadsheets take for formulas, and what became
// of them.
func Formulas(f *kanon.Formulas) api.Message {
	if len(f.Columns) == 0 {
		return api.Say("formulas-none", nil)
	}
	names := make([]string, len(f.Columns))
	for i, c := range f.Columns {
		names[i] = c.Column
	}
	args := map[string]any{"cells": f.Cells, "names": f.Names, "columns": strings.Join(names, ", ")}
	if f.Choice == formula.Text.String() {
		return api.Say("formulas-text", args)
	}
	return api.Say("formulas", args)
}

// LooksMissing says of a quasi-identifier that released values look like missing ones.
func LooksMissing(r *kanon.Result, c kanon.LooksMissing) noren.Text {
	return noren.Textf("column %s: %d of %d {group|groups} {2|shows|show} a value that is also a text for missing values in %s; in the "+
		"release it is a value, and only an empty field is missing", c.Column, c.Groups, r.Groups, noren.File(r.Input))
}
