package text

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/query"
)

// QuestionAsked says a question in words, as in "Mean stay_days by ward, where age >= 65".
func QuestionAsked(l Lang, q *api.Question) []api.Message {
	args := map[string]any{}
	if q.Column != "" {
		args["column"] = q.Column
	}
	by, where := "", ""
	if len(q.By) > 0 {
		args["by"] = strings.Join(q.By, ", ")
		by = l.Text(" by %s", strings.Join(q.By, ", "))
	}
	if q.Where != "" {
		args["where"] = q.Where
		where = l.Text(", where %s", q.Where)
	}
	one := func(code, subject string) []api.Message {
		m := say("asked."+code, l.Text(Key(subject)), args)
		m.Text += by + where
		return []api.Message{m}
	}
	switch query.Kind(q.Kind) {
	case query.Count:
		return one("count", "Number of records")
	case query.Histogram:
		return one("histogram", "Histogram of {column}")
	case query.Quantile:
		if q.Rank == "" || q.Rank == "0.5" {
			return one("median", "Median of {column}")
		}
		args["rank"] = q.Rank
		return one("quantile", "{rank}-quantile of {column}")
	case query.Sum:
		return one("sum", "Sum of {column}")
	case query.Mean:
		return one("mean", "Mean of {column}")
	case query.Variance:
		return one("variance", "Variance of {column}")
	}
	switch q.Kind {
	case api.KindOutliers:
		args["k"], args["radius"], args["columns"] = q.K, q.Radius, strings.Join(q.Columns, ", ")
		return one("outliers", "Number of records with fewer than {k} others within {radius} in {columns}")
	case api.KindRatio:
		args["of"], args["columns"] = q.Of, strings.Join(q.Columns, ", ")
		switch q.Of {
		case "share":
			return one("ratio_share", "Share of records, estimated from a public table weighted by {columns}")
		case "quantile":
			args["rank"] = q.Rank
			return one("ratio_quantile", "Quantile {rank} of {column}, estimated from a public table weighted by {columns}")
		}
		return one("ratio_mean", "Mean of {column}, estimated from a public table weighted by {columns}")
	}
	if states := countedStates(q.Query); states != nil {
		args["states"] = strings.Join(states, ", ")
		return one("correlated_count", "Number of records in state {states}, under the model of dependent records")
	}
	args["query"] = string(q.Query)
	return one("correlated", "Query {query} under the model of dependent records")
}

// countedStates are the states that a query to the records of a model counts; nil for
// every other query.
func countedStates(query json.RawMessage) []string {
	var q map[string]json.RawMessage
	if json.Unmarshal(query, &q) != nil || len(q) != 1 {
		return nil
	}
	var one string
	if json.Unmarshal(q["count"], &one) == nil {
		return []string{one}
	}
	var several []string
	if json.Unmarshal(q["count"], &several) != nil || len(several) == 0 {
		return nil
	}
	return several
}

// Composition says how the groups and bins of a question are paid.
func Composition(l Lang, q *api.Question, groups, cells int, n account.Neighbours, unit string) api.Message {
	args := map[string]any{"unit": unit, "groups": groups, "cells": cells}
	switch {
	case cells == 1:
		return say("composition.one", "One value.", nil)
	case unit != account.Record:
		args["rows"] = q.MaxRows
		return say("composition.persons", "The {cells} values are paid for together: the noise covers up to {rows} records of one {unit}, in whatever groups they are.", args)
	case n == account.ReplaceOne:
		return say("composition.replace", "The {cells} values are paid for together: a record that is replaced can leave one group and enter another, and the noise covers both.", args)
	}
	return say("composition.parallel", "One record counts in one group only, so that the {cells} values are paid for once.", args)
}

// PromiseWords says how far the noise moves an answer.
func PromiseWords(l Lang, p *api.Promise, cells int) api.Message {
	if p.Within == nil {
		return say("promise.none", l.Text("No bound on the error is known before the answer."), nil)
	}
	args := map[string]any{"within": Figure(*p.Within), "at": p.At}
	text := l.Text("Off by at most {within} with confidence {at}")
	code := "promise.value"
	if p.Rank {
		code, text = "promise.rank", l.Text("Its rank is off by at most {within} records with confidence {at}")
	}
	if p.About > 0 {
		code += "_about"
		args["about"] = p.About
		text += l.Text(", in a group of at least {about} records")
	}
	if p.Guess {
		code += "_guess"
		text += l.Text(", if the guess of the local sensitivity is right")
	}
	if cells > 1 {
		code += "_each"
		args["cells"], args["all_at"] = cells, Figure(p.AllAt)
		text += l.Text("; each of the {cells} values by itself, all at once with confidence {all_at}")
	}
	if l == English {
		text += "."
	}
	return say(code, text, args)
}

