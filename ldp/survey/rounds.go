package survey

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
)

// rounds is what was counted of several rounds of one question.
type rounds struct {
	people   *ldp.Rounds
	number   int
	over     int64 // reports of the rounds that are over
	rejected ldp.Rejected
	worst    ldp.Fit
}

// StartRound begins a round of a survey that the same people answer several times:
// lines up to the next call belong to it. Each line must name its client, which may
// report once in a round. The mechanism must be one of labels with memory.
func (c *Collector) StartRound() error {
	if c.s.kind != Shares || !c.s.Remembers() {
		return fault("rounds", "are of labels, by a mechanism that keeps a permanent answer", "longitudinal-grr, longitudinal-oue, basic-rappor or basic-one-time")
	}
	if c.rounds == nil {
		c.rounds = &rounds{people: ldp.NewRounds(c.s.oracle), number: 1, worst: ldp.Fit{P: 1, Cohorts: 1}}
		return nil
	}
	r := c.rounds
	r.number++
	if f := c.fit(); f.P < r.worst.P {
		r.worst = f
	}
	r.over, r.rejected = c.N(), c.Rejected()
	next, err := c.s.NewCollector()
	if err != nil {
		return err
	}
	c.labels, c.words = next.labels, next.words
	c.seen, c.duplicates, c.malformed = nil, 0, 0
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

// addToRounds counts a line of a round.
func (c *Collector) addToRounds(client, word string) error {
	var r ldp.Report
	var err error
	if c.words != nil {
		var report ldp.RapporReport
		report, err = c.s.rappor.Parse(word)
		r.Bits = []uint64{uint64(report.Bits)}
	} else {
		r, err = c.s.oracle.Parse(word)
	}
	if err != nil {
		return err
	}
	return c.rounds.people.Add(client, r)
}

// errNameless is a line of a round without a client's id.
var errNameless = &noren.Error{Kind: noren.BadData, Where: "report", What: "a line of a round without a client's id"}
