package books

import (
	"fmt"
	"math"
	"strconv"

	"github.com/noren-privacy/noren/api"
)

// statement says what is guaranteed for all answers of a book so far, and for all that its
// cap allows.
func statement(d *api.Dataset) []Message {
	spent, most := amountOf(d.Spent), amountOf(d.Cap)
	if d.Accounting == "zcdp" {
		out := []Message{}
		if s := d.Statement; s != nil {
			out = append(out, promise("book-now", d, string(s.Epsilon), string(s.Delta), spent.Rho))
		}
		if s := d.StatementAtCap; s != nil {
			out = append(out, promise("book-cap", d, string(s.Epsilon), string(s.Delta), most.Rho))
		}
		return out
	}
	return []Message{promise("book-now", d, spent.Epsilon, spent.Delta, ""), promise("book-cap", d, most.Epsilon, most.Delta, "")}
}

// modelled says what the statements of a book with a model of dependent records assume.
func modelled(column string) Message {
	return Message{
		Code: "book-model", Args: map[string]any{"column": column},
		Text: "The same holds for a person who knows other records and how records depend on each other, as long as the states in column " + column + " follow the public model of this book.",
	}
}

// promise states an (epsilon, delta) guarantee as odds. rho is that of a book in zCDP.
func promise(code string, d *api.Dataset, epsilon, delta, rho string) Message {
	what, verb := "all answers so far", "changes"
	if code == "book-cap" {
		what, verb = "all answers that the cap allows", "would change"
	}
	who := "Whether one " + d.Unit + " is in the table or not"
	if d.Neighbours == replaceOne {
		who = "Whether one " + d.Unit + " is in the table or another in its place"
	}
	e, _ := strconv.ParseFloat(epsilon, 64)
	odds := odds(e)
	args := map[string]any{"epsilon": epsilon, "delta": delta, "odds": odds, "unit": d.Unit, "neighbours": d.Neighbours}
	text := fmt.Sprintf("%s %s the odds of %s at most %s times (epsilon %s", who, verb, what, odds, epsilon)
	if delta != "" && delta != "0" {
		text += ", except with a probability of the order of delta " + delta
	}
	if text += ")."; rho != "" {
		args["rho"] = rho
		text = text[:len(text)-2] + "; rho " + rho + ")."
	}
	return Message{Code: code, Text: text, Args: args}
}

// odds is e to the power of epsilon, rounded up to three digits.
func odds(epsilon float64) string {
	v := math.Exp(epsilon)
	if v >= 1e6 || math.IsInf(v, 1) {
		return strconv.FormatFloat(v, 'e', 1, 64)
	}
	scale := 100.0
	if v >= 100 {
		scale = 1
	} else if v >= 10 {
		scale = 10
	}
	return strconv.FormatFloat(math.Ceil(v*scale-1e-9)/scale, 'f', -1, 64)
}
