package shard

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/block"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/records"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// Plan is what all files together say of the release: how the records are placed and
// shown, the tree of cells, and the bucket of each cell. It is private.
type Plan struct {
	look      Look
	columns   []columnSeen // of the second look
	tree      *partition.CellTree
	first     []uint32 // first cell of each bucket, and the number of cells
	outsiders []byte   // records that are left out, one after the other
	left      int      // their number

	heads  []*table.Column
	frame  *space.Frame
	method partition.Options
	chosen partition.Chosen
	size   int // least records of a block
	codec  *records.Codec
}

// Rows is the number of records of the table.
func (p *Plan) Rows() int64 { return p.look.rows }

// Buckets is the number of buckets, numbered from 0.
func (p *Plan) Buckets() int { return len(p.first) - 1 }

// Cells is the number of cells of the tree.
func (p *Plan) Cells() int { return p.tree.Cells() }

// settle fills in what follows from a plan.
func (p *Plan) settle(j *Job) error {
	p.heads = p.look.heads(j)
	survey, err := space.NewSurvey(j.quasiFields(), j.run.Scale)
	if err != nil {
		return err
	}
	survey.Take(int(p.look.rows), p.look.seen())
	second := make([]space.Seen, len(p.columns))
	for a := range second {
		second[a] = space.Seen{Lo: math.Inf(1), Hi: math.Inf(-1), Squares: p.columns[a].space.Squares}
	}
	survey.Take(0, second)
	if p.frame, err = survey.Frame(p.heads); err != nil {
		return block.NoSpace(j.where(), err)
	}
	if p.method, p.chosen, err = j.run.Method(int(p.look.rows)); err != nil {
		return err
	}
	cell := p.chosen.Coarse
	if cell <= 0 { // one cell, the whole
		cell = int(min(p.look.rows, math.MaxInt32))
	}
	p.size = block.Size(p.look.rows, cell, j.Options.K, j.Options.Block)
	if j.BucketRows < int64(p.size) { // a bucket has at least one block
		p.size = max(int(j.BucketRows), j.Options.K)
	}
	fields := j.quasiFields()
	p.codec = records.NewCodec(fields)
	return nil
}

// shows is how groups are published.
func (p *Plan) shows(j *Job, stored []table.StoredColumn) (*publish.Plan, error) {
	plan, err := publish.NewPlan(p.heads, stored, j.run.Publishing())
	if err != nil {
		return nil, err
	}
	seen := make([]publish.Seen, len(p.columns))
	for a := range seen {
		seen[a] = p.columns[a].show
	}
	plan.Take(seen)
	return plan, nil
}

// leaves is a count of the outsiders, nil where no boxes are published.
func (p *Plan) leaves(j *Job) *publish.Outsiders {
	if !j.run.Publish.Boxes() {
		return nil
	}
	columns := make([]*table.Column, len(p.heads))
	for a, h := range p.heads {
		columns[a] = h.Blank(p.left)
	}
	ids := make([]uint32, p.left)
	for i := range ids {
		ids[i] = uint32(i)
		p.codec.Get(p.outsiders[i*p.codec.Width():], columns, i, nil)
	}
	return publish.NewOutsiders(ids, columns, j.run.Publishing())
}

// sampled is what the second looks sampled.
type sampled struct {
	shard, number uint32
	rows          *sampleRows
}

