package ldp

import (
	"math"

	"github.com/noren-privacy/noren"
)

// Rounds estimates shares from several rounds of one question that the same
// people answered with memory (a [Longitudinal] mechanism, or Basic RAPPOR's oracle).
// Reports of one person are not independent, as they come from one
// permanent answer; persons are. It is not safe for concurrent use.
type Rounds struct {
	oracle  Oracle
	people  map[string]int
	reports []uint16 // of each person
	support []uint16 // persons x labels: reports of a person that support a label
	scratch []int64
}

// mostRoundCounters bounds persons times labels, mostRounds the reports of a person.
const (
	mostRoundCounters = 1 << 29
	mostRounds        = math.MaxUint16
)

// NewRounds returns an empty collector.
func NewRounds(o Oracle) *Rounds {
	return &Rounds{oracle: o, people: make(map[string]int), scratch: make([]int64, o.Domain())}
}

// Add counts a report of a person.
func (c *Rounds) Add(person string, r Report) error {
	if err := c.oracle.Check(r); err != nil {
		return err
	}
	k := len(c.scratch)
	i, known := c.people[person]
	switch {
	case !known && (len(c.reports)+1)*k > mostRoundCounters:
		return &noren.Error{
			Kind: noren.Usage, What: "too many people and labels for an estimate over rounds",
			Hint: "put labels together, or estimate each round apart",
		}
	case !known:
		i = len(c.reports)
		c.people[person] = i
		c.reports = append(c.reports, 0)
		c.support = append(c.support, make([]uint16, k)...)
	case c.reports[i] == mostRounds:
		return &noren.Error{Kind: noren.Usage, What: "a person has more than %d reports", Args: []any{mostRounds}}
	}
	clear(c.scratch)
	c.oracle.tally(c.scratch, &r)
	for l, v := range c.scratch {
		c.support[i*k+l] += uint16(v)
	}
	c.reports[i]++
	return nil
}

// People is the number of persons with a report.
func (c *Rounds) People() int64 { return int64(len(c.reports)) }

// Frequencies estimates the shares of labels among the people, and over the rounds
// where values change: the mean over persons of (support/reports - O)/(T - O), in
// which every person counts once, however many reports there are. It is unbiased.
// Its standard error is from the spread between persons. The intervals are
// empirical Bernstein bounds (Maurer and Pontil 2009) over persons, whose numbers lie
// in a range of 1/(T - O); they all hold at once with probability level or more,
// for every number of people. N is the number of people.
//
// What further rounds reduce is the noise of the reports. The noise of the permanent
// answers stays.
func (c *Rounds) Frequencies(level float64) (*Frequencies, error) {
	if !(level > 0 && level < 1) {
		return nil, &noren.Error{Kind: noren.Usage, Where: "level", What: "must lie between 0 and 1", Hint: "0.95 is usual"}
	}
	if len(c.reports) < 2 {
		return nil, &noren.Error{Kind: noren.BadData, What: "fewer than two people reported, so no error can be stated"}
	}
	channel := c.oracle.Channel()
	gap := channel.True - channel.Other
	if !(gap > 0) {
		return nil, &noren.Error{
			Kind: noren.Usage, What: "reports that do not depend on labels tell nothing of them",
			Hint: "see the mechanism's parameters",
		}
	}
	k, n := len(c.scratch), float64(len(c.reports))
	f := &Frequencies{
		N: int64(len(c.reports)), Level: level,
		Value: make([]float64, k), StdErr: make([]float64, k), Low: make([]float64, k), High: make([]float64, k),
	}
	log := math.Log(4 * float64(k) / (1 - level))
	for l := range k {
		mean, m2 := 0.0, 0.0 // Welford 1962
		for i, r := range c.reports {
			v := (float64(c.support[i*k+l])/float64(r) - channel.Other) / gap
			d := v - mean
			mean += d / float64(i+1)
			m2 += d * (v - mean)
		}
		variance := m2 / (n - 1)
		f.Value[l], f.StdErr[l] = mean, math.Sqrt(variance/n)
		w := math.Sqrt(2*variance*log/n) + 7*log/(3*(n-1))/gap
		f.Low[l], f.High[l] = min(max(mean-w, 0), 1), min(max(mean+w, 0), 1)
	}
	return f, nil
}
