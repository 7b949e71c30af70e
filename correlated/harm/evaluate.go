package harm

import (
	"math"

	"github.com/noren-privacy/noren"
)

// Case is the expected harm where the true count is T.
type Case struct {
	// T is the true count.
	T int `json:"t"`
	// P is the probability of this count under the prior.
	P float64 `json:"p"`
	// Damage is the expected cost of over-reporting, false alarms included.
	Damage float64 `json:"damage"`
	// Concealment is the expected cost of under-reporting, missed alarms included.
	Concealment float64 `json:"concealment"`
	// Credit is the expected gain of the subject where noise goes below zero.
	Credit float64 `json:"credit"`
	// Alarm is the probability of an alarm: a false one where T = 0.
	Alarm float64 `json:"p_alarm"`
	// NoAlarm is the probability of no alarm: a concealment where T >= 1.
	NoAlarm float64 `json:"p_no_alarm"`
}

// Evaluation is the expected harm at one scale.
type Evaluation struct {
	// Scale is the scale b of the noise; 1/epsilon for geometric noise.
	Scale float64 `json:"scale"`
	// Epsilon is the privacy loss from which identification was computed: sensitivity / b, or
	// the leakage that was given.
	Epsilon float64 `json:"epsilon"`
	// Damage is the expected cost of over-reporting over the prior.
	Damage float64 `json:"damage"`
	// Concealment is the expected cost of under-reporting over the prior.
	Concealment float64 `json:"concealment"`
	// Credit is the expected gain of the subject over the prior.
	Credit float64 `json:"credit"`
	// FalseAlarm is the probability of an alarm where the true count is 0.
	FalseAlarm float64 `json:"p_false_alarm"`
	// Identified is the probability of identification.
	Identified float64 `json:"identified"`
	// Total is the expected total J: damage + concealment - credit + cost of
	// identification.
	Total float64 `json:"total"`
	// Cases are the counts of the prior.
	Cases []Case `json:"cases"`
}

// Evaluate gives the expected harm of Laplace noise of scale b. With t the true
// count and A = max(0, t+Z):
//
//	E(A-t)^+       = b/2                    over-reporting
//	E(t-A)^+       = (b/2)(1-e^{-t/b})      under-reporting
//	E(-(t+Z))^+    = (b/2) e^{-t/b}         what is clamped away, a firm's credit
//	P(A >= tau|0)  = e^{-tau/b}/2           false alarm
//	P(A < tau|t)   = e^{-(t-tau)/b}/2       concealment, t >= tau
//
// loss is the leakage CBP(b) where records depend on each other, and 0 stands
// for Delta/b.
func (c *Costs) Evaluate(b, loss float64) (*Evaluation, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if !(b > 0 && b <= most) {
		return nil, noren.Usagef("scale", "the noise scale is a positive number")
	}
	if loss == 0 {
		loss = c.sensitivity() / b
	}
	if !(loss > 0) {
		return nil, noren.Usagef("epsilon", "the loss is a positive number")
	}
	return c.sum(b, loss, func(t int) Case { return c.laplace(t, b) }), nil
}

func (c *Costs) laplace(t int, b float64) Case {
	tau := c.tau()
	k := Case{T: t}
	decay := math.Exp(-float64(t) / b)
	k.Damage = c.DamageSlope * b / 2
	k.Concealment = c.ConcealmentSlope * (b / 2) * -math.Expm1(-float64(t)/b)
	k.Credit = c.CreditSlope * (b / 2) * decay
	if t == 0 {
		k.Alarm = math.Exp(-tau/b) / 2
		k.NoAlarm = 1 - k.Alarm
		k.Damage += c.FalseAlarm * k.Alarm
	} else {
		k.NoAlarm = math.Exp(-(float64(t)-tau)/b) / 2
		k.Alarm = 1 - k.NoAlarm
		k.Concealment += c.Concealment * k.NoAlarm
	}
	return k
}

// EvaluateGeometric is Evaluate for two-sided geometric noise,
// P(Z=z) = (1-al)/(1+al) al^|z| with al = e^{-epsilon}: answers are whole numbers
// and the alarm is A >= 1.
//
//	E(A-t)^+ = al/(1-al^2),  E(t-A)^+ = al (1-al^t)/(1-al^2),  E(-(t+Z))^+ = al^{t+1}/(1-al^2),
//	P(A >= 1|0) = al/(1+al),  P(A < 1|t) = al^t/(1+al).
//
// The loss of identification is epsilon times Delta unless another is given.
func (c *Costs) EvaluateGeometric(epsilon, loss float64) (*Evaluation, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if !(epsilon > 0 && epsilon <= most) {
		return nil, noren.Usagef("epsilon", "epsilon is a positive number")
	}
	if loss == 0 {
		loss = epsilon * c.sensitivity()
	}
	if !(loss > 0) {
		return nil, noren.Usagef("epsilon", "the loss is a positive number")
	}
	return c.sum(1/epsilon, loss, func(t int) Case { return c.geometric(t, epsilon) }), nil
}

