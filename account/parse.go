package account

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
)

// ParseCost reads a privacy cost from decimal texts: an epsilon, and at most one
// delta ([ParseEpsilon], [ParseDelta]). Error: [noren.Usage].
//
//	cost, err := account.ParseCost("0.1")
//	cost, err := account.ParseCost("1", "1e-9")
func ParseCost(epsilon string, delta ...string) (Cost, error) {
	var c Cost
	var err error
	switch {
	case epsilon == "":
		return c, noren.Usagef("epsilon", "say how much may be spent").Hinted("for instance 0.1")
	case len(delta) > 1:
		return c, noren.Usagef("delta", "expected at most one delta, got %d", len(delta))
	}
	if c.Epsilon, err = ParseEpsilon(epsilon); err != nil {
		return Cost{}, err
	}
	if len(delta) == 1 {
		if c.Delta, err = ParseDelta(delta[0]); err != nil {
			return Cost{}, err
		}
	}
	return c, nil
}

// ParseEpsilon reads an epsilon above 0, written in decimal ("0.1", "1",
// "5e-2"), and returns it in units of 1e-9, exactly where nine places are
// enough and rounded up otherwise. Error: [noren.Usage].
//
// Rounding up is the safe direction for a price. A cap should be written with at
// most nine places.
func ParseEpsilon(text string) (int64, error) {
	n, err := parseUnits("epsilon", text, EpsilonUnits)
	if err == nil && n == 0 {
		err = noren.Usagef("epsilon", "must be above 0").Hinted("say, for instance, 0.1")
	}
	if err != nil {
		return 0, err
	}
	return n, nil
}

// ParseDelta reads a delta of at least 0 and below 1 and returns it in units of
// 1e-18, rounded up like [ParseEpsilon]. The empty text is 0. Error:
// [noren.Usage].
func ParseDelta(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := parseUnits("delta", text, DeltaUnits)
	if err == nil && n >= DeltaUnits {
		err = noren.Usagef("delta", "must be below 1").Hinted("choose a delta far below 1 divided by the number of records, for instance 1e-9")
	}
	if err != nil {
		return 0, err
	}
	return n, nil
}

// ParseRho reads a positive decimal number as a rho, rounded up to a unit of 1e-15.
// Error: [noren.Usage].
func ParseRho(text string) (Rho, error) {
	n, err := parseUnits("rho", text, RhoUnits)
	if err == nil && n == 0 {
		err = noren.Usagef("rho", "expected a number above 0").Hinted("write it like 0.5 or 1e-3")
	}
	if err != nil {
		return 0, err
	}
	return Rho(n), nil
}

// parseUnits reads a decimal number with an exponent or without, of at most 40
// characters: the grammar is digits [. digits] [e [sign] digits], with at least
// one digit before the e. There is no sign, no infinity and no NaN to be read.
func parseUnits(what, text string, units int64) (int64, error) {
	bad := func() (int64, error) {
		return 0, noren.Usagef(what, "is no decimal number of at least 0").Hinted("write it like 0.1 or 1e-6")
	}
	if len(text) > 40 {
		return bad()
	}
	mantissa, exponentText, hasExponent := strings.Cut(strings.ToLower(text), "e")
	exponent := 0
	if hasExponent {
		digits := strings.TrimPrefix(strings.TrimPrefix(exponentText, "-"), "+")
		if !isDigits(digits) || len(exponentText)-len(digits) > 1 {
			return bad()
		}
		var err error
		if exponent, err = strconv.Atoi(exponentText); err != nil || exponent > 100 || exponent < -100 {
			return bad()
		}
	}
	whole, part, hasPoint := strings.Cut(mantissa, ".")
	if whole+part == "" || whole != "" && !isDigits(whole) || part != "" && !isDigits(part) || hasPoint && whole+part == "" {
		return bad()
	}
	n, ok := new(big.Int).SetString(whole+part, 10)
	if !ok {
		return bad()
	}
	exponent -= len(part)
	r := new(big.Rat).SetInt(n)
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exponent, -exponent))), nil))
	if exponent < 0 {
		r.Quo(r, power)
	} else {
		r.Mul(r, power)
	}
	return unitsUp(r, units)
}

func isDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}
