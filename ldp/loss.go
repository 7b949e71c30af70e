package ldp

import (
	"encoding/json"
	"math"

	"github.com/noren-privacy/noren"
)

// Loss is the privacy loss of a person who takes part, in epsilon of local
// differential privacy. All three are bounds that hold for the probabilities that run.
type Loss struct {
	// Report is the loss of one report of one attribute.
	Report float64
	// Record is the loss of one report of every attribute of a record.
	Record float64
	// Lifetime is the loss of all reports ever made of a record whose values do
	// not change. Each new value of an attribute adds its share again. It is
	// +Inf where nothing bounds it: a mechanism without memory costs Record each
	// time.
	Lifetime float64
}

// once is the loss of a mechanism without memory for one attribute.
func once(epsilon float64) Loss {
	return Loss{Report: epsilon, Record: epsilon, Lifetime: math.Inf(1)}
}

// Of returns the loss of a record of d attributes, each reported in full by a
// mechanism that costs l (sequential composition), rounded up.
func (l Loss) Of(d int) Loss {
	return Loss{Report: l.Report, Record: noren.ComposedLoss(d, l.Record), Lifetime: noren.ComposedLoss(d, l.Lifetime)}
}

// String says l in one line, rounded up.
func (l Loss) String() string { return l.Text().String() }

// Text says l in one line, rounded up.
func (l Loss) Text() noren.Text {
	life := noren.Textf("unbounded (each report costs again)")
	if !math.IsInf(l.Lifetime, 1) {
		life = noren.Textf("%s while the values stay", noren.LossText(l.Lifetime, 4))
	}
	return noren.Textf("epsilon per report %s, per record %s, over a lifetime %s", noren.LossText(l.Report, 4), noren.LossText(l.Record, 4),
		life)
}

// LossJSON is the form of a [Loss] in JSON.
type LossJSON struct {
	// Report is the epsilon of one report of one attribute.
	Report float64 `json:"epsilon_per_report"`
	// Record is the epsilon of one report of every attribute of a record.
	Record float64 `json:"epsilon_per_record"`
	// Lifetime is the epsilon of all reports of a record whose values do not change; null
	// where nothing bounds it.
	Lifetime *float64 `json:"epsilon_lifetime"`
}

// MarshalJSON writes a [LossJSON].
func (l Loss) MarshalJSON() ([]byte, error) {
	j := LossJSON{Report: l.Report, Record: l.Record}
	if !math.IsInf(l.Lifetime, 1) {
		j.Lifetime = &l.Lifetime
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (l *Loss) UnmarshalJSON(b []byte) error {
	var j LossJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*l = Loss{Report: j.Report, Record: j.Record, Lifetime: math.Inf(1)}
	if j.Lifetime != nil {
		l.Lifetime = *j.Lifetime
	}
	return nil
}

// Guarantee is l as the guarantee of a release of one report of a record.
func (l Loss) Guarantee() noren.Guarantee {
	return noren.Guarantee{
		Model: "local differential privacy", Epsilon: l.Record, Neighbours: "replace-one", Unit: "record",
		Assumptions: noren.Texts{
			noren.Textf("every device randomises by itself and its secret stays with it"),
			noren.Textf("what is sent beside the report (time, address, attributes not randomised) tells nothing of the value"),
			noren.Textf("where the device reports again: %s", l),
		},
	}
}

// Epsilons below and above which a mechanism is refused: below, the rounding of
// probabilities would matter and n would exceed any population; above,
// nothing is protected.
const (
	MinEpsilon = 1e-6
	MaxEpsilon = 40
)

// checkEpsilon refuses what no mechanism can run with.
func checkEpsilon(epsilon float64) error {
	if !(epsilon >= MinEpsilon && epsilon <= MaxEpsilon) {
		return &noren.Error{
			Kind: noren.Usage, Where: "epsilon", What: "must lie between %g and %d", Args: []any{MinEpsilon, MaxEpsilon},
			Hint: "between 0.5 and 4 is usual for one report",
		}
	}
	return nil
}

// MaxDomain is the largest number of labels of a mechanism.
const MaxDomain = 1 << 24

func checkDomain(k int) error {
	if k < 2 || k > MaxDomain {
		return &noren.Error{Kind: noren.Usage, Where: "domain", What: "must have between 2 and %d labels", Args: []any{MaxDomain}}
	}
	return nil
}

func checkLabel(label, k int) error {
	if label < 0 || label >= k {
		return &noren.Error{Kind: noren.BadData, What: "a label outside the domain of %d", Args: []any{k}, Hint: "labels are counted from 0"}
	}
	return nil
}
