package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/user"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"noren"
	"noren/account"
	"noren/certificate"
	"noren/internal/spec"
	"noren/ledger"
	"noren/noise"
	"noren/release"
	"noren/table/csvio"
	"noren/table/file"
)

// dpFlags are common to all commands that answer with differential privacy: who
// asks, what pays, and where answer and certificate go.
type dpFlags struct {
	ledgerFlag
	epsilon, delta string
	analyst        string
	key            string
	unaccounted    bool
	neighbours     string
	unit           string
	dryRun         bool
	output         string
	certificate    string
	force          bool
	json           bool
}

func (f *dpFlags) register(c *cobra.Command, jsonForm string) {
	f.ledgerFlag.register(c)
	s := c.Flags()
	s.StringVar(&f.epsilon, "epsilon", "", "the price: epsilon, in decimal")
	s.StringVar(&f.delta, "delta", "", "the price: delta (default 0)")
	s.StringVar(&f.analyst, "analyst", "", "who asks (default: the user's name)")
	s.StringVar(&f.key, "request-key", "", "ask the same again under the same `KEY`: the same answer, free of charge")
	s.BoolVar(&f.unaccounted, "unaccounted", false, "answer without a ledger: the promise then holds for this answer alone, and the certificate says so")
	s.StringVar(&f.neighbours, "neighbours", "", "add-remove or replace-one; only with --unaccounted, else the budget's own (default add-remove)")
	s.StringVar(&f.unit, "unit", "", "record, or the `COLUMN` that tells whose records belong together (default: the budget's own)")
	s.BoolVar(&f.dryRun, "dry-run", false, "print the price, the expected accuracy and what would remain; nothing is charged")
	s.StringVarP(&f.output, "output", "o", "", "write the released answer to this `FILE` too, byte for byte as the certificate names it")
	s.StringVar(&f.certificate, "certificate", "", "write the signed certificate to this `FILE`")
	s.BoolVar(&f.force, "force", false, "replace files that exist")
	s.BoolVar(&f.json, "json", false, "print one JSON object, "+jsonForm)
}

// payer is an open ledger with the file's book, or neither when unaccounted.
type payer struct {
	ledger     *ledger.Ledger
	book       *ledger.Book
	neighbours account.Neighbours
	unit       string
}

func (p *payer) close() {
	if p.ledger != nil {
		_ = p.ledger.Close()
	}
}

// rowsKey is the secret by which the records of one person are picked.
func (p *payer) rowsKey() ([]byte, error) {
	if p.ledger != nil {
		return p.ledger.Key("noren.query.rows"), nil
	}
	src := noise.NewSource()
	var key []byte
	for range 4 {
		word, err := src.Uint64()
		if err != nil {
			return nil, &noren.Error{What: "no random bits are to be had", Err: err}
		}
		for ; word > 0; word >>= 8 {
			key = append(key, byte(word))
		}
	}
	return key, nil
}

// pay finds what pays for questions to the file.
func (f *dpFlags) pay(ctx context.Context, path string) (*payer, error) {
	if err := checkTargets(f.force, f.output, f.certificate); err != nil {
		return nil, err
	}
	if f.unaccounted {
		p := &payer{unit: f.unit}
		if p.unit == "" {
			p.unit = account.Record
		}
		var err error
		if f.neighbours != "" {
			if p.neighbours, err = account.ParseNeighbours(f.neighbours); err != nil {
				return nil, at("--neighbours", err)
			}
		}
		return p, nil
	}
	if f.neighbours != "" {
		return nil, &noren.Error{Kind: noren.Usage, Where: "--neighbours", What: "the relation is the budget book's, fixed at its grant", Hint: "only with --unaccounted"}
	}
	l, err := ledger.Open(ctx, f.file(), ledger.Options{})
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &noren.Error{
				Kind: noren.Refused, Where: path, What: "there is no ledger, and so no budget for this file",
				Hint: fmt.Sprintf("the steward makes one with: noren ledger create --ledger %s && noren ledger grant NAME --ledger %s --file %s --epsilon E", f.file(), f.file(), path),
			}
		}
		return nil, err
	}
	book, err := l.FindByFile(ctx, path)
	if err != nil {
		_ = l.Close()
		if f.path != "" && errors.Is(err, ledger.ErrNoGrant) {
			err = &noren.Error{
				Kind: noren.Refused, Where: path, What: "this file has no budget", Err: ledger.ErrNoGrant,
				Hint: fmt.Sprintf("the steward grants one with: noren ledger grant NAME --ledger %s --file %s --epsilon E", f.path, path),
			}
		}
		return nil, err
	}
	if f.unit != "" && f.unit != book.Unit {
		_ = l.Close()
		return nil, &noren.Error{Kind: noren.Usage, Where: "--unit", What: fmt.Sprintf("the budget of %s is for one %s, not one %s", book.Name, book.Unit, f.unit), Hint: "the unit is fixed by the grant"}
	}
	return &payer{ledger: l, book: book, neighbours: book.Neighbours, unit: book.Unit}, nil
}