// MergeSecond puts together the second looks at all files, in any order.
func (j *Job) MergeSecond(ctx context.Context, look *Look, in Frames) (*Plan, error) {
	quasi := len(look.columns)
	heads := look.heads(j)
	codec := records.NewCodec(j.quasiFields())
	have := newArrived(len(j.Shards))
	squares := make([][]float64, len(j.Shards))
	p := &Plan{look: *look, columns: make([]columnSeen, quasi)}
	for a := range p.columns {
		p.columns[a].show = publish.Seen{Lo: math.Inf(1), Hi: math.Inf(-1)}
	}
	firsts := make([]uint32, len(j.Shards))
	var samples []sampled
	type column struct {
		number uint32
		seen   columnSeen
	}
	parts := make([][]column, len(j.Shards))
	err := each(ctx, in, func(frame []byte) error {
		f, err := j.decodePart(frame)
		if err != nil {
			return err
		}
		if f.look != 2 {
			return malformed("a second look")
		}
		if err := have.take(f); err != nil {
			return err
		}
		switch f.section {
		case sectionRows:
			rows, err := takeSample(slices.Clone(f.body), codec, heads)
			if err != nil {
				return err
			}
			samples = append(samples, sampled{f.shard, f.number, rows})
		case sectionFile:
			firsts[f.shard] = f.number + 1
			if len(f.body) > 0 {
				return malformed("a second look")
			}
		case sectionColumn:
			s := source{b: f.body}
			c := column{number: f.number}
			c.seen.takeSecond(&s)
			if !s.ended() {
				return malformed("a second look")
			}
			parts[f.shard] = append(parts[f.shard], c)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := have.complete(); err != nil {
		return nil, err
	}
	for n := range parts {
		if len(parts[n]) != quasi {
			return nil, malformed("a second look")
		}
		slices.SortFunc(parts[n], func(a, b column) int { return cmp.Compare(a.number, b.number) })
		squares[n] = make([]float64, quasi)
		for a := range parts[n] {
			show := parts[n][a].seen.show
			if parts[n][a].number != firsts[n]+uint32(a) || len(show.Counts) > len(heads[a].Dict) {
				return nil, malformed("a second look")
			}
			p.columns[a].addShow(show, len(heads[a].Dict))
			squares[n][a] = parts[n][a].seen.space.Squares
		}
	}
	for a := range p.columns {
		for n := range squares { // in the order of the files, as the sum depends on it
			p.columns[a].space.Squares += squares[n][a]
		}
	}
	if err := p.settle(j); err != nil {
		return nil, err
	}
	slices.SortFunc(samples, func(a, b sampled) int {
		return cmp.Or(cmp.Compare(a.shard, b.shard), cmp.Compare(a.number, b.number))
	})
	return p, p.cut(ctx, j, samples)
}

// addShow adds what a plan of some records saw.
func (c *columnSeen) addShow(s publish.Seen, codes int) {
	have := &c.show
	have.Gaps, have.Uneven = have.Gaps || s.Gaps, have.Uneven || s.Uneven
	have.Lo, have.Hi = min(have.Lo, s.Lo), max(have.Hi, s.Hi)
	if s.Units != nil && have.Units == nil {
		have.Units = &publish.Multiples{Counts: make([]int64, len(s.Units.Counts))}
	}
	if s.Units != nil {
		have.Units.Take(s.Units)
	}
	if s.Counts != nil && have.Counts == nil {
		have.Counts = make([]uint64, codes)
	}
	for code, n := range s.Counts {
		have.Counts[code] += n
	}
}

// cut makes the tree out of the sampled records, and buckets of its cells.
func (p *Plan) cut(ctx context.Context, j *Job, samples []sampled) error {
	trees, left := 0, 0
	for _, s := range samples {
		left += len(s.rows.place)
		trees += s.rows.n() - len(s.rows.place)
	}
	width := p.codec.Width()
	p.left, p.outsiders = left, make([]byte, left*width)
	known := make([]bool, left)
	columns := make([]*table.Column, len(p.heads))
	for a, h := range p.heads {
		columns[a] = h.Blank(trees)
	}
	at := 0
	for n := range samples {
		s := samples[n].rows
		for i := range s.n() {
			row, tree := s.row(i)
			if tree {
				p.codec.Get(row, columns, at, nil)
				at++
				continue
			}
			place := s.place[i]
			if place >= left || known[place] {
				return malformed("a second look")
			}
			known[place] = true
			copy(p.outsiders[place*width:], row)
		}
		samples[n].rows = nil
	}
	if trees == 0 {
		return malformed("a second look")
	}
	s, err := p.frame.Space(columns)
	if err != nil {
		return block.NoSpace(j.where(), err)
	}
	if p.tree, err = partition.NewCellTree(ctx, s, int(p.look.rows), p.size, partition.Frequent(j.Options.K)); err != nil {
		return err
	}
	cells := make([]uint32, s.Len())
	p.tree.Route(s, cells, 1)
	counts := make([]int64, p.tree.Cells())
	for _, c := range cells {
		counts[c]++
	}
	p.first = bucketsOf(counts, p.look.rows, j.BucketRows)
	return nil
}

// bucketsOf divides the cells, in their order, into buckets of about as many records
// each: the first cell of each bucket, and the number of cells. counts is how many sampled
// records each cell has.
func bucketsOf(counts []int64, rows, bucket int64) []uint32 {
	var all int64
	for _, n := range counts {
		all += n
	}
	buckets := max(1, (rows+bucket/2)/bucket)
	first := []uint32{0}
	var seen int64
	for c, n := range counts {
		seen += n
		// Record seen-1 of the sample is the last of this cell.
		if c+1 < len(counts) && float64(seen)*float64(buckets) >= float64(len(first))*float64(all) {
			first = append(first, uint32(c+1))
		}
	}
	return append(first, uint32(len(counts)))
}

// Encode is p as the other stages read it.
func (p *Plan) Encode(j *Job) ([]byte, error) {
	dst := p.look.append(begin(kindPlan, j.id))
	for a := range p.columns {
		dst = p.columns[a].appendSecond(dst)
	}
	tree, err := p.tree.AppendBinary(nil)
	if err != nil {
		return nil, err
	}
	dst = appendText(dst, tree)
	dst = binary.AppendUvarint(dst, uint64(len(p.first)))
	for _, c := range p.first {
		dst = binary.LittleEndian.AppendUint32(dst, c)
	}
	return appendText(dst, p.outsiders), nil
}

// DecodePlan reads what [Plan.Encode] wrote for a job.
func DecodePlan(j *Job, text []byte) (*Plan, error) {
	s := &source{b: text}
	if !s.begins(kindPlan, j.id) {
		return nil, malformed("a plan of this job")
	}
	look := takeLook(j, s)
	if look == nil {
		return nil, malformed("a plan of this job")
	}
	p := &Plan{look: *look, columns: make([]columnSeen, len(look.columns))}
	heads := look.heads(j)
	for a := range p.columns {
		p.columns[a].takeSecond(s)
		if n := len(p.columns[a].show.Counts); n > 0 && n != len(heads[a].Dict) {
			return nil, malformed("a plan of this job")
		}
	}
	tree := s.text()
	for range s.count(4) {
		p.first = append(p.first, s.u32())
	}
	p.outsiders = s.text()
	if !s.ended() {
		return nil, malformed("a plan of this job")
	}
	if err := p.settle(j); err != nil {
		return nil, err
	}
	axes, err := p.axes()
	if err != nil {
		return nil, block.NoSpace(j.where(), err)
	}
	if p.tree, err = partition.DecodeCellTree(tree, axes); err != nil {
		return nil, malformed("a plan of this job")
	}
	if !p.holds() {
		return nil, malformed("a plan of this job")
	}
	return p, nil
}

// axes is the number of axes of the space.
func (p *Plan) axes() (int, error) {
	columns := make([]*table.Column, len(p.heads))
	for a, h := range p.heads {
		columns[a] = h.Blank(1)
		if h.Field.Type == table.Category && len(h.Dict) == 0 {
			columns[a].SetMissing(0)
		}
	}
	s, err := p.frame.Space(columns)
	if err != nil {
		return 0, err
	}
	return len(s.Numbers()) + len(s.Words()), nil
}

// holds reports whether buckets and outsiders are as they are made.
func (p *Plan) holds() bool {
	if len(p.first) < 2 || p.first[0] != 0 || p.first[len(p.first)-1] != uint32(p.tree.Cells()) {
		return false
	}
	for b := 1; b < len(p.first); b++ {
		if p.first[b-1] >= p.first[b] {
			return false
		}
	}
	width := p.codec.Width()
	if len(p.outsiders)%width != 0 {
		return false
	}
	p.left = len(p.outsiders) / width
	for i := range p.left {
		if !p.codec.Holds(p.outsiders[i*width:], p.heads) {
			return false
		}
	}
	return true
}

// bucketOf is the bucket of a cell.
func (p *Plan) bucketOf(cell uint32) int {
	b, found := slices.BinarySearch(p.first, cell)
	if !found {
		b--
	}
	return b
}

// HasBuckets is an error of kind Usage unless the plan has these buckets, each named once
// and in order.
func (p *Plan) HasBuckets(buckets []int) error {
	for i, b := range buckets {
		if b < 0 || b >= p.Buckets() || i > 0 && b != buckets[i-1]+1 {
			return noren.Usagef("buckets", "expected neighbouring numbers from 0 to %d", p.Buckets()-1)
		}
	}
	if len(buckets) == 0 {
		return noren.Usagef("buckets", "expected at least one number")
	}
	return nil
}
