package cli

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

const randomizeSchema = "noren.ldp.randomize/1"

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
		Short: "What each person's device would send, a line each",
		Long: `Randomises each record of a table as its own device would, and writes one report a
line, in the table's order, as noren ldp estimate reads them (docs/cli.md, "Report
files"). It stands in for devices that do not run yet, and for tables that leave a place
that is trusted; the TypeScript client does the same in a browser.

Domain, bins and parameters come from the specification, or from flags, and are public:
chosen from what is known of the world. Bins by quantiles of the data have to be paid
for: noren ldp edges buys them, and what they cost goes with them as --edges-epsilon.

Mechanisms that remember (RAPPOR, the longitudinal ones) give one permanent answer to a
value, which bounds what all reports of a lifetime tell. With --client and --devices KEY
the answers are the same in every round; without, they are forgotten, and another round
costs as much again.`,
		Example: `  noren ldp randomize table.csv --column colour --mechanism grr --labels red,green,blue --epsilon 1 -o reports.txt
  noren ldp randomize table.csv --column radius --mechanism oue --bins 0,30,5 --epsilon 2 --client id -o reports.txt
  noren ldp randomize table.csv --spec ldp.yaml --client id --devices devices.key -o monday.txt --json
  noren ldp randomize table.csv --column page --mechanism rappor --rappor k=32,h=2,m=64,p=0.25,q=0.75,f=0.5`,
		Args: exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), t, args[0]) },
	}
	f.registerInput(c)
	f.survey.register(c)
	s := c.Flags()
	s.StringSliceVar(&f.columns, "column", nil, "the `COLUMN` that is reported (default: the specification's)")
	s.StringVar(&f.client, "client", "", "write the id in this `COLUMN` before each report; it is not protected")
	s.StringVar(&f.devices, "devices", "", "the key of all devices' secrets, a `FILE` that is made where there is none; keep it as secret as the table")
	s.StringVarP(&f.output, "output", "o", "-", "write the reports to this `FILE`")
	s.BoolVar(&f.force, "force", false, "replace the output when it exists")
	s.BoolVar(&f.json, "json", false, "with -o FILE: print one JSON object, "+randomizeSchema)
	return c
}

func (f *randomizeFlags) run(ctx context.Context, t *terminal, path string) error {
	if f.json && f.output == "-" {
		return &noren.Error{Kind: noren.Usage, Where: "--json", What: "standard output is taken by the reports", Hint: "name a file for them: -o reports.txt"}
	}
	if f.devices != "" && f.client == "" {
		return &noren.Error{Kind: noren.Usage, Where: "--devices", What: "which device is whose is told by the client's id", Hint: "--client COLUMN"}
	}
	if err := checkTargets(f.force, f.output); err != nil {
		return err
	}
	s, err := f.chosen()
	if err != nil {
		return err
	}
	if f.devices != "" && !s.Remembers() {
		return &noren.Error{Kind: noren.Usage, Where: "--devices", What: s.Mechanism() + " remembers nothing, and needs no secrets", Hint: "take a longitudinal mechanism or RAPPOR for reports round after round"}
	}
	merged, err := f.merged()
	if err != nil {
		return err
	}
	src, err := openInput(ctx, path, t.stdin, merged)
	if err != nil {
		return err
	}
	defer closeSource(src)
	names := s.Columns()
	if f.client != "" {
		names = append(slices.Clone(names), f.client)
	}
	tab, err := file.ReadText(ctx, src, names, merged.Input.Missing, t.progress.report)
	t.progress.clear()
	if err != nil {
		return err
	}
	var devices *survey.Devices
	var fresh []byte
	if f.devices != "" {
		if devices, fresh, err = openDevices(f.devices); err != nil {
			return err
		}
	}
	lines, repeated, err := f.randomise(ctx, t, path, s, devices, tab)
	if err != nil {
		return err
	}
	if fresh != nil {
		if err := keepKey(f.devices, fresh); err != nil {
			return err
		}
		t.note("made the key of the devices, %s: keep it, and keep it secret", f.devices)
	}
	if err := writeFile(f.output, f.force, t.stdout, bytesWriter(lines)); err != nil {
		return err
	}
	return f.tell(t, path, s, tab.Rows, repeated)
}

// chosen is the survey, of the columns that --column names.
func (f *randomizeFlags) chosen() (*survey.Survey, error) {
	spec, err := f.survey.read()
	if err != nil {
		return nil, err
	}
	switch {
	case len(spec.Attributes) > 0:
		var names []string
		for _, a := range spec.Attributes {
			names = append(names, a.Column)
		}
		if len(f.columns) > 0 && !slices.Equal(slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(f.columns))) {
			return nil, &noren.Error{Kind: noren.Usage, Where: "--column", What: "the specification is of other columns: " + strings.Join(names, ", "), Hint: "leave out --column, or change the specification"}
		}
	case len(f.columns) > 1:
		return nil, &noren.Error{Kind: noren.Usage, Where: "--column", What: "several columns need each their domain", Hint: "list them under attributes: in a specification"}
	case len(f.columns) == 1:
		spec.Column = f.columns[0]
	case spec.Column == "":
		return nil, &noren.Error{Kind: noren.Usage, Where: "--column", What: "say which column is reported"}
	}
	return f.survey.compile(spec)
}

