package api

import (
	"encoding/json"
	"strconv"

	"github.com/noren-privacy/noren/account"
)

// Cost is an amount of privacy loss in decimal, exactly.
type Cost struct {
	// Epsilon is the bound epsilon.
	Epsilon json.Number `json:"epsilon"`
	// Delta is the probability delta.
	Delta json.Number `json:"delta"`
}

// CostOf is c in decimal.
func CostOf(c account.Cost) Cost {
	return Cost{json.Number(account.Decimal(c.Epsilon, 9)), json.Number(account.Decimal(c.Delta, 18))}
}

// String writes c as [account.Cost.String] does.
func (c Cost) String() string {
	s := "epsilon " + string(c.Epsilon)
	if c.Delta != "0" {
		s += ", delta " + string(c.Delta)
	}
	return s
}

// Decimal writes a floating-point privacy parameter without an exponent, with all of
// its digits.
func Decimal(v float64) json.Number { return json.Number(strconv.FormatFloat(v, 'f', -1, 64)) }
