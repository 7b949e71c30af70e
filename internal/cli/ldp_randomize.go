package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/names"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report"
	words "github.com/noren-privacy/noren/report/text"
)

type randomizeFlags struct {
	columnFlags
	survey  surveyFlags
	columns []string
	client  string
	devices string
	finish  string
	output  string
	force   bool
	json    bool
	// notCharged is the steward's decision about a table that a ledger has granted.
	notCharged bool
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
	s.StringVar(&f.devices, "devices", "",
		"`FILE` with the key of all devices' secrets, created where there is none; it keeps what it was used for; keep it as secret as the table")
	s.StringVar(&f.finish, "finish", "",
		"go on with the survey of this `QUESTION` that an old key began, with the permanent answers of then; one survey for a key")
	s.StringVarP(&f.output, "output", "o", "-", "write the reports to this `FILE`")
	s.BoolVar(&f.force, "force", false, "replace the output when it exists")
	s.BoolVar(&f.notCharged, "not-charged", false,
		"for the steward: randomise a table that a ledger has granted; its budget is not charged, and the ledger notes it")
	s.BoolVar(&f.json, "json", false, "with -o FILE: print one JSON object, "+api.LDPRandomiseSchema)
	return c
}

func (f *randomizeFlags) run(ctx context.Context, t *terminal, path string) error {
	if f.json && f.output == "-" {
		return &noren.Error{
			Kind: noren.Usage, Where: "--json", What: "standard output is taken by the reports",
			Hint: "name a file for them: -o reports.txt",
		}
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
		Table: api.Table{Input: path, Spec: form}, Survey: of, Columns: f.columns, Client: f.client, Devices: f.devices, Finish: f.finish,
		Output:     f.output,
		NotCharged: f.notCharged,
	})
	t.progress.clear()
	if err != nil {
		return err
	}
	if err := writeFile(f.output, f.force, t.stdout, bytesWriter(r.Lines)); err != nil {
		if f.devices != "" {
			return &noren.Error{
				Kind: noren.KindOf(err), What: "the reports were not written; the key of the devices counts them as made: %s", Args: []any{
					noren.File(f.devices),
				},
				Hint: "repeat the command with this key, and keep the key", Err: err,
			}
		}
		return err
	}
	if f.json {
		return printJSON(t.stdout, r)
	}
	w := t.stdout
	if f.output == "-" {
		w = t.stderr
	} else {
		lang.Fprintf(w, "%s: %s {report|reports} by %s of %s in %s\n\n", f.output, report.Integer(r.Reports), r.Mechanism,
			strings.Join(r.Columns, ", "), path)
	}
	if labels := of.Spec.Labels; len(labels) > 0 && len(labels) <= 20 {
		numbered := make([]string, len(labels))
		for i, label := range labels {
			numbered[i] = fmt.Sprintf("%d = %s", i, label)
		}
		printLine(w, "labels", strings.Join(numbered, ", "))
	}
	printPrivacy(w, &r.Privacy)
	for _, n := range r.NotCharged {
		printLine(w, "not charged", lang.Of(w).
			Text("data set %s: its budget does not count what these reports tell; entry %d of its ledger notes it", n.Dataset, n.Link))
	}
	if r.Devices != nil {
		printDevices(w, r.Devices)
	}
	if f.output != "-" {
		f.next(t, path)
	}
	return nil
}

// next says who gets which file, and what must not leave or last.
func (f *randomizeFlags) next(t *terminal, path string) {
	if f.devices != "" {
		t.next("send %s and the specification to the collector (noren ldp estimate %s); keep %s secret and destroy it after the last round: "+
			"with it the permanent answers can be traced; %s stays, or is destroyed", f.output, names.Shell(f.output), f.devices, path)
		return
	}
	t.next("send %s and the specification to the collector (noren ldp estimate %s); %s stays, or is destroyed", f.output,
		names.Shell(f.output), path)
}

// printDevices prints what a key of devices answered so far, and the sum of the losses.
func printDevices(w io.Writer, d *api.LDPDevices) {
	l := lang.Of(w)
	if d.Epsilon == nil {
		printLine(w, "devices", l.Text("all answers under %s together: nothing bounds their epsilon", d.File))
	} else {
		printLine(w, "devices", l.Text("all answers under %s together: epsilon %s for a person whose values stay", d.File,
			noren.LossText(*d.Epsilon, 4)))
	}
	for i := range d.Uses {
		u := &d.Uses[i]
		rounds := words.Counted(u.Rounds, "%s {round|rounds}")
		switch {
		case u.Epsilon == nil:
			printLine(w, "", l.Text("%s by %s, answered in %s: nothing bounds its epsilon", u.Question, u.Mechanism, rounds))
		case u.Finishing:
			printLine(w, "", l.Text("%s by %s, begun by an earlier version: epsilon %s, that of one lifetime", u.Question, u.Mechanism,
				noren.LossText(*u.Epsilon, 4)))
		default:
			printLine(w, "", l.Text("%s by %s, answered in %s: epsilon %s", u.Question, u.Mechanism, rounds, noren.LossText(*u.Epsilon, 4)))
		}
	}
	if d.Before {
		printLine(w, "", l.Text("answers of an earlier version are not known and add to that; a survey of the same question with other "+
			"parameters may reveal values together with them"))
	}
}
