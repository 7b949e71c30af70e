package ldp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/noren-privacy/noren"
)

// RapporCounts are the sums that all estimates are made from: for each cohort its
// number of reports and how many had each bit set.
type RapporCounts struct {
	r    *Rappor
	N    []int64 // one a cohort
	Bits []int64 // cohorts x k
	// Rejected counts the reports that were excluded.
	Rejected Rejected
}

func newRapporCounts(r *Rappor) *RapporCounts {
	return &RapporCounts{r: r, N: make([]int64, r.M), Bits: make([]int64, int(r.M)*r.K)}
}

// Cohort is the k counts of a cohort; it is part of c.
func (c *RapporCounts) Cohort(i int) []int64 { return c.Bits[i*c.r.K : (i+1)*c.r.K] }

// Reports is the number of reports counted.
func (c *RapporCounts) Reports() int64 {
	n := int64(0)
	for _, v := range c.N {
		n += v
	}
	return n
}

// RapporCollector counts reports. It is not safe for concurrent use: count apart
// and Merge.
type RapporCollector struct {
	counts  *RapporCounts
	packed  []packed
	seen    clients
	lastBit uint32 // bits that a report may have
}

// packed counts the reports of a cohort in bytes, 32 at a time: bit b in byte b%8
// of word b/8. Before a byte could run over, all are added to the counts.
type packed struct {
	bytes [4]uint64
	n     uint64
}

// NewCollector returns an empty collector.
func (r *Rappor) NewCollector() (*RapporCollector, error) {
	if err := r.checkCountable(); err != nil {
		return nil, err
	}
	return &RapporCollector{counts: newRapporCounts(r), packed: make([]packed, r.M), lastBit: 1<<r.K - 1}, nil
}

// spread puts the 8 lowest bits of b into the lowest bits of 8 bytes: each byte
// keeps one of the copies' bits, and adding 127 brings any bit to the top.
func spread(b uint64) uint64 {
	const ones = 0x0101010101010101
	x := b & 0xff * ones & 0x8040201008040201
	return (x + 0x7f*ones) >> 7 & ones
}

// Add counts a report. One of a cohort that does not exist, or with a bit beyond
// k, is counted as rejected, and the error says why.
func (c *RapporCollector) Add(r RapporReport) error {
	if int(r.Cohort) >= len(c.packed) {
		c.counts.Rejected.BadCohort++
		return &noren.Error{Kind: noren.BadData, Where: "report", Err: errCohort}
	}
	if r.Bits&^c.lastBit != 0 {
		c.counts.Rejected.WrongLength++
		return malformed("a bit beyond k")
	}
	p := &c.packed[r.Cohort]
	b := uint64(r.Bits)
	p.bytes[0] += spread(b)
	p.bytes[1] += spread(b >> 8)
	p.bytes[2] += spread(b >> 16)
	p.bytes[3] += spread(b >> 24)
	if p.n++; p.n == math.MaxUint8 {
		c.flush(int(r.Cohort))
	}
	return nil
}

// AddAll counts many reports; the bad ones are counted as rejected.
func (c *RapporCollector) AddAll(reports []RapporReport) {
	for _, r := range reports {
		_ = c.Add(r) // counted there
	}
}

// AddWord counts a report in its text form, cohort,bits.
func (c *RapporCollector) AddWord(word string) error {
	r, err := c.counts.r.Parse(word)
	if err != nil {
		c.counts.Rejected.count(err)
		return err
	}
	return c.Add(r)
}

// AddFrom counts a report of a named client, and rejects a client's second one.
func (c *RapporCollector) AddFrom(client, word string) error {
	if _, again := c.seen[client]; again {
		c.counts.Rejected.Duplicate++
		return &noren.Error{Kind: noren.BadData, Where: "report", Err: errDuplicate}
	}
	if err := c.AddWord(word); err != nil {
		return err
	}
	c.seen.first(client)
	return nil
}

