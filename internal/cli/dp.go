package cli

import (
	"io"
	"os"
	"os/user"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
	words "github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/service"
	"github.com/noren-privacy/noren/spec"
)

// dpFlags are common to all commands that answer with differential privacy: which
// table, who asks, what is charged, and where answer and certificate go.
type dpFlags struct {
	ledgerFlag
	columns        *columnFlags // for unaccounted answers
	epsilon, delta string
	analyst        string
	key            string
	reuse          bool
	unaccounted    bool
	neighbours     string
	unit           string
	dryRun         bool
	yes            bool
	output         string
	certificate    string
	force          bool
	json           bool
}

// register registers the flags. Those that describe the file of an unaccounted answer
// go into columns; without it there is none.
func (f *dpFlags) register(c *cobra.Command, columns *columnFlags, jsonForm string) {
	f.registerAsking(c, columns)
	s := c.Flags()
	s.StringVar(&f.delta, "delta", "", "privacy cost: delta (default 0)")
	s.StringVarP(&f.output, "output", "o", "", "write the released answer to this `FILE` too, byte for byte as the certificate names it")
	s.StringVar(&f.certificate, "certificate", "", "write the signed certificate to this `FILE`")
	s.BoolVar(&f.force, "force", false, "replace files that exist")
	s.BoolVar(&f.json, "json", false, "print one JSON object, "+jsonForm)
}

// registerAsking registers what says which table is asked, by whom, at what cost.
func (f *dpFlags) registerAsking(c *cobra.Command, columns *columnFlags) {
	f.ledgerFlag.register(c)
	s := c.Flags()
	s.StringVar(&f.epsilon, "epsilon", "", "privacy cost: epsilon, in decimal")
	s.StringVar(&f.analyst, "analyst", "", "`NAME` of the analyst, as declared: it is not checked (default: the user's name)")
	s.StringVar(&f.key, "request-key", "", "`KEY` of this request: the same request under the same key gets the same answer, free of "+
		"charge, also after a crash; without a key a crash forfeits the charge")
	s.BoolVar(&f.reuse, "reuse", false, "return the stored answer of an equal request if the ledger has one, free of charge")
	s.BoolVar(&f.dryRun, "dry-run", false,
		"print the cost, the expected accuracy and what would remain; nothing is charged and no private file is read")
	s.BoolVar(&f.yes, "yes", false, "pay without a question; without it a terminal is asked above a tenth of what is left")
	s.StringVar(&f.unit, "unit", "", "record, or the `COLUMN` that tells whose records belong together (default: the data set's own)")
	f.columns = columns
	if columns == nil {
		return // only a data set of a ledger can be asked
	}
	s.BoolVar(&f.unaccounted, "unaccounted", false,
		"answer without a ledger, from a file that no ledger knows: the guarantee covers this answer only, and the certificate says so")
	s.StringVar(&f.neighbours, "neighbours", "", "add-remove or replace-one; with --unaccounted only (default add-remove)")
	s.StringVar(&columns.spec, "spec", "", "types of all columns, from this `FILE`; with --unaccounted only")
	s.StringArrayVar(&columns.types, "type", nil,
		"`COLUMN=TYPE`: integer, decimal, date, ordered or category; with --unaccounted only; may be repeated")
	s.StringArrayVar(&columns.orders, "order", nil,
		"`COLUMN=LOW<...<HIGH`: the levels of an ordered column; with --unaccounted only; may be repeated")
	s.StringArrayVar(&columns.formats, "format", nil, "`COLUMN=LAYOUT`: how a date is written; with --unaccounted only; may be repeated")
	s.StringArrayVar(&columns.missing, "missing", nil, "`TEXT` for a missing value; with --unaccounted only; may be repeated")
	s.StringVar(&columns.delimiter, "delimiter", "", "field delimiter: one `CHARACTER`, or tab; with --unaccounted only (default: comma)")
	s.StringVar(&columns.encoding, "encoding", "", "`ENCODING`: utf-8 or shift_jis; with --unaccounted only (default: utf-8)")
}

// service is the service layer on this terminal, with the ledger of the flag.
func (t *terminal) service(at *ledgerFlag) *service.Service {
	s := &service.Service{
		Ledgers: []string{os.Getenv("NOREN_LEDGER"), defaultLedger}, Signer: signingKey, NoiseKey: noiseKey, Trusted: ownKey, Tool: tool(),
		Analyst: userName(),
		Stdin:   t.stdin, Progress: t.progress.report, Note: t.tell, Lang: t.lang,
	}
	if at != nil {
		s.Ledger = at.path
	}
	return s
}

// notes are what this front end says instead of the text of a note, by its code.
var notes = map[string]noren.Format{
	"charges-stay": "charges made so far stay: noren ledger history lists them",
}

// tell prints a note of the service layer.
func (t *terminal) tell(n api.Note) { t.tellHint(n, hints[n.Code]) }

