package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report"
)

type randomizeFlags struct {
	columnFlags
	survey  surveyFlags
	columns []string
	client  string
	devices string
	output  string
	force   bool
	json    bool
}

func newLDPRandomize(t *terminal) *cobra.Command {
	var f randomizeFlags
	c := &cobra.Command{
		Use:   "randomize FILE --column COLUMN --spec SPEC",
		Short: "Randomise the records of a table as each person's device would",
		Args:  exactly("FILE"),
		RunE:  func(c *cobra.Command, args []string) error { return f.run(c.Context(), t, args[0]) },
	}
	f.registerInput(c)
	f.survey.register(c)
	s := c.Flags()
	s.StringSliceVar(&f.columns, "column", nil, "the `COLUMN` that is reported (default: that of the specification)")
	s.StringVar(&f.client, "client", "", "write the id in this `COLUMN` before each report; it is not protected")
	s.StringVar(&f.devices, "devices", "", "`FILE` with the key of all devices' secrets, created where there is none; keep it as secret as the table")
	s.StringVarP(&f.output, "output", "o", "-", "write the reports to this `FILE`")
	s.BoolVar(&f.force, "force", false, "replace the output when it exists")
	s.BoolVar(&f.json, "json", false, "with -o FILE: print one JSON object, "+api.LDPRandomiseSchema)
	return c
}

func (f *randomizeFlags) run(ctx context.Context, t *terminal, path string) error {
	if f.json && f.output == "-" {
		return &noren.Error{Kind: noren.Usage, Where: "--json", What: "standard output is taken by the reports", Hint: "name a file for them: -o reports.txt"}
	}
	if err := checkTargets(f.force, f.output); err != nil {
		return err
	}
	of, err := f.survey.read()
	if err != nil {
		return err
	}
	form, err := f.merged()
	if err != nil {
		return err
	}
	r, err := t.service(nil).LDPRandomise(ctx, &api.LDPRandomiseRequest{
		Table: api.Table{Input: path, Spec: form}, Survey: of, Columns: f.columns, Client: f.client, Devices: f.devices, Output: f.output,
	})
	t.progress.clear()
	if err != nil {
		return err
	}
	if err := writeFile(f.output, f.force, t.stdout, bytesWriter(r.Lines)); err != nil {
		return err
	}
	if f.json {
		return printJSON(t.stdout, r)
	}
	w := t.stdout
	if f.output == "-" {
		w = t.stderr
	} else {
		lang.Fprintf(w, "%s: %s reports by %s of %s in %s\n\n", f.output, report.Integer(r.Reports), r.Mechanism, strings.Join(r.Columns, ", "), path)
	}
	printPrivacy(w, &r.Privacy)
	return nil
}
