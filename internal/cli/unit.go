package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
)

// unitOfFile is the unit by which a file is verified: nil where the file has no
// such column, as after a release that dropped it. A unit that was asked for by its
// flag must be there.
func unitOfFile(t *terminal, s *spec.Spec, src table.Source, asked bool) (*verify.Unit, error) {
	a := &s.Anonymize
	linkage := kanon.LinkOne
	if a.UnitLinkage != "" {
		var err error
		if linkage, err = kanon.ParseLinkage(a.UnitLinkage); err != nil {
			return nil, at("--unit-linkage", err)
		}
	}
	if s.Unit == "" {
		return nil, nil
	}
	if !slices.ContainsFunc(src.Columns(), func(c table.StoredColumn) bool { return c.Name == s.Unit }) {
		if asked {
			return nil, &noren.Error{
				Kind: noren.Usage, Where: "--unit", What: fmt.Sprintf("%s has no column %s: its persons cannot be counted", src.Name(), s.Unit),
				Hint: "without --unit records are counted; anonymize counted the persons when it made the release",
			}
		}
		t.warn("%s has no column %s: its persons cannot be counted, records are counted instead", src.Name(), s.Unit)
		return nil, nil
	}
	return &verify.Unit{Column: s.Unit, Linked: linkage == kanon.LinkAll}, nil
}

// printPersons tells what a verifier found of persons.
func printPersons(w io.Writer, u *verify.Persons) {
	if u == nil {
		return
	}
	fmt.Fprintf(w, "  persons\t%s by %s, %s to %s in a class, %.2f on average\n", report.Integer(u.Persons), u.Column, report.Integer(u.ClassSize.Min), report.Integer(u.ClassSize.Max), u.ClassSize.Mean)
	if u.Unassigned > 0 {
		fmt.Fprintf(w, "  without a person\t%s records\n", report.Integer(u.Unassigned))
	}
	fmt.Fprintf(w, "  intersection\t%s\n", fitSentence(u))
	if q := u.Sequences; q != nil {
		fmt.Fprintf(w, "  pseudonyms\t%s, %s at least share a sequence; %s records without one\n", report.Integer(q.Pseudonyms), report.Integer(q.Min), report.Integer(q.Without))
	}
}

// fitSentence says how many persons fit all records of a person.
func fitSentence(u *verify.Persons) string {
	if u.Fit.Min == 1 {
		return fmt.Sprintf("at least 1 person fits all records of a person, %.2f on average", u.Fit.Mean)
	}
	return fmt.Sprintf("at least %s persons fit all records of a person, %.2f on average", report.Integer(u.Fit.Min), u.Fit.Mean)
}

// warnRepeated warns of an identifier that repeats where no unit was named.
func warnRepeated(t *terminal, r *kanon.Result) {
	if len(r.Uncounted) > 0 {
		t.warn("%s", uncountedSentence(r))
	}
	if r.Repeated == nil {
		return
	}
	t.warn("%s", repeatedSentence(r))
}

// uncountedSentence says of which identifiers it is not known whether they repeat.
func uncountedSentence(r *kanon.Result) string {
	return fmt.Sprintf("it was not counted whether %s repeats, which takes more memory than is allowed: where persons have several records, name their column by --unit", strings.Join(r.Uncounted, ", "))
}

// repeatedSentence says what classes hold by the identifier that repeats.
func repeatedSentence(r *kanon.Result) string {
	p := r.Repeated
	return fmt.Sprintf("records were counted, not persons: column %s repeats (%s persons, up to %s records each), and by it %s of %s classes hold fewer than k = %d persons (%s records), %s of them one person; --unit %s counts persons",
		p.Column, report.Integer(p.Persons), report.Integer(p.Most), report.Integer(p.BelowK.Classes), report.Integer(r.Classes), r.K, report.Integer(p.BelowK.Records), report.Integer(p.One), p.Column)
}
