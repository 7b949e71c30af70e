package survey

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
)

// Collector counts the lines of a survey. It is not safe for concurrent use.
type Collector struct {
	s *Survey
	// reports counts those of this round.
	reports counter

	// AllowRepeats counts every report of a client. Reports of one client are not
	// independent: errors are then larger than the stated ones.
	AllowRepeats bool
	// Progress is called with the number of lines read, where it is not nil.
	Progress noren.Progress

	seen       map[string]struct{}
	duplicates int64
	malformed  int64 // lines too long to be looked at
	// otherCohort counts the reports of a round whose client has another cohort in an
	// earlier one.
	otherCohort int64
	bad         []BadLine
	// contents are the hashes of the inputs that were read.
	contents map[[sha256.Size]byte]string
	keep     *keeper
	rounds   *rounds
	of       named
}

// BadLine is a line that is no report of the survey.
type BadLine struct {
	// File is the name of the file.
	File string `json:"file"`
	// Line is the number of the line, from 1.
	Line int64 `json:"line"`
}

// mostBadLines is how many bad lines are named.
const mostBadLines = 20

// BadLines are the first lines of files that were no reports; second reports of a
// client are not among them.
func (c *Collector) BadLines() []BadLine { return slices.Clone(c.bad) }

func (c *Collector) markBad(file string, line int64) {
	if len(c.bad) < mostBadLines {
		c.bad = append(c.bad, BadLine{file, line})
	}
}

// NewCollector returns an empty collector.
func (s *Survey) NewCollector() (*Collector, error) {
	reports, err := s.newCounter()
	return &Collector{s: s, reports: reports}, err
}

// errAgain is a client's second report.
var errAgain = &noren.Error{Kind: noren.BadData, Where: "report", What: "a second report of one client"}

// AddLine counts a line: a report, or a client's id, a tab and a report. The error
// says why a line was excluded; the estimates do not change then. A report that
// was itself excluded is not the client's first. A line that names the specification
// (see [Survey.Header]) is checked, and is an error where it names another; that of
// [Survey.Meaning] is skipped.
func (c *Collector) AddLine(line string) error {
	if isHeader(line) {
		return c.of.check(c.s, line)
	}
	if isMeaning(line) {
		return nil
	}
	client, word, named := cutClient(line)
	if named && !c.AllowRepeats {
		if _, again := c.seen[client]; again {
			c.duplicates++
			return errAgain
		}
	}
	if c.rounds != nil {
		if err := c.checkRound(client, word, named); err != nil {
			return err
		}
	}
	if err := c.count(client, word, named); err != nil {
		return err
	}
	if named && !c.AllowRepeats {
		if c.seen == nil {
			c.seen = make(map[string]struct{})
		}
		c.seen[client] = struct{}{}
	}
	return nil
}

// count counts a report everywhere, or nowhere: what can fail comes before the counters, which
// fail for what is no report of the survey alone, and count that.
func (c *Collector) count(client, word string, named bool) error {
	if c.keep == nil && c.rounds == nil || c.s.checkWord(word) != nil {
		return c.reports.AddWord(word)
	}
	if c.keep != nil {
		if err := c.keep.prepare(word); err != nil {
			return err
		}
	}
	if c.rounds != nil {
		if err := c.addToRounds(client, word); err != nil {
			return err
		}
	}
	if err := c.reports.AddWord(word); err != nil {
		return err
	}
	if c.keep != nil {
		c.keep.put(client, named, word)
	}
	return nil
}

// cutClient parts a line at its first tab.
func cutClient(line string) (client, word string, named bool) {
	client, word, named = strings.Cut(line, "\t")
	if named {
		return short(client), word, true
	}
	return "", line, false
}

// short is a client's id, of which no part of the file is kept: a hash where it is long, as ids
// may be that were made to take memory. No id that is kept as it is has the length of a hash.
func short(client string) string {
	if len(client) >= sha256.Size {
		sum := sha256.Sum256([]byte(client))
		return string(sum[:])
	}
	return strings.Clone(client)
}

// checkWord refuses what is no report of a survey whose reports are kept or of several rounds.
func (s *Survey) checkWord(word string) error {
	switch {
	case s.multi != nil:
		_, err := s.multi.Parse(word)
		return err
	case s.rappor != nil:
		_, err := s.rappor.Parse(word)
		return err
	}
	r, err := s.oracle.Parse(word)
	if err != nil {
		return err
	}
	return s.oracle.Check(r)
}

