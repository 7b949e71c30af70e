package account

import (
	"math/big"
	"strings"

	"github.com/noren-privacy/noren"
)

// Amount is an amount of privacy loss as texts in decimal, exactly: an epsilon and a
// delta, or in a budget in zCDP a rho.
type Amount struct {
	// Epsilon is the bound epsilon. Absent in zCDP.
	Epsilon string `json:"epsilon,omitempty"`
	// Delta is the probability delta. Absent in zCDP.
	Delta string `json:"delta,omitempty"`
	// Rho is the loss in zCDP. Absent elsewhere.
	Rho string `json:"rho,omitempty"`
}

// AmountIn is c as a budget of that accounting states it.
func AmountIn(in Accounting, c Cost) Amount {
	if in == ZCDP {
		return RhoAmount(c.Rho)
	}
	return Amount{Epsilon: Decimal(c.Epsilon, 9), Delta: Decimal(c.Delta, 18)}
}

// RhoAmount is a loss in zCDP.
func RhoAmount(r Rho) Amount { return Amount{Rho: r.String()} }

// Parse is a as a cost: an epsilon above 0 and a delta, or a rho above 0 alone. Error:
// [noren.Usage].
func (a Amount) Parse() (Cost, error) {
	if a.Rho == "" {
		return ParseCost(a.Epsilon, a.Delta)
	}
	if a.Epsilon != "" || a.Delta != "" {
		return Cost{}, noren.Usagef("rho", "does not go with an epsilon").Hinted("state one of them")
	}
	rho, err := ParseRho(a.Rho)
	return Cost{Rho: rho}, err
}

// parts are the parts of a as numbers; what is absent or no number is 0.
func (a Amount) parts() [3]*big.Rat {
	var out [3]*big.Rat
	for i, text := range []string{a.Epsilon, a.Delta, a.Rho} {
		var ok bool
		out[i], ok = new(big.Rat).SetString(text)
		if !ok || len(text) > 64 {
			out[i] = new(big.Rat)
		}
	}
	return out
}

// of writes parts in the form of a: only those that a has.
func (a Amount) of(parts [3]*big.Rat) Amount {
	write := func(have string, r *big.Rat, places int) string {
		if have == "" {
			return ""
		}
		return trimmed(r.FloatString(places))
	}
	return Amount{write(a.Epsilon, parts[0], 9), write(a.Delta, parts[1], 18), write(a.Rho, parts[2], 15)}
}

func trimmed(text string) string {
	for len(text) > 0 && text[len(text)-1] == '0' {
		text = text[:len(text)-1]
	}
	if len(text) > 0 && text[len(text)-1] == '.' {
		text = text[:len(text)-1]
	}
	return text
}

// Minus is a less b, part by part, and 0 where b is more.
func (a Amount) Minus(b Amount) Amount {
	x, y := a.parts(), b.parts()
	for i := range x {
		if x[i].Sub(x[i], y[i]); x[i].Sign() < 0 {
			x[i] = new(big.Rat)
		}
	}
	return a.of(x)
}

// Within reports whether no part of a is above that of b.
func (a Amount) Within(b Amount) bool {
	x, y := a.parts(), b.parts()
	for i := range x {
		if x[i].Cmp(y[i]) > 0 {
			return false
		}
	}
	return true
}

// Share is the largest share that a part of a is of that part of whole, 0 where whole has
// no part above 0.
func (a Amount) Share(whole Amount) float64 {
	x, y := a.parts(), whole.parts()
	share := 0.0
	for i := range x {
		if y[i].Sign() > 0 {
			s, _ := new(big.Rat).Quo(x[i], y[i]).Float64()
			share = max(share, s)
		}
	}
	return share
}

// Zero reports whether no part is above 0.
func (a Amount) Zero() bool {
	for _, p := range a.parts() {
		if p.Sign() > 0 {
			return false
		}
	}
	return true
}

// String writes a, as in "epsilon 0.1, delta 0.000001" or "rho 0.005".
func (a Amount) String() string {
	switch {
	case a.Rho != "":
		return "rho " + a.Rho
	case a.Delta != "" && a.Delta != "0":
		return "epsilon " + a.Epsilon + ", delta " + a.Delta
	}
	return "epsilon " + a.Epsilon
}

// ParseAmount reads what [Amount.String] writes.
func ParseAmount(text string) (Cost, error) {
	var a Amount
	parts := map[string]*string{"epsilon": &a.Epsilon, "delta": &a.Delta, "rho": &a.Rho}
	for one := range strings.SplitSeq(text, ", ") {
		name, value, _ := strings.Cut(one, " ")
		to := parts[name]
		if to == nil || *to != "" {
			return Cost{}, noren.Usagef("cost", "expected an amount, as in epsilon 0.1")
		}
		*to = value
	}
	if a.Epsilon != "" && a.Delta == "" {
		a.Delta = "0"
	}
	return a.Parse()
}
