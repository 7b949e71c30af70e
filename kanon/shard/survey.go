package shard

import (
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/records"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// A part is what a survey says of one file, in several frames: one that describes the
// file, one for each quasi-identifier, and in the second look the sampled records. Each
// begins with
//
//	u8 kind | u8 version | 16 job | u8 look | u8 section | u32 shard | u32 number | u8 last
//
// where number counts the frames of the file from 0, and last marks its last one.

// The sections of a part.
const (
	sectionFile   = 0
	sectionColumn = 1
	sectionRows   = 2
)

// part is a frame of a part.
type part struct {
	look, section uint8
	shard, number uint32
	last          bool
	body          []byte
}

func (j *Job) appendPart(p *part) []byte {
	dst := append(begin(kindPart, j.id), p.look, p.section)
	dst = binary.LittleEndian.AppendUint32(dst, p.shard)
	dst = binary.LittleEndian.AppendUint32(dst, p.number)
	return append(appendFlag(dst, p.last), p.body...)
}

func (j *Job) decodePart(frame []byte) (*part, error) {
	s := source{b: frame}
	ours := s.begins(kindPart, j.id)
	p := &part{look: s.u8(), section: s.u8(), shard: s.u32(), number: s.u32(), last: s.flag()}
	p.body = s.b
	if s.bad || !ours || p.look < 1 || p.look > 2 || p.section > sectionRows || int64(p.shard) >= int64(len(j.Shards)) {
		return nil, malformed("a survey of this job")
	}
	return p, nil
}

// fileSeen is what the first look says of a file beside its columns.
type fileSeen struct {
	rows     int64
	nullable []bool              // by column of the file
	sum      [table.SumSize]byte // of the file where a seed orders the rows, otherwise zero
}

func (f *fileSeen) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(f.rows))
	for _, is := range f.nullable {
		dst = appendFlag(dst, is)
	}
	return append(dst, f.sum[:]...)
}

func (f *fileSeen) take(s *source, columns int) {
	f.rows = int64(s.u64())
	f.nullable = make([]bool, columns)
	for i := range f.nullable {
		f.nullable[i] = s.flag()
	}
	copy(f.sum[:], s.take(len(f.sum)))
	if f.rows < 0 || f.rows > partition.SampleMost {
		s.bad = true
	}
}

// columnSeen is what a look says of a quasi-identifier.
type columnSeen struct {
	places int
	space  space.Seen
	words  []string // of a category, in the order of the counts
	show   publish.Seen
}

// appendFirst appends what the first look sees.
func (c *columnSeen) appendFirst(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(c.places))
	dst = binary.AppendUvarint(dst, uint64(c.space.Missing))
	dst = binary.AppendUvarint(dst, uint64(c.space.Present))
	dst = appendFloat(appendFloat(appendFloat(dst, c.space.Lo), c.space.Hi), c.space.Sum)
	dst = binary.AppendUvarint(dst, uint64(len(c.words)))
	for code, word := range c.words {
		dst = appendText(dst, []byte(word))
		dst = binary.AppendUvarint(dst, uint64(c.space.Counts[code]))
	}
	return dst
}

func (c *columnSeen) takeFirst(s *source) {
	c.places = s.number(math.MaxInt32)
	c.space.Missing, c.space.Present = s.number(partition.SampleMost), s.number(partition.SampleMost)
	c.space.Lo, c.space.Hi, c.space.Sum = s.f64(), s.f64(), s.f64()
	n := s.count(2)
	c.words, c.space.Counts = make([]string, 0, n), make([]int, 0, n)
	for range n {
		c.words = append(c.words, string(s.text()))
		c.space.Counts = append(c.space.Counts, s.number(partition.SampleMost))
	}
	if math.IsNaN(c.space.Lo) || math.IsNaN(c.space.Hi) || math.IsNaN(c.space.Sum) {
		s.bad = true
	}
}

