package spec

import (
	"strconv"
	"strings"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table/formula"
)

// Faults are errors that are reported together. Each names a parameter in Where.
type Faults []*noren.Error

// Error lists the faults in one line.
func (f Faults) Error() string {
	texts := make([]string, len(f))
	for i, e := range f {
		texts[i] = e.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns the faults.
func (f Faults) Unwrap() []error {
	all := make([]error, len(f))
	for i, e := range f {
		all[i] = e
	}
	return all
}

// add adds err, if it is one, about a parameter.
func (f *Faults) add(where any, err error) {
	if e, ok := err.(*noren.Error); ok && (where == nil || where == "") {
		*f = append(*f, e)
	} else if err != nil {
		*f = append(*f, &noren.Error{Kind: noren.Usage, Where: where, Err: err})
	}
}

// Codes of errors about parameters that belong together.
const (
	// CodeNeedsL: l-model or c without l.
	CodeNeedsL = "needs-l"
	// CodeNeedsUnit: a parameter about persons without a unit.
	CodeNeedsUnit = "needs-unit"
)

// Options are the parameters of a release as the specification states them. An error
// is [Faults] of kind Usage: all faults at once, by the names of the parameters in
// noren.yaml.
func (s *Spec) Options() (*kanon.Options, error) {
	a := &s.Anonymize
	var faults Faults
	o := &kanon.Options{Unit: s.Unit, Refine: refine.Auto, Scale: space.ZScore, Publish: publish.Matched}
	for _, p := range parameters {
		if p.set != nil {
			faults.add(p.Name, p.set(o, p.Field(a).Interface()))
		}
	}
	if s.Unit == "" && (o.Linkage != kanon.LinkOne || o.Pseudonym) {
		faults = append(faults, &noren.Error{
			Kind: noren.Usage, Code: CodeNeedsUnit, Where: "unit",
			What: "unit-linkage and pseudonym are about persons: name the column that tells them apart",
		})
	}
	_, err := formula.Parse(a.Formulas)
	faults.add("formulas", err)
	requirement, err := a.Requirement()
	faults.add("", err)
	o.Diversity, o.Closeness = requirement.Diversity, requirement.Closeness
	if len(faults) > 0 {
		return nil, faults
	}
	return o, nil
}

// Linkage is what others may know of a person's records; one record by default.
func (a *Anonymize) Linkage() (kanon.Linkage, error) {
	if a.UnitLinkage == "" {
		return kanon.LinkOne, nil
	}
	return kanon.ParseLinkage(a.UnitLinkage)
}

// Requirement is what every class must hold: its size, diversity and closeness.
// Errors are of kind Usage.
func (a *Anonymize) Requirement() (privacy.Requirement, error) {
	r := privacy.Requirement{K: a.K}
	if a.T != 0 {
		r.Closeness = &privacy.Closeness{T: a.T}
	}
	switch {
	case a.L != 0:
		r.Diversity = &privacy.Diversity{L: a.L, C: a.C}
	case a.LModel != "" || a.C != 0:
		return r, &noren.Error{Kind: noren.Usage, Code: CodeNeedsL, What: "l-model and c go with l"}
	case a.LMissing != "":
		return r, &noren.Error{Kind: noren.Usage, Where: "l-missing", What: "goes with l"}
	default:
		return r, nil
	}
	if a.LModel != "" {
		model, err := privacy.ParseDiversityModel(a.LModel)
		if err != nil {
			return r, &noren.Error{Kind: noren.Usage, Where: "l-model", Err: err}
		}
		r.Diversity.Model = model
	}
	if r.Diversity.Model == privacy.Recursive && r.Diversity.C == 0 {
		r.Diversity.C = 3
	}
	switch a.LMissing {
	case "", "skip":
	case "value":
		r.Diversity.CountMissing = true
	default:
		return r, &noren.Error{Kind: noren.Usage, Where: "l-missing", What: "expected skip or value"}
	}
	return r, nil
}

// ParseGap reads how long to look for a lower bound: "off" or a duration.
func ParseGap(s string) (time.Duration, error) {
	if s == "" || s == "off" {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, noren.Reasonf("expected off or a duration such as 60s or 2m")
	}
	return d, nil
}

// parseCoarse reads "auto", "off" or a number.
func parseCoarse(s string) (int, error) {
	switch s {
	case "auto":
		return partition.CoarseAuto, nil
	case "off":
		return partition.CoarseOff, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, noren.Reasonf("expected auto, off or a number of records")
	}
	return n, nil
}