// request is the question as package release wants it.
func (f *dpFlags) request(t *terminal, p *payer, path string, s *spec.Spec, m release.Mechanism) (release.Request, error) {
	q := release.Request{
		Mechanism: m, File: path, Missing: s.Input.Missing, Tool: tool(), Progress: t.progress.report,
		Budget: release.Budget{Ledger: p.ledger, Principal: f.who(), Key: f.key, Unaccounted: f.unaccounted, Neighbours: p.neighbours, Unit: p.unit},
	}
	var err error
	q.Input, err = inputOptions(s)
	return q, err
}

// inputOptions say how a file is written whose first line holds the names of the
// columns.
func inputOptions(s *spec.Spec) (file.Options, error) {
	if s.Input.Header != nil && !*s.Input.Header {
		return file.Options{}, &noren.Error{
			Kind: noren.Usage, Where: "input.header", What: "expected a table with a line of names, got header: false",
			Hint: "this command asks for columns by name: add a first line with the names of the columns",
		}
	}
	return formOptions(s)
}

// formOptions say how a file is written, but for its first line.
func formOptions(s *spec.Spec) (file.Options, error) {
	o := file.Options{}
	var err error
	if o.Delimiter, err = csvio.ParseDelimiter(s.Input.Delimiter); err != nil {
		return o, at("--delimiter", err)
	}
	if o.Encoding, err = csvio.ParseEncoding(s.Input.Encoding); err != nil {
		return o, at("--encoding", err)
	}
	return o, nil
}