// appendSecond appends what the second look sees.
func (c *columnSeen) appendSecond(dst []byte) []byte {
	dst = appendFloat(dst, c.space.Squares)
	dst = appendFlag(appendFlag(dst, c.show.Gaps), c.show.Uneven)
	dst = appendFloat(appendFloat(dst, c.show.Lo), c.show.Hi)
	dst = binary.AppendUvarint(dst, uint64(len(c.show.Counts)))
	for _, n := range c.show.Counts {
		dst = binary.AppendUvarint(dst, n)
	}
	u := c.show.Units
	dst = appendFlag(dst, u != nil)
	if u == nil {
		return dst
	}
	dst = appendFlag(appendFlag(dst, u.Known), u.Finer)
	dst = binary.AppendUvarint(dst, uint64(u.Values))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(u.First))
	dst = binary.LittleEndian.AppendUint64(dst, u.Apart)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(u.Least))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(u.Most))
	dst = binary.AppendUvarint(dst, uint64(len(u.Counts)))
	for _, n := range u.Counts {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return dst
}

func (c *columnSeen) takeSecond(s *source) {
	c.space.Squares = s.f64()
	c.show.Gaps, c.show.Uneven = s.flag(), s.flag()
	c.show.Lo, c.show.Hi = s.f64(), s.f64()
	if n := s.count(1); n > 0 {
		c.show.Counts = make([]uint64, n)
		for i := range c.show.Counts {
			c.show.Counts[i] = uint64(s.number(math.MaxInt64))
		}
	}
	if s.flag() {
		u := &publish.Multiples{Known: s.flag(), Finer: s.flag()}
		u.Values = int64(s.number(math.MaxInt64))
		u.First, u.Apart = int64(s.u64()), s.u64()
		u.Least, u.Most = int64(s.u64()), int64(s.u64())
		u.Counts = make([]int64, s.count(1))
		for i := range u.Counts {
			u.Counts[i] = int64(s.number(math.MaxInt64))
		}
		c.show.Units = u
	}
	if !(c.space.Squares >= 0) || math.IsNaN(c.show.Lo) || math.IsNaN(c.show.Hi) {
		s.bad = true
	}
}

// codeTooLarge is the code of errors about a table that is too large for shards.
const codeTooLarge = "shard-too-large"

// frameRows is the largest number of records in a frame.
const frameRows = 5_000

// Survey looks at one file of the table, for the first or the second time, and passes on
// its part. The second look needs what [Job.MergeFirst] made of the first. Nothing is decided
// here: what a part says is private. Errors are of kind BadData (a cell that does not fit
// its type, other columns than the first file's, a file that has changed) or those of
// reading.
func (j *Job) Survey(ctx context.Context, n int, look *Look, emit func(frame []byte) error) error {
	if err := j.hasShard(n); err != nil {
		return err
	}
	src, err := j.open(ctx, n)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	if look == nil {
		return j.firstLook(ctx, n, src, emit)
	}
	return j.secondLook(ctx, n, src, look, emit)
}

// quasiFields are the fields of the quasi-identifiers.
func (j *Job) quasiFields() []table.Field {
	var fields []table.Field
	for _, i := range j.quasi() {
		fields = append(fields, j.schema.Fields[i])
	}
	return fields
}

