package ldp

import (
	"math"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/noise"
)

// Attribute is one of several attributes of a record: labels if Labels is 2 or
// more, else a number in the public range [Lo, Hi].
type Attribute struct {
	Name   string
	Labels int
	Lo, Hi float64
}

// Multi is a mechanism for records of several attributes. Splitting epsilon over
// d attributes costs a factor d^2 in variance; sending a random few of them costs
// a factor d. A report holds max(1, min(d, floor(eps/2.5))) attributes, drawn
// alike, each with its share of epsilon (Wang et al., ICDE 2019, section IV-B).
// Labels go by GRR or OUE, whichever is better there, numbers by Hybrid.
type Multi struct {
	attributes []Attribute
	epsilon    float64
	sampled    int
	oracles    []Oracle // nil for numbers
	means      []*Mean  // nil for labels
}

// NewMulti returns the mechanism at epsilon for a whole record.
func NewMulti(attributes []Attribute, epsilon float64) (*Multi, error) {
	return NewMultiOf(attributes, epsilon, max(1, min(len(attributes), int(math.Floor(epsilon/2.5)))))
}

// NewMultiOf is NewMulti with the number of attributes that a report holds, 1 to
// all of them, each with its share of epsilon. More than one is what [Associate]
// needs, at the cost of a larger error for each.
func NewMultiOf(attributes []Attribute, epsilon float64, sampled int) (*Multi, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return nil, err
	}
	d := len(attributes)
	if d == 0 || d > MaxDomain {
		return nil, &noren.Error{Kind: noren.Usage, Where: "attributes", What: "a record needs at least one attribute"}
	}
	if sampled < 1 || sampled > d {
		return nil, &noren.Error{Kind: noren.Usage, Where: "attributes", What: "a report holds between 1 and all %d attributes", Args: []any{d}}
	}
	m := &Multi{
		attributes: append([]Attribute(nil), attributes...), epsilon: epsilon, sampled: sampled,
		oracles: make([]Oracle, d), means: make([]*Mean, d),
	}
	each := epsilon / float64(m.sampled)
	for j, a := range attributes {
		var err error
		switch {
		case a.Labels == 0:
			m.means[j], err = NewHybrid(a.Lo, a.Hi, each)
		case grrIsBest(a.Labels, each):
			m.oracles[j], err = NewGRR(a.Labels, each)
		default:
			m.oracles[j], err = NewOUE(a.Labels, each)
		}
		if err != nil {
			return nil, &noren.Error{Kind: noren.KindOf(err), Where: noren.Textf("attribute %d", j+1), Err: err}
		}
	}
	return m, nil
}

// Sampled is how many attributes a report holds.
func (m *Multi) Sampled() int { return m.sampled }

// Oracle is the mechanism of an attribute's labels, nil for a number. Its epsilon
// is the attribute's share.
func (m *Multi) Oracle(attribute int) Oracle { return m.oracles[attribute] }

// Mean is the mechanism of a number, nil for labels.
func (m *Multi) Mean(attribute int) *Mean { return m.means[attribute] }

// Loss is a share of epsilon for each attribute that is sent, epsilon for the
// record. Which attributes are sent does not depend on their values.
func (m *Multi) Loss() Loss {
	return Loss{Report: m.epsilon / float64(m.sampled), Record: m.epsilon, Lifetime: math.Inf(1)}
}

// Part is one attribute's part of a report.
type Part struct {
	Attribute int
	Labels    Report // for labels
	Symbol    uint32 // for numbers
}