// Odds says what one unit changes of the odds of answers. about names them: "answer" for
// one answer or several of one request, "book" for all answers of a budget.
func Odds(_ Lang, cost account.Cost, unit, about string) api.Message {
	return odds(cost, unit, "odds."+about)
}

// OddsReplaced is [Odds] for neighbours of the relation replace-one. Its codes begin with
// "odds_replace".
func OddsReplaced(_ Lang, cost account.Cost, unit, about string) api.Message {
	return odds(cost, unit, "odds_replace."+about)
}

func odds(cost account.Cost, unit, code string) api.Message {
	epsilon, delta := cost.Float()
	args := map[string]any{"times": oddsFactor(epsilon), "epsilon": account.Decimal(cost.Epsilon, 9), "unit": unit}
	if delta > 0 {
		code += "_delta"
		args["delta"] = account.Decimal(cost.Delta, 18)
	}
	return say(code, oddsTexts[code], args)
}

// oddsTexts are the sentences of [Odds] and [OddsReplaced] by their codes.
var oddsTexts = map[string]string{
	"odds.answer":               "Whether one {unit} is in the table changes the odds of this answer at most {times} times (epsilon {epsilon}).",
	"odds.answer_delta":         "Whether one {unit} is in the table changes the odds of this answer at most {times} times (epsilon {epsilon}), but for a probability of {delta}.",
	"odds_replace.answer":       "Whether one {unit} is in the table or another in its place changes the odds of this answer at most {times} times (epsilon {epsilon}).",
	"odds_replace.answer_delta": "Whether one {unit} is in the table or another in its place changes the odds of this answer at most {times} times (epsilon {epsilon}), but for a probability of {delta}.",
	"odds.book":                 "Whether one {unit} is in the table changes the odds of all answers together at most {times} times (epsilon {epsilon}).",
	"odds.book_delta":           "Whether one {unit} is in the table changes the odds of all answers together at most {times} times (epsilon {epsilon}), but for a probability of {delta}.",
	"odds_replace.book":         "Whether one {unit} is in the table or another in its place changes the odds of all answers together at most {times} times (epsilon {epsilon}).",
	"odds_replace.book_delta":   "Whether one {unit} is in the table or another in its place changes the odds of all answers together at most {times} times (epsilon {epsilon}), but for a probability of {delta}.",
}

// oddsFactor is e^epsilon, rounded up to three digits.
func oddsFactor(epsilon float64) string {
	f := math.Exp(epsilon)
	if f > 1e6 {
		return "over 1,000,000"
	}
	unit := math.Pow(10, math.Floor(math.Log10(f))-2)
	return Figure(math.Ceil(f/unit-1e-9) * unit)
}

// NotCovered says what a request does not promise.
func NotCovered(l Lang, questions []api.QuestionQuote, unit string) []api.Message {
	var out []api.Message
	about, several, rank, guess := false, false, false, false
	for i := range questions {
		p := &questions[i].Accuracy
		about, several = about || p.About > 0, several || questions[i].Cells > 1
		rank, guess = rank || p.Rank, guess || p.Guess
	}
	if about {
		out = append(out, say("not.small_groups", "The error of a mean or variance holds for groups of at least the stated size: in a group of half that size it is about twice as large. Each answer states its own.", nil))
	}
	if several {
		out = append(out, say("not.all_at_once", "Each value lies within its margin with the stated confidence by itself: of many values some lie outside.", nil))
	}
	if rank {
		out = append(out, say("not.value", "The error of a quantile is stated as a rank: where few values lie, its value may be far off.", nil))
	}
	if guess {
		out = append(out, say("not.guess", "The error holds if the guess of the local sensitivity is right. The privacy guarantee does not depend on it.", nil))
	}
	return append(out,
		say("not.inference", "What people have in common may be learned, also about those who are not in the table.", nil),
		say("not.others", "The guarantee is for one {unit} and covers answers of this budget only: other files and answers from elsewhere are not counted.", map[string]any{"unit": unit}),
	)
}