// longest is how long a line may be: a bit a label for as many labels as can be
// named, and a client's id.
const longest = 2 * maxNamed

// alike is from how many reports on two files of the same content are taken for one:
// small files of different people can be alike by chance.
const alike = 20

// AddLines counts the lines of a file, named name in errors. Empty lines are left
// out, bad ones counted by reason. Errors are a failure to read, and a second
// file of the same content with 20 reports or more, unless AllowRepeats is set, and a file that names
// another specification: they are refused after reports were counted, so the collector must not be used
// further then.
func (c *Collector) AddLines(ctx context.Context, in io.Reader, name string) error {
	hash, before := sha256.New(), c.N()
	if err := c.addLines(ctx, in, name, hash); err != nil {
		return err
	}
	sum := [sha256.Size]byte(hash.Sum(nil))
	if first, again := c.contents[sum]; again && !c.AllowRepeats && c.rounds == nil && c.N() >= before+alike {
		return &noren.Error{
			Kind: noren.BadData, Where: noren.File(name), What: "has the same content as %s", Args: []any{first},
			Hint: "name each file of reports once",
		}
	}
	if c.contents == nil {
		c.contents = make(map[[sha256.Size]byte]string)
	}
	c.contents[sum] = name
	return nil
}

var lineEnd = []byte("\n")

// addLines counts the lines of a file, and writes its reports to content: the line that
// names the specification is no part of what makes two files the same.
func (c *Collector) addLines(ctx context.Context, in io.Reader, name string, content io.Writer) error {
	r := bufio.NewReaderSize(in, 1<<16)
	var line []byte
	tied := false
	for i := int64(0); ; i++ {
		if i&1023 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if c.Progress != nil {
				c.Progress("reading", i, 0)
			}
		}
		line = line[:0]
		part, err := r.ReadSlice('\n')
		tooLong := false
		for errors.Is(err, bufio.ErrBufferFull) {
			tooLong = tooLong || len(line) > longest
			if !tooLong {
				line = append(line, part...)
			}
			part, err = r.ReadSlice('\n')
		}
		if tooLong {
			c.malformed++
			c.markBad(name, i+1)
		} else {
			if len(line) > 0 {
				line = append(line, part...)
				part = line
			}
			if i == 0 {
				part = bytes.TrimPrefix(part, []byte("\ufeff")) // as some editors write
			}
			part = bytes.TrimRight(part, "\r\n")
			switch {
			case len(bytes.TrimSpace(part)) == 0, isMeaning(string(part)):
			case isHeader(string(part)):
				if err := c.of.check(c.s, string(part)); err != nil {
					return &noren.Error{Kind: noren.BadData, Where: noren.Position{File: name, Line: i + 1}, Err: err}
				}
				tied = true
			default:
				if !tied {
					tied = true
					c.of.without = append(c.of.without, name)
				}
				_, _ = content.Write(part) // a hash never fails
				_, _ = content.Write(lineEnd)
				// The fault is counted there.
				if err := c.AddLine(string(part)); err != nil && !errors.Is(err, errAgain) {
					c.markBad(name, i+1)
				}
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &noren.Error{Where: noren.File(name), What: "cannot be read", Err: err}
		}
	}
}

// Counts are RAPPOR's counts, for the reference's tools; nil for other mechanisms.
func (c *Collector) Counts() *ldp.RapporCounts {
	words, ok := c.reports.(wordCounter)
	if !ok {
		return nil
	}
	return words.Counts()
}

// fit tests the counts against the mechanism. Reports of one device that are counted
// several times are not independent, and no test is made of them.
func (c *Collector) fit() ldp.Fit {
	if c.AllowRepeats && c.s.Remembers() {
		return ldp.Fit{P: 1, Cohorts: 1}
	}
	return c.reports.Fit()
}

// N is the number of reports counted.
func (c *Collector) N() int64 {
	if c.rounds != nil {
		return c.rounds.over + c.reports.N()
	}
	return c.reports.N()
}

// Clients is the number of different clients that lines named; 0 with
// AllowRepeats.
func (c *Collector) Clients() int { return len(c.seen) }

// Rejected counts the lines that were excluded.
func (c *Collector) Rejected() ldp.Rejected {
	r := c.reports.Rejected()
	r.Duplicate += c.duplicates
	r.Malformed += c.malformed
	r.BadCohort += c.otherCohort
	if c.rounds != nil {
		r = r.Plus(c.rounds.rejected)
	}
	return r
}
