package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/ldp/evaluate"
	"github.com/noren-privacy/noren/report"
)

type ldpEvaluateFlags struct {
	columnFlags
	r      api.LDPEvaluateRequest
	bounds []string
	bins   string
	depth  int
	all    bool
	page   string
	force  bool
	json   bool
}

func newLDPEvaluate(t *terminal) *cobra.Command {
	var f ldpEvaluateFlags
	c := &cobra.Command{
		Use:   "evaluate FILE --label COLUMN",
		Short: "Measure what models learn from a table that is randomised at its source (private)",
		Args:  exactly("FILE"),
		RunE:  func(c *cobra.Command, args []string) error { return f.run(c.Context(), t, args[0]) },
	}
	f.registerInput(c)
	s := c.Flags()
	s.StringVar(&f.r.Label, "label", "", "the `COLUMN` that holds the class to be learned")
	s.StringSliceVar(&f.r.Columns, "column", nil, "`columns` to learn from, comma-separated (default: all others but identifiers)")
	s.StringSliceVar(&f.r.Drop, "drop", nil, "`columns` not to learn from")
	s.StringVar(&f.spec, "spec", "", "read types, bounds and keys from this `FILE` (see noren init)")
	s.StringArrayVar(&f.types, "type", nil,
		"`COLUMN=TYPE`: integer, decimal, date, ordered or category (inferred when left out); may be repeated")
	s.StringArrayVar(&f.orders, "order", nil, "`COLUMN=LOW<...<HIGH`: the levels of an ordered column; may be repeated")
	s.StringArrayVar(&f.formats, "format", nil, "`COLUMN=LAYOUT`: how a date is written, as in YYYY-MM-DD; may be repeated")
	s.StringArrayVar(&f.bounds, "bounds", nil, "`COLUMN=LO,HI`: public ends of a number, for bins of one width between; may be repeated")
	s.StringSliceVar(&f.r.Mechanisms, "mechanism", []string{"grr", "sue"}, "`mechanisms`: grr, oue, sue, comma-separated")
	s.Float64SliceVar(&f.r.Epsilons, "epsilon", []float64{0.5, 1, 2, 3, 4, 6}, "`epsilons` of one attribute, comma-separated")
	s.BoolVar(&f.r.PerRecord, "per-record", false, "the epsilons are of a whole record, every attribute has an equal share")
	s.BoolVar(&f.r.RandomiseLabel, "randomize-label", false, "randomise the class of training records too, by grr")
	s.IntVar(&f.r.Bins, "labels", 5, "`bins` of a number")
	s.StringVar(&f.bins, "bins", "equal-frequency", "how bins are fitted: equal-frequency or equal-width")
	s.IntVar(&f.r.Select, "select", 0,
		"keep this `NUMBER` of attributes for each model, by their covariance with the class in the records that it is trained on")
	s.StringVar(&f.person, "unit", "", "`COLUMN` that tells persons apart: all records of a person are in one part of the cross-validation")
	s.IntVar(&f.r.MaxCategories, "max-categories", 64, "leave out words of more different values than this `NUMBER`")
	s.IntVar(&f.r.Sample, "sample", 5000, "learn from at most this `NUMBER` of records, drawn at random")
	s.BoolVar(&f.all, "all", false, "learn from all records, however many")
	s.IntVar(&f.r.Folds, "folds", 10, "`parts` of the cross-validation")
	s.IntVar(&f.r.Repeats, "repeats", 3, "`times` that it is repeated, with fresh folds and fresh noise")
	s.StringSliceVar(&f.r.Models, "model", []string{"svm", "forest"}, "`models`: svm, forest, comma-separated")
	s.Float64Var(&f.r.C, "svm-c", 1, "`C` of the support vector machine")
	s.IntVar(&f.r.Trees, "trees", 20, "`trees` of the forest")
	s.IntVar(&f.depth, "depth", 5, "`depth` of its trees, 0 for no limit")
	s.Uint64Var(&f.r.Seed, "seed", 0, "seed of the sample, folds and forests; noise has none")
	s.IntVar(&f.r.Workers, "workers", 0, "parallel workers (default: one per processor)")
	s.StringVar(&f.page, "report", "", "write a page with tables and curves to this `FILE`")
	s.BoolVar(&f.force, "force", false, "replace the page when it exists")
	s.BoolVar(&f.json, "json", false, "print the result as one JSON object, "+evaluate.Schema)
	return c
}

