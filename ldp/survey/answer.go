package survey

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/table"
)

// answer is how the text of a value becomes what a mechanism randomises.
type answer struct {
	names  []string       // labels
	label  map[string]int // nil for bins and sizes
	other  int            // the label of what is not listed, -1 for none
	bins   *ldp.Bins
	lo, hi float64 // numbers
}

// maxNamed bounds the domains of which every label has a line in a result.
const maxNamed = 1 << 20

// newAnswer checks the domain of an attribute for what is to be estimated.
func newAnswer(a *Attribute, kind Kind) (answer, error) {
	out := answer{other: -1}
	said := 0
	for _, given := range []bool{len(a.Labels) > 0, a.Size != 0, len(a.Edges) > 0, a.Bins != nil, len(a.Range) > 0} {
		if given {
			said++
		}
	}
	switch {
	case kind == Words && said > 0:
		return out, fault("domain", noren.Textf("words have none"), noren.Textf("take basic-rappor for labels"))
	case kind == Words:
		return out, a.check(kind)
	case said != 1:
		return out, fault("domain", noren.Textf("is needed, and one way to say it"),
			noren.Textf("labels: [..], size: K, edges: [..], bins: {low, high, count}, or range: [LO, HI]"))
	case (len(a.Range) > 0) != (kind == Mean || kind == Distribution):
		return out, fault("domain", noren.Textf("is not one that the mechanism can take"),
			noren.Textf("range: [LO, HI] goes with duchi, piecewise, hybrid and square-wave; labels, size, edges and bins with all others"))
	}
	if err := a.check(kind); err != nil {
		return out, err
	}
	var err error
	switch {
	case len(a.Labels) > 0:
		err = out.setLabels(a)
	case a.Size != 0:
		if a.Size < 2 || a.Size > maxNamed {
			return out, fault("size", noren.Textf("must lie between 2 and %d", maxNamed), noren.Text{})
		}
		for l := range a.Size {
			out.names = append(out.names, strconv.Itoa(l))
		}
	case len(a.Range) > 0:
		if len(a.Range) != 2 || !(a.Range[0] < a.Range[1]) || math.IsInf(a.Range[1]-a.Range[0], 0) {
			return out, fault("range", noren.Textf("must be two numbers, the lower one first"), noren.Textf("range: [LO, HI]"))
		}
		out.lo, out.hi = a.Range[0], a.Range[1]
	case a.Bins != nil:
		out.bins, err = ldp.EqualWidth(a.Bins.Low, a.Bins.High, a.Bins.Count)
	case a.EdgesEpsilon != 0:
		out.bins, err = ldp.PaidBins(a.Edges, a.EdgesEpsilon)
	default:
		out.bins, err = ldp.NewBins(a.Edges)
	}
	if err == nil && out.bins != nil {
		if out.bins.Len() < 2 {
			return out, fault("edges", noren.Textf("make one bin, of which nothing is to be learned"), noren.Textf("two bins or more"))
		}
		out.names = binNames(out.bins)
	}
	return out, err
}

// check refuses what goes with another domain.
func (a *Attribute) check(kind Kind) error {
	switch {
	case a.Other != "" && len(a.Labels) == 0:
		return fault("other", noren.Textf("goes with labels"), noren.Text{})
	case a.EdgesEpsilon != 0 && len(a.Edges) == 0:
		return fault("edges-epsilon", noren.Textf("goes with edges"), noren.Text{})
	case a.Buckets != 0 && kind != Distribution:
		return fault("buckets", noren.Textf("goes with square-wave"), noren.Text{})
	}
	return nil
}

func (out *answer) setLabels(a *Attribute) error {
	if len(a.Labels) < 2 {
		return fault("labels", noren.Textf("must be two or more"), noren.Textf("add one for all others: other: LABEL"))
	}
	out.names, out.label = a.Labels, make(map[string]int, len(a.Labels))
	for l, name := range a.Labels {
		if _, twice := out.label[name]; twice {
			return fault("labels", noren.Textf("%q is there twice", name), noren.Textf("name each once"))
		}
		out.label[name] = l
	}
	if a.Other != "" {
		l, ok := out.label[a.Other]
		if !ok {
			return fault("other", noren.Textf("is not one of the labels"), noren.Text{})
		}
		out.other = l
	}
	return nil
}

// binNames writes bins as intervals: the first closed, the others open below.
func binNames(b *ldp.Bins) []string {
	edges := b.Edges()
	names := make([]string, b.Len())
	for l := range names {
		open := "("
		if l == 0 {
			open = "["
		}
		names[l] = open + strconv.FormatFloat(edges[l], 'g', -1, 64) + ", " + strconv.FormatFloat(edges[l+1], 'g', -1, 64) + "]"
	}
	return names
}

// size is the number of labels.
func (a *answer) size() int { return len(a.names) }

// noLabel is the error about a text that is no label. It shows the labels, which are public,
// and not the text.
func (a *answer) noLabel(text string) error {
	e := &noren.Error{Kind: noren.BadData, What: "a value that is none of the labels"}
	same := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	switch {
	case strings.TrimSpace(text) == "":
		e.Saying("an empty value, which is none of the labels")
	case slices.ContainsFunc(a.names, func(name string) bool { return same(name) == same(text) }):
		e.Saying("a value that is none of the labels: it differs from one in upper and lower case, or in blanks")
	}
	const most = 20
	shown := a.names[:min(most, len(a.names))]
	list := strings.Join(shown, ", ")
	if len(a.names) > most {
		list += ", ..."
	}
	return e.Hinted("the labels are %s; name a label that stands for all others, in the specification: other: LABEL", list)
}

// labelOf is the label of a value's text.
func (a *answer) labelOf(text string) (int, error) {
	if a.label != nil {
		if l, ok := a.label[text]; ok {
			return l, nil
		}
		if a.other >= 0 {
			return a.other, nil
		}
		return 0, a.noLabel(text)
	}
	if a.bins != nil {
		x, err := a.number(text)
		if err != nil {
			return 0, err
		}
		return a.bins.Label(x)
	}
	v, err := table.ParseInteger([]byte(text))
	if err != nil || v < 0 || v >= int64(len(a.names)) {
		return 0, &noren.Error{Kind: noren.BadData, What: "not a whole number from 0 to %d, as labels by size are", Args: []any{len(a.names) - 1}}
	}
	return int(v), nil
}

// number reads a number. That none is there cannot be kept from the report, so it
// is refused.
func (a *answer) number(text string) (float64, error) {
	x, _, err := table.ParseDecimal([]byte(text))
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, &noren.Error{
			Kind: noren.BadData, What: "not a number",
			Hint: "a person without a value would be told apart by not reporting: fill it in on the device, or leave such persons out",
		}
	}
	return x, nil
}

// values is what several attributes take: a label's number, or the number.
func (a *answer) value(text string) (float64, error) {
	if a.names == nil {
		return a.number(text)
	}
	l, err := a.labelOf(text)
	return float64(l), err
}

// Value is the number of an attribute's text: that of its label, or the number itself. Words have none.
func (s *Survey) Value(attribute int, text string) (float64, error) {
	return s.answers[attribute].value(text)
}
