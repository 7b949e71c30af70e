package survey

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
)

// keeper remembers what each report said, for the association of two attributes.
// Reports that are alike share their evidence.
type keeper struct {
	s      *Survey
	words  *ldp.Map
	known  map[string][]ldp.Evidence // by report: of each attribute, nil where it says nothing
	order  []string                  // clients, or "" where none is named
	report [][]ldp.Evidence
}

// maxEvidence bounds the numbers kept of different reports.
const maxEvidence = 1 << 26

// Keep makes the collector remember, from now on, what [Collector.Associate] needs.
// words holds the candidates of RAPPOR's words, and is nil for other mechanisms.
func (c *Collector) Keep(words *ldp.Map) error {
	k := c.s.kind
	if k != Shares && k != Words && k != Several {
		return fault("mechanism", noren.Textf("association is between labels or words"),
			noren.Textf("take bins: labels, and a mechanism for shares"))
	}
	if k == Words && words == nil {
		return fault("candidates", noren.Textf("words are associated among candidates, and none were named"),
			noren.Textf("name the words that are possible"))
	}
	c.keep = &keeper{s: c.s, words: words, known: make(map[string][]ldp.Evidence)}
	return nil
}

// prepare finds the evidence of a report.
func (k *keeper) prepare(word string) error {
	if _, ok := k.known[word]; !ok {
		e, err := k.evidence(word)
		if err != nil {
			return err
		}
		size := 1
		for _, v := range e {
			size += len(v)
		}
		if (len(k.known)+1)*size > maxEvidence {
			return &noren.Error{
				Kind: noren.Usage, What: "the reports are too many and too different to be associated",
				Hint: "take fewer labels or candidates",
			}
		}
		k.known[word] = e
	}
	return nil
}

// put keeps a report that was prepared and counted.
func (k *keeper) put(client string, named bool, word string) {
	if !named {
		client = ""
	}
	k.order, k.report = append(k.order, client), append(k.report, k.known[word])
}

func (k *keeper) evidence(word string) ([]ldp.Evidence, error) {
	s := k.s
	switch {
	case s.multi != nil:
		parts, err := s.multi.Parse(word)
		if err != nil {
			return nil, err
		}
		out := make([]ldp.Evidence, len(s.answers))
		for _, p := range parts {
			if o := s.multi.Oracle(p.Attribute); o != nil {
				out[p.Attribute] = ldp.Likelihood(o, p.Labels)
			}
		}
		return out, nil
	case s.rappor != nil && s.kind == Words:
		r, err := s.rappor.Parse(word)
		if err != nil {
			return nil, err
		}
		e, err := k.words.Likelihood(r)
		return []ldp.Evidence{e}, err
	case s.rappor != nil:
		r, err := s.rappor.Parse(word)
		if err != nil {
			return nil, err
		}
		return []ldp.Evidence{ldp.Likelihood(s.oracle, ldp.Report{Bits: []uint64{uint64(r.Bits)}})}, nil
	}
	r, err := s.oracle.Parse(word)
	if err != nil {
		return nil, err
	}
	return []ldp.Evidence{ldp.Likelihood(s.oracle, r)}, nil
}

// Associate estimates the joint shares of an attribute of the reports in c and one of
// those in d, which may be c itself. Two collectors are joined by the clients' ids, or,
// where no line names one, by their order, which needs as many reports in both.
// Both must have kept (see Keep).
func (c *Collector) Associate(ctx context.Context, attribute int, d *Collector, other int) (*ldp.Joint, error) {
	if c.keep == nil || d.keep == nil {
		return nil, &noren.Error{What: "the reports were not kept"}
	}
	for _, of := range []struct {
		s *Survey
		j int
	}{{c.s, attribute}, {d.s, other}} {
		if of.j < 0 || of.j >= len(of.s.answers) || of.s.multi != nil && of.s.multi.Oracle(of.j) == nil {
			return nil, fault("associate", noren.Textf("is between attributes of labels"), noren.Textf("put a number into bins"))
		}
	}
	if c == d && attribute == other {
		return nil, fault("associate", noren.Textf("is between two attributes"), noren.Textf("name two that differ"))
	}
	var a, b []ldp.Evidence
	pair := func(i, j int) {
		x, y := c.keep.report[i][attribute], d.keep.report[j][other]
		if x != nil && y != nil {
			a, b = append(a, x), append(b, y)
		}
	}
	switch {
	case c == d:
		for i := range c.keep.report {
			pair(i, i)
		}
	case c.keep.nameless() && d.keep.nameless():
		if len(c.keep.report) != len(d.keep.report) || c.Rejected().Total()+d.Rejected().Total() > 0 {
			return nil, &noren.Error{
				Kind: noren.BadData, What: "%d and %d {report|reports} without clients' ids cannot be told to be of the same people", Args: []any{
					len(c.keep.report), len(d.keep.report),
				},
				Hint: "let lines begin with a client's id and a tab, or make both files of the same people in the same order, without bad lines",
			}
		}
		for i := range c.keep.report {
			pair(i, i)
		}
	default:
		at := make(map[string]int, len(d.keep.order))
		for j, client := range d.keep.order {
			if client != "" {
				at[client] = j
			}
		}
		for i, client := range c.keep.order {
			if j, ok := at[client]; ok && client != "" {
				pair(i, j)
			}
		}
	}
	if len(a) == 0 {
		return nil, &noren.Error{
			Kind: noren.BadData, What: "no person's reports tell of both attributes",
			Hint: "let each report hold both (sample: 2 or more), or see whether the clients' ids are the same in both files",
		}
	}
	return ldp.Associate(ctx, a, b, ldp.EM{})
}

func (k *keeper) nameless() bool {
	for _, client := range k.order {
		if client != "" {
			return false
		}
	}
	return true
}
