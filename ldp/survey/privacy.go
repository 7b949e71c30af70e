package survey

import (
	"fmt"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
)

// Guarantee is the survey's promise.
func (s *Survey) Guarantee() noren.Guarantee { return s.Loss().Guarantee() }

// Unprotected says what the promise does not cover, for this survey.
func (s *Survey) Unprotected() []string {
	out := []string{"who reports, when and from where; and everything that is sent beside the report as it is, such as a client's id or a class label"}
	switch {
	case s.device != nil:
		out = append(out, "a value that changes: every new value costs a lifetime's epsilon again, and so does a device that loses its secret")
	case s.rappor != nil:
		out = append(out, "a value that changes: every new value costs a lifetime's epsilon again, and so does a device that loses its secret")
		if s.kind == Words {
			out = append(out, "the cohort, which is public and must not depend on the value")
		}
	default:
		out = append(out, "repeated reports: this mechanism remembers nothing, and every further report costs as much again")
	}
	for j, a := range s.answers {
		if a.bins == nil {
			continue
		}
		of := "of the bins"
		if name := s.Columns()[j]; name != "" {
			of = "of the bins of " + name
		}
		if a.bins.Origin() == ldp.Paid {
			out = append(out, fmt.Sprintf("the edges %s were computed from data at epsilon %g, which is to be added for the people in those data (twice, where it is for adding or removing a record)", of, a.bins.PaidEpsilon()))
		} else {
			out = append(out, fmt.Sprintf("the edges %s are taken as public: where they were chosen by looking at the data, they tell of the data and nothing protects that", of))
		}
	}
	if s.multi != nil {
		out = append(out, "which attributes are asked for, where they were chosen by looking at the data")
	}
	return out
}