func (f *ldpEvaluateFlags) run(ctx context.Context, t *terminal, path string) error {
	if err := checkTargets(f.force, f.page); err != nil {
		return err
	}
	if err := f.request(path); err != nil {
		return err
	}
	r, err := t.service(nil).LDPEvaluate(ctx, &f.r)
	t.progress.clear()
	if err != nil {
		return err
	}
	if f.page != "" {
		if err := writePrivate(f.page, f.force, t.stdout, report.LDPEvaluatePage(t.lang, r.Result, path, "noren "+Version()).Write); err != nil {
			return err
		}
	}
	if f.json {
		return printJSON(t.stdout, r)
	}
	printEvaluation(t.stdout, r.Result, path)
	return nil
}

// request completes what the flags ask for.
func (f *ldpEvaluateFlags) request(path string) error {
	switch f.bins {
	case "equal-frequency":
	case "equal-width":
		f.r.EqualWidth = true
	default:
		return &noren.Error{Kind: noren.Usage, Where: "--bins", What: "expected equal-frequency or equal-width"}
	}
	if len(f.r.Epsilons) == 0 || len(f.r.Mechanisms) == 0 || len(f.r.Models) == 0 {
		return &noren.Error{Kind: noren.Usage, What: "nothing to evaluate: --epsilon, --mechanism and --model must name something"}
	}
	for _, n := range []struct {
		flag  string
		value int
		least int
	}{
		{"labels", f.r.Bins, 2},
		{"sample", f.r.Sample, 1},
		{"folds", f.r.Folds, 2},
		{"repeats", f.r.Repeats, 1},
		{"trees", f.r.Trees, 1},
		{"max-categories", f.r.MaxCategories, 2},
	} {
		if n.value < n.least {
			return &noren.Error{Kind: noren.Usage, Where: "--" + n.flag, What: "expected %d or more", Args: []any{n.least}}
		}
	}
	if !(f.r.C > 0) {
		return &noren.Error{Kind: noren.Usage, Where: "--svm-c", What: "expected a number above 0"}
	}
	if f.all {
		f.r.Sample = -1
	}
	f.r.Depth = &f.depth
	f.r.Bounds = map[string][2]string{}
	for _, pair := range f.bounds {
		name, value, ok := strings.Cut(pair, "=")
		low, high, two := strings.Cut(value, ",")
		if !ok || !two || strings.Contains(high, ",") {
			return &noren.Error{Kind: noren.Usage, Where: "--bounds", What: "expected COLUMN=LO,HI", Hint: "--bounds age=0,110"}
		}
		f.r.Bounds[name] = [2]string{low, high}
	}
	sp, err := f.merged()
	f.r.Table = api.Table{Input: path, Spec: sp}
	return err
}

func printEvaluation(w io.Writer, r *evaluate.Result, path string) {
	lang.Fprintf(w, "PRIVATE: do not release\n\n%s: learning %s from %s {attribute|attributes} of %s {record|records}\n\n", path, r.Label,
		report.Integer(len(r.Attributes)), report.Integer(r.Records))
	for _, f := range report.LDPEvaluateFacts(r) {
		printLine(w, noren.Term(f.Name.String()), lang.Of(w).Shown(f.Value))
	}
	losses, models := report.LDPEvaluateTables(r)
	for _, m := range models {
		for i := range m {
			fmt.Fprintln(w)
			printTable(w, &m[i])
		}
	}
	fmt.Fprintln(w)
	printTable(w, &losses)
	lang.Fprintln(w, "\nWhat is guaranteed")
	for _, s := range r.Guarantee {
		fmt.Fprintf(w, "  %s\n", lang.Of(w).Shown(s))
	}
	lang.Fprintln(w, "\nNot protected")
	for _, s := range r.NotProtected {
		fmt.Fprintf(w, "  %s\n", lang.Of(w).Shown(s))
	}
}
