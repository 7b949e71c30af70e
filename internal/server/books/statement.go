package books

import (
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
	return api.Say("book-model", map[string]any{"column": column})
}

// promise states an (epsilon, delta) guarantee as odds. rho is that of a book in zCDP.
func promise(code string, d *api.Dataset, epsilon, delta, rho string) Message {
	e, _ := strconv.ParseFloat(epsilon, 64)
	args := map[string]any{"epsilon": epsilon, "delta": delta, "odds": odds(e), "unit": d.Unit, "neighbours": d.Neighbours}
	if rho != "" {
		args["rho"] = rho
	}
	return api.Say(code, args)
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
