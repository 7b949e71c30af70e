package shard

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"os"
	"path/filepath"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/block"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/formula"
	"github.com/noren-privacy/noren/table/pseudonym"
	"github.com/noren-privacy/noren/table/shuffle"
)

// releasing is a bucket, or several, under way.
type releasing struct {
	j       *Job
	p       *Plan
	buckets []int
	blocks  []*packed
	order   []place  // the records by cell, those of a cell in the order of the table
	counts  []int64  // of the cells of the buckets
	of      []uint32 // the person of each record in order, nil without a unit

	groups    []uint32 // of each record in order
	published []publish.Column
	made      *Made
}

// place is where a record is: its block and its number there.
type place struct{ block, row uint32 }

// Release makes the groups of one bucket, or of neighbouring ones together, and writes their
// records to a file of the folder that is not part of the release yet. in holds all blocks of
// the buckets, in any order; jobDir is the folder of the job. A bucket of fewer records (or
// persons) than k is not released: see [MadeShort].
//
// Every group has at least k records, or records of k persons, and lies in this file
// whole. Errors are of kind BadData (the files have changed), Internal, or the context's;
// after an error there may be a file that [Job.Commit] does not take.
func (j *Job) Release(ctx context.Context, p *Plan, buckets []int, attempt, jobDir string, in Frames) (*Made, error) {
	if err := p.HasBuckets(buckets); err != nil {
		return nil, err
	}
	if !isAttempt(attempt) {
		return nil, noren.Usagef("attempt", "expected %d hexadecimal {digit|digits}", attemptDigits)
	}
	r := &releasing{j: j, p: p, buckets: buckets, made: &Made{Kind: MadeFile, Buckets: buckets}}
	if err := r.gather(ctx, in); err != nil {
		return nil, err
	}
	r.made.Rows = int64(len(r.order))
	short := len(r.order) < j.Options.K
	if r.of != nil {
		r.made.Persons = countPersons(r.of)
		short = r.made.Persons < int64(j.Options.K)
	}
	switch {
	case len(r.order) == 0:
		r.made.Kind = MadeEmpty
		return r.made, nil
	case short:
		r.made.Kind = MadeShort
		return r.made, nil
	}
	stored, err := j.storedAll(ctx, &p.look)
	if err != nil {
		return nil, err
	}
	if err := r.divide(ctx, stored); err != nil {
		return nil, err
	}
	r.made.Name = j.tempName(buckets[0], attempt)
	return r.made, r.write(ctx, stored, jobDir)
}

func countPersons(of []uint32) int64 {
	most := uint32(0)
	for _, person := range of {
		most = max(most, person) // numbered from 1 as they come
	}
	return int64(most)
}

