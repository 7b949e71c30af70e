package reproduce

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	experiment "github.com/noren-privacy/noren/experiments/outlier"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
)

func newOutlier(t *terminal) *cobra.Command {
	var data, figures string
	var datasets []string
	var force, asJSON bool
	c := &cobra.Command{
		Use:   "outlier",
		Short: "Reproduce the outlier paper: its experiment, and counterexamples to its bound",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := experiment.Run(c.Context(), experiment.Options{
				Dir: dataFolder(data), Public: referenceTable, Datasets: datasets,
				Progress: t.progress.report,
			})
			t.progress.clear()
			if err != nil {
				return err
			}
			if figures != "" {
				if err := writeFigures(t, r, figures, force); err != nil {
					return err
				}
			}
			if asJSON {
				return emitOutlier(json.NewEncoder(t.stdout), r)
			}
			printOutlier(t, r)
			return nil
		},
	}
	s := c.Flags()
	s.StringVar(&data, "data", "", "`FOLDER` of the reference data sets")
	s.StringSliceVar(&datasets, "dataset", experiment.Names(), "data `sets`, comma-separated")
	s.StringVar(&figures, "figures", "", "write the figures as SVG to this `FOLDER`")
	s.BoolVar(&force, "force", false, "replace figures that exist")
	s.BoolVar(&asJSON, "json", false, "print one JSON object per line; its field kind says what it is")
	return c
}

// writeFigures writes each figure to a file of its own.
func writeFigures(t *terminal, r *experiment.Result, dir string, force bool) error {
	for _, f := range r.Figures() {
		path := filepath.Join(dir, f.Name+".svg")
		if err := makeFolder(dir); err != nil {
			return err
		}
		if err := writeFile(path, force, t.stdout, func(w io.Writer) error { return f.Chart.WriteSVG(w, lang.English) }); err != nil {
			return err
		}
	}
	return nil
}

func emitOutlier(enc *json.Encoder, r *experiment.Result) error {
	enc.SetEscapeHTML(false)
	for i := range r.Noise {
		if err := emitKind(enc, "noise", r.Noise[i]); err != nil {
			return err
		}
	}
	for _, x := range r.Curves {
		if err := emitKind(enc, "curve", x); err != nil {
			return err
		}
	}
	for i := range r.Scalings {
		if err := emitKind(enc, "scaling", r.Scalings[i]); err != nil {
			return err
		}
	}
	for i := range r.Timings {
		if err := emitKind(enc, "timing", r.Timings[i]); err != nil {
			return err
		}
	}
	for i := range r.Accuracy {
		if err := emitKind(enc, "accuracy", r.Accuracy[i]); err != nil {
			return err
		}
	}
	for i := range r.Counterexamples {
		if err := emitKind(enc, "counterexample", r.Counterexamples[i]); err != nil {
			return err
		}
	}
	if err := emitKind(enc, "not-smooth", r.NotSmooth); err != nil {
		return err
	}
	if err := emitKind(enc, "failure", r.Failure); err != nil {
		return err
	}
	return enc.Encode(map[string]any{"kind": "verdict", "sentences": r.Verdict})
}

func printOutlier(t *terminal, r *experiment.Result) {
	w := t.stdout
	heading := ""
	for _, n := range r.Noise {
		h := fmt.Sprintf("%s, epsilon %g", n.Dataset, n.Epsilon)
		if h != heading {
			fmt.Fprintf(w, "\n%s: standard deviation of the noise\n", h)
			heading = h
		}
		remarks := []string{}
		if !n.Private {
			remarks = append(remarks, "not private")
		}
		if n.Chosen {
			remarks = append(remarks, "chosen on the data")
		}
		if n.Delta > 0 {
			remarks = append(remarks, "delta "+noren.LossFigure(n.Delta, 3))
		}
		fmt.Fprintf(w, "  %s %14s   %s\n", grid.Pad(n.Mechanism, 36), figure(n.SD), strings.Join(remarks, ", "))
	}
	for _, x := range r.Curves {
		fmt.Fprintf(w, "\n%s: n = %d, d = %d, k = %d, r = %g, %d outliers\n", x.Dataset, x.N, x.D, x.K, x.Radius, x.Query)
		fmt.Fprintf(w, "  ours, t = 0..   %v\n", first(x.U, 16))
		fmt.Fprintf(w, "  the paper's     %v\n", first(x.Paper, 16))
	}
	fmt.Fprintln(w, "\nbest radii by the scaling of the columns")
	for _, x := range r.Scalings {
		fmt.Fprintf(w, "  %-11s %s ", x.Dataset, grid.Pad(x.Scaling, 38))
		fmt.Fprintf(w, "%6.1f %% in [%s, %s); %6.1f %% at the paper's r = %g\n", 100*x.Accuracy, figure(x.From), figure(x.To), 100*x.AtPaper,
			x.PaperRadius)
	}
	fmt.Fprintln(w, "\nrunning times")
	for _, x := range r.Timings {
		fmt.Fprintf(w, "  %-11s %s %5d %10.4f s\n", x.Dataset, grid.Pad(x.Algorithm, 46), x.Size, x.Seconds)
	}
	fmt.Fprintln(w, "\ncounterexamples to the paper's bound")
	for _, x := range r.Counterexamples {
		fmt.Fprintf(w, "  %s, t = %d: the query changes by %d, the paper's bound is %d, ours %d\n", x.Name, x.T, x.Sensitivity, x.Paper, x.Ours)
		fmt.Fprintf(w, "    %s\n", x.What)
	}
	fmt.Fprintln(w)
	for _, sentence := range r.Verdict {
		fmt.Fprintf(w, "%s\n", sentence)
	}
}

func first[T any](list []T, n int) []T { return list[:min(n, len(list))] }