// tellHint is [terminal.tell] with what to type; "" for nothing.
func (t *terminal) tellHint(n api.Note, hint noren.Format) {
	if own, known := notes[n.Code]; known {
		n.Text = t.lang.Shown(noren.Textf(own))
	} else {
		n.Text = n.In(t.lang)
	}
	if hint != "" {
		n.Text = t.lang.Shown(noren.Textf("%s (%s)", n.Text, noren.Textf(hint)))
	}
	if hint := noteHint(&n); !hint.IsZero() {
		n.Text += t.lang.Shown(hint)
	}
	if n.Level == api.Warning {
		t.warn("%s", n.Text)
		return
	}
	t.note("%s", n.Text)
}

// ask is the part of a request that the flags of all charged commands make. Files that
// exist and may not be replaced are refused here.
func (f *dpFlags) ask(name string) (api.Ask, error) {
	q := api.Ask{
		Dataset: name, Epsilon: f.epsilon, Delta: f.delta, Analyst: f.analyst, RequestKey: f.key, Reuse: f.reuse, Unit: f.unit,
		Unaccounted: f.unaccounted, Neighbours: f.neighbours, Outputs: []string{f.output, f.certificate},
	}
	if name == "" {
		return q, &noren.Error{
			Kind: noren.Usage, Where: "DATASET",
			What: "expected the name of a data set or the path of its file, got an empty text",
		}
	}
	if f.columns != nil {
		q.SpecFile, q.Spec = f.columns.spec, &spec.Spec{}
		if err := f.columns.layOver(q.Spec); err != nil {
			return q, err
		}
	}
	return q, checkTargets(f.force, f.output, f.certificate)
}

// explain adds to an error of the service layer what to type, where that depends on
// the data set and the ledger of this command.
func (f *dpFlags) explain(name string, err error) error {
	e, ok := err.(*noren.Error)
	if !ok {
		return err
	}
	out := *e
	switch {
	case e.Code == "no-ledger":
		out.Hinted("the steward creates one with: noren ledger create --ledger %s && noren ledger grant NAME --ledger %s --file %s --epsilon "+
			"E --yes", f.file(), f.file(), name)
	case e.Code == "unit-name":
		out.Where = "--unit record"
		out.Hinted("rename it, or omit --unit for one record as the unit")
	case e.Code == "schema-pinned" && e.Place() != "unit":
		out.Hinted("leave it out; noren ledger show %s --schema prints the schema", name)
	}
	return &out
}

// write writes the answer, its certificate and what goes with it where the flags say: all or none.
func (f *dpFlags) write(t *terminal, r *api.Receipt, with ...written) error {
	var certificate []byte
	if f.certificate != "" {
		var err error
		if certificate, err = r.Certificate.Encode(); err != nil {
			return f.unwritten(r.Charge != nil, err)
		}
	}
	files := append(with, written{f.output, bytesWriter(r.Payload)}, written{f.certificate, bytesWriter(certificate)})
	if err := writeTogether(f.force, t.stdout, files...); err != nil {
		return f.unwritten(r.Charge != nil, err)
	}
	return nil
}

// printLines prints labelled lines of a result.
func printLines(w io.Writer, lines []words.Line) {
	for _, l := range lines {
		printLine(w, l.Label, l.Text)
	}
}

// printLine prints one labelled line, whose text is in the language of w. On a terminal a
// long text goes on below itself.
func printLine(w io.Writer, label noren.Term, text string) {
	const labels = 11
	l := lang.Of(w)
	_ = grid.Hang(w, "  "+grid.Pad(l.Term(string(label)), labels)+" ", text)
}

// printPrice prints a dry run: quote as JSON, or the lines of its price between those of
// head and tail.
func printPrice(t *terminal, asJSON bool, quote any, p *api.Price, head string, tail ...words.Line) error {
	if asJSON {
		return printJSON(t.stdout, quote)
	}
	lang.Fprintf(t.stdout, "%s\n\n", head)
	printLines(t.stdout, words.Price(t.lang, p))
	printLines(t.stdout, tail)
	if !p.Fits {
		return &alreadySaid{&noren.Error{Kind: noren.Refused, Code: "budget-refused", What: "the budget does not cover it"}}
	}
	return nil
}

// userName is the name of this user.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	if name := os.Getenv("USER"); name != "" {
		return name
	}
	return unnamed
}

// unnamed is the name of a user whose name the system does not tell.
const unnamed = "unnamed"

// unwritten says that an answer was charged and could not be written, and how to
// get it all the same.
func (f *dpFlags) unwritten(charged bool, err error) error {
	e := &noren.Error{Kind: noren.KindOf(err), What: "the answer was charged, and could not be written", Err: err}
	switch {
	case !charged:
	case f.key != "":
		e.Hinted("ask again with --request-key %s: it is free", f.key)
	default:
		e.Hinted("the ledger has the answer: ask again with --reuse, which is free")
	}
	return e
}

func bytesWriter(text []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
}

// jsonWriter writes v as indented JSON.
func jsonWriter(v any) func(io.Writer) error {
	return func(w io.Writer) error { return printJSON(w, v) }
}
