package ldp

import (
	"context"
	"errors"

	"github.com/noren-privacy/noren"
)

// WordRounds estimates shares of words from several rounds of one question that the same
// people answered by RAPPOR. All reports of a person about one word come from one
// permanent response and are not independent; persons are. Each person's reports are
// averaged bit by bit, and the averages are decoded ([WordRounds.Decode]). It is not safe
// for concurrent use.
type WordRounds struct {
	r       *Rappor
	people  map[string]int
	cohort  []uint32 // of each person
	reports []uint16
	bits    []uint16 // persons x k: reports of a person that have a bit
}

// NewWordRounds returns an empty collector.
func (r *Rappor) NewWordRounds() (*WordRounds, error) {
	if err := r.checkCountable(); err != nil {
		return nil, err
	}
	return &WordRounds{r: r, people: make(map[string]int)}, nil
}

// errOtherCohort is matched: it counts as a report of a bad cohort.
var errOtherCohort = noren.Reasonf("another cohort than that of the client's first report: %s", errCohort)

// Check says whether a report of a person can be added: a device keeps its cohort, and so a
// person's reports have one. Errors: [noren.BadData] for the report, [noren.Usage] where
// there are too many people or reports.
func (c *WordRounds) Check(person string, r RapporReport) error {
	if int64(r.Cohort) >= c.r.M {
		return &noren.Error{Kind: noren.BadData, Where: "report", Err: errCohort}
	}
	if r.Bits&^uint32(1<<c.r.K-1) != 0 {
		return malformed("a bit beyond k")
	}
	i, known := c.people[person]
	switch {
	case !known && (len(c.reports)+1)*c.r.K > mostRoundCounters:
		return &noren.Error{Kind: noren.Usage, What: "too many people for an estimate over rounds", Hint: "estimate each round apart"}
	case !known:
		return nil
	case c.cohort[i] != r.Cohort:
		return &noren.Error{Kind: noren.BadData, Where: "report", Err: errOtherCohort}
	case c.reports[i] == mostRounds:
		return &noren.Error{Kind: noren.Usage, What: "a person has more than %d reports", Args: []any{mostRounds}}
	}
	return nil
}

// IsCohort tells whether an error of [WordRounds.Check] is about the cohort.
func IsCohort(err error) bool { return errors.Is(err, errCohort) }

// Add counts a report of a person. Errors are those of Check.
func (c *WordRounds) Add(person string, r RapporReport) error {
	if err := c.Check(person, r); err != nil {
		return err
	}
	k := c.r.K
	i, known := c.people[person]
	if !known {
		i = len(c.reports)
		c.people[person] = i
		c.cohort, c.reports = append(c.cohort, r.Cohort), append(c.reports, 0)
		c.bits = append(c.bits, make([]uint16, k)...)
	}
	for b := range k {
		c.bits[i*k+b] += uint16(r.Bits >> b & 1)
	}
	c.reports[i]++
	return nil
}

// People is the number of persons with a report.
func (c *WordRounds) People() int64 { return int64(len(c.reports)) }

// Decode estimates the shares of the candidates in m among the people, and over the rounds
// where words change, as [RapporCounts.Decode] does from one report of each. Every person
// counts once, however many reports there are. N of the result is the number of people.
//
// A person's average of R reports has, for a bit that is set in the Bloom filter or not,
// the expectation q* or p*, so that (average - p*)/(q* - p*) is unbiased. Its variance has a
// part that further rounds do not reduce, that of the permanent response,
//
//	(q-p)^2 (f/2)(1-f/2),
//
// and one of the reports, which falls as 1/R. Bits of one person are independent given the
// Bloom filter, so that covariances of bits are those of one report. The errors use the
// mean of 1/R over the people of a cohort, and assume that how many rounds a person joins
// does not depend on the word; where p + q = 1, or nothing is randomised anew, they hold
// without that (docs/local-privacy.md, section 5, theorem 7).
func (c *WordRounds) Decode(ctx context.Context, m *Map, o DecodeOptions) (*DecodedWords, error) {
	k := c.r.K
	channel := c.r.server(false)
	if !(channel.True > channel.Other) {
		return nil, errAllRandom()
	}
	counts := &RapporCounts{r: c.r, N: make([]int64, c.r.M)}
	shares, again := make([][]float64, c.r.M), make([]float64, c.r.M)
	for i := range shares {
		shares[i] = make([]float64, k)
	}
	for i, reports := range c.reports {
		cohort := c.cohort[i]
		counts.N[cohort]++
		again[cohort] += 1 / float64(reports)
		for b := range k {
			shares[cohort][b] += float64(c.bits[i*k+b]) / float64(reports)
		}
	}
	for i, n := range counts.N {
		if n == 0 {
			continue
		}
		again[i] /= float64(n)
		for b := range k {
			shares[i][b] = (shares[i][b]/float64(n) - channel.Other) / (channel.True - channel.Other)
		}
	}
	if err := o.check(counts, m); err != nil {
		return nil, err
	}
	b, err := bloomModelOf(counts, m, shares)
	if err != nil {
		return nil, err
	}
	b.again = again
	return b.decode(ctx, o)
}

// roundsVariance is the variance of one person's estimate of a bit, over persons of whom a
// share t has it, where the mean of 1/(number of reports) is again.
func (r *Rappor) roundsVariance(t, again float64) float64 {
	half, p, q := r.EffectiveF()/2, r.p.float(), r.q.float()
	one := t*(1-half) + (1-t)*half // the share of permanent bits that are 1
	gap := (1 - 2*half) * (q - p)
	permanent := (q - p) * (q - p) * half * (1 - half)
	reports := one*q*(1-q) + (1-one)*p*(1-p)
	return (permanent+again*reports)/(gap*gap) + t*(1-t)
}