// Randomise makes the report of a record: a number for each attribute, which for
// labels is the label.
func (m *Multi) Randomise(src *noise.Source, record []float64) ([]Part, error) {
	if len(record) != len(m.attributes) {
		return nil, &noren.Error{
			Kind: noren.Usage, What: "%d {value was|values were} given for %d {attribute|attributes}",
			Args: []any{len(record), len(m.attributes)},
		}
	}
	// All values are looked at, sent or not: an error must not tell which
	// attributes were drawn.
	for j, o := range m.oracles {
		v := record[j]
		if o != nil && (v != math.Trunc(v) || checkLabel(int(v), o.Domain()) != nil) || math.IsNaN(v) {
			return nil, &noren.Error{
				Kind: noren.BadData, Where: noren.Textf("attribute %d", j+1),
				What: "neither a label of the domain nor a number, as the attribute is",
			}
		}
	}
	chosen := make(map[int]bool, m.sampled)
	parts := make([]Part, 0, m.sampled)
	for top := len(record) - m.sampled; top < len(record); top++ {
		v, err := uniform(src, uint64(top+1))
		if err != nil {
			return nil, err
		}
		j := int(v)
		if chosen[j] {
			j = top
		}
		chosen[j] = true
		p := Part{Attribute: j}
		if o := m.oracles[j]; o != nil {
			p.Labels, err = o.Randomise(src, int(record[j]))
		} else {
			p.Symbol, err = m.means[j].Randomise(src, record[j])
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// Format writes a report as one word: attribute=report, joined by semicolons.
func (m *Multi) Format(parts []Part) string {
	words := make([]string, len(parts))
	for i, p := range parts {
		words[i] = strconv.Itoa(p.Attribute) + "="
		if o := m.oracles[p.Attribute]; o != nil {
			words[i] += o.Format(p.Labels)
		} else {
			words[i] += m.means[p.Attribute].Format(p.Symbol)
		}
	}
	return strings.Join(words, ";")
}

// Parse reads what Format writes.
func (m *Multi) Parse(word string) ([]Part, error) {
	words := strings.Split(word, ";")
	if len(words) != m.sampled {
		return nil, malformed("not as many attributes as the mechanism sends")
	}
	parts := make([]Part, len(words))
	seen := make(map[int]bool, len(words))
	for i, w := range words {
		name, report, ok := strings.Cut(w, "=")
		if !ok {
			return nil, malformed("an attribute without its report")
		}
		j, err := parseNumber(name)
		if err != nil || int64(j) >= int64(len(m.attributes)) || seen[int(j)] {
			return nil, malformed("an attribute that does not exist, or twice")
		}
		seen[int(j)] = true
		parts[i].Attribute = int(j)
		if o := m.oracles[j]; o != nil {
			parts[i].Labels, err = o.Parse(report)
		} else {
			parts[i].Symbol, err = m.means[j].Parse(report)
		}
		if err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// MultiCollector counts the reports of a Multi. It is not safe for concurrent use.
type MultiCollector struct {
	m        *Multi
	n        int64
	labels   []*Collector
	means    []*MeanCollector
	rejected Rejected
}

// NewMultiCollector returns an empty collector.
func NewMultiCollector(m *Multi) *MultiCollector {
	c := &MultiCollector{m: m, labels: make([]*Collector, len(m.attributes)), means: make([]*MeanCollector, len(m.attributes))}
	for j := range m.attributes {
		if m.oracles[j] != nil {
			c.labels[j] = NewCollector(m.oracles[j])
		} else {
			c.means[j] = NewMeanCollector(m.means[j])
		}
	}
	return c
}

// Add counts a report, wholly or, where a part cannot be, not at all.
func (c *MultiCollector) Add(parts []Part) error {
	err := c.check(parts)
	if err != nil {
		c.rejected.count(err)
		return err
	}
	for _, p := range parts {
		if l := c.labels[p.Attribute]; l != nil {
			err = l.Add(p.Labels)
		} else {
			err = c.means[p.Attribute].Add(p.Symbol)
		}
		if err != nil {
			return err // cannot be: all were checked
		}
	}
	c.n++
	return nil
}

func (c *MultiCollector) check(parts []Part) error {
	if len(parts) != c.m.sampled {
		return malformed("not as many attributes as the mechanism sends")
	}
	seen := make(map[int]bool, len(parts))
	for _, p := range parts {
		if p.Attribute < 0 || p.Attribute >= len(c.m.attributes) || seen[p.Attribute] {
			return malformed("an attribute that does not exist, or twice")
		}
		seen[p.Attribute] = true
		var err error
		if o := c.m.oracles[p.Attribute]; o != nil {
			err = o.Check(p.Labels)
		} else {
			err = c.m.means[p.Attribute].Check(p.Symbol)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// AddWord counts a report in its text form.
func (c *MultiCollector) AddWord(word string) error {
	parts, err := c.m.Parse(word)
	if err != nil {
		c.rejected.count(err)
		return err
	}
	return c.Add(parts)
}

// N is the number of reports counted; each attribute has a part of them.
func (c *MultiCollector) N() int64 { return c.n }

// Reports is the number of reports that hold an attribute.
func (c *MultiCollector) Reports(attribute int) int64 {
	if l := c.labels[attribute]; l != nil {
		return l.N()
	}
	return c.means[attribute].N()
}

// Rejected counts the reports that were excluded.
func (c *MultiCollector) Rejected() Rejected { return c.rejected }

// Frequencies estimates the shares of an attribute's labels, from the reports
// that hold it.
func (c *MultiCollector) Frequencies(attribute int, level float64) (*Frequencies, error) {
	if attribute < 0 || attribute >= len(c.labels) || c.labels[attribute] == nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: "attribute", What: "not an attribute of labels"}
	}
	return c.labels[attribute].Frequencies(level)
}

// Mean estimates the mean of an attribute, from the reports that hold it.
func (c *MultiCollector) Mean(attribute int, level float64) (*MeanEstimate, error) {
	if attribute < 0 || attribute >= len(c.means) || c.means[attribute] == nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: "attribute", What: "not an attribute of numbers"}
	}
	return c.means[attribute].Estimate(level)
}
