package api

import (
	"encoding/json"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
)

// Cost is an amount of privacy loss in decimal, exactly: epsilon and delta, or rho in a
// budget in zCDP.
type Cost struct {
	// Epsilon is the bound epsilon; absent in a budget in zCDP.
	Epsilon json.Number `json:"epsilon,omitempty"`
	// Delta is the probability delta; absent in a budget in zCDP.
	Delta json.Number `json:"delta,omitempty"`
	// Rho is the loss in zCDP; absent in a budget in epsilon and delta.
	Rho json.Number `json:"rho,omitempty"`
}

// CostOf is an epsilon and a delta in decimal.
func CostOf(c account.Cost) Cost {
	return Cost{Epsilon: json.Number(account.Decimal(c.Epsilon, 9)), Delta: json.Number(account.Decimal(c.Delta, 18))}
}

// AmountOf is c in decimal, as a budget of that accounting states it.
func AmountOf(in account.Accounting, c account.Cost) Cost {
	if in == account.ZCDP {
		return Cost{Rho: json.Number(c.Rho.String())}
	}
	return CostOf(c)
}

// charged is what a charge spent: in zCDP its rho is above 0, otherwise it is 0.
func charged(c account.Cost) Cost {
	if c.Rho > 0 {
		return AmountOf(account.ZCDP, c)
	}
	return CostOf(c)
}

// CapOf reads the cap of a budget of that accounting. Error: [noren.Usage].
func CapOf(in account.Accounting, epsilon, delta, rho string) (account.Cost, error) {
	if in != account.ZCDP {
		if rho != "" {
			return account.Cost{}, noren.Usagef("rho", "does not go with a budget in epsilon and delta").
				Hinted("state the accounting zcdp, or an epsilon")
		}
		return account.ParseCost(epsilon, delta)
	}
	if epsilon != "" {
		return account.Cost{}, noren.Usagef("epsilon", "does not go with a budget in zCDP").Hinted("its cap is a rho")
	}
	most, err := account.ParseRho(rho)
	return account.Cost{Rho: most}, err
}

// String writes c as [account.Cost.String] does.
func (c Cost) String() string {
	if c.Rho != "" {
		return "rho " + string(c.Rho)
	}
	s := "epsilon " + string(c.Epsilon)
	if c.Delta != "0" {
		s += ", delta " + string(c.Delta)
	}
	return s
}

// Decimal writes a floating-point privacy parameter without an exponent, with all of
// its digits.
func Decimal(v float64) json.Number { return json.Number(strconv.FormatFloat(v, 'f', -1, 64)) }
