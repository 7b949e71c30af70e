// Package partition divides the records of a space into groups of at least k:
// the methods of the Tomobiki paper and of the literature it stands on, each
// exactly as defined (docs/k-anonymity.md), and the coarse step that makes any
// of them scale.
//
// Every method returns a k-partition whatever the data (duplicates, ties,
// constant columns), and the same one whatever the number of workers.
package partition

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/cost"
	"github.com/noren-privacy/noren/kanon/space"
)

// Method is a way to make groups.
type Method uint8

const (
	// Auto picks by size.
	Auto Method = iota
	Mondrian
	MondrianStrict
	MDAV
	VMDAV
	Tomobiki
	// TopDown cuts the table in two at the place where both parts together lose
	// least, and so on (package cost).
	TopDown
)

var methodNames = [...]string{
	Auto: "auto", Mondrian: "mondrian", MondrianStrict: "mondrian-strict", MDAV: "mdav", VMDAV: "vmdav",
	Tomobiki: "tomobiki", TopDown: "topdown",
}

// String names m as the command line does.
func (m Method) String() string {
	if int(m) < len(methodNames) {
		return methodNames[m]
	}
	return fmt.Sprintf("method(%d)", m)
}

// ParseMethod is the inverse of [Method.String].
func ParseMethod(s string) (Method, error) {
	for m, name := range methodNames {
		if s == name {
			return Method(m), nil
		}
	}
	return 0, &noren.Error{
		Kind: noren.Usage, What: "unknown method %q", Args: []any{s}, Hint: "one of %s",
		HintArgs: []any{strings.Join(methodNames[:], ", ")},
	}
}

// CoarseAuto lets the coarse step be chosen by size; CoarseOff leaves it out.
const (
	CoarseAuto = 0
	CoarseOff  = -1
)

// Options are the parameters of [Partition].
type Options struct {
	// K is the least number of records of a group. Required.
	K int
	// Method defaults to Auto.
	Method Method
	// Gamma is V-MDAV's gain factor. Defaults to 0.2.
	Gamma float64
	// LargeLimit lets V-MDAV's groups grow to 2k records, as the paper prints,
	// and not to 2k-1, as its figures need.
	LargeLimit bool
	// M is the number of pairs by which Tomobiki joins a component. Defaults
	// to 3.
	M int
	// Ties and Start are Tomobiki's. The defaults do not depend on the order
	// of the records more than they must.
	Ties  space.Ties
	Start Start
	// Literal leaves a component that Tomobiki drags along whole as one group,
	// whatever its size.
	Literal bool
	// Coarse is the least number of records of a cell that the table is cut
	// into before the method works in each: CoarseAuto, CoarseOff or a number
	// of at least K.
	Coarse int
	// CoarseCut is how the coarse step cuts. Defaults to Spread; the paper's is
	// Mondrian's Strict.
	CoarseCut Cut
	// Measure is what TopDown lowers. Defaults to the sum of squares of the space.
	Measure cost.Measure
	// Judge, where it is not nil, is asked of every group that TopDown makes, as
	// far as the table or a coarse cell itself holds.
	Judge cost.Judge
	// Workers is the number of parallel workers. Defaults to one a processor.
	Workers int
	// Progress receives progress. Optional.
	Progress noren.Progress
}

// Chosen says what Auto picked, and how.
type Chosen struct {
	Method Method
	// Coarse is the least size of a cell, CoarseOff without a coarse step.
	Coarse int
	// Reason is a sentence, none where nothing was left to pick.
	Reason noren.Text
}

func (o *Options) validate(n int) error {
	var faults noren.Texts
	add := func(format noren.Format, args ...any) { faults = append(faults, noren.Textf(format, args...)) }
	if o.K < 1 {
		add("k must be 1 at least")
	}
	if int(o.Method) >= len(methodNames) {
		add("unknown method %d", o.Method)
	}
	if !(o.Gamma >= 0) {
		add("gamma must not be negative")
	}
	if o.M < 0 {
		add("m must be 1 at least")
	}
	if o.Ties > space.ByIndex {
		add("unknown ties %d", o.Ties)
	}
	if o.Start > FromLowest {
		add("unknown start %d", o.Start)
	}
	if o.CoarseCut > Strict {
		add("unknown cut %d", o.CoarseCut)
	}
	if o.Coarse < CoarseOff || o.Coarse > 0 && o.Coarse < o.K {
		add("a coarse cell must have k records at least")
	}
	if len(faults) > 0 {
		return &noren.Error{Kind: noren.Usage, What: "%s", Args: []any{faults}}
	}
	if n < o.K {
		return &noren.Error{
			Kind: noren.BadData, What: "the table has %d {record|records}, fewer than k = %d: no group of k can be made", Args: []any{n, o.K},
			Hint: "ask for a smaller k, or gather more records",
		}
	}
	return nil
}

// Partition divides the records of s. Errors are of kind Usage (options),
// BadData (fewer than k records) or the context's. Groups are numbered by their
// lowest record.
func Partition(ctx context.Context, s *space.Space, o Options) (space.Partition, Chosen, error) {
	if err := o.validate(s.Len()); err != nil {
		return space.Partition{}, Chosen{}, err
	}
	if o.Gamma == 0 {
		o.Gamma = 0.2
	}
	if o.M == 0 {
		o.M = 3
	}
	chosen := o.choose(s.Len())
	o.Method = chosen.Method
	var p space.Partition
	var err error
	switch {
	case o.K == 1:
		g := newGrouping(s.Len())
		for i := range s.Len() {
			g.add(int32(i))
		}
		p = g.p
	case s.Len() < 2*o.K:
		p = space.Partition{Group: make([]uint32, s.Len()), Groups: 1}
	case chosen.Coarse > 0:
		p, err = inCells(ctx, s, chosen.Coarse, &o, o.Progress)
	default:
		p, err = whole(ctx, s, &o, o.Progress)
	}
	if err != nil {
		return space.Partition{}, Chosen{}, err
	}
	return p.Canonical(), chosen, nil
}