// gather takes the blocks in, and puts the records in order.
func (r *releasing) gather(ctx context.Context, in Frames) error {
	err := each(ctx, in, func(frame []byte) error {
		b, err := r.j.decodeBlock(r.p, slices.Clone(frame))
		if err != nil {
			return err
		}
		if int(b.bucket) < r.buckets[0] || int(b.bucket) > r.buckets[len(r.buckets)-1] {
			return fault(noren.Textf("expected the blocks of some buckets, got one of another"))
		}
		r.blocks = append(r.blocks, b)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(r.blocks, func(a, b *packed) int {
		return cmp.Or(cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.shard, b.shard), cmp.Compare(a.sequence, b.sequence))
	})
	for i, b := range r.blocks {
		want := uint32(0)
		if i > 0 && r.blocks[i-1].bucket == b.bucket && r.blocks[i-1].shard == b.shard {
			want = r.blocks[i-1].sequence + 1
		}
		if b.sequence != want {
			return fault(noren.Textf("expected each block of a bucket once, got one twice or not at all"))
		}
	}
	from, to := r.p.first[r.buckets[0]], r.p.first[r.buckets[len(r.buckets)-1]+1]
	r.counts = make([]int64, to-from)
	n := 0
	for _, b := range r.blocks {
		for i := range int(b.n) {
			r.counts[b.cell(i)-from]++
		}
		n += int(b.n)
	}
	at := make([]int64, len(r.counts))
	for c := 1; c < len(at); c++ {
		at[c] = at[c-1] + r.counts[c-1]
	}
	r.order = make([]place, n)
	for k, b := range r.blocks {
		for i := range int(b.n) {
			c := b.cell(i) - from
			r.order[at[c]] = place{uint32(k), uint32(i)}
			at[c]++
		}
	}
	if r.j.unit() >= 0 {
		r.number()
	}
	return nil
}

// number gives the persons of the records numbers from 1; [privacy.NoPerson] is for records
// of none.
func (r *releasing) number() {
	r.of = make([]uint32, len(r.order))
	seen := map[pseudonym.Digest]uint32{{}: privacy.NoPerson}
	for i := range r.order {
		d := r.digest(i)
		n, known := seen[d]
		if !known {
			n = uint32(len(seen))
			seen[d] = n
		}
		r.of[i] = n
	}
}

// digest is that of the person of a record.
func (r *releasing) digest(i int) pseudonym.Digest {
	row := r.row(i)
	return pseudonym.Digest(row[len(row)-len(pseudonym.Digest{}):])
}

func (r *releasing) row(i int) []byte { return r.blocks[r.order[i].block].row(int(r.order[i].row)) }

// load reads the records of the places from..to-1.
func (r *releasing) load(from, to int64) []*table.Column {
	columns := make([]*table.Column, len(r.p.heads))
	for a, h := range r.p.heads {
		columns[a] = h.Blank(int(to - from))
	}
	for i := from; i < to; i++ {
		r.p.codec.Get(r.row(int(i))[4:], columns, int(i-from), nil)
	}
	return columns
}

// divide makes the groups block by block.
func (r *releasing) divide(ctx context.Context, stored []table.StoredColumn) error {
	var quasi []table.StoredColumn
	for _, i := range r.j.quasi() {
		quasi = append(quasi, stored[i])
	}
	plan, err := r.p.shows(r.j, quasi)
	if err != nil {
		return err
	}
	maker := r.j.run.Maker(r.j.where(), r.p.look.rows, r.p.frame, plan, r.p.method, r.p.chosen)
	maker.Outsiders = r.p.leaves(r.j)
	sst := r.p.frame.NewSST()
	maker.Placed = func(s *space.Space) { sst.Add(s) }
	bounds := partition.Bounds(r.counts, r.p.size)
	if r.of != nil {
		if bounds, err = block.JoinShort(bounds, r.j.Options.K,
			func(from, to int64) ([]uint32, error) { return r.of[from:to], nil }); err != nil {
			return err
		}
	}
	r.groups = make([]uint32, 0, len(r.order))
	r.made.least = r.made.Rows
	var work block.Seconds
	for b := range len(bounds) - 1 {
		if err := r.block(ctx, maker, bounds[b], bounds[b+1], &work); err != nil {
			return err
		}
	}
	r.made.squares, r.made.penalty = sst.Squares(), publish.Penalty(r.published)
	plan.FinishPart(r.published)
	for a := range r.published {
		t := r.p.heads[a].Field.Type
		r.made.missing = append(r.made.missing, int64(r.published[a].Showing(r.j.Missing, t == table.Integer || t == table.Decimal)))
	}
	if maker.Outsiders != nil {
		r.made.inside = maker.Outsiders.Inside()
	}
	return nil
}

// block makes the groups of the records at the places from..to-1.
func (r *releasing) block(ctx context.Context, maker *block.Maker, from, to int64, work *block.Seconds) error {
	var of, ids []uint32
	if r.of != nil {
		of = r.of[from:to]
	}
	if maker.Outsiders != nil {
		ids = make([]uint32, to-from)
		for i := range ids {
			at := r.order[from+int64(i)]
			ids[i] = publish.NotSampled
			if place, is := r.blocks[at.block].out[at.row]; is {
				ids[i] = place
			}
		}
	}
	made, err := maker.Make(ctx, r.load(from, to), of, ids, work)
	if err != nil {
		return err
	}
	for _, g := range made.Groups.Group {
		r.groups = append(r.groups, uint32(r.made.groups)+g)
	}
	r.made.groups += int64(made.Groups.Groups)
	for _, n := range made.Groups.Sizes() {
		r.made.least, r.made.most = min(r.made.least, int64(n)), max(r.made.most, int64(n))
	}
	r.published = publish.Append(r.published, made.Published)
	r.made.before += made.Before
	r.made.after += made.After
	return nil
}

// shuffled tells which record is written at each place of the file: in an order drawn
// from the system's secure source, or with a seed one that follows from the seed and from
// all that the file depends on ([kanon.Options.OrderKey]).
func (r *releasing) shuffled() ([]uint32, error) {
	var order []uint32
	var err error
	if !r.j.run.Seeded() {
		order, err = shuffle.Permutation(len(r.order))
	} else {
		made := kanon.MadeSum(r.groups, int(r.made.groups), nil, r.published)
		order, err = shuffle.Keyed(len(r.order), r.j.run.OrderKey(&kanon.Ordered{
			Source: r.p.look.source, Request: r.j.sum, Made: made,
			Part: r.buckets,
		}))
	}
	if err != nil {
		return nil, err
	}
	at := make([]uint32, len(order))
	for i, place := range order {
		at[place] = uint32(i)
	}
	return at, nil
}

// digested is a file that is hashed while it is written.
type digested struct {
	file *os.File
	sum  hash.Hash
	size int64
}

// Write implements [io.Writer].
func (d *digested) Write(b []byte) (int, error) {
	n, err := d.file.Write(b)
	d.sum.Write(b[:n])
	d.size += int64(n)
	return n, err
}

// Sync makes the file durable.
func (d *digested) Sync() error { return d.file.Sync() }

// write writes the records to a file that only its owner may read.
func (r *releasing) write(ctx context.Context, stored []table.StoredColumn, jobDir string) (err error) {
	path := filepath.Join(jobDir, r.made.Name)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return &noren.Error{Where: noren.File(jobDir), What: "a file cannot be made in it", Err: atomicfile.Reason(err)}
	}
	out := &digested{file: f, sum: sha256.New()}
	defer func() {
		if e := f.Close(); err == nil && e != nil {
			err = &noren.Error{Where: noren.File(path), What: "cannot be written in full", Err: atomicfile.Reason(e)}
		}
		if err != nil {
			_ = os.Remove(path)
		}
	}()
	at, err := r.shuffled()
	if err != nil {
		return err
	}
	w := r.writing(stored)
	sink, err := file.NewSink(out, path, w.columns, r.j.Dialect)
	if err != nil {
		return err
	}
	for first := 0; first < len(at); first += writeRows {
		if err := ctx.Err(); err != nil {
			sink.Abort()
			return err
		}
		some := at[first:min(first+writeRows, len(at))]
		if err := w.fill(int64(first), some); err != nil {
			sink.Abort()
			return err
		}
		if err := sink.Write(&w.chunk); err != nil {
			sink.Abort()
			return err
		}
	}
	if err := sink.Close(); err != nil {
		return err
	}
	if c, ok := sink.(formula.Counter); ok {
		r.made.formulas = c.Formulas()
	}
	r.made.Size = out.size
	copy(r.made.SHA256[:], out.sum.Sum(nil))
	if r.of == nil {
		return nil
	}
	return r.writePersons(at, jobDir)
}

