package shard

import (
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// Look is what the first look at all files found. It is private.
type Look struct {
	rows     int64
	shards   []int64 // records of each file
	nullable []bool  // by column of the files
	columns  []columnSeen
	source   [table.SumSize]byte // sum of the table where a seed orders the rows
}

// Rows is the number of records of the table.
func (l *Look) Rows() int64 { return l.rows }

// place is where the records of a file are among all: from at to end-1.
func (l *Look) place(shard int) (at, end int64) {
	for _, n := range l.shards[:shard] {
		at += n
	}
	return at, at + l.shards[shard]
}

// seen is what was seen of the columns.
func (l *Look) seen() []space.Seen {
	out := make([]space.Seen, len(l.columns))
	for a := range l.columns {
		out[a] = l.columns[a].space
	}
	return out
}

// heads describe the quasi-identifiers of the whole table.
func (l *Look) heads(j *Job) []*table.Column {
	fields := j.quasiFields()
	heads := make([]*table.Column, len(fields))
	for a, f := range fields {
		heads[a] = &table.Column{Field: f, Places: l.columns[a].places}
		switch f.Type {
		case table.Category:
			heads[a].Dict = l.columns[a].words
		case table.Ordered:
			heads[a].Dict = f.Levels
		}
	}
	return heads
}

// tally adds up the words of a column over files.
type tally struct {
	index  map[string]int
	words  []string
	counts []int
	bytes  int
}

func (t *tally) add(words []string, counts []int) {
	if t.index == nil {
		t.index = map[string]int{}
	}
	for i, word := range words {
		code, known := t.index[word]
		if !known {
			code = len(t.words)
			t.index[word] = code
			t.words, t.counts = append(t.words, word), append(t.counts, 0)
			t.bytes += len(word) + 8
		}
		t.counts[code] += counts[i]
	}
}

// sorted gives the words in byte order.
func (t *tally) sorted() ([]string, []int) {
	ranks := table.Ranks(t.words)
	words, counts := make([]string, len(ranks)), make([]int, len(ranks))
	for code, r := range ranks {
		words[r], counts[r] = t.words[code], t.counts[code]
	}
	return words, counts
}

// arrived counts the frames of the files.
type arrived struct {
	seen  []map[uint32]bool
	total []uint32 // frames of each file, 0 while unknown
}

func newArrived(shards int) *arrived {
	return &arrived{seen: make([]map[uint32]bool, shards), total: make([]uint32, shards)}
}

// take takes in a frame; each must come once.
func (a *arrived) take(p *part) error {
	if a.seen[p.shard] == nil {
		a.seen[p.shard] = map[uint32]bool{}
	}
	if a.seen[p.shard][p.number] {
		return fault(noren.Textf("expected each frame of a survey once, got one twice"))
	}
	a.seen[p.shard][p.number] = true
	if p.last {
		a.total[p.shard] = p.number + 1
	}
	return nil
}

// complete demands all frames of all files.
func (a *arrived) complete() error {
	for shard, total := range a.total {
		if total == 0 || uint32(len(a.seen[shard])) != total {
			return fault(noren.Textf("expected the surveys of all files, got some"))
		}
		for n := range a.seen[shard] {
			if n >= total {
				return fault(noren.Textf("expected the surveys of all files, got other frames"))
			}
		}
	}
	return nil
}

// MergeFirst puts together the first looks at all files, in any order. Errors are of kind
// BadData where no release of the table can be made.
func (j *Job) MergeFirst(ctx context.Context, in Frames) (*Look, error) {
	quasi := len(j.quasi())
	have := newArrived(len(j.Shards))
	files := make([]fileSeen, len(j.Shards))
	columns := make([][]columnSeen, len(j.Shards)) // without words
	words := make([]tally, quasi)
	names := j.quasiFields()
	err := each(ctx, in, func(frame []byte) error {
		p, err := j.decodePart(frame)
		if err != nil {
			return err
		}
		if p.look != 1 || p.section == sectionRows || p.section == sectionFile != (p.number == 0) || p.number > uint32(quasi) ||
			p.last != (p.number == uint32(quasi)) {
			return malformed("a first look")
		}
		if err := have.take(p); err != nil {
			return err
		}
		s := source{b: p.body}
		if p.section == sectionFile {
			files[p.shard].take(&s, len(j.Fields))
			if !s.ended() {
				return malformed("a first look")
			}
			return nil
		}
		var c columnSeen
		c.takeFirst(&s)
		a := int(p.number) - 1
		if !s.ended() || (names[a].Type != table.Category && len(c.words) > 0) {
			return malformed("a first look")
		}
		words[a].add(c.words, c.space.Counts)
		if words[a].bytes > columnMost {
			return tooManyWords(j.Input, names[a].Name)
		}
		c.words, c.space.Counts = nil, nil
		if columns[p.shard] == nil {
			columns[p.shard] = make([]columnSeen, quasi)
		}
		columns[p.shard][a] = c
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := have.complete(); err != nil {
		return nil, err
	}
	survey, err := space.NewSurvey(names, j.run.Scale)
	if err != nil {
		return nil, err
	}
	l := &Look{nullable: make([]bool, len(j.Fields)), columns: make([]columnSeen, quasi)}
	sums := make([][table.SumSize]byte, len(files))
	for n := range files { // in their order, as sums of numbers depend on it
		l.rows += files[n].rows
		l.shards = append(l.shards, files[n].rows)
		sums[n] = files[n].sum
		for i, is := range files[n].nullable {
			l.nullable[i] = l.nullable[i] || is
		}
		seen := make([]space.Seen, quasi)
		for a := range seen {
			seen[a] = columns[n][a].space
			l.columns[a].places = max(l.columns[a].places, columns[n][a].places)
		}
		survey.Take(int(files[n].rows), seen)
	}
	l.source = table.SumAll(sums)
	for a, seen := range survey.Seen() {
		l.columns[a].space = seen
		l.columns[a].words, l.columns[a].space.Counts = words[a].sorted()
	}
	return l, j.enough(l)
}

// enough refuses a table that no release can be made of.
func (j *Job) enough(l *Look) error {
	if l.rows > partition.SampleMost {
		return malformed("a first look")
	}
	if err := kanon.EnoughRecords(j.where(), l.rows, j.Options.K); err != nil {
		return err
	}
	for _, h := range l.heads(j) {
		if err := kanon.CheckHierarchy(j.where(), h); err != nil {
			return err
		}
	}
	return nil
}

// Encode is l as the second look reads it.
func (l *Look) Encode(j *Job) []byte {
	return l.append(begin(kindLook, j.id))
}

func (l *Look) append(dst []byte) []byte {
	for _, n := range l.shards {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(n))
	}
	for _, is := range l.nullable {
		dst = appendFlag(dst, is)
	}
	for a := range l.columns {
		dst = l.columns[a].appendFirst(dst)
	}
	return append(dst, l.source[:]...)
}

// DecodeLook reads what [Look.Encode] wrote for a job.
func DecodeLook(j *Job, text []byte) (*Look, error) {
	s := &source{b: text}
	if !s.begins(kindLook, j.id) {
		return nil, malformed("a look of this job")
	}
	l := takeLook(j, s)
	if l == nil || !s.ended() {
		return nil, malformed("a look of this job")
	}
	return l, nil
}

// takeLook takes a look; nil where there is none.
func takeLook(j *Job, s *source) *Look {
	l := &Look{nullable: make([]bool, len(j.Fields)), columns: make([]columnSeen, len(j.quasi()))}
	for range j.Shards {
		n := int64(s.u64())
		if n < 0 || n > partition.SampleMost-l.rows {
			s.bad = true
			return nil
		}
		l.shards = append(l.shards, n)
		l.rows += n
	}
	for i := range l.nullable {
		l.nullable[i] = s.flag()
	}
	fields := j.quasiFields()
	for a := range l.columns {
		c := &l.columns[a]
		c.takeFirst(s)
		isWords := fields[a].Type == table.Category
		sorted := slices.IsSortedFunc(c.words, strings.Compare)
		for i := 1; i < len(c.words); i++ {
			sorted = sorted && c.words[i-1] != c.words[i]
		}
		if s.bad || !sorted || !isWords && len(c.words) > 0 || int64(c.space.Missing)+int64(c.space.Present) != l.rows {
			s.bad = true
			return nil
		}
	}
	copy(l.source[:], s.take(len(l.source)))
	return l
}
