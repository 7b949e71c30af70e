// Package text writes the sentences that people read about results: guarantees,
// charges, prices, accuracies and warnings.
//
// A function takes the language as its first argument; package lang has the catalogue.
package text

import (
	"encoding/json"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/lang"
)

// Lang is a language.
type Lang = lang.Lang

// Key is a text in English, by which package lang finds its translations.
type Key = lang.Key

// English is the language in which texts are stored and signed.
const English = lang.English

// Line is a line of a result: a short label and its text.
type Line struct {
	Label noren.Term
	Text  string
}

// Guarantee says what an answer guarantees and what was charged for it.
func Guarantee(l Lang, r *api.Receipt) []Line {
	charged := ""
	switch {
	case r.Accounting == string(certificate.Unaccounted):
		charged = l.Text("nothing: unaccounted")
	case r.Repeated:
		charged = l.Text("nothing: answered before")
	case r.Charge != nil:
		cost := api.Cost{Epsilon: r.Charge.Epsilon, Delta: r.Charge.Delta}
		if r.Charge.Rho != "" {
			cost = api.Cost{Rho: r.Charge.Rho}
		}
		charged = l.Text("%s to %s%s", cost, r.Charge.Dataset, left(l, r.Remaining))
	}
	lines := []Line{{"guarantee", Statement(l, &r.Guarantee)}, {"charged", charged}}
	if g := &r.Guarantee; g.Model == "differential privacy" {
		lines = append(lines, oddsLine(l, api.Decimal(g.Epsilon), api.Decimal(g.Delta), g.Neighbours, g.Unit)...)
	}
	return lines
}

// oddsLine says what one unit changes of the odds of an answer; nothing where the loss
// cannot be read.
func oddsLine(l Lang, epsilon, delta json.Number, neighbours, unit string) []Line {
	cost, err := account.ParseCost(epsilon.String(), delta.String())
	if err != nil {
		return nil
	}
	odds := Odds
	if neighbours == account.ReplaceOne.String() {
		odds = OddsReplaced
	}
	return []Line{{"odds", odds(cost, unit, "answer").In(l).Text}}
}

// Price says what a request costs and what would remain.
func Price(l Lang, p *api.Price) []Line {
	cost := l.Text("%s, neighbours %s of one %s", p.Cost(), p.Neighbours, l.Unit(p.Unit))
	budget := ""
	switch {
	case p.Dataset == "":
		budget = l.Text("none: unaccounted")
	case !p.Fits:
		budget = l.Text("%s does not cover it%s", p.Dataset, left(l, p.Before))
	default:
		budget = l.Text("%s%s after it", p.Dataset, left(l, p.Remaining))
	}
	return append([]Line{{"cost", cost}, {"budget", budget}}, oddsLine(l, p.Epsilon, p.Delta, p.Neighbours, p.Unit)...)
}

// left says what each account holds.
func left(l Lang, r *api.Remaining) string {
	if r == nil {
		return ""
	}
	var parts []string
	for _, a := range r.Accounts {
		switch a.Kind {
		case "dataset":
			parts = append(parts, l.Text("%s left", a.Cost))
		case "analyst":
			parts = append(parts, l.Text("%s for analyst %s", a.Cost, a.Name))
		default: // of an older ledger
			parts = append(parts, a.Cost.String()+" ("+a.Kind+" "+a.Name+")")
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, ", ")
}

// Figure is [lang.Figure].
func Figure[F ~float64](x F) string { return lang.Figure(x) }