// Sizes by which Auto picks.
const (
	// autoWhole is up to how many records a method works on the whole table.
	autoWhole = 40_000
	// autoCell is the size of the coarse cells beyond.
	autoCell = 3000
)

// Choose says what [Partition] does with n records, with its errors.
func (o *Options) Choose(n int) (Chosen, error) {
	if err := o.validate(n); err != nil {
		return Chosen{}, err
	}
	return o.choose(n), nil
}

func (o *Options) choose(n int) Chosen {
	c := Chosen{Method: o.Method, Coarse: o.Coarse}
	var reasons noren.Texts
	if c.Method == Auto {
		c.Method = Tomobiki
		reasons = append(reasons, noren.Textf("tomobiki: the start from which refinement gets lowest"))
	}
	if c.Coarse == CoarseAuto {
		c.Coarse = CoarseOff
		cell := max(autoCell, 20*o.K)
		if n > autoWhole && n > cell && c.Method != Mondrian && c.Method != MondrianStrict {
			c.Coarse = cell
			reasons = append(reasons, noren.Textf("cells of %d {record|records} or more: the table has more than %d", c.Coarse, autoWhole))
		}
	}
	if c.Coarse >= n {
		c.Coarse = CoarseOff // one cell, the whole
	}
	c.Reason = reasons.Text()
	return c
}

// whole runs the method on a space.
func whole(ctx context.Context, s *space.Space, o *Options, progress noren.Progress) (space.Partition, error) {
	switch o.Method {
	case Mondrian, MondrianStrict:
		cut := Balanced
		if o.Method == MondrianStrict {
			cut = Strict
		}
		cells, err := mondrian(ctx, s, o.K, cut, progress)
		if err != nil {
			return space.Partition{}, err
		}
		g := newGrouping(s.Len())
		for _, c := range cells {
			g.add(c...)
		}
		return g.p, nil
	case VMDAV:
		limit := 2*o.K - 1
		if o.LargeLimit {
			limit = 2 * o.K
		}
		return vmdav(ctx, s, o.K, o.Gamma, limit, progress)
	case TopDown:
		return topDown(ctx, s, o, progress)
	case Tomobiki:
		return tomobiki(ctx, s, o, progress)
	default:
		return mdav(ctx, s, o.K, progress)
	}
}

// frequentGroups is how many groups the records of a code must be enough for
// before a [CellTree] parts it from the others: found by trial (BenchmarkCells).
const frequentGroups = 40

// Frequent is from how many records on a code of a category counts for a
// [CellTree] that serves groups of k.
func Frequent(k int) int { return frequentGroups * k }

// coarseCells are the records of each cell of the coarse step.
func coarseCells(ctx context.Context, s *space.Space, coarse int, o *Options) ([][]int32, error) {
	if o.CoarseCut != Spread {
		return mondrian(ctx, s, coarse, o.CoarseCut, nil)
	}
	sample := s
	if s.Len() > cellSample {
		var ids []int32
		for _, i := range SampleRecords(s.Len()) {
			ids = append(ids, int32(i))
		}
		sample = s.Subset(ids)
	}
	tree, err := NewCellTree(ctx, sample, s.Len(), coarse, Frequent(o.K))
	if err != nil {
		return nil, err
	}
	leaf := make([]uint32, s.Len())
	tree.Route(s, leaf, o.Workers)
	list, start := space.Partition{Group: leaf, Groups: tree.Cells()}.Members()
	counts := make([]int64, tree.Cells())
	for c := range counts {
		counts[c] = int64(start[c+1] - start[c])
	}
	bounds := Bounds(counts, coarse)
	cells := make([][]int32, len(bounds)-1)
	for c := range cells {
		cells[c] = list[bounds[c]:bounds[c+1]]
		slices.Sort(cells[c])
	}
	return cells, nil
}

// inCells cuts the space into cells of at least coarse records and runs the
// method in each, cells in parallel.
func inCells(ctx context.Context, s *space.Space, coarse int, o *Options, progress noren.Progress) (space.Partition, error) {
	cells, err := coarseCells(ctx, s, coarse, o)
	if err != nil {
		return space.Partition{}, err
	}
	parts := make([]space.Partition, len(cells))
	errs := make([]error, len(cells))
	inner := *o
	inner.Workers = 1
	err = space.Parallel(ctx, len(cells), "partition", space.ParallelOptions{Workers: o.Workers, Progress: progress}, func() func(int) {
		return func(c int) {
			if len(cells[c]) < 2*o.K {
				parts[c] = space.Partition{Group: make([]uint32, len(cells[c])), Groups: 1}
				return
			}
			part := inner
			if part.Measure != nil {
				part.Measure = part.Measure.Subset(cells[c])
			}
			if part.Judge != nil {
				part.Judge = part.Judge.Subset(cells[c])
			}
			parts[c], errs[c] = whole(ctx, s.Subset(cells[c]), &part, nil)
		}
	})
	if err != nil {
		return space.Partition{}, err
	}
	out := space.Partition{Group: make([]uint32, s.Len())}
	for c, ids := range cells {
		if errs[c] != nil {
			return space.Partition{}, errs[c]
		}
		for j, i := range ids {
			out.Group[i] = uint32(out.Groups) + parts[c].Group[j]
		}
		out.Groups += parts[c].Groups
	}
	return out, nil
}
