package reproduce

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	experiment "github.com/noren-privacy/noren/experiments/kanon"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
	words "github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/spec"
)

type kanonFlags struct {
	data     string
	datasets []string
	drop     []string
	k        []int
	scale    string
	refine   string
	gap      string
	quick    bool
	workers  int
	page     string
	force    bool
	json     bool
}

func newKanon(t *terminal) *cobra.Command {
	var f kanonFlags
	c := &cobra.Command{
		Use:   "kanon",
		Short: "Reproduce the Tomobiki paper: information loss and time of every method",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return f.run(c, t) },
	}
	s := c.Flags()
	s.StringVar(&f.data, "data", "", "`FOLDER` of the reference data sets")
	s.StringSliceVar(&f.datasets, "dataset", []string{"census", "tarragona", "eia", "adult"}, "data `sets`: names or paths, comma-separated")
	s.StringSliceVar(&f.drop, "drop", nil, "`columns` to leave out")
	s.IntSliceVar(&f.k, "k", []int{3, 5, 10}, "group sizes, comma-separated")
	s.StringVar(&f.scale, "scale", "minmax", "minmax, zscore or none")
	s.StringVar(&f.refine, "refine", "fast", "a third refinement, besides off and fast: auto, or a duration such as 20s")
	s.StringVar(&f.gap, "gap", "off", "look this long for a lower bound of the loss, for each data set and k: off or a duration such as 120s")
	s.BoolVar(&f.quick, "quick", false, "leave out the rows that only trace the influence of a parameter")
	s.IntVar(&f.workers, "workers", 0, "parallel workers (default: one per processor)")
	s.StringVar(&f.page, "report", "", "write the paper's figures 5 to 8, drawn from the rows, to this `FILE`")
	s.BoolVar(&f.force, "force", false, "replace the page when it exists")
	s.BoolVar(&f.json, "json", false, "print one JSON object per line")
	return c
}

func (f *kanonFlags) run(c *cobra.Command, t *terminal) error {
	scaling, err := space.ParseScaling(f.scale)
	if err != nil {
		return &noren.Error{Kind: noren.KindOf(err), Where: "--scale", Err: err}
	}
	effort, err := refine.ParseEffort(f.refine)
	if err != nil {
		return &noren.Error{Kind: noren.KindOf(err), Where: "--refine", Err: err}
	}
	gap, err := spec.ParseGap(f.gap)
	if err != nil {
		return &noren.Error{Kind: noren.Usage, Where: "--gap", What: "%s", Args: []any{noren.TextOf(err)}}
	}
	if len(f.k) == 0 || len(f.datasets) == 0 {
		return &noren.Error{Kind: noren.Usage, What: "nothing to reproduce: --k and --dataset must name something"}
	}
	o := experiment.Options{
		Dir: dataFolder(f.data), Public: referenceTable, Datasets: f.datasets, Drop: f.drop, K: f.k,
		Scaling: scaling, Quick: f.quick, Effort: effort, Gap: gap, Workers: f.workers, Progress: t.progress.report,
	}
	if err := checkTarget(f.page, f.force); err != nil {
		return err
	}
	show := t.emitRow()
	if f.json {
		enc := json.NewEncoder(t.stdout)
		enc.SetEscapeHTML(false)
		show = func(r experiment.Row) error { return enc.Encode(r) }
	}
	var rows []experiment.Row
	emit := func(r experiment.Row) error {
		rows = append(rows, r)
		return show(r)
	}
	if err := experiment.Reproduce(c.Context(), o, emit); err != nil || f.page == "" {
		return err
	}
	return writeFile(f.page, f.force, t.stdout, experiment.Figures(rows).Write)
}

// emitRow prints rows as a table, a heading for each data set and k.
func (t *terminal) emitRow() func(experiment.Row) error {
	var heading string
	return func(r experiment.Row) error {
		t.progress.clear()
		if h := fmt.Sprintf("%s, %s, k = %d", r.Dataset, r.Normalisation, r.K); h != heading {
			if heading != "" {
				fmt.Fprintln(t.stdout)
			}
			heading = h
			if b := r.Bound; b != nil {
				h += fmt.Sprintf(": no partition loses less than %s (%s bound, %.1f s)", words.PercentDown(b.Loss), b.Method, b.Seconds)
			}
			fmt.Fprintf(t.stdout, "%s\n%-10s %-52s %8s %9s %10s %8s %9s   %s\n", h,
				"method", "parameters", "groups", "sizes", "loss", "gap", "seconds", "paper (loss, seconds) or best known")
		}
		paper := ""
		if r.Paper != nil {
			paper = fmt.Sprintf("%.5f, %.4g", r.Paper.Loss, r.Paper.Seconds)
		}
		if r.Known > 0 {
			paper = fmt.Sprintf("%.7f, %+.2f%%", r.Known, 100*(r.Loss/r.Known-1))
		}
		gap := ""
		if r.Bound != nil {
			gap = fmt.Sprintf("%.2f%%", math.Ceil(1e4*r.Bound.Gap)/100)
		}
		_, err := fmt.Fprintf(t.stdout, "%-10s %s %8d %9s %10.7f %8s %9.3f   %s\n", r.Algorithm, grid.Pad(r.Params.String(), 52), r.Groups,
			fmt.Sprintf("%d-%d", r.MinSize, r.MaxSize), r.Loss, gap, r.Seconds, paper)
		return err
	}
}
