package ldp

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/noren-privacy/noren"
)

// Rejected counts the reports that were excluded, by reason. They have no part
// in any estimate.
type Rejected struct {
	Malformed   int64 `json:"malformed"`    // Number of reports that are malformed
	WrongLength int64 `json:"wrong_length"` // Number of reports with a wrong number of bits
	// Number of reports of a cohort that does not exist, or, in rounds, of another cohort than the client had before (RAPPOR)
	BadCohort int64 `json:"bad_cohort"`
	Duplicate int64 `json:"duplicate"` // Number of reports of a client after its first
}

// Total is the number of reports excluded.
func (r Rejected) Total() int64 { return r.Malformed + r.WrongLength + r.BadCohort + r.Duplicate }

// String says r in one line.
func (r Rejected) String() string { return r.Text().String() }

// Text says r in one line.
func (r Rejected) Text() noren.Text {
	if r.Total() == 0 {
		return noren.Textf("no report was excluded")
	}
	var parts noren.Commas
	for _, p := range []struct {
		n    int64
		what noren.Format
	}{
		{r.Malformed, "%d malformed"},
		{r.WrongLength, "%d of the wrong length"},
		{r.BadCohort, "%d of a wrong cohort"},
		{r.Duplicate, "%d second {report|reports} of a client"},
	} {
		if p.n > 0 {
			parts = append(parts, noren.Textf(p.what, p.n))
		}
	}
	return noren.Textf("excluded: %s", parts)
}

// Plus is the sum of two counts.
func (r Rejected) Plus(s Rejected) Rejected {
	r.add(s)
	return r
}

func (r *Rejected) add(s Rejected) {
	r.Malformed += s.Malformed
	r.WrongLength += s.WrongLength
	r.BadCohort += s.BadCohort
	r.Duplicate += s.Duplicate
}

// count files an error under its reason.
func (r *Rejected) count(err error) {
	var length *lengthError
	switch {
	case errors.As(err, &length):
		r.WrongLength++
	case errors.Is(err, errCohort):
		r.BadCohort++
	case errors.Is(err, errDuplicate):
		r.Duplicate++
	default:
		r.Malformed++
	}
}

// Reasons that are matched.
var (
	errCohort    = errors.New("a cohort that does not exist")
	errDuplicate = errors.New("a second report of one client")
)

// clients remembers who has reported.
type clients map[string]struct{}

func (c *clients) first(id string) bool {
	if *c == nil {
		*c = make(clients)
	}
	if _, seen := (*c)[id]; seen {
		return false
	}
	(*c)[id] = struct{}{}
	return true
}

// Collector counts the reports of one oracle. It is not safe for concurrent use:
// count apart and Merge.
type Collector struct {
	oracle   Oracle
	n        int64
	counts   []int64
	rejected Rejected
	seen     clients
}

// NewCollector returns an empty collector.
func NewCollector(o Oracle) *Collector {
	return &Collector{oracle: o, counts: make([]int64, o.Domain())}
}

// Add counts a report. A report that cannot be is counted as rejected, and the
// error says why; the estimates do not change.
func (c *Collector) Add(r Report) error {
	if err := c.oracle.Check(r); err != nil {
		c.rejected.count(err)
		return err
	}
	c.oracle.tally(c.counts, &r)
	c.n++
	return nil
}

// AddWord counts a report in its text form.
func (c *Collector) AddWord(word string) error {
	r, err := c.oracle.Parse(word)
	if err != nil {
		c.rejected.count(err)
		return err
	}
	return c.Add(r)
}

// AddFrom counts a report of a named client, and rejects a client's second one. A
// report that was itself rejected does not count as the client's first.
func (c *Collector) AddFrom(client, word string) error {
	if _, again := c.seen[client]; again {
		c.rejected.Duplicate++
		return &noren.Error{Kind: noren.BadData, Where: "report", Err: errDuplicate}
	}
	if err := c.AddWord(word); err != nil {
		return err
	}
	c.seen.first(client)
	return nil
}

// AddAll counts many reports with as many workers, 0 for one a processor. The
// counts do not depend on how many. Bad reports are counted as rejected.
func (c *Collector) AddAll(ctx context.Context, reports []Report, workers int) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	const block = 1024
	workers = max(1, min(workers, (len(reports)+block-1)/block))
	parts := make([]*Collector, workers)
	var wg sync.WaitGroup
	for w := range workers {
		parts[w] = NewCollector(c.oracle)
		wg.Go(func() {
			for from := w * block; from < len(reports) && ctx.Err() == nil; from += workers * block {
				for _, r := range reports[from:min(from+block, len(reports))] {
					_ = parts[w].Add(r) // counted there
				}
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err // nothing is half counted
	}
	for _, p := range parts {
		c.merge(p)
	}
	return nil
}

// Merge adds the counts of another collector of the same mechanism. Clients that
// are known to both count as duplicates only if they come again.
func (c *Collector) Merge(d *Collector) error {
	if c.oracle.Name() != d.oracle.Name() || c.oracle.Channel() != d.oracle.Channel() || len(c.counts) != len(d.counts) {
		return &noren.Error{Kind: noren.Usage, What: "the reports of two different mechanisms do not add up"}
	}
	c.merge(d)
	for id := range d.seen {
		c.seen.first(id)
	}
	return nil
}

func (c *Collector) merge(d *Collector) {
	c.n += d.n
	for l, n := range d.counts {
		c.counts[l] += n
	}
	c.rejected.add(d.rejected)
}

// N is the number of reports counted, without those rejected.
func (c *Collector) N() int64 { return c.n }

// Rejected counts the reports that were excluded.
func (c *Collector) Rejected() Rejected { return c.rejected }

// Counts returns how many reports support each label.
func (c *Collector) Counts() []int64 { return append([]int64(nil), c.counts...) }

// Frequencies estimates the share of each label, with simultaneous intervals at
// level.
func (c *Collector) Frequencies(level float64) (*Frequencies, error) {
	f, err := c.oracle.Channel().Estimate(c.n, c.counts, level)
	if err != nil {
		return nil, err
	}
	f.Rejected = c.rejected
	return f, nil
}
