package kanon

import (
	"context"
	"slices"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/cost"
	"github.com/noren-privacy/noren/kanon/enforce"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/persons"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/records"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// wholeRecords is up to how many records a table is worked on as a whole even
// where little memory is allowed.
const wholeRecords = 40_000

// population are records, in memory, that groups are made of.
type population struct {
	columns    []*table.Column // quasi-identifiers
	attributes []*privacy.Attribute
	persons    []uint32         // of each record, nil without a unit
	judged     *enforce.Persons // judges groups by persons, nil without a unit
	frame      *space.Frame     // of the whole table
	space      *space.Space
	measure    cost.Measure // what is lowered, nil for the SSE
	judge      cost.Judge   // of groups while they are made, nil for k records
}

// grouping are the groups of a population.
type grouping struct {
	*population
	space.Partition
	linked      *persons.Linked // where all records of a person are linked
	merged      int             // groups that were merged for diversity or closeness
	before, sse float64         // the SSE before and after refinement
	left        []bool          // by record of the source: whether it is left out; nil for none
	lost        float64         // what those add to the SSE
}

// whole makes the groups of a table that is worked on as a whole, and what they publish.
func (r *run) whole(ctx context.Context, in *records.Table, how partition.Options) (*made, error) {
	all, err := r.place(ctx, in)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	g, err := r.job.divide(ctx, all, how)
	if err != nil {
		return nil, err
	}
	timed(&r.result.Seconds.Partition, began)
	began = time.Now()
	if g, err = r.suppress(ctx, in, g, how); err != nil {
		return nil, err
	}
	if g, err = r.job.refine(ctx, g, r.job.Refine); err != nil {
		return nil, err
	}
	r.result.SST = all.space.SST()
	timed(&r.result.Seconds.Refine, began)
	g, published, err := r.publish(ctx, g)
	if err != nil {
		return nil, err
	}
	r.figures(g)
	return &made{groups: g.Partition, published: published, left: g.left, persons: g.persons, attributes: g.attributes},
		r.bound(ctx, g.space)
}

// place has all records in memory, in their space.
func (r *run) place(ctx context.Context, in *records.Table) (*population, error) {
	if in.Rows > wholeRecords {
		// The columns, the space that they make, and the work on both.
		hint := noren.Textf("allow more; or %s", noren.Phrase(wholeHint))
		if err := r.job.needs(in.Rows, 64+16*len(in.Columns), hint); err != nil {
			return nil, err
		}
	}
	columns, err := in.All(ctx)
	if err != nil {
		return nil, err
	}
	defer timed(&r.result.Seconds.Partition, time.Now())
	frame, err := space.FrameOf(columns[:len(r.quasi)], r.job.Scale)
	if err != nil {
		return nil, r.noSpace(err)
	}
	s, err := frame.Space(columns[:len(r.quasi)])
	if err != nil {
		return nil, r.noSpace(err)
	}
	return r.population(columns, frame, s), nil
}

// population are the records of these columns at their places.
func (r *run) population(columns []*table.Column, frame *space.Frame, s *space.Space) *population {
	quasi := len(r.quasi)
	p := &population{columns: columns[:quasi], frame: frame, space: s}
	for _, c := range columns[quasi : quasi+len(r.sensitive)] {
		p.attributes = append(p.attributes, privacy.NewAttribute(c))
	}
	if r.job.Unit != "" {
		p.persons = PersonsOf(columns[len(columns)-1])
		p.judged = &enforce.Persons{Of: p.persons, Requirement: r.job.Requirement()}
		for _, a := range p.attributes {
			p.judged.Attributes = append(p.judged.Attributes, privacy.NewByPerson(a, p.persons, func(i int) uint32 { return a.Codes[i] }))
		}
	}
	boxes := r.job.lowersBoxes()
	if boxes {
		p.measure = cost.Boxes(frame, p.columns)
	}
	if r.job.Linkage != LinkAll && (len(r.sensitive) > 0 || r.job.Unit != "" && boxes) {
		p.judge = enforce.NewJudge(r.job.Requirement(), p.attributes, p.judged)
	}
	return p
}

// divide divides records into groups, and merges those that are not diverse or close,
// where the method could not keep to it.
func (j *Job) divide(ctx context.Context, p *population, how partition.Options) (*grouping, error) {
	g := &grouping{population: p}
	var err error
	if j.Linkage == LinkAll {
		if g.linked, err = j.link(ctx, p); err != nil {
			return nil, err
		}
		g.Partition = g.linked.Partition()
		return g, nil
	}
	how.Measure, how.Judge, how.Progress = p.measure, p.judge, j.Progress
	if g.Partition, err = persons.Divide(ctx, p.space, p.persons, how); err != nil || len(p.attributes) == 0 {
		return g, err
	}
	groups, stats, err := enforce.Enforce(ctx, p.space, g.Partition, j.Requirement(), p.attributes,
		enforce.Options{Workers: j.Workers, Persons: p.judged, Progress: j.Progress})
	g.Partition, g.merged = groups, stats.Merged
	return g, err
}

// link divides the records so that all records of a person are in classes of the
// same persons.
func (j *Job) link(ctx context.Context, p *population) (*persons.Linked, error) {
	o := persons.LinkOptions{
		Partition: j.Partition, Refine: j.Refine, Seed: j.SearchSeed(), Workers: j.Workers, Progress: j.Progress,
	}
	o.Partition.K, o.Partition.Workers = j.K, j.Workers
	if len(p.attributes) > 0 {
		every := make([]int32, p.space.Len())
		for i := range every {
			every[i] = int32(i)
		}
		if err := p.judged.Feasible(every); err != nil {
			return nil, err
		}
		o.Holds = p.judged.Holds
	}
	return persons.Link(ctx, p.space, p.persons, o)
}

// refine betters groups by local search. Where all records of a person are linked, the groups
// of persons were refined before their records were divided.
func (j *Job) refine(ctx context.Context, g *grouping, effort refine.Effort) (*grouping, error) {
	out := *g
	if g.linked != nil {
		out.sse = g.space.SSE(g.Partition)
		out.before = out.sse // the loss before is of persons, and not of records
		return &out, nil
	}
	groups, stats, err := refine.Refine(ctx, g.space, g.Partition, refine.Options{
		K: j.K, Effort: effort, Workers: j.Workers, Seed: j.SearchSeed(), Persons: g.persons, Measure: g.measure, Judge: g.judge,
		Progress: j.Progress,
	})
	if err != nil {
		return nil, err
	}
	out.Partition, out.before, out.sse = groups, stats.Before, stats.After
	if g.measure != nil {
		out.before, out.sse = g.space.SSE(g.Partition), g.space.SSE(groups)
	}
	return &out, nil
}

// objective is what the groups lose of what they were made to lower.
func (g *grouping) objective() float64 {
	if g.measure == nil {
		return g.space.SSE(g.Partition)
	}
	list, start := g.Members()
	return cost.Total(g.measure, list, start)
}

// publish makes what the groups publish, and counts whom their boxes exclude. By persons, it
// merges groups that publish the same values where they are one class that does not keep what
// is asked: unlike groups of records, two groups that keep it may not keep it together.
func (r *run) publish(ctx context.Context, g *grouping) (*grouping, []publish.Column, error) {
	defer timed(&r.result.Seconds.Publish, time.Now())
	o := r.publishing()
	for {
		published, err := publish.Publish(ctx, g.columns, r.storedQuasi(), g.Group, g.Groups, o)
		if err != nil {
			return nil, nil, err
		}
		failing := g.failingClasses(published)
		if len(failing) == 0 {
			if o.Mode.Boxes() {
				r.result.Excluded, err = publish.CountExcluded(ctx, g.columns, g.Group, g.Groups, o)
			}
			return g, published, err
		}
		if g, err = r.job.merge(ctx, g, failing); err != nil {
			return nil, nil, err
		}
	}
}

// failingClasses lists, for each class of several groups that does not keep by persons what
// is asked, its groups.
func (g *grouping) failingClasses(published []publish.Column) [][]uint32 {
	if g.persons == nil || len(g.attributes) == 0 {
		return nil
	}
	list, start := g.Members()
	var failing [][]uint32
	for _, groups := range publish.Same(published, g.Groups) {
		var members []int32
		for _, at := range groups {
			members = append(members, list[start[at]:start[at+1]]...)
		}
		if !g.judged.Holds(members) {
			failing = append(failing, groups)
		}
	}
	return failing
}

// merge makes one group of the groups of each of these classes.
func (j *Job) merge(ctx context.Context, g *grouping, classes [][]uint32) (*grouping, error) {
	out := *g
	if g.linked != nil {
		if err := g.linked.Merge(ctx, classes); err != nil {
			return nil, err
		}
		out.Partition = g.linked.Partition()
	} else {
		into := make([]uint32, g.Groups)
		for i := range into {
			into[i] = uint32(i)
		}
		for _, groups := range classes {
			for _, i := range groups {
				into[i] = groups[0]
			}
		}
		united := space.Partition{Group: make([]uint32, len(g.Group)), Groups: g.Groups}
		for i, group := range g.Group {
			united.Group[i] = into[group]
		}
		o := enforce.Options{Workers: j.Workers, Persons: g.judged, Whole: true, Progress: j.Progress}
		var err error
		if out.Partition, _, err = enforce.Enforce(ctx, g.space, united.Canonical(), j.Requirement(), nil, o); err != nil {
			return nil, err
		}
	}
	out.merged += max(0, g.Groups-out.Groups)
	out.sse = out.space.SSE(out.Partition)
	return &out, nil
}

// figures are those of the groups of a table that is worked on as a whole.
func (r *run) figures(g *grouping) {
	sizes := g.Sizes()
	r.result.GroupSize.Min, r.result.GroupSize.Max = slices.Min(sizes), slices.Max(sizes)
	r.result.Merged = g.merged
	if len(g.attributes) > 0 {
		r.large(g, sizes)
	}
	r.losses(g.Groups, g.before+g.lost, g.sse+g.lost)
}

// losses completes the figures by the number of groups and their SSE before and after
// refinement.
func (r *run) losses(groups int, before, sse float64) {
	r.result.Groups, r.result.SSE = groups, sse
	if r.result.SST > 0 {
		r.result.RefinedFrom, r.result.Loss = before/r.result.SST, sse/r.result.SST
	}
	r.result.GroupSize.Mean = float64(r.result.Rows) / float64(groups)
}