func (j *Job) firstLook(ctx context.Context, n int, src table.Source, emit func(frame []byte) error) error {
	survey, err := space.NewSurvey(j.quasiFields(), j.run.Scale)
	if err != nil {
		return err
	}
	words := make([][]string, len(j.quasi()))
	if j.run.Seeded() {
		table.KeepSum(src)
	}
	heads, err := j.read(ctx, n, src, nil, func(columns []*table.Column, _ []table.Vector) error {
		survey.Look(columns)
		for a, c := range columns {
			if c.Field.Type == table.Category {
				words[a] = c.Dict
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	f := fileSeen{rows: int64(survey.Rows())}
	if j.run.Seeded() {
		if f.sum, err = table.Sum(ctx, src); err != nil {
			return err
		}
		if err := j.Shards[n].unchanged(); err != nil {
			return err
		}
	}
	for _, c := range src.Columns() {
		f.nullable = append(f.nullable, c.Nullable)
	}
	p := &part{look: 1, section: sectionFile, shard: uint32(n), body: f.append(nil)}
	if err := emit(j.appendPart(p)); err != nil {
		return err
	}
	for a, seen := range survey.Seen() {
		c := columnSeen{places: heads[a].Places, space: seen, words: words[a]}
		p = &part{look: 1, section: sectionColumn, shard: uint32(n), number: uint32(a + 1), last: a == len(heads)-1}
		p.body = c.appendFirst(nil)
		if len(p.body) > columnMost {
			return tooManyWords(j.Input, heads[a].Field.Name)
		}
		if err := emit(j.appendPart(p)); err != nil {
			return err
		}
	}
	return nil
}

// columnMost is the largest number of bytes that the words of a column may take.
const columnMost = 48 << 20

func tooManyWords(name, column string) error {
	return &noren.Error{
		Kind: noren.BadData, Code: codeTooLarge, Where: noren.Place{noren.File(name), noren.Textf("column %s", column)},
		What: "expected values that every process of the job can hold, got more different ones than that",
		Hint: "coarsen the column, or give it a type of numbers",
	}
}

func (j *Job) secondLook(ctx context.Context, n int, src table.Source, look *Look, emit func(frame []byte) error) error {
	survey, err := space.NewSurvey(j.quasiFields(), j.run.Scale)
	if err != nil {
		return err
	}
	survey.Take(int(look.rows), look.seen())
	twice := survey.Twice()
	survey.Again()
	heads := look.heads(j)
	stored, err := j.storedQuasi(ctx, look)
	if err != nil {
		return err
	}
	plan, err := publish.NewPlan(heads, stored, j.run.Publishing())
	if err != nil {
		return err
	}
	number := uint32(0)
	send := func(section uint8, last bool, body []byte) error {
		p := &part{look: 2, section: section, shard: uint32(n), number: number, last: last, body: body}
		number++
		return emit(j.appendPart(p))
	}
	at, end := look.place(n)
	sample := j.newSampler(look.rows, at, end, heads)
	recode := newRecoder(table.PlaceOf(src), heads)
	if _, err := j.read(ctx, n, src, nil, func(columns []*table.Column, _ []table.Vector) error {
		rows := int64(columns[0].Len())
		if at+rows > end {
			return changed(table.PlaceOf(src))
		}
		if columns, err = recode.recode(columns); err != nil {
			return err
		}
		if twice {
			survey.Look(columns)
		}
		plan.Look(columns)
		if err := sample.take(at, columns, func(body []byte) error { return send(sectionRows, false, body) }); err != nil {
			return err
		}
		at += rows
		return nil
	}); err != nil {
		return err
	}
	if at != end {
		return changed(table.PlaceOf(src))
	}
	if err := sample.end(func(body []byte) error { return send(sectionRows, false, body) }); err != nil {
		return err
	}
	if err := send(sectionFile, false, nil); err != nil {
		return err
	}
	shows := plan.Seen()
	for a, seen := range survey.Seen() {
		c := columnSeen{space: space.Seen{Squares: seen.Squares}, show: shows[a]}
		if err := send(sectionColumn, a == len(heads)-1, c.appendSecond(nil)); err != nil {
			return err
		}
	}
	return nil
}

// storedQuasi describes how the table stores the quasi-identifiers: as the first file
// does, and nullable where some file says so.
func (j *Job) storedQuasi(ctx context.Context, look *Look) ([]table.StoredColumn, error) {
	columns, err := j.storedAll(ctx, look)
	if err != nil {
		return nil, err
	}
	var stored []table.StoredColumn
	for _, i := range j.quasi() {
		stored = append(stored, columns[i])
	}
	return stored, nil
}

func (j *Job) storedAll(ctx context.Context, look *Look) ([]table.StoredColumn, error) {
	columns, err := j.columns(ctx)
	if err != nil {
		return nil, err
	}
	for i := range columns {
		columns[i].Nullable = look.nullable[i]
	}
	return columns, nil
}

// sampler picks the records of a file that the tree is cut by, and those that are left
// out to count whom boxes exclude. Both are sampled from the whole table by the numbers of
// its records, so that they do not depend on its division into files.
type sampler struct {
	codec     *records.Codec
	cells     []int64 // records for the tree, ascending
	outsiders []int64 // records that are left out, ascending
	places    []int   // of the outsiders in the sample of the whole table
	rows      []byte
	n         int
	marks     []byte // of outsiders: number in rows, place
	marked    int
}

func (j *Job) newSampler(rows, from, to int64, heads []*table.Column) *sampler {
	fields := make([]table.Field, len(heads))
	for a := range heads {
		fields[a] = heads[a].Field
	}
	s := &sampler{codec: records.NewCodec(fields), cells: partition.SampleRange(rows, from, to)}
	if j.run.Publish.Boxes() {
		for place, i := range publish.SampleOutsiders[int64](int(rows), j.run.SearchSeed()) {
			if i >= from && i < to {
				s.outsiders, s.places = append(s.outsiders, i), append(s.places, place)
			}
		}
	}
	return s
}

// take takes the sampled ones of a piece whose first record is at.
func (s *sampler) take(at int64, columns []*table.Column, send func(body []byte) error) error {
	end := at + int64(columns[0].Len())
	for len(s.cells) > 0 && s.cells[0] < end {
		s.rows = append(s.rows, 1)
		s.rows = s.codec.Put(s.rows, columns, int(s.cells[0]-at))
		s.cells = s.cells[1:]
		if s.n++; s.n >= frameRows {
			if err := s.end(send); err != nil {
				return err
			}
		}
	}
	for len(s.outsiders) > 0 && s.outsiders[0] < end {
		s.marks = binary.LittleEndian.AppendUint32(s.marks, uint32(s.n))
		s.marks = binary.LittleEndian.AppendUint32(s.marks, uint32(s.places[0]))
		s.marked++
		s.rows = append(s.rows, 0)
		s.rows = s.codec.Put(s.rows, columns, int(s.outsiders[0]-at))
		s.outsiders, s.places = s.outsiders[1:], s.places[1:]
		if s.n++; s.n >= frameRows {
			if err := s.end(send); err != nil {
				return err
			}
		}
	}
	return nil
}

// end passes on what was taken.
func (s *sampler) end(send func(body []byte) error) error {
	if s.n == 0 {
		return nil
	}
	body := binary.AppendUvarint(nil, uint64(s.n))
	body = binary.AppendUvarint(body, uint64(s.marked))
	body = append(body, s.marks...)
	body = append(body, s.rows...)
	s.rows, s.marks, s.n, s.marked = s.rows[:0], s.marks[:0], 0, 0
	return send(slices.Clip(body))
}

// sampleRows are the rows of a frame: row i is of the tree where tree[i], and of the
// outsider place[i] where that is not negative.
type sampleRows struct {
	rows  []byte
	width int // of a row, with the byte before it
	place map[int]int
}

func takeSample(body []byte, codec *records.Codec, heads []*table.Column) (*sampleRows, error) {
	s := source{b: body}
	n := s.count(1 + codec.Width())
	marked := s.number(uint64(n))
	out := &sampleRows{width: 1 + codec.Width(), place: map[int]int{}}
	for range marked {
		i, place := s.u32(), s.u32()
		if int64(i) >= int64(n) || place >= 1<<20 {
			s.bad = true
			break
		}
		out.place[int(i)] = int(place)
	}
	out.rows = s.take(n * out.width)
	if !s.ended() {
		return nil, malformed("a sample")
	}
	for i := range n {
		row := out.rows[i*out.width:]
		_, outsider := out.place[i]
		if row[0] > 1 || outsider == (row[0] == 1) || !codec.Holds(row[1:], heads) {
			return nil, malformed("a sample")
		}
	}
	return out, nil
}

// n is the number of rows.
func (r *sampleRows) n() int { return len(r.rows) / r.width }

// row is row i without the byte before it, and whether it is of the tree.
func (r *sampleRows) row(i int) (row []byte, tree bool) {
	row = r.rows[i*r.width : (i+1)*r.width]
	return row[1:], row[0] == 1
}
