package survey

import (
	"context"

	"github.com/noren-privacy/noren/ldp"
)

// counter counts the reports of one kind of question and estimates from them.
type counter interface {
	// AddWord counts a report. An error says why it is excluded.
	AddWord(word string) error
	// N is the number of reports counted.
	N() int64
	// Rejected counts what was excluded.
	Rejected() ldp.Rejected
	// Fit tests the counts against the mechanism.
	Fit() ldp.Fit
	// estimate adds to e what the counts show.
	estimate(ctx context.Context, o Options, e *Estimate) error
}

// newCounter is the counter of the survey's reports.
func (s *Survey) newCounter() (counter, error) {
	switch {
	case s.multi != nil:
		return severalCounter{ldp.NewMultiCollector(s.multi), s}, nil
	case s.mean != nil:
		return meanCounter{ldp.NewMeanCollector(s.mean)}, nil
	case s.wave != nil:
		return waveCounter{ldp.NewWaveCollector(s.wave), s}, nil
	case s.rappor != nil:
		words, err := s.rappor.NewCollector()
		return wordCounter{words, s}, err
	}
	return labelCounter{ldp.NewCollector(s.oracle)}, nil
}

// labelCounter counts labels.
type labelCounter struct{ *ldp.Collector }

func (c labelCounter) estimate(_ context.Context, o Options, e *Estimate) (err error) {
	e.Shares, err = c.Frequencies(o.Level)
	return err
}

// meanCounter counts numbers of which the mean is asked.
type meanCounter struct{ *ldp.MeanCollector }

func (c meanCounter) estimate(_ context.Context, o Options, e *Estimate) (err error) {
	e.Mean, err = c.Estimate(o.Level)
	return err
}

// waveCounter counts numbers of which the distribution is asked.
type waveCounter struct {
	*ldp.WaveCollector
	of *Survey
}

func (c waveCounter) estimate(ctx context.Context, o Options, e *Estimate) (err error) {
	smooth := !o.Rough && c.of.spec.Buckets >= smoothFrom
	e.Distribution, err = c.Estimate(ctx, smooth, ldp.EM{})
	if err == nil && o.Errors {
		e.Distribution.Errors, err = c.Errors(ctx, e.Distribution, smooth, o.Level)
	}
	return err
}

// wordCounter counts reports of RAPPOR.
type wordCounter struct {
	*ldp.RapporCollector
	of *Survey
}

func (c wordCounter) N() int64               { return c.Counts().Reports() }
func (c wordCounter) Rejected() ldp.Rejected { return c.Counts().Rejected }
func (c wordCounter) Fit() ldp.Fit           { return c.Counts().Fit() }

func (c wordCounter) estimate(ctx context.Context, o Options, e *Estimate) error {
	return c.of.estimateCounts(ctx, c.Counts(), e, o)
}

// severalCounter counts answers to several questions at once.
type severalCounter struct {
	*ldp.MultiCollector
	of *Survey
}

// estimate estimates each attribute. Their intervals hold all at once: the level of each is
// 1 - (1-level)/attributes. An attribute that no report holds has no estimate.
func (c severalCounter) estimate(_ context.Context, o Options, e *Estimate) error {
	level := 1 - (1-o.Level)/float64(len(c.of.answers))
	for j := range c.of.answers {
		var one Estimate
		var err error
		one.N = c.Reports(j)
		switch {
		case one.N == 0:
		case c.of.multi.Oracle(j) != nil:
			one.Shares, err = c.Frequencies(j, level)
		default:
			one.Mean, err = c.Mean(j, level)
		}
		if err != nil {
			return err
		}
		e.Several = append(e.Several, one)
	}
	return nil
}
