package cli

import (
	"fmt"
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
	"github.com/noren-privacy/noren/spec"
)

// releaseOptions turns the parameters of a specification into those of a
// release; all faults are reported at once.
func releaseOptions(s *spec.Spec, workers int) (*kanon.Options, error) {
	a := &s.Anonymize
	var faults []string
	check := func(flag string, err error) {
		if err != nil {
			faults = append(faults, "--"+flag+": "+err.Error())
		}
	}
	o := &kanon.Options{K: a.K, Refine: refine.Auto, KeepOrder: a.KeepOrder, Workers: workers}
	if workers < 0 {
		check("workers", fmt.Errorf("expected 0 or more"))
	}
	o.Partition.Gamma, o.Partition.M = a.Gamma, a.M
	var err error
	if a.Method != "" {
		o.Partition.Method, err = partition.ParseMethod(a.Method)
		check("method", err)
	}
	o.Partition.Coarse, err = parseCoarse(a.Coarse)
	check("coarse", err)
	if a.Refine != "" {
		o.Refine, err = refine.ParseEffort(a.Refine)
		check("refine", err)
	}
	if a.Suppress != "" {
		o.Suppress, err = kanon.ParseSuppression(a.Suppress)
		check("suppress", err)
	}
	o.Gap, err = parseGap(a.Gap)
	check("gap", err)
	if a.Scale != "" {
		o.Scale, err = space.ParseScaling(a.Scale)
		check("scale", err)
	}
	if a.Publish != "" {
		o.Publish, err = publish.ParseMode(a.Publish)
		check("publish", err)
	}
	o.Unit, o.Pseudonym = s.Unit, a.Pseudonym
	if a.UnitLinkage != "" {
		o.Linkage, err = kanon.ParseLinkage(a.UnitLinkage)
		check("unit-linkage", err)
	}
	if s.Unit == "" && (o.Linkage != kanon.LinkOne || a.Pseudonym) {
		check("unit", fmt.Errorf("--unit-linkage and --pseudonym are about persons: name the column that tells them apart"))
	}
	requirement, err := requirementOf(a)
	check("l, --t", err)
	o.Diversity, o.Closeness = requirement.Diversity, requirement.Closeness
	if len(faults) > 0 {
		return nil, &noren.Error{Kind: noren.Usage, What: strings.Join(faults, "; ")}
	}
	return o, nil
}

// parseGap reads "off" or a duration.
func parseGap(s string) (time.Duration, error) {
	if s == "" || s == "off" {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("expected off or a duration such as 60s or 2m")
	}
	return d, nil
}

// parseCoarse reads "auto", "off" or a number.
func parseCoarse(s string) (int, error) {
	switch s {
	case "", "auto":
		return partition.CoarseAuto, nil
	case "off":
		return partition.CoarseOff, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("expected auto, off or a number of records")
	}
	return n, nil
}

// requirementOf is what the classes must hold beside their size.
func requirementOf(a *spec.Anonymize) (privacy.Requirement, error) {
	r := privacy.Requirement{K: a.K}
	if a.L != 0 {
		r.Diversity = &privacy.Diversity{L: a.L, C: a.C}
		if a.LModel != "" {
			model, err := privacy.ParseDiversityModel(a.LModel)
			if err != nil {
				return r, err
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
			return r, fmt.Errorf("--l-missing: expected skip or value")
		}
	} else if a.LModel != "" || a.C != 0 {
		return r, fmt.Errorf("--l-model and --c go with --l")
	} else if a.LMissing != "" {
		return r, fmt.Errorf("--l-missing goes with --l")
	}
	if a.T != 0 {
		r.Closeness = &privacy.Closeness{T: a.T}
	}
	return r, nil
}
