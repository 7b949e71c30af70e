package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp/evaluate"
	"github.com/noren-privacy/noren/learn"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

type ldpEvaluateFlags struct {
	columnFlags
	o       evaluate.Options
	label   string
	columns []string
	drop    []string
	bounds  []string
	bins    string
	forest  learn.Forest
	all     bool
	page    string
	force   bool
	json    bool
}

func newLDPEvaluate(t *terminal) *cobra.Command {
	var f ldpEvaluateFlags
	c := &cobra.Command{
		Use:   "evaluate FILE --label COLUMN",
		Short: "What can still be learned from a table that is randomised at its source (private)",
		Long: `Trains a linear support vector machine and a random forest to tell the class of a
record, on raw, generalised and randomised records, and tries each on all three, by
cross-validation: how good is a model of data that was private before it left?

Numbers are put into bins (--bins), words are taken as they are, a missing value is a
label of its own. Generalised records stand at the middles of their bins. Randomised
ones are what comes back from reports: every attribute of every record randomised by
itself (grr; oue; sue, which is One-time RAPPOR) at each --epsilon, and decoded.
Records without a class are left out and counted.

Bins and categories are fitted on the table unless --bounds or a specification
(bounds, keys) say them; what that and other things leave unprotected is printed.
What it prints holds figures of the raw table: it is for the steward.`,
		Example: `  noren ldp evaluate wdbc.csv --label diagnosis
  noren ldp evaluate wdbc.csv --label diagnosis --mechanism grr,sue --epsilon 1,2,4 --report page.html
  noren ldp evaluate adult.csv --label salary-class --bounds age=17,90 --randomize-label
  noren ldp evaluate visits.csv --spec noren.yaml --label severity --column age,sex,department,insurance --epsilon 10,20,40 --per-record --select 3 --json`,
		Args: exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), t, args[0]) },
	}
	f.registerInput(c)
	s := c.Flags()
	s.StringVar(&f.label, "label", "", "the `COLUMN` that holds the class to be learned")
	s.StringSliceVar(&f.columns, "column", nil, "`columns` to learn from, comma-separated (default: all others but identifiers)")
	s.StringSliceVar(&f.drop, "drop", nil, "`columns` not to learn from")
	s.StringVar(&f.spec, "spec", "", "read types, bounds and keys from this `FILE` (see noren init)")
	s.StringArrayVar(&f.types, "type", nil, "`COLUMN=TYPE`: integer, decimal, date, ordered or category (inferred when left out); may be repeated")
	s.StringArrayVar(&f.orders, "order", nil, "`COLUMN=LOW<...<HIGH`: the levels of an ordered column; may be repeated")
	s.StringArrayVar(&f.formats, "format", nil, "`COLUMN=LAYOUT`: how a date is written, as in YYYY-MM-DD; may be repeated")
	s.StringArrayVar(&f.bounds, "bounds", nil, "`COLUMN=LO,HI`: public ends of a number, for bins of one width between; may be repeated")
	s.StringSliceVar(&f.o.Mechanisms, "mechanism", []string{"grr", "sue"}, "`mechanisms`: grr, oue, sue, comma-separated")
	s.Float64SliceVar(&f.o.Epsilons, "epsilon", []float64{0.5, 1, 2, 3, 4, 6}, "`epsilons` of one attribute, comma-separated")
	s.BoolVar(&f.o.PerRecord, "per-record", false, "the epsilons are of a whole record, every attribute has an equal share")
	s.BoolVar(&f.o.RandomiseLabel, "randomize-label", false, "randomise the class of training records too, by grr")
	s.IntVar(&f.o.Bins, "labels", 5, "`bins` of a number")
	s.StringVar(&f.bins, "bins", "equal-frequency", "how bins are fitted: equal-frequency or equal-width")
	s.IntVar(&f.o.Select, "select", 0, "keep this `NUMBER` of attributes, by their covariance with the class in the raw data")
	s.IntVar(&f.o.MaxCategories, "max-categories", 64, "leave out words of more different values than this `NUMBER`")
	s.IntVar(&f.o.Sample, "sample", 5000, "learn from this `NUMBER` of records at the most, drawn at random")
	s.BoolVar(&f.all, "all", false, "learn from all records, however many")
	s.IntVar(&f.o.Folds, "folds", 10, "`parts` of the cross-validation")
	s.IntVar(&f.o.Repeats, "repeats", 3, "`times` that it is repeated, with fresh folds and fresh noise")
	s.StringSliceVar(&f.o.Models, "model", []string{"svm", "forest"}, "`models`: svm, forest, comma-separated")
	s.Float64Var(&f.o.SVM.C, "svm-c", 1, "`C` of the support vector machine")
	s.IntVar(&f.forest.Trees, "trees", 20, "`trees` of the forest")
	s.IntVar(&f.forest.Depth, "depth", 5, "`depth` of its trees, 0 for no limit")
	s.Uint64Var(&f.o.Seed, "seed", 0, "seed of the sample, folds and forests; noise has none")
	s.IntVar(&f.o.Workers, "workers", 0, "parallel workers (default: one a processor)")
	s.StringVar(&f.page, "report", "", "write a page with tables and curves to this `FILE`")
	s.BoolVar(&f.force, "force", false, "replace the page when it exists")
	s.BoolVar(&f.json, "json", false, "print the result as one JSON object, "+evaluate.Schema)
	return c
}

