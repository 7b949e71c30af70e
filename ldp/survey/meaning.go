package survey

import (
	"fmt"
	"strconv"
	"strings"
)

// meaningStart begins the line of [Survey.Meaning].
const meaningStart = "# noren ldp values: "

// mostMeant is how many bytes of labels [Survey.Meaning] names, about.
const mostMeant = 4000

// Meaning is a line for people, without its end, which stands below that of [Survey.Header] in a
// file of reports: it says what a report is and what its numbers stand for. No program reads
// it: the header names the specification, which has the labels too.
func (s *Survey) Meaning() string {
	var b strings.Builder
	b.WriteString(meaningStart)
	if s.kind != Several {
		name := s.Mechanism()
		if s.oracle != nil && s.rappor == nil {
			name = s.oracle.Name()
		}
		b.WriteString("each report is " + s.form(name))
		s.answers[0].mean(&b)
		return b.String()
	}
	fmt.Fprintf(&b, "each report has %d of the %d attributes, each as NUMBER=REPORT, with a semicolon between them",
		s.multi.Sampled(), len(s.answers))
	for j := range s.answers {
		if b.Len() > mostMeant {
			b.WriteString("; the specification names the further ones")
			break
		}
		name := "hybrid"
		if o := s.multi.Oracle(j); o != nil {
			name = o.Name()
		}
		fmt.Fprintf(&b, "; attribute %d is %s, and its report %s", j, quoted(s.spec.Attributes[j].Column), s.form(name))
		s.answers[j].mean(&b)
	}
	return b.String()
}

// form is what a report by a mechanism is.
func (s *Survey) form(mechanism string) string {
	const bits = "a randomised 0 or 1 for each value, the last one for value 0"
	switch mechanism {
	case "oue", "sue", "longitudinal-oue":
		return bits
	case "basic-rappor", "basic-one-time":
		return "a cohort, a comma and " + bits
	case "rappor", "rappor-one-time":
		return "a cohort, a comma and the randomised bits of a word"
	case "olh":
		return "a hash function, a colon and the randomised hash of a value"
	case "subset":
		return "a randomised set of values, by their numbers"
	case "duchi":
		return "a randomised 0 or 1"
	case "piecewise", "hybrid":
		return "the number of a randomised symbol"
	case "square-wave":
		return "the number of a randomised cell"
	}
	return "the number of a randomised value" // grr, longitudinal-grr
}

// mean says what the numbers of values stand for.
func (a *answer) mean(b *strings.Builder) {
	switch {
	case a.hi > a.lo:
		end := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
		fmt.Fprintf(b, ", and not one of the numbers from %s to %s themselves: many reports together give an estimate", end(a.lo), end(a.hi))
	case len(a.names) == 0:
	case a.label == nil && a.bins == nil:
		fmt.Fprintf(b, ": 0 to %d", len(a.names)-1)
	default:
		for l, name := range a.names {
			between := ", "
			if l == 0 {
				between = ": "
			}
			if b.Len() > mostMeant {
				fmt.Fprintf(b, ", ... to %d as the specification names them", len(a.names)-1)
				return
			}
			fmt.Fprintf(b, "%s%d = %s", between, l, quoted(name))
		}
	}
}

// isMeaning tells whether a line is one of [Survey.Meaning].
func isMeaning(line string) bool {
	return strings.HasPrefix(line, meaningStart) && !strings.Contains(line, "\t")
}