// AddLines counts a report a line; empty lines are left out, bad ones counted as
// rejected. Only a failure to read is an error.
func (c *RapporCollector) AddLines(ctx context.Context, in io.Reader) error {
	s := bufio.NewReader(in)
	for i := 0; ; i++ {
		if i&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, err := s.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) { // far longer than any report
			c.counts.Rejected.Malformed++
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = s.ReadSlice('\n')
			}
			line = nil
		}
		if !isBlank(line) {
			_ = c.AddWord(trimmed(line)) // counted there
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return &noren.Error{Kind: noren.Internal, Where: noren.Phrase("reports"), What: "cannot be read", Err: err}
		}
	}
}

func trimmed(line []byte) string {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	return string(line)
}

func (c *RapporCollector) flush(cohort int) {
	p := &c.packed[cohort]
	c.counts.N[cohort] += int64(p.n)
	for b, row := 0, c.counts.Cohort(cohort); b < len(row); b++ {
		row[b] += int64(p.bytes[b/8] >> (8 * (b % 8)) & 0xff)
	}
	*p = packed{}
}

// Merge adds what another collector of the same parameters has counted.
func (c *RapporCollector) Merge(d *RapporCollector) error {
	if c.counts.r.Params != d.counts.r.Params {
		return &noren.Error{Kind: noren.Usage, What: "reports of different RAPPOR parameters do not add up"}
	}
	from := d.Counts()
	for i, n := range from.N {
		c.counts.N[i] += n
	}
	for i, n := range from.Bits {
		c.counts.Bits[i] += n
	}
	c.counts.Rejected.add(from.Rejected)
	for id := range d.seen {
		c.seen.first(id)
	}
	return nil
}

// Counts returns a copy of what was counted.
func (c *RapporCollector) Counts() *RapporCounts {
	for i := range c.packed {
		if c.packed[i].n > 0 {
			c.flush(i)
		}
	}
	return &RapporCounts{r: c.counts.r, N: slices.Clone(c.counts.N), Bits: slices.Clone(c.counts.Bits), Rejected: c.counts.Rejected}
}

// BitEstimates are the estimated shares of a cohort's reports whose Bloom filter
// has a bit, cohorts x k.
type BitEstimates struct {
	Value, StdErr [][]float64
}

// server returns the probabilities that estimates are made with. The reference
// decodes with the f that was asked for; what runs is a multiple of 1/128.
// nominal chooses the former, for comparison with its figures.
func (r *Rappor) server(nominal bool) Channel {
	one, zero := r.bitProbabilities()
	if nominal {
		one, zero = rapporBits(r.F, r.P, r.Q)
	}
	return Channel{True: one, Other: zero}
}

// EstimateBits estimates the share of each bit in each cohort with its standard
// error: (v - p01 N)/((p11 - p01) N), and sqrt(r (1-r)/N)/(p11 - p01) with
// r = t p11 + (1-t) p01 at t the estimate within [0, 1], where p11 = q*, p01 = p*
// (analysis/R/decode.R of the reference). A cohort without reports is NaN.
func (c *RapporCounts) EstimateBits() (*BitEstimates, error) {
	return c.estimateBits(c.r.server(false))
}

func (c *RapporCounts) estimateBits(ch Channel) (*BitEstimates, error) {
	if !(ch.True > ch.Other) {
		return nil, errAllRandom()
	}
	e := &BitEstimates{}
	for i, n := range c.N {
		value, se := make([]float64, c.r.K), make([]float64, c.r.K)
		for b, v := range c.Cohort(i) {
			value[b] = (float64(v)/float64(n) - ch.Other) / (ch.True - ch.Other)
			se[b] = math.Sqrt(ch.Variance(min(max(value[b], 0), 1)) / float64(n))
		}
		e.Value, e.StdErr = append(e.Value, value), append(e.StdErr, se)
	}
	return e, nil
}

func errAllRandom() error {
	return &noren.Error{Kind: noren.Usage, Where: "f", What: "is so near to 1 that all answers are random: nothing can be estimated"}
}

// Frequencies estimates the shares of labels from the counts of Basic RAPPOR,
// with simultaneous intervals at level.
func (c *RapporCounts) Frequencies(level float64) (*Frequencies, error) {
	if err := c.r.checkBasic(); err != nil {
		return nil, err
	}
	f, err := c.r.server(false).Estimate(c.N[0], c.Bits, level)
	if err != nil {
		return nil, err
	}
	f.Rejected = c.Rejected
	return f, nil
}