// writeRows is the number of records that are written at once.
const writeRows = 8192

// writing fills chunks of the released file.
type writing struct {
	r       *releasing
	columns []table.StoredColumn
	from    []int // by column of the release: the published one, or -1-c for kept column c
	kept    []*table.StoredColumn
	vectors []*table.Vector // of the kept columns
	tails   [][][]byte      // by block and record
	chunk   table.Chunk
	groups  []uint32
}

func (r *releasing) writing(stored []table.StoredColumn) *writing {
	w := &writing{r: r, tails: make([][][]byte, len(r.blocks))}
	published := map[int]int{}
	for a, i := range r.j.quasi() {
		published[i] = a
	}
	kept := map[int]int{}
	for c, i := range r.j.kept() {
		kept[i] = c
	}
	w.kept, w.vectors = make([]*table.StoredColumn, len(kept)), make([]*table.Vector, len(kept))
	for i := range stored {
		if a, is := published[i]; is {
			w.columns, w.from = append(w.columns, r.published[a].Stored), append(w.from, a)
		} else if c, is := kept[i]; is {
			w.columns, w.from = append(w.columns, stored[i]), append(w.from, -1-c)
			w.kept[c] = &stored[i]
		}
	}
	w.chunk.Cols = make([]table.Vector, len(w.columns))
	for i, from := range w.from {
		if from < 0 {
			w.chunk.Cols[i].Kind = w.kept[-1-from].Kind
			w.vectors[-1-from] = &w.chunk.Cols[i]
		}
	}
	return w
}

// fill makes the chunk of the records at these places of the order.
func (w *writing) fill(first int64, at []uint32) error {
	w.chunk.First, w.chunk.Rows = first, len(at)
	w.groups = w.groups[:0]
	for _, i := range at {
		w.groups = append(w.groups, w.r.groups[i])
	}
	for i, from := range w.from {
		if from >= 0 {
			w.r.published[from].Fill(&w.chunk.Cols[i], w.groups)
		}
	}
	for _, v := range w.vectors {
		v.Null, v.Ints, v.Floats, v.Texts = v.Null[:0], v.Ints[:0], v.Floats[:0], v.Texts[:0]
	}
	if len(w.kept) == 0 {
		return nil
	}
	for _, i := range at {
		p := w.r.order[i]
		if w.tails[p.block] == nil {
			tails, ok := w.r.blocks[p.block].tailsOf()
			if !ok {
				return malformed("a block of this job")
			}
			w.tails[p.block] = tails
		}
		if !takeKept(w.tails[p.block][p.row], w.kept, w.vectors) {
			return malformed("a block of this job")
		}
	}
	return nil
}

// writePersons writes the digests of the persons of the file's records, in its order, to the
// folder of the job: the verifier counts persons by them.
func (r *releasing) writePersons(at []uint32, jobDir string) error {
	text := make([]byte, 0, len(at)*len(pseudonym.Digest{}))
	for _, i := range at {
		d := r.digest(int(i))
		text = append(text, d[:]...)
	}
	r.made.PersonsSHA256 = sha256.Sum256(text)
	path := personsPath(jobDir, r.made.Name)
	if err := writeFile(path, text); err != nil {
		return &noren.Error{Where: noren.File(path), What: "cannot be written", Hint: atomicfile.Space(err), Err: atomicfile.Reason(err)}
	}
	return nil
}

// personsPath is where the persons of a file are.
func personsPath(jobDir, name string) string { return filepath.Join(jobDir, "persons-"+name) }

// writeFile writes a private file, whole or not at all under its name.
func writeFile(path string, text []byte) error {
	temp := path + ".new"
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	return err
}