// Outside says what becomes of values of a column that a question does not count.
func Outside(l Lang, column, use string, lo, hi string, listed int) api.Message {
	args := map[string]any{"column": column}
	switch use {
	case "clamped":
		args["lo"], args["hi"] = lo, hi
		return say("outside.clamped", "Values below {lo} count as {lo} and values above {hi} as {hi}; records without a value are left out.", args)
	case "bins":
		args["lo"], args["hi"] = lo, hi
		return say("outside.bins", "Values below {lo} and from {hi} up are in no bin; records without a value are left out.", args)
	case "listed":
		args["listed"] = listed
		return say("outside.listed", "{listed} values count; records with any other value are left out.", args)
	case "person":
		args["rows"] = listed
		return say("outside.person", "At most {rows} records of one {column} count; records without one are left out.", args)
	case "box":
		args["lo"], args["hi"] = lo, hi
		return say("outside.box", "Values below {lo} count as {lo} and values above {hi} as {hi}; a record without a value has no neighbours.", args)
	case "model":
		return say("outside.model", "A value that is no state of its record counts as the record's first state.", args)
	case "weights":
		return say("outside.weights", "The public table is weighted so that it matches the private one in this column.", args)
	}
	return say("outside.condition", "Records that do not meet the condition are left out.", args)
}

// SamplingBasis says from what the error of sampling was computed.
func SamplingBasis(l Lang, basis string, about int64, spread float64) api.Message {
	args := map[string]any{"about": about}
	switch basis {
	case "count":
		return say("sampling.count", "From the guess of {about} records: a count of people who come independently.", args)
	case "quartiles":
		args["spread"] = Figure(spread)
		return say("sampling.quartiles", "From the guess of {about} records and a spread of {spread}, by the stated quartiles of a normal distribution.", args)
	}
	args["spread"] = Figure(spread)
	return say("sampling.bounds", "At most this much, from the guess of {about} records and the largest spread between the bounds, {spread}.", args)
}

// ReadWithCare says what to keep in mind about the values of an answer. All of it follows
// from what was released.
func ReadWithCare(l Lang, q *api.Question, p *api.Promise, rows []api.AnswerRow) []api.Message {
	out := []api.Message{}
	none, wide, negative := 0, 0, 0
	for i := range rows {
		r := &rows[i]
		switch {
		case r.Value == nil:
			none++
		case r.Noise != nil && p.Within != nil && *r.Noise > *p.Within*(1+1e-9):
			wide++
		}
		if r.Value != nil && *r.Value < 0 && (q.Kind == string(query.Count) || q.Kind == string(query.Histogram)) {
			negative++
		}
	}
	count := func(n int) map[string]any { return map[string]any{"count": n, "of": len(rows)} }
	if none > 0 {
		out = append(out, say("care.none", "{count} of {of} values are missing: too few records for a value.", count(none)))
	}
	if wide > 0 {
		args := count(wide)
		args["within"] = Figure(*p.Within)
		out = append(out, say("care.wide", "{count} of {of} values have a wider margin than the {within} that was asked for: their groups are smaller than the guess.", args))
	}
	if negative > 0 {
		out = append(out, say("care.negative", "{count} of {of} counts are below 0: noise was added to small counts. Sums of them stay right on average.", count(negative)))
	}
	if len(rows) > 1 {
		out = append(out, say("care.differences", "Two values differ only if they lie further apart than their margins together.", nil))
	}
	return out
}

// HiddenBias says what no error of an estimate by weights contains.
func HiddenBias(l Lang, what string) api.Message {
	return say("care.hidden_bias", "The error does not contain {what}.", map[string]any{"what": what})
}

// FitWarning is a finding of the check of weights.
func FitWarning(l Lang, finding string) api.Message {
	return say("care.fit", "{finding}.", map[string]any{"finding": strings.ToUpper(finding[:min(1, len(finding))]) + finding[min(1, len(finding)):]})
}

// ChangeWords says a change (margin, pay, bounds, by or drop) by which a request would fit.
func ChangeWords(l Lang, change string, args map[string]any) api.Message {
	texts := map[string]string{
		"margin": "A margin of {to} instead of {from} in question {question}",
		"pay":    "Pay {to} instead of {from} for question {question}",
		"bounds": "Bounds of {lo} to {hi} in question {question}, with the same margin",
		"by":     "All groups together, without {by}, in question {question}",
		"drop":   "Without question {question}",
	}
	return say("change."+change, texts[change], args)
}