func (f *ldpEvaluateFlags) run(ctx context.Context, t *terminal, path string) error {
	if err := checkTargets(f.force, f.page); err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	if err := f.read(ctx, t, path); err != nil {
		return err
	}
	f.o.Forest = f.forest
	f.o.Progress = t.progress.report
	r, err := evaluate.Run(ctx, f.o)
	t.progress.clear()
	if err != nil {
		return err
	}
	for _, l := range r.Left {
		if f.o.Select == 0 || !strings.HasPrefix(l.Reason, "others") {
			t.note("column %s is left out: %s", l.Name, l.Reason)
		}
	}
	if r.Sampled && !f.json {
		t.note("%d of %d records were drawn to learn from (--all takes all, --sample another number)", r.Records, r.WithClass)
	}
	if f.page != "" {
		if err := writePrivate(f.page, f.force, t.stdout, evaluationPage(r, path).Write); err != nil {
			return err
		}
	}
	if f.json {
		return printJSON(t.stdout, struct {
			*evaluate.Result
			Private string `json:"private"`
			Input   string `json:"input"`
		}{r, "do not release", path})
	}
	printEvaluation(t.stdout, r, path)
	return nil
}

// check refuses what no option of the library says.
func (f *ldpEvaluateFlags) check() error {
	switch f.bins {
	case "equal-frequency":
	case "equal-width":
		f.o.EqualWidth = true
	default:
		return &noren.Error{Kind: noren.Usage, Where: "--bins", What: "expected equal-frequency or equal-width"}
	}
	if f.label == "" {
		return &noren.Error{Kind: noren.Usage, Where: "--label", What: "say which column is to be learned", Hint: "--label diagnosis"}
	}
	if len(f.o.Epsilons) == 0 || len(f.o.Mechanisms) == 0 || len(f.o.Models) == 0 {
		return &noren.Error{Kind: noren.Usage, What: "nothing to evaluate: --epsilon, --mechanism and --model must name something"}
	}
	for _, n := range []struct {
		flag  string
		value int
		least int
	}{{"labels", f.o.Bins, 2}, {"sample", f.o.Sample, 1}, {"folds", f.o.Folds, 2}, {"repeats", f.o.Repeats, 1}, {"trees", f.forest.Trees, 1}, {"depth", f.forest.Depth, 0}, {"select", f.o.Select, 0}, {"max-categories", f.o.MaxCategories, 2}, {"workers", f.o.Workers, 0}} {
		if n.value < n.least {
			return &noren.Error{Kind: noren.Usage, Where: "--" + n.flag, What: fmt.Sprintf("expected %d or more", n.least)}
		}
	}
	if !(f.o.SVM.C > 0) {
		return &noren.Error{Kind: noren.Usage, Where: "--svm-c", What: "expected a number above 0"}
	}
	if f.all {
		f.o.Sample = -1
	}
	return nil
}