func (c *Costs) geometric(t int, epsilon float64) Case {
	k := Case{T: t}
	al := math.Exp(-epsilon)
	// 1-al^2 and 1-al^t without cancellation.
	square := -math.Expm1(-2 * epsilon)
	alT := math.Exp(-epsilon * float64(t))
	k.Damage = c.DamageSlope * al / square
	k.Concealment = c.ConcealmentSlope * al * -math.Expm1(-epsilon*float64(t)) / square
	k.Credit = c.CreditSlope * al * alT / square
	if t == 0 {
		k.Alarm = al / (1 + al)
		k.NoAlarm = 1 - k.Alarm
		k.Damage += c.FalseAlarm * k.Alarm
	} else {
		k.NoAlarm = alT / (1 + al)
		k.Alarm = 1 - k.NoAlarm
		k.Concealment += c.Concealment * k.NoAlarm
	}
	return k
}

func (c *Costs) sum(b, loss float64, at func(t int) Case) *Evaluation {
	e := &Evaluation{Scale: b, Epsilon: loss, Identified: c.Measure.identified(loss)}
	for _, s := range c.Prior {
		k := at(s.Count)
		k.P = s.P
		e.Damage += s.P * k.Damage
		e.Concealment += s.P * k.Concealment
		e.Credit += s.P * k.Credit
		e.Cases = append(e.Cases, k)
	}
	e.FalseAlarm = at(0).Alarm
	e.Total = e.Damage + e.Concealment - e.Credit + c.Identification*e.Identified
	return e
}

// Realised is the harm that one answer does where the true count is t and the
// noisy value, before it is clamped, is value: positive for damage to the firm,
// negative for what is concealed in its favour (the report's figure 3).
func (c *Costs) Realised(t int, value float64) float64 {
	answer := math.Max(0, value)
	over := answer - float64(t)
	alarm := answer >= c.tau()
	switch {
	case value < 0 && t == 0:
		return c.CreditSlope * value
	case over >= 0:
		y := c.DamageSlope * over
		if t == 0 && alarm {
			y += c.FalseAlarm
		}
		return y
	}
	y := c.ConcealmentSlope*over + c.CreditSlope*math.Min(0, value)
	if t >= 1 && !alarm {
		y -= c.Concealment
	}
	return y
}

// Threshold is the optimal tau.
type Threshold struct {
	// Tau is the smallest answer that should be an alarm, in [0, 1].
	Tau float64 `json:"tau"`
	// Uninformative is true if Tau is at an end of [0, 1] because the noise is too large for
	// the costs: the answer cannot change the decision.
	Uninformative bool `json:"uninformative"`
}

// BestThreshold is the tau that makes the expected jumps smallest at scale b:
//
//	pi_0 J_D e^{-tau/b} + pi_+ J_C e^{-(1-tau)/b},  pi_+ = sum over t >= 1 of pi(t) e^{-(t-1)/b},
//
// is convex in tau and smallest at 1/2 + (b/2) log(pi_0 J_D/(pi_+ J_C)), clipped to
// [0, 1]. At |log ratio| >= 1/b it is clipped.
func (c *Costs) BestThreshold(b float64) (Threshold, error) {
	if err := c.Validate(); err != nil {
		return Threshold{}, err
	}
	if !(b > 0 && b <= most) {
		return Threshold{}, noren.Usagef("scale", "the noise scale is a positive number")
	}
	zero, more := 0.0, 0.0
	for _, s := range c.Prior {
		if s.Count == 0 {
			zero += s.P
		} else {
			more += s.P * math.Exp(-float64(s.Count-1)/b)
		}
	}
	return ChooseThreshold(b, zero*c.FalseAlarm, more*c.Concealment)
}

// ChooseThreshold is the tau for given expected costs of a false alarm and of a
// concealment, not both 0.
func ChooseThreshold(b, falseAlarm, concealment float64) (Threshold, error) {
	if !(b > 0) || !(falseAlarm >= 0) || !(concealment >= 0) {
		return Threshold{}, noren.Usagef("threshold", "expected a scale above 0 and no negative cost")
	}
	if falseAlarm == 0 && concealment == 0 {
		return Threshold{}, &noren.Error{
			Kind: noren.Usage, Where: "threshold",
			What: "neither a false alarm nor a concealment has a cost: any threshold is as good",
			Hint: "give false_alarm or concealment a cost above 0",
		}
	}
	ratio := math.Log(falseAlarm) - math.Log(concealment)
	return Threshold{
		Tau:           math.Min(1, math.Max(0, 0.5+b/2*ratio)),
		Uninformative: math.Abs(ratio) >= 1/b,
	}, nil
}