// who asks.
func (f *dpFlags) who() string {
	if f.analyst != "" {
		return f.analyst
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	if name := os.Getenv("USER"); name != "" {
		return name
	}
	return "unnamed"
}

// run asks, writes what is to be written, and returns the answer.
func (f *dpFlags) run(ctx context.Context, t *terminal, q release.Request) (*release.Answer, error) {
	key, err := signingKey()
	if err != nil {
		return nil, err
	}
	q.Signer = key
	answer, err := release.Run(ctx, q)
	t.progress.clear()
	if err != nil {
		if noren.KindOf(err) == noren.Interrupted && !f.unaccounted {
			t.note("what was charged by then stays charged: noren ledger history tells")
		}
		return nil, err
	}
	if f.output != "" {
		if err := writeFile(f.output, f.force, t.stdout, bytesWriter(answer.Payload)); err != nil {
			return nil, f.unwritten(answer, err)
		}
	}
	if f.certificate != "" {
		text, err := answer.Certificate.Encode()
		if err == nil {
			err = writeFile(f.certificate, f.force, t.stdout, bytesWriter(text))
		}
		if err != nil {
			return nil, f.unwritten(answer, err)
		}
	}
	if answer.Repeated {
		t.note("this was asked before under the same key: the same answer, free of charge")
	}
	if f.unaccounted {
		t.warn("unaccounted: no ledger knows of this answer, and its promise holds for it alone")
	}
	return answer, nil
}

// ask is run, and decodes what was answered.
func ask[T any](ctx context.Context, t *terminal, f *dpFlags, q release.Request) (*T, *release.Answer, error) {
	answer, err := f.run(ctx, t, q)
	if err != nil {
		return nil, nil, err
	}
	out := new(T)
	if err := json.Unmarshal(answer.Payload, out); err != nil {
		return nil, nil, &noren.Error{What: "the stored answer cannot be read", Err: err}
	}
	return out, answer, nil
}

// unwritten says that an answer was charged and could not be written, and how to
// get it all the same.
func (f *dpFlags) unwritten(a *release.Answer, err error) error {
	e := &noren.Error{Kind: noren.KindOf(err), What: "the answer was charged, and could not be written", Err: err}
	if f.key != "" && a.Charge != nil {
		e.Hint = "ask again with --request-key " + f.key + ": it is free"
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

// sortedNames are the names of a set in byte order.
func sortedNames(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

// dpJSON is what every answer says beside its own fields.
type dpJSON struct {
	Epsilon    json.Number     `json:"epsilon"`
	Delta      json.Number     `json:"delta"`
	Neighbours string          `json:"neighbours"`
	Unit       string          `json:"unit"`
	Accounting string          `json:"accounting"`
	Charge     *chargeJSON     `json:"charge"`
	Remaining  *remainingJSON  `json:"remaining"`
	Repeated   bool            `json:"repeated"`
	Guarantee  noren.Guarantee `json:"guarantee"`
}

type chargeJSON struct {
	Dataset string      `json:"dataset"`
	Ledger  string      `json:"ledger"`
	ID      string      `json:"id"`
	Link    int64       `json:"link"`
	Head    string      `json:"head"`
	Epsilon json.Number `json:"epsilon"`
	Delta   json.Number `json:"delta"`
}

// remainingJSON is what whoever asked may still spend: the least that any of the
// accounts has, and what each of them has.
type remainingJSON struct {
	costJSON
	Accounts []heldJSON `json:"accounts"`
}

type heldJSON struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	costJSON
}

func toRemainingJSON(list []ledger.Remaining) *remainingJSON {
	if len(list) == 0 {
		return nil
	}
	out := &remainingJSON{}
	least := list[0].Left
	for _, r := range list {
		least.Epsilon, least.Delta = min(least.Epsilon, r.Left.Epsilon), min(least.Delta, r.Left.Delta)
		out.Accounts = append(out.Accounts, heldJSON{r.Kind, r.Name, toCostJSON(r.Left)})
	}
	out.costJSON = toCostJSON(least)
	return out
}

// answerJSON states an answer's promise and charge.
func answerJSON(a *release.Answer) dpJSON {
	c := &a.Certificate.Certificate
	out := dpJSON{
		Epsilon: json.Number(number(c.Guarantee.Epsilon)), Delta: json.Number(number(c.Guarantee.Delta)),
		Neighbours: c.Guarantee.Neighbours, Unit: c.Guarantee.Unit, Accounting: string(c.Accounting),
		Remaining: toRemainingJSON(a.Remaining), Repeated: a.Repeated, Guarantee: c.Guarantee,
	}
	if c.Charge != nil {
		cost := toCostJSON(account.Cost{Epsilon: c.Charge.EpsilonNano, Delta: c.Charge.DeltaAtto})
		out.Charge = &chargeJSON{
			Ledger: c.Charge.Ledger, ID: c.Charge.ID, Link: c.Charge.Link, Head: c.Charge.Head, Epsilon: cost.Epsilon, Delta: cost.Delta,
		}
		if c.Source != nil {
			out.Charge.Dataset = c.Source.Dataset
		}
	}
	return out
}

func number(v float64) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// printPromise tells an answer's promise and charge to people.
func printPromise(w io.Writer, a *release.Answer) {
	c := &a.Certificate.Certificate
	fmt.Fprintf(w, "  promise     %s\n", c.Guarantee)
	switch {
	case c.Accounting == certificate.Unaccounted:
		fmt.Fprintln(w, "  charged     nothing: unaccounted")
	case a.Repeated:
		fmt.Fprintln(w, "  charged     nothing: answered before")
	default:
		cost := account.Cost{Epsilon: c.Charge.EpsilonNano, Delta: c.Charge.DeltaAtto}
		fmt.Fprintf(w, "  charged     %s to %s%s\n", cost, c.Source.Dataset, left(a.Remaining))
	}
}

func left(list []ledger.Remaining) string {
	var parts []string
	for _, r := range list {
		if r.Kind == "dataset" {
			parts = append(parts, r.Left.String()+" left")
		} else {
			parts = append(parts, fmt.Sprintf("%s for %s %s", r.Left, r.Kind, r.Name))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, ", ")
}

// quoteJSON is what a dry run says.
type quoteJSON struct {
	Schema     string         `json:"schema"`
	DryRun     bool           `json:"dry_run"`
	Dataset    string         `json:"dataset"`
	Epsilon    json.Number    `json:"epsilon"`
	Delta      json.Number    `json:"delta"`
	Neighbours string         `json:"neighbours"`
	Unit       string         `json:"unit"`
	Fits       bool           `json:"fits"`
	Before     *remainingJSON `json:"before"`
	Remaining  *remainingJSON `json:"remaining"`
	Accuracy   any            `json:"accuracy,omitempty"`
}

// priceTag is a quote as JSON, with what would remain.
func priceTag(schema string, q *release.Quote, accuracy any) quoteJSON {
	c := toCostJSON(q.Cost)
	out := quoteJSON{
		Schema: schema, DryRun: true, Dataset: q.Dataset, Epsilon: c.Epsilon, Delta: c.Delta,
		Neighbours: q.Neighbours.String(), Unit: q.Unit, Fits: q.Fits, Before: toRemainingJSON(q.Remaining), Accuracy: accuracy,
	}
	out.Remaining = toRemainingJSON(after(q))
	return out
}

// after is what each account would hold; what does not fit leaves it as it is.
func after(q *release.Quote) []ledger.Remaining {
	var list []ledger.Remaining
	for _, r := range q.Remaining {
		if q.Fits {
			r.Left.Epsilon -= q.Cost.Epsilon
			r.Left.Delta -= q.Cost.Delta
		}
		list = append(list, r)
	}
	return list
}

// printQuote tells a price to people.
func printQuote(w io.Writer, q *release.Quote) {
	fmt.Fprintf(w, "  price       %s, neighbours %s of one %s\n", q.Cost, q.Neighbours, q.Unit)
	switch {
	case q.Dataset == "":
		fmt.Fprintln(w, "  budget      none: unaccounted")
	case !q.Fits:
		fmt.Fprintf(w, "  budget      %s does not cover it%s\n", q.Dataset, left(q.Remaining))
	default:
		fmt.Fprintf(w, "  budget      %s%s after it\n", q.Dataset, left(after(q)))
	}
}