// read reads the class and the attributes.
func (f *ldpEvaluateFlags) read(ctx context.Context, t *terminal, path string) error {
	s, err := f.merged()
	if err != nil {
		return err
	}
	src, err := openInput(ctx, path, t.stdin, s)
	if err != nil {
		return err
	}
	defer closeSource(src)
	names, err := f.choose(s, src)
	if err != nil {
		return err
	}
	bounds, err := f.namedBounds(names)
	if err != nil {
		return err
	}
	schema, err := resolve(ctx, s, src, t)
	if err != nil {
		return err
	}
	var fields []table.Field
	for _, name := range append([]string{f.label}, names...) {
		field := schema.Fields[schema.Index(name)]
		field.Hierarchy, field.Round = nil, nil
		if field.Number != "" { // plain numbers alone are numbers here
			field.Type, field.Number = table.Category, ""
		}
		fields = append(fields, field)
	}
	fields[0].Type, fields[0].Levels, fields[0].Layout = table.Category, nil, ""
	read, err := file.Read(ctx, src, fields, s.Input.Missing, t.progress.report)
	t.progress.clear()
	if err != nil {
		return err
	}
	f.o.Label = read.Columns[0]
	for _, c := range read.Columns[1:] {
		a := evaluate.Attribute{Column: c}
		public := s.Columns[c.Field.Name]
		if c.Field.Type == table.Category {
			a.Keys = public.Keys
		}
		texts, where := bounds[c.Field.Name], "--bounds "+c.Field.Name
		if texts == nil && c.Field.Type.IsNumber() {
			texts, where = public.Bounds, s.Name()+": bounds of "+c.Field.Name
		}
		if len(texts) > 0 {
			if a.Bounds, err = boundsOf(c.Field, texts); err != nil {
				return at(where, err)
			}
		}
		f.o.Attributes = append(f.o.Attributes, a)
	}
	return nil
}

// choose names the columns to learn from, and makes the specification say so,
// that their types be found out.
func (f *ldpEvaluateFlags) choose(s *spec.Spec, src table.Source) ([]string, error) {
	wanted := append([]string{f.label}, f.columns...)
	if _, err := file.Find(src, append(wanted, f.drop...)); err != nil {
		return nil, err
	}
	var names []string
	for _, stored := range src.Columns() {
		name := stored.Name
		c := s.Columns[name]
		identifier := c.Role == table.Identifier.String()
		switch {
		case name == f.label:
			if slices.Contains(f.columns, name) || slices.Contains(f.drop, name) {
				return nil, &noren.Error{Kind: noren.Usage, Where: "--label " + name, What: "the class cannot be learned from itself, nor be dropped"}
			}
			c = spec.Column{Role: table.Sensitive.String()} // its type is inferred for the texts of missing values only
		case slices.Contains(f.drop, name), len(f.columns) > 0 && !slices.Contains(f.columns, name), identifier && len(f.columns) == 0:
			c.Role = table.Other.String()
		default:
			c.Role, c.Hierarchy = table.Quasi.String(), ""
			names = append(names, name)
		}
		s.Columns[name] = c
	}
	if len(names) == 0 {
		return nil, &noren.Error{Kind: noren.Usage, What: "no column is left to learn from"}
	}
	return names, nil
}

// namedBounds reads --bounds.
func (f *ldpEvaluateFlags) namedBounds(names []string) (map[string][]string, error) {
	all := make(map[string][]string)
	for _, pair := range f.bounds {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || strings.Count(value, ",") != 1 {
			return nil, &noren.Error{Kind: noren.Usage, Where: "--bounds", What: "expected COLUMN=LO,HI", Hint: "--bounds age=0,110"}
		}
		if !slices.Contains(names, name) {
			return nil, &noren.Error{Kind: noren.Usage, Where: "--bounds " + name, What: "is no column that is learned from"}
		}
		all[name] = strings.Split(value, ",")
	}
	return all, nil
}

// boundsOf reads the two ends of a number or a date.
func boundsOf(f table.Field, texts []string) (*[2]float64, error) {
	bad := &noren.Error{Kind: noren.Usage, What: fmt.Sprintf("two ends of a column of type %s are needed", f.Type)}
	if len(texts) != 2 || !f.Type.IsNumber() {
		return nil, bad
	}
	var b [2]float64
	for i, text := range texts {
		text = strings.TrimSpace(text)
		v, err := strconv.ParseFloat(text, 64)
		if f.Type == table.Date {
			layout := f.Layout
			if layout == "" {
				layout = table.ISODate
			}
			var days int64
			days, err = layout.Parse(text)
			v = float64(days)
		}
		if err != nil {
			return nil, bad
		}
		b[i] = v
	}
	return &b, nil
}
