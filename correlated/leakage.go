package correlated

import (
	"context"
	"fmt"
	"strings"

	"github.com/noren-privacy/noren"
)

// Method is how a leakage was computed.
type Method uint8

const (
	// Auto is exact where the budget allows it, and otherwise the best certified
	// bound that it does allow.
	Auto Method = iota
	// Exact evaluates every adversary; it fails beyond the budget.
	Exact
	// Quilt is exact for all adversaries who know a record nearby, and certified
	// for the others (Theorem 6). Chains only.
	Quilt
	// Tanh is the certified bound of Theorem 5. Chains and trees.
	Tanh
	// Range bounds the leakage by range(f)/b, which holds for every distribution.
	Range
)

var methodNames = [...]string{"auto", "exact", "quilt", "tanh", "range"}

// String is the method's name as [ParseMethod] reads it.
func (m Method) String() string {
	if int(m) < len(methodNames) {
		return methodNames[m]
	}
	return fmt.Sprintf("method(%d)", uint8(m))
}

// ParseMethod reads a method's name: auto, exact, quilt, tanh or range.
func ParseMethod(s string) (Method, error) {
	for i, name := range methodNames {
		if s == name {
			return Method(i), nil
		}
	}
	return 0, &noren.Error{
		Kind: noren.Usage, Where: "method", What: "there is no such method", Hint: "choose one of %s",
		HintArgs: []any{strings.Join(methodNames[:], ", ")},
	}
}

// MarshalText implements [encoding.TextMarshaler].
func (m Method) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (m *Method) UnmarshalText(text []byte) error {
	v, err := ParseMethod(string(text))
	if err == nil {
		*m = v
	}
	return err
}

// LeakageOptions say against which adversaries, and with how much work, a leakage is
// computed. All of it is public.
type LeakageOptions struct {
	// Adversaries defaults to all.
	Adversaries Adversaries
	// Method defaults to Auto.
	Method Method
	// Budget bounds the work of exact evaluation: the number of configurations
	// (a target, what is known near it and its value) that are looked at for
	// one noise scale. Defaults to 200,000 for trees, where it bounds the
	// options (docs/correlated-privacy.md, section 4.3), and to 50,000,000 otherwise.
	Budget int
	// Gap is how far apart the bounds of the quilted evaluation may lie, as a
	// share of the upper one. Defaults to 0.01.
	Gap float64
	// Arm fixes how far the quilted evaluation looks, in records; 0 chooses it
	// by Gap.
	Arm int
	// Progress is called during a calibration, once for each scale that is tried.
	// Optional.
	Progress noren.Progress
}

const (
	treeBudget = 200_000
	workBudget = 50_000_000
)

func (o *LeakageOptions) gap() float64 {
	if o.Gap > 0 {
		return o.Gap
	}
	return 0.01
}

func (o *LeakageOptions) budget(fallback int) int {
	if o.Budget > 0 {
		return o.Budget
	}
	return fallback
}

func (o *LeakageOptions) validate() error {
	if o.Budget < 0 {
		return noren.Usagef("budget", "the budget is a positive number, or 0 for the default")
	}
	if !(o.Gap >= 0 && o.Gap < 1) {
		return noren.Usagef("gap", "the gap lies between 0 and 1")
	}
	if o.Arm < 0 {
		return noren.Usagef("arm", "the arm is a number of records, or 0 to choose it by the gap")
	}
	if int(o.Method) >= len(methodNames) {
		return noren.Usagef("method", "there is no such method")
	}
	return nil
}

// Leakage bounds what an answer reveals about one record's state: the log ratio of
// the answer's densities under two states of the record.
type Leakage struct {
	// Upper is a bound that no adversary of the requested kind exceeds.
	Upper float64 `json:"cbp"`
	// Lower is a leakage that an adversary of the requested kind reaches; it equals the upper
	// bound where the leakage is exact.
	Lower float64 `json:"lower"`
	// Exact is true if the upper bound is the leakage itself.
	Exact bool `json:"exact"`
	// Method is the method by which the upper bound was found.
	Method Method `json:"method"`
	// Arm is how far the quilted evaluation looked, in records; 0 otherwise.
	Arm int `json:"arm,omitempty"`
	// Witness is the adversary who reaches the lower bound; absent where nothing leaks
	// or no adversary was evaluated.
	Witness *Witness `json:"witness,omitempty"`
	// Member is the number of the model, in a class of models, with the largest leakage.
	Member int `json:"member,omitempty"`
}

// Witness is the adversary who learns most, what it knows, and from which answer.
type Witness struct {
	// Target is the record about which the adversary learns.
	Target int `json:"record"`
	// Known are the known records that affect the leakage, with their states.
	Known []Known `json:"known"`
	// OthersKnown is true if every other record is known as well; their states make no
	// difference.
	OthersKnown bool `json:"others_known"`
	// State is the target's state that the answer makes more likely.
	State int `json:"state"`
	// Other is the target's state that the answer makes less likely.
	Other int `json:"other"`
	// Answer is the answer, by coordinate, without the contribution of the known
	// records.
	Answer []float64 `json:"answer"`
	// Log is the log ratio that the adversary reaches.
	Log float64 `json:"log_ratio"`
}

// Known is a record whose state an adversary knows.
type Known struct {
	// Record is the number of the record, from 0.
	Record int `json:"record"`
	// State is the number of the record's state; -1 for any.
	State int `json:"state"`
}

// String says w in one sentence.
func (w *Witness) String() string { return w.Text().String() }

// Text says w in one line.
func (w *Witness) Text() noren.Text {
	if w == nil {
		return noren.Textf("no adversary learns anything")
	}
	known := noren.Textf("no record")
	switch {
	case len(w.Known) == 0 && w.OthersKnown:
		known = noren.Textf("all records that do not depend on it")
	case len(w.Known) > 0:
		records := make(noren.Commas, len(w.Known))
		for i, k := range w.Known {
			records[i] = noren.Textf("record %d in state %d", k.Record, k.State)
		}
		known = noren.Textf("%s", records)
		if w.OthersKnown {
			known = noren.Textf("%s and all beyond", records)
		}
	}
	return noren.Textf("of record %d, one who knows %s learns a factor of about e^%s for state %d against %d", w.Target, known,
		noren.LossFigure(w.Log, 4), w.State, w.Other)
}

// ComputeLeakage returns CBP(b): the largest leakage about any record of the
// sum q(x) + Laplace noise of scale b (in every coordinate), where the records
// x follow m, to the adversaries that o names. The noise has density
// exp(-|z|/b)/(2b).
//
// Errors are of kind Usage for invalid arguments, NotMet when Method is
// Exact and the budget does not cover it, and Interrupted.
func ComputeLeakage(ctx context.Context, m Model, q *Query, b float64, o LeakageOptions) (*Leakage, error) {
	e, err := newEngine(m, q, o)
	if err != nil {
		return nil, err
	}
	return e.leakage(ctx, b)
}
