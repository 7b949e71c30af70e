package text

import (
	"math"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/kinds"
)

// Composition says how the groups and bins of a question are paid.
func Composition(q *api.Question, groups, cells int, n account.Neighbours, unit string) api.Message {
	args := map[string]any{"unit": unit, "groups": groups, "cells": cells}
	switch {
	case cells == 1:
		return api.Say("composition.one", nil)
	case unit != account.Record:
		args["rows"] = q.MaxRows()
		return api.Say("composition.persons", args)
	case n == account.ReplaceOne:
		return api.Say("composition.replace", args)
	}
	return api.Say("composition.parallel", args)
}

// PromiseWords says how far the noise moves an answer.
func PromiseWords(p *api.Promise, cells int) api.Message {
	if p.Within == nil {
		return api.Say("promise.none", nil)
	}
	args := map[string]any{"within": Figure(*p.Within), "at": p.At}
	code := "promise.value"
	if p.Rank {
		code = "promise.rank"
	}
	if p.About > 0 {
		code += "_about"
		args["about"] = p.About
	}
	if p.Guess {
		code += "_guess"
	}
	if cells > 1 {
		code += "_each"
		args["cells"], args["all_at"] = cells, Figure(p.AllAt)
	}
	return api.Say(code, args)
}

// Odds says what one unit changes of the odds of answers. about names them: "answer" for
// one answer or several of one request, "book" for all answers of a budget.
func Odds(cost account.Cost, unit, about string) api.Message {
	return odds(cost, unit, "odds."+about)
}

// OddsReplaced is [Odds] for neighbours of the relation replace-one. Its codes begin with
// "odds_replace".
func OddsReplaced(cost account.Cost, unit, about string) api.Message {
	return odds(cost, unit, "odds_replace."+about)
}

func odds(cost account.Cost, unit, code string) api.Message {
	epsilon, delta := cost.Float()
	args := map[string]any{"times": oddsFactor(epsilon), "epsilon": account.Decimal(cost.Epsilon, 9), "unit": unit}
	if delta > 0 {
		code += "_delta"
		args["delta"] = account.Decimal(cost.Delta, 18)
	}
	return api.Say(code, args)
}

// oddsFactor is e^epsilon, rounded up to three digits.
func oddsFactor(epsilon float64) any {
	f := math.Exp(epsilon)
	if f > 1e6 {
		return noren.Textf("over 1,000,000")
	}
	unit := math.Pow(10, math.Floor(math.Log10(f))-2)
	return Figure(math.Ceil(f/unit-1e-9) * unit)
}

// NotCovered says what a request does not promise.
func NotCovered(questions []api.QuestionQuote, unit string) []api.Message {
	var out []api.Message
	about, several, rank, guess := false, false, false, false
	for i := range questions {
		p := &questions[i].Accuracy
		about, several = about || p.About > 0, several || questions[i].Cells > 1
		rank, guess = rank || p.Rank, guess || p.Guess
	}
	if about {
		out = append(out, api.Say("not.small_groups", nil))
	}
	if several {
		out = append(out, api.Say("not.all_at_once", nil))
	}
	if rank {
		out = append(out, api.Say("not.value", nil))
	}
	if guess {
		out = append(out, api.Say("not.guess", nil))
	}
	return append(out,
		api.Say("not.inference", nil),
		api.Say("not.others", map[string]any{"unit": unit}),
	)
}

// Outside says what becomes of values of a column that a question does not count.
func Outside(column, use string, lo, hi string, listed int) api.Message {
	args := map[string]any{"column": column}
	switch use {
	case "clamped":
		args["lo"], args["hi"] = lo, hi
		return api.Say("outside.clamped", args)
	case "bins":
		args["lo"], args["hi"] = lo, hi
		return api.Say("outside.bins", args)
	case "listed":
		args["listed"] = listed
		return api.Say("outside.listed", args)
	case "person":
		args["rows"] = listed
		return api.Say("outside.person", args)
	case "box":
		args["lo"], args["hi"] = lo, hi
		return api.Say("outside.box", args)
	case "model":
		return api.Say("outside.model", args)
	case "weights":
		return api.Say("outside.weights", args)
	}
	return api.Say("outside.condition", args)
}

// SamplingBasis says from what the error of sampling was computed.
func SamplingBasis(basis string, about int64, spread float64) api.Message {
	args := map[string]any{"about": about}
	switch basis {
	case "count":
		return api.Say("sampling.count", args)
	case "quartiles":
		args["spread"] = Figure(spread)
		return api.Say("sampling.quartiles", args)
	}
	args["spread"] = Figure(spread)
	return api.Say("sampling.bounds", args)
}

// ReadWithCare says what to keep in mind about the values of an answer. All of it follows
// from what was released.
func ReadWithCare(q *api.Question, p *api.Promise, rows []api.AnswerRow) []api.Message {
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
		if r.Value != nil && *r.Value < 0 && q.Of.Facts().Unit == kinds.Records {
			negative++
		}
	}
	count := func(n int) map[string]any { return map[string]any{"count": n, "of": len(rows)} }
	if none > 0 {
		out = append(out, api.Say("care.none", count(none)))
	}
	if wide > 0 {
		args := count(wide)
		args["within"] = Figure(*p.Within)
		out = append(out, api.Say("care.wide", args))
	}
	if negative > 0 {
		out = append(out, api.Say("care.negative", count(negative)))
	}
	if len(rows) > 1 {
		out = append(out, api.Say("care.differences", nil))
	}
	return out
}

// HiddenBias says what no error of an estimate by weights contains.
func HiddenBias(what noren.Text) api.Message {
	return api.Say("care.hidden_bias", map[string]any{"what": what})
}

// FitWarning is a finding of the check of weights.
func FitWarning(finding noren.Text) api.Message {
	return api.Say("care.fit", map[string]any{"finding": finding})
}

// ChangeWords says a change (margin, pay, bounds, by or drop) by which a request would fit.
func ChangeWords(change string, args map[string]any) api.Message {
	return api.Say("change."+change, args)
}