// openDevices reads the key of all devices, or draws one where there is none: it
// is returned as fresh then, to be kept before any report goes out.
func openDevices(path string) (d *survey.Devices, fresh []byte, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if fresh, err = survey.NewKey(noise.NewSource()); err != nil {
			return nil, nil, err
		}
		d, err = survey.NewDevices(fresh)
		return d, fresh, err
	}
	if err != nil {
		return nil, nil, &noren.Error{Kind: noren.Usage, Where: path, What: "the key of the devices cannot be read"}
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err == nil {
		d, err = survey.NewDevices(key)
	}
	if err != nil {
		return nil, nil, &noren.Error{Kind: noren.Usage, Where: path, What: "is no key of devices: 64 hexadecimal digits", Hint: "name a file that does not exist, and one is made"}
	}
	return d, nil, nil
}

// keepKey writes the key of the devices for its owner's eyes.
func keepKey(path string, key []byte) error {
	bad := func(err error) error {
		return &noren.Error{Kind: noren.Usage, Where: path, What: "the key of the devices cannot be written", Err: errors.Unwrap(err)}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return bad(err)
	}
	_, err = fmt.Fprintln(f, hex.EncodeToString(key))
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		_ = os.Remove(path)
		return bad(err)
	}
	return nil
}

// randomise makes all lines, and tells how many are not their client's first.
func (f *randomizeFlags) randomise(ctx context.Context, t *terminal, path string, s *survey.Survey, devices *survey.Devices, tab *table.Table) ([]byte, int, error) {
	var out bytes.Buffer
	src := noise.NewSource()
	d := len(s.Columns())
	values := make([]string, d)
	seen := map[string]bool{}
	repeated := 0
	for i := range tab.Rows {
		if i&1023 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, 0, err
			}
			t.progress.report("randomising", int64(i), int64(tab.Rows))
		}
		where := noren.Position{File: path, Record: int64(i + 1)}
		for j := range values {
			values[j] = text(tab.Columns[j], i)
		}
		var client, word string
		var err error
		if f.client != "" {
			client = text(tab.Columns[d], i)
			where.Column = f.client
			if client == "" || strings.ContainsAny(client, "\t\r\n") {
				return nil, 0, &noren.Error{Kind: noren.BadData, Where: where.String(), What: "an id that is missing, or holds a tab or a line's end", Hint: "give each person an id of letters and digits"}
			}
			if seen[client] {
				repeated++
			}
			seen[client] = true
			out.WriteString(client)
			out.WriteByte('\t')
		}
		where.Column = ""
		if d == 1 {
			where.Column = s.Columns()[0]
		}
		if devices != nil {
			word, err = s.RandomiseFor(src, devices, client, values)
		} else {
			word, err = s.Randomise(src, values)
		}
		if err != nil {
			return nil, 0, at(where.String(), err)
		}
		out.WriteString(word)
		out.WriteByte('\n')
	}
	t.progress.clear()
	return out.Bytes(), repeated, nil
}

// text is a value as written, "" where it is missing.
func text(c *table.Column, i int) string {
	if c.IsMissing(i) {
		return ""
	}
	return c.Dict[c.Codes[i]]
}

// tell says what was made: on standard output, or beside the reports.
func (f *randomizeFlags) tell(t *terminal, path string, s *survey.Survey, n, repeated int) error {
	p := privacyOf(s)
	if s.Remembers() && f.devices == "" {
		// The permanent answers are forgotten: nothing bounds what rounds cost.
		p.Loss.Lifetime = math.Inf(1)
		p.Guarantee = p.Loss.Guarantee()
		p.NotProtected = append(p.NotProtected, "another round of these people: their devices' secrets were thrown away (--client and --devices keep them)")
	}
	if repeated > 0 {
		is := "are not their"
		if repeated == 1 {
			is = "is not its"
		}
		t.warn("%s %s client's first: what a person with several records loses adds up, and noren ldp estimate sets later reports aside", plural(repeated, "report"), is)
	}
	if f.json {
		return printJSON(t.stdout, struct {
			Schema    string      `json:"schema"`
			Input     string      `json:"input"`
			Output    string      `json:"output"`
			Reports   int         `json:"reports"`
			Repeated  int         `json:"repeated_clients"`
			Mechanism string      `json:"mechanism"`
			Columns   []string    `json:"columns"`
			Labels    [][]string  `json:"labels"`
			Rappor    *ldp.Params `json:"rappor,omitempty"`
			Privacy   privacyJSON `json:"privacy"`
		}{randomizeSchema, path, f.output, n, repeated, s.Mechanism(), s.Columns(), allLabels(s), effectiveParams(s), p})
	}
	w := t.stdout
	if f.output == "-" {
		w = t.stderr
	} else {
		fmt.Fprintf(w, "%s: %s reports by %s of %s in %s\n\n", f.output, report.Integer(n), s.Mechanism(), strings.Join(s.Columns(), ", "), path)
	}
	p.print(w)
	return nil
}

// allLabels are the labels of each attribute, nil for numbers and words.
func allLabels(s *survey.Survey) [][]string {
	var out [][]string
	for j := range s.Columns() {
		out = append(out, s.Labels(j))
	}
	return out
}

// effectiveParams are RAPPOR's parameters as they run: f at its multiple of 1/128.
func effectiveParams(s *survey.Survey) *ldp.Params {
	r := s.Rappor()
	if r == nil {
		return nil
	}
	p := r.Params
	p.F = r.EffectiveF()
	return &p
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return report.Integer(n) + " " + what + "s"
}

// joinJSON writes the fields of v, an object, behind those of another.
func joinJSON(object []byte, v any) ([]byte, error) {
	more, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return slices.Concat(object[:len(object)-1], []byte{','}, more[1:]), nil
}
