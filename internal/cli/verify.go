package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report"
	words "github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/spec"
)

type verifyFlags struct {
	columnFlags
	parameters spec.Anonymize
	json       bool
}

func newVerify(t *terminal) *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify FILE --k K --quasi COLUMNS",
		Short: "Verify k-anonymity, l-diversity and t-closeness of a file",
		Args:  exactly("FILE"),
		RunE:  func(c *cobra.Command, args []string) error { return f.run(c.Context(), t, c, args[0]) },
	}
	f.register(c)
	s := c.Flags()
	p := &f.parameters
	s.IntVar(&p.K, "k", 0, "smallest number of records, or with --unit of persons, that must share their quasi-identifiers")
	registerParameters(c, p, "l", "l-model", "c", "l-missing", "t", "unit-linkage", "formulas")
	s.BoolVar(&f.json, "json", false, "print the result as one JSON object, noren.verify/1")
	return c
}

func (f *verifyFlags) run(ctx context.Context, t *terminal, c *cobra.Command, input string) error {
	s, err := f.mergedOfRelease()
	if err != nil {
		return err
	}
	if err := overlay(c, &s.Anonymize, &f.parameters); err != nil {
		return err
	}
	result, err := t.service(nil).Verify(ctx, &api.VerifyRequest{Table: api.Table{Input: input, Spec: s}, UnitRequired: c.Flags().
		Changed("unit")})
	t.progress.clear()
	if err != nil {
		return tableError(err)
	}
	if f.json {
		err = printJSON(t.stdout, result)
	} else {
		err = printVerified(t.stdout, result)
	}
	if err == nil && !result.Met {
		return &alreadySaid{result.Err()}
	}
	return err
}

// printVerified prints what a verifier found.
func printVerified(out io.Writer, r *api.Verification) error {
	lang.Fprintf(out, "%s: %s\n\n", r.File, words.Verified(lang.Of(out), r))
	if !r.Met {
		for _, failure := range r.Failures {
			lang.Fprintf(out, "  %s\n", failure)
		}
		lang.Fprintln(out, "\nprivate: do not release\n") // it may be the private table
	} else {
		lang.Fprintln(out, "private: do not release unless the file is released\n")
	}
	w := grid.New(out)
	lang.Fprintf(w, "  records\t%s\n", report.Integer(r.Rows))
	if r.Unit != nil {
		lang.Fprintf(w, "  k\t%s {person|persons} achieved, %d required\n", report.Integer(r.AchievedK), r.K)
	} else {
		lang.Fprintf(w, "  k\t%s achieved, %d required\n", report.Integer(r.AchievedK), r.K)
	}
	lang.Fprintf(w, "  classes\t%s, of %s to %s {record|records}, %.2f on average\n", report.Integer(r.Classes),
		report.Integer(r.ClassSize.Min), report.Integer(r.ClassSize.Max), r.ClassSize.Mean)
	printPersons(w, r.Unit)
	for i := range r.Sensitive {
		s := &r.Sensitive[i]
		lang.Fprintf(w, "  %s\tdistinct l = %d, entropy l = %.4g", s.Column, s.DistinctL, s.EntropyL)
		if s.RecursiveL != nil {
			lang.Fprintf(w, ", recursive l = %d (c = %g)", *s.RecursiveL, s.C)
		}
		lang.Fprintf(w, ", t = %.4g (%s distance)\n", s.T, lang.Of(w).Term(s.Distance))
	}
	return w.Flush()
}

// printPersons tells what a verifier found of persons.
func printPersons(w io.Writer, u *verify.Persons) {
	if u == nil {
		return
	}
	lang.Fprintf(w, "  persons\t%s by %s, %s to %s in a class, %.2f on average\n", report.Integer(u.Persons), u.Column,
		report.Integer(u.ClassSize.Min), report.Integer(u.ClassSize.Max), u.ClassSize.Mean)
	if u.Unassigned > 0 {
		lang.Fprintf(w, "  without a person\t%s {record|records}\n", report.Integer(u.Unassigned))
	}
	lang.Fprintf(w, "  intersection\t%s\n", words.Intersection(u, 0).In(lang.Of(w)).Text)
	if q := u.Sequences; q != nil {
		lang.Fprintf(w, "  pseudonyms\t%s, %s at least {2|shares|share} a sequence; %s {record|records} without one\n",
			report.Integer(q.Pseudonyms), report.Integer(q.Min), report.Integer(q.Without))
	}
}
