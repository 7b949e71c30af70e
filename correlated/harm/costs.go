package harm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
)

// Costs are public costs of errors, all in one currency and none negative.
type Costs struct {
	// DamageSlope (s_D) is the damage of a lot reported too many. Required,
	// above 0.
	DamageSlope float64 `json:"damage_slope"`
	// ConcealmentSlope (s_C) is the cost to the public of a lot reported too few.
	ConcealmentSlope float64 `json:"concealment_slope"`
	// CreditSlope (s_0) is what a firm gains by every lot that the noise went
	// below zero, at most DamageSlope.
	CreditSlope float64 `json:"credit_slope"`
	// FalseAlarm (J_D) is the damage of an alarm where t = 0.
	FalseAlarm float64 `json:"false_alarm"`
	// Concealment (J_C) is the cost of no alarm where t >= 1.
	Concealment float64 `json:"concealment"`
	// Threshold (tau) is the smallest answer that is an alarm, in (0, 1].
	// Defaults to 1/2, which is rounding.
	Threshold float64 `json:"threshold"`
	// Sensitivity (Delta) is what one record changes. Defaults to 1.
	Sensitivity float64 `json:"sensitivity"`
	// Identification (w_I) turns the probability of identifying someone into
	// money.
	Identification float64 `json:"identification"`
	// Measure is how that probability is taken.
	Measure Measure `json:"measure"`
	// Prior is the public distribution of the true count. Required; it sums to 1.
	Prior []Share `json:"prior"`
}

// Share is the prior probability of a count.
type Share struct {
	// Count is the true count.
	Count int `json:"count"`
	// P is its probability.
	P float64 `json:"p"`
}

// Measure is a probability of identification.
type Measure uint8

const (
	// Posterior is the worst posterior from even odds, 1/(1+e^-loss).
	Posterior Measure = iota
	// Test is the success of the best test between two neighbours from even
	// odds, 1 - e^(-loss/2)/2: an average, and never above Posterior.
	Test
)

// String is "posterior" or "test".
func (m Measure) String() string {
	if m == Test {
		return "test"
	}
	return "posterior"
}

// MarshalText implements [encoding.TextMarshaler].
func (m Measure) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (m *Measure) UnmarshalText(text []byte) error {
	switch string(text) {
	case "posterior":
		*m = Posterior
	case "test":
		*m = Test
	default:
		return noren.Usagef("measure", "a measure is posterior or test")
	}
	return nil
}

// identified is the probability of identification at a loss epsilon >= 0.
func (m Measure) identified(loss float64) float64 {
	if m == Test {
		return 1 - math.Exp(-loss/2)/2
	}
	return 1 / (1 + math.Exp(-loss))
}

// maxCosts bounds a file of costs.
const maxCosts = 1 << 20

// ParseCosts reads costs in JSON; name is the file's, for errors, which are of
// kind Usage and name the field.
func ParseCosts(r io.Reader, name string) (*Costs, error) {
	dec := json.NewDecoder(meter.Bounded(r, maxCosts, name))
	dec.DisallowUnknownFields()
	c := &Costs{}
	if err := dec.Decode(c); meter.Refused(err) != nil {
		return nil, err
	} else if err != nil {
		var e *noren.Error
		if errors.As(err, &e) {
			return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(name), Err: e}
		}
		return nil, &noren.Error{
			Kind: noren.Usage, Where: noren.File(name), What: "expected costs in JSON",
			Hint: "fields are damage_slope, concealment_slope, credit_slope, false_alarm, concealment, threshold, sensitivity, identification, " +
				"measure and prior", Err: err,
		}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(name), What: "expected one JSON object, got more text after it"}
	}
	if err := c.Validate(); err != nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(name), Err: err}
	}
	return c, nil
}

// most bounds a cost, so that sums stay finite.
const most = 1e100

// Validate lists all faults at once. Costs that a program made are validated
// by every method that uses them.
func (c *Costs) Validate() error {
	var all []error
	check := func(ok bool, where string, what noren.Format) {
		if !ok {
			all = append(all, noren.Usagef(where, what))
		}
	}
	for _, p := range []struct {
		name string
		v    float64
	}{
		{"damage_slope", c.DamageSlope},
		{"concealment_slope", c.ConcealmentSlope},
		{"credit_slope", c.CreditSlope},
		{"false_alarm", c.FalseAlarm},
		{"concealment", c.Concealment},
		{"identification", c.Identification},
	} {
		check(p.v >= 0 && p.v <= most, p.name, "expected 0 or more")
	}
	check(c.DamageSlope > 0, "damage_slope", "expected a number above 0: with 0 the largest noise is optimal")
	check(c.CreditSlope <= c.DamageSlope, "credit_slope", "credit must not be worth more than damage costs")
	check(c.tau() > 0 && c.tau() <= 1, "threshold", "the threshold lies above 0 and up to 1")
	check(c.sensitivity() > 0 && c.sensitivity() <= most, "sensitivity", "the sensitivity is a positive number")
	check(c.Measure <= Test, "measure", "a measure is posterior or test")
	check(len(c.Prior) > 0, "prior", "the prior is missing")
	sum := 0.0
	for i, s := range c.Prior {
		where := fmt.Sprintf("prior[%d]", i)
		check(s.Count >= 0, where, "a count is 0 or more")
		check(s.P >= 0 && s.P <= 1, where, "a probability lies between 0 and 1")
		check(!slices.ContainsFunc(c.Prior[:i], func(o Share) bool { return o.Count == s.Count }), where, "the count is given twice")
		sum += s.P
	}
	check(len(c.Prior) == 0 || math.Abs(sum-1) <= 1e-9, "prior", "the probabilities do not sum to 1")
	return errors.Join(all...)
}

// FirstCounts are the first n counts of the prior, or all of them.
func (c *Costs) FirstCounts(n int) []int {
	var counts []int
	for _, share := range c.Prior[:min(n, len(c.Prior))] {
		counts = append(counts, share.Count)
	}
	return counts
}

func (c *Costs) tau() float64 {
	if c.Threshold == 0 {
		return 0.5
	}
	return c.Threshold
}

func (c *Costs) sensitivity() float64 {
	if c.Sensitivity == 0 {
		return 1
	}
	return c.Sensitivity
}
