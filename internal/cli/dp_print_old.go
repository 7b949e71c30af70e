package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
)

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

// remainingJSON is what the analyst may still spend: the least that any of the
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
		Epsilon: json.Number(decimal(c.Guarantee.Epsilon)), Delta: json.Number(decimal(c.Guarantee.Delta)),
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

// decimal writes a privacy cost without an exponent, with all of its digits.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

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

// tellQuote prints a dry run, as JSON or between the lines of head and tail.
func tellQuote(t *terminal, asJSON bool, schema string, q *release.Quote, accuracy any, head, tail func(io.Writer)) error {
	if asJSON {
		return printJSON(t.stdout, priceTag(schema, q, accuracy))
	}
	head(t.stdout)
	printQuote(t.stdout, q)
	tail(t.stdout)
	if !q.Fits {
		return &alreadySaid{&noren.Error{Kind: noren.Refused, Code: "budget-refused", What: "the budget does not cover it"}}
	}
	return nil
}

// printQuote tells a cost to people.
func printQuote(w io.Writer, q *release.Quote) {
	fmt.Fprintf(w, "  cost        %s, neighbours %s of one %s\n", q.Cost, q.Neighbours, q.Unit)
	switch {
	case q.Dataset == "":
		fmt.Fprintln(w, "  budget      none: unaccounted")
	case !q.Fits:
		fmt.Fprintf(w, "  budget      %s does not cover it%s\n", q.Dataset, left(q.Remaining))
	default:
		fmt.Fprintf(w, "  budget      %s%s after it\n", q.Dataset, left(after(q)))
	}
}
