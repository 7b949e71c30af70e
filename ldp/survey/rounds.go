package survey

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
)

// rounds is what was counted of several rounds of one question: of labels or of words.
type rounds struct {
	labels   *ldp.Rounds
	words    *ldp.WordRounds
	number   int
	over     int64 // reports of the rounds that are over
	rejected ldp.Rejected
	worst    ldp.Fit
}

// StartRound begins a round of a survey that the same people answer several times:
// lines up to the next call belong to it. Each line must name its client, which may
// report once in a round. The mechanism must be one of labels or of words with memory.
func (c *Collector) StartRound() error {
	if (c.s.kind != Shares && c.s.kind != Words) || !c.s.Remembers() {
		return fault("rounds", noren.Textf("are of labels or words, by a mechanism that keeps a permanent answer"),
			noren.Textf("longitudinal-grr, longitudinal-oue, basic-rappor, basic-one-time or rappor"))
	}
	if c.rounds == nil {
		c.rounds = &rounds{number: 1, worst: ldp.Fit{P: 1, Cohorts: 1}}
		if c.s.kind == Shares {
			c.rounds.labels = ldp.NewRounds(c.s.oracle)
			return nil
		}
		var err error
		c.rounds.words, err = c.s.rappor.NewWordRounds()
		return err
	}
	r := c.rounds
	r.number++
	if f := c.fit(); f.P < r.worst.P {
		r.worst = f
	}
	r.over, r.rejected = c.N(), c.Rejected()
	next, err := c.s.newCounter()
	if err != nil {
		return err
	}
	c.reports = next
	c.seen, c.duplicates, c.malformed, c.otherCohort = nil, 0, 0, 0
	return nil
}

// fitOfAll is the worst fit of all rounds.
func (c *Collector) fitOfAll() ldp.Fit {
	f := c.fit()
	if c.rounds == nil {
		return f
	}
	if c.rounds.worst.P < f.P {
		f = c.rounds.worst
	}
	f.P, f.Cohorts = min(1, f.P*float64(c.rounds.number)), 1 // as many tests as rounds
	return f
}

// checkRound refuses a line that cannot be one of a round: without a client, or of another
// cohort than the client's other reports. What is no report at all is left to the count of
// the round.
func (c *Collector) checkRound(client, word string, named bool) error {
	if !named {
		c.malformed++
		return errNameless
	}
	if c.rounds.words == nil {
		return nil
	}
	r, err := c.s.rappor.Parse(word)
	if err != nil {
		return nil
	}
	err = c.rounds.words.Check(client, r)
	if err != nil && ldp.IsCohort(err) && int64(r.Cohort) < c.s.rappor.M {
		c.otherCohort++
		return err
	}
	return nil
}

// addToRounds counts a line of a round.
func (c *Collector) addToRounds(client, word string) error {
	if c.s.rappor == nil {
		r, err := c.s.oracle.Parse(word)
		if err != nil {
			return err
		}
		return c.rounds.labels.Add(client, r)
	}
	r, err := c.s.rappor.Parse(word)
	if err != nil {
		return err
	}
	if c.rounds.words != nil {
		return c.rounds.words.Add(client, r)
	}
	return c.rounds.labels.Add(client, ldp.Report{Bits: []uint64{uint64(r.Bits)}})
}

// errNameless is a line of a round without a client's id.
var errNameless = &noren.Error{Kind: noren.BadData, Where: "report", What: "a line of a round without a client's id"}
