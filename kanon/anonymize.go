package kanon

import (
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/cost"
	"github.com/noren-privacy/noren/kanon/enforce"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/persons"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/records"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// Anonymize makes a release. Errors are of kind Usage (a job that contradicts
// itself or the file, or a kept column without a decision: code [gate.Code]),
// BadData (the file), NotMet (diversity or closeness that no grouping reaches),
// Internal, or the context's; after an error no output exists.
func Anonymize(ctx context.Context, job Job) (*Result, error) {
	if err := job.Validate(); err != nil {
		return nil, err
	}
	r := &run{job: &job, effort: job.Refine, began: time.Now()}
	r.result = job.NewResult(job.Source.Name(), job.Output.Path)
	defer r.release()
	for _, step := range []func(context.Context) error{r.gate, r.read, r.make, r.look, r.write} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	r.result.Seconds.Total = time.Since(r.began).Seconds()
	return r.result, nil
}

// run is a job under way.
type run struct {
	job    *Job
	began  time.Time
	result *Result

	quasi      []int // positions in the schema
	sensitive  []int // of those that something is asked of
	held       *records.Table
	columns    []*table.Column // in memory, for work on the whole table
	attributes []*privacy.Attribute
	persons    []uint32          // of each record, in memory, where the job has a unit
	judged     *enforce.Persons  // judges groups by persons
	linked     *persons.Linked   // where all records of a person are linked
	lost       float64           // what they add to the sum of squares
	effort     refine.Effort     // of the refinement under way
	rows       int               // of the source
	left       []bool            // by record of the source: whether it is left out; nil for none
	partition  partition.Options // how the groups are made
	frame      *space.Frame
	space      *space.Space
	lowers     cost.Measure // what is lowered, nil for the sum of squares
	asked      cost.Judge   // of groups while they are made, nil for k records
	groups     space.Partition
	published  []publish.Column
	outsiders  *publish.Outsiders  // counted block by block, nil where no boxes are published
	told       *told               // whose the released records are, as read for writing
	source     [table.SumSize]byte // sum of the source, where the order depends on it
	shows      *publish.Plan       // of an outline
}

// timed adds the time since start to a step's seconds.
func timed(seconds *float64, start time.Time) { *seconds += time.Since(start).Seconds() }

// gate refuses columns that would be kept without a decision.
func (r *run) gate(ctx context.Context) error {
	defer timed(&r.result.Seconds.Check, time.Now())
	j := r.job
	found, err := gate.Check(ctx, gate.Request{
		Source: j.Source, Schema: &j.Schema, Missing: j.Missing, Kept: j.Kept, Open: j.Open,
		Looked: j.Looked, Progress: r.job.Progress,
	})
	if err != nil {
		return err
	}
	if err := found.Err(j.Source.Name()); err != nil {
		return err
	}
	r.result.Columns, r.result.Unique, r.result.FreeText = found.Fates, found.Unique, found.FreeText
	return nil
}

// read reads the quasi-identifiers, and the sensitive columns where anything is
// asked of them.
func (r *run) read(ctx context.Context) error {
	defer timed(&r.result.Seconds.Read, time.Now())
	s := &r.job.Schema
	r.quasi = s.WithRole(table.Quasi)
	var fields []table.Field
	for _, i := range r.quasi {
		fields = append(fields, s.Fields[i])
	}
	if r.job.Diversity != nil || r.job.Closeness != nil {
		r.sensitive = s.WithRole(table.Sensitive)
		for _, i := range r.sensitive {
			fields = append(fields, s.Fields[i])
		}
	}
	if r.job.Unit != "" {
		fields = append(fields, r.job.unitField())
	}
	err := r.summing(ctx, func() (err error) {
		r.held, err = records.Read(ctx, r.job.Source, fields, r.job.Missing,
			records.Options{Memory: r.job.memory() / columnShare, Dir: r.job.Output.dir(), Progress: r.job.Progress})
		return err
	})
	if err != nil {
		return err
	}
	r.rows, r.result.Rows = r.held.Rows, r.held.Rows
	if checked := r.result.Unique; checked != nil && checked.Records > 0 {
		if err := gate.Same(r.job.Source.Name(), checked.Records, int64(r.held.Rows)); err != nil {
			return err
		}
	}
	if err := EnoughRecords(r.job.Source.Name(), int64(r.held.Rows), r.job.K); err != nil {
		return err
	}
	if err := r.enoughPersons(); err != nil {
		return err
	}
	for _, c := range r.held.Columns[:len(r.quasi)] {
		if err := checkHierarchy(r.job.Source.Name(), c); err != nil {
			return err
		}
	}
	return nil
}

// make makes the groups and what they publish: block by block where the table is
// large, otherwise as a whole.
func (r *run) make(ctx context.Context) error {
	chosen, err := r.choose()
	if err != nil {
		return err
	}
	r.result.Method, r.result.MethodReason = chosen.Method.String(), chosen.Reason
	r.result.Coarse = max(chosen.Coarse, 0)
	if size := r.blockSize(chosen); size > 0 {
		if err := r.blocks(ctx, size, chosen); err != nil {
			return err
		}
		r.figures()
		return r.boundLarge(ctx)
	}
	for _, step := range []func(context.Context) error{
		r.gather, r.place, r.divide, r.enforce, r.suppress, r.refine, r.settle, r.exclude,
		r.bound,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// wholeRecords is up to how many records a table is worked on as a whole even
// where little memory is allowed.
const wholeRecords = 40_000

// needs refuses what cannot be done in the memory allowed: it takes bytes
// for each record.
func (r *run) needs(bytes int, hint noren.Text) error {
	need := int64(r.held.Rows) * int64(bytes)
	if need <= r.job.memory() {
		return nil
	}
	return &noren.Error{
		Kind: noren.Usage, Code: "memory", What: "%d {record needs|records need} about %d MiB of memory, %d more than is allowed", Args: []any{
			r.held.Rows, need >> 20, (need-r.job.memory())>>20 + 1,
		},
		Hint: hint.Format, HintArgs: hint.Args,
	}
}

// gather has all columns in memory.
func (r *run) gather(ctx context.Context) error {
	columns := r.held.Columns
	if r.held.Rows > wholeRecords {
		// The columns, the space that they make, and the work on both.
		if err := r.needs(64+16*len(columns), noren.Textf("allow more; or %s", noren.Phrase(wholeHint))); err != nil {
			return err
		}
	}
	if !r.held.InMemory() {
		all := make([]uint32, r.held.Rows)
		for i := range all {
			all[i] = uint32(i)
		}
		var err error
		if columns, err = r.held.Select(ctx, all); err != nil {
			return err
		}
	}
	r.take(columns)
	return nil
}

// take takes the columns of the records that groups are made of.
func (r *run) take(columns []*table.Column) {
	r.columns, r.attributes = columns[:len(r.quasi)], nil
	for _, c := range columns[len(r.quasi) : len(r.quasi)+len(r.sensitive)] {
		r.attributes = append(r.attributes, privacy.NewAttribute(c))
	}
	if r.job.Unit != "" {
		r.persons = PersonsOf(columns[len(columns)-1])
		r.judged = r.byPersons()
	}
}

// release gives the records up.
func (r *run) release() {
	if r.held != nil {
		r.held.Close()
	}
	r.held, r.columns = nil, nil
	r.space, r.frame, r.lowers, r.asked, r.linked, r.judged = nil, nil, nil, nil, nil, nil
}

// checkHierarchy demands a leaf for every value of a column.
func checkHierarchy(name string, c *table.Column) error {
	h := c.Field.Hierarchy
	if h == nil {
		return nil
	}
	without := 0
	for _, word := range c.Dict {
		if _, ok := h.Leaf(word); !ok {
			without++
		}
	}
	if without == 0 {
		return nil
	}
	return &noren.Error{
		Kind: noren.BadData, Where: noren.Place{noren.File(name), noren.Textf("column %s", c.Field.Name)},
		What: "%d of its %d different {value|values} {1|has|have} no line in the hierarchy %s", Args: []any{without, len(c.Dict), h.Name()},
		Hint: "add a line for each of them, or name the text that stands for a missing value",
	}
}

// place makes the space of the records.
func (r *run) place(context.Context) error {
	defer timed(&r.result.Seconds.Partition, time.Now())
	var err error
	if r.frame, err = space.FrameOf(r.columns, r.job.Scale); err != nil {
		return r.noSpace(err)
	}
	if r.space, err = r.frame.Space(r.columns); err != nil {
		return r.noSpace(err)
	}
	return nil
}

func (r *run) divide(ctx context.Context) error {
	defer timed(&r.result.Seconds.Partition, time.Now())
	if r.job.Linkage == LinkAll {
		return r.link(ctx)
	}
	r.asked = r.judge()
	if r.job.lowersBoxes() {
		r.lowers = cost.Boxes(r.frame, r.columns)
	}
	var err error
	o := r.partition
	o.Measure, o.Judge, o.Progress = r.lowers, r.asked, r.job.Progress
	if r.persons != nil {
		o.Measure, o.Judge = nil, nil // of records; refinement goes by them
		r.groups, err = persons.Divide(ctx, r.space, r.persons, o)
		return err
	}
	r.groups, _, err = partition.Partition(ctx, r.space, o)
	return err
}

func (r *run) refine(ctx context.Context) error {
	defer timed(&r.result.Seconds.Refine, time.Now())
	if r.linked != nil {
		// The groups of persons were refined before their records were divided.
		// The loss before that is of persons, and not of records.
		r.result.SSE, r.result.SST = r.space.SSE(r.groups), r.space.SST()
		if r.result.SST > 0 {
			r.result.RefinedFrom = r.result.SSE / r.result.SST
		}
		r.sizes()
		return nil
	}
	o := refine.Options{
		K: r.job.K, Effort: r.effort, Workers: r.job.Workers, Seed: r.seed(), Persons: r.persons, Measure: r.lowers,
		Judge: r.asked, Progress: r.job.Progress,
	}
	before := r.space.SSE(r.groups)
	groups, stats, err := refine.Refine(ctx, r.space, r.groups, o)
	if err != nil {
		return err
	}
	r.groups = groups
	r.result.SSE = stats.After
	if r.lowers == nil {
		before = stats.Before
	} else {
		r.result.SSE = r.space.SSE(groups)
	}
	if r.left == nil {
		r.result.SST = r.space.SST()
	}
	r.result.SSE += r.lost
	if r.result.SST > 0 {
		r.result.RefinedFrom = (before + r.lost) / r.result.SST
	}
	r.sizes()
	return nil
}

// enforce merges groups that are not diverse or close, where the method could not
// keep to it.
func (r *run) enforce(ctx context.Context) error {
	defer timed(&r.result.Seconds.Partition, time.Now())
	if len(r.attributes) == 0 || r.linked != nil {
		return nil
	}
	groups, stats, err := enforce.Enforce(ctx, r.space, r.groups, r.job.requirement(), r.attributes,
		enforce.Options{Workers: r.job.Workers, Persons: r.judged, Progress: r.job.Progress})
	if err != nil {
		return err
	}
	r.groups, r.result.Merged = groups, stats.Merged
	return nil
}

// sizes completes the figures of the groups.
func (r *run) sizes() {
	sizes := r.groups.Sizes()
	r.result.GroupSize.Min, r.result.GroupSize.Max = slices.Min(sizes), slices.Max(sizes)
	if len(r.attributes) > 0 {
		r.large(sizes)
	}
	r.figures()
}

// figures completes the figures of the partition.
func (r *run) figures() {
	if r.result.SST > 0 {
		r.result.Loss = r.result.SSE / r.result.SST
	}
	r.result.Groups = r.groups.Groups
	r.result.GroupSize.Mean = float64(r.result.Rows) / float64(r.groups.Groups)
}

// seed is that of the search.
func (r *run) seed() uint64 { return r.job.SearchSeed() }

// derived is a key for one use of the secret seed: uses tell nothing of each
// other.
func (o *Options) derived(use string) [32]byte {
	return sha256.Sum256(append([]byte("noren/kanon/"+use+"\x00"), o.SecretSeed...))
}

// storedQuasi tells how the source stores the quasi-identifiers.
func (r *run) storedQuasi() []table.StoredColumn {
	stored := make([]table.StoredColumn, len(r.quasi))
	for j, i := range r.quasi {
		stored[j] = r.job.Source.Columns()[i]
	}
	return stored
}

func (r *run) publish(ctx context.Context) error {
	defer timed(&r.result.Seconds.Publish, time.Now())
	var err error
	r.published, err = publish.Publish(ctx, r.columns, r.storedQuasi(), r.groups.Group, r.groups.Groups, r.publishing())
	return err
}

// exclude counts whom the boxes exclude.
func (r *run) exclude(ctx context.Context) error {
	if !r.job.Publish.Boxes() {
		return nil
	}
	defer timed(&r.result.Seconds.Publish, time.Now())
	var err error
	r.result.Excluded, err = publish.CountExcluded(ctx, r.columns, r.groups.Group, r.groups.Groups, r.publishing())
	return err
}

// publishing is how groups are published.
func (r *run) publishing() publish.Options {
	o := r.job.Publishing()
	o.Progress = r.job.Progress
	return o
}

// look looks for what was made and looks like a missing value, and gives up the
// records: their memory is wanted for writing.
func (r *run) look(context.Context) error {
	defer timed(&r.result.Seconds.Publish, time.Now())
	for j := range r.published {
		f := &r.job.Schema.Fields[r.quasi[j]]
		if n := r.published[j].Showing(r.job.Missing, f.Type == table.Integer || f.Type == table.Decimal); n > 0 {
			r.result.LooksMissing = append(r.result.LooksMissing, LooksMissing{Column: f.Name, Groups: n})
		}
	}
	if r.job.Output.Classes {
		r.result.ClassOf = r.classOf()
	}
	// A record that is left out counts as one whose every value could be any.
	kept, left := float64(r.result.Rows), float64(r.result.Suppressed)
	r.result.NCP = (publish.NCP(r.published, r.result.Rows)*kept + left) / max(1, kept+left)
	r.transformed()
	r.release()
	return nil
}

// classOf is the class of each record: groups that publish the same are one.
func (r *run) classOf() []uint32 {
	class := make([]uint32, r.groups.Groups)
	for g := range class {
		class[g] = uint32(g)
	}
	for _, same := range publish.Same(r.published, r.groups.Groups) {
		for _, g := range same {
			class[g] = same[0]
		}
	}
	out := make([]uint32, 0, r.rows)
	kept := r.groups.Group
	for i := range r.rows {
		if r.left != nil && r.left[i] {
			out = append(out, LeftOut)
			continue
		}
		out = append(out, class[kept[0]])
		kept = kept[1:]
	}
	return out
}
