package persons

import (
	"context"
	"math"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
)

// LinkOptions are the parameters of [Link].
type LinkOptions struct {
	// Partition is how persons are grouped; its K is the least number of persons
	// of a group, and its Progress is set from here. Required.
	Partition partition.Options
	// Refine betters the groups of persons.
	Refine refine.Effort
	// Seed fixes the random choices of refinement.
	Seed uint64
	// Workers defaults to one a processor.
	Workers int
	// Holds reports whether a class of these records keeps what is asked beyond
	// its persons. Defaults to always. It must be safe for several goroutines.
	Holds func(records []int32) bool
	// Progress receives progress. Optional.
	Progress noren.Progress
}

// Link groups the persons and divides the records of each group of persons into
// classes that each have a record of every person of the group: as many as the
// person with the fewest records has, where that is at most 64 or the records can
// be cut along an axis. Records without a person join the nearest class.
//
// Classes that Holds refuses are merged with the nearest of their group, groups
// of persons whose records fail as one class with the nearest group. Errors are
// those of [Divide], or of kind NotMet where even all records as one class do
// not hold.
func Link(ctx context.Context, s *space.Space, of []uint32, o LinkOptions) (*Linked, error) {
	if _, err := o.Partition.Choose(max(s.Len(), o.Partition.K)); err != nil {
		return nil, err
	}
	if err := Enough(of, o.Partition.K); err != nil {
		return nil, err
	}
	l := newLinking(s, of, o)
	points, err := l.space()
	if err != nil {
		return nil, err
	}
	o.Partition.Progress = o.Progress
	p, _, err := partition.Partition(ctx, points, o.Partition)
	if err != nil {
		return nil, err
	}
	if p, _, err = refine.Refine(ctx, points, p, refine.Options{
		K: o.Partition.K, Effort: o.Refine, Seed: o.Seed, Workers: o.Workers,
		Progress: o.Progress,
	}); err != nil {
		return nil, err
	}
	if err := l.load(ctx, points, p, o.Progress); err != nil {
		return nil, err
	}
	if err := l.enforce(ctx); err != nil {
		return nil, err
	}
	l.number()
	return &Linked{l}, nil
}

// Linked are classes in which all records of a person are among the same persons.
type Linked struct{ l *linking }

// Partition is the classes.
func (d *Linked) Partition() space.Partition { return d.l.p }

// Merge merges classes that must be one, given as groups of the partition: whole
// groups of persons where the classes are of several. What then does not hold is
// merged on, as in [Link], with its errors.
func (d *Linked) Merge(ctx context.Context, unions [][]uint32) error {
	l := d.l
	for _, union := range unions {
		into := l.at[union[0]]
		for into.into != nil {
			into = into.into
		}
		alone := true
		for _, g := range union[1:] {
			b := l.at[g]
			for b.into != nil {
				b = b.into
			}
			if b != into {
				alone = false
				l.merge(into, b)
				b.into = into
			}
		}
		if alone {
			l.unite(into, union)
		}
	}
	l.bundles = slices.DeleteFunc(l.bundles, func(b *bundle) bool { return b.into != nil })
	if err := l.enforce(ctx); err != nil {
		return err
	}
	l.number()
	return nil
}

// unite makes one class of those classes of a bundle that the records of some
// groups are in.
func (l *linking) unite(b *bundle, union []uint32) {
	var one []int32
	var others [][]int32
	for _, class := range b.classes {
		if slices.ContainsFunc(class, func(i int32) bool { return slices.Contains(union, l.p.Group[i]) }) {
			one = append(one, class...)
		} else {
			others = append(others, class)
		}
	}
	b.classes = append(others, one)
	l.hold(b)
}

type linking struct {
	s       *space.Space
	o       LinkOptions
	records [][]int32 // by person
	without []int32   // records without a person
	bundles []*bundle
	p       space.Partition
	at      []*bundle // by group of p
}

// bundle is a group of persons, with the classes of their records.
type bundle struct {
	persons []int32
	extra   []int32 // records without a person
	centre  *space.Centroid
	classes [][]int32
	fails   bool
	into    *bundle // what it was merged into
}

func newLinking(s *space.Space, of []uint32, o LinkOptions) *linking {
	l := &linking{s: s, o: o}
	number := map[uint32]int{}
	for i, person := range of {
		if person == privacy.NoPerson {
			l.without = append(l.without, int32(i))
			continue
		}
		n, ok := number[person]
		if !ok {
			n = len(l.records)
			number[person] = n
			l.records = append(l.records, nil)
		}
		l.records[n] = append(l.records[n], int32(i))
	}
	return l
}

// space has a point a person: the mean of each number, the commonest code of each
// category, and an axis for the number of records, so that persons with about as
// many records come together.
func (l *linking) space() (*space.Space, error) {
	numbers := make([][]float64, len(l.s.Numbers()), len(l.s.Numbers())+1)
	for a, x := range l.s.Numbers() {
		numbers[a] = make([]float64, len(l.records))
		for p, records := range l.records {
			sum := 0.0
			for _, i := range records {
				sum += x[i]
			}
			numbers[a][p] = sum / float64(len(records))
		}
	}
	words := slices.Clone(l.s.Words())
	for a, w := range l.s.Words() {
		words[a].Codes = make([]uint32, len(l.records))
		count := map[uint32]int{}
		for p, records := range l.records {
			clear(count)
			best, most := uint32(0), 0
			for _, i := range records {
				code := w.Codes[i]
				count[code]++
				if n := count[code]; n > most || n == most && code < best {
					best, most = code, n
				}
			}
			words[a].Codes[p] = best
		}
	}
	// A doubling of the records counts like half of what records deviate by on
	// an axis.
	unit := math.Sqrt(l.s.SST()/float64(l.s.Len()*max(1, len(numbers)+len(words)))) / 2
	many := make([]float64, len(l.records))
	for p, records := range l.records {
		many[p] = unit * math.Log2(float64(len(records)))
	}
	return space.New(len(l.records), append(numbers, many), words)
}

// load makes the bundles of a partition of the persons.
func (l *linking) load(ctx context.Context, points *space.Space, p space.Partition, progress noren.Progress) error {
	list, start := p.Members()
	l.bundles = make([]*bundle, p.Groups)
	for g := range l.bundles {
		b := &bundle{persons: list[start[g]:start[g+1]], centre: points.NewCentroid()}
		for _, person := range b.persons {
			b.centre.Add(person)
		}
		l.bundles[g] = b
	}
	err := space.Parallel(ctx, len(l.bundles), "partition", space.ParallelOptions{Workers: l.o.Workers, Progress: progress}, func() func(int) {
		return func(g int) { l.bundles[g].classes = l.classes(l.bundles[g]) }
	})
	if err != nil {
		return err
	}
	if len(l.without) > 0 {
		if err := l.join(ctx); err != nil {
			return err
		}
	}
	return space.Parallel(ctx, len(l.bundles), "enforce", space.ParallelOptions{Workers: l.o.Workers}, func() func(int) {
		return func(g int) { l.hold(l.bundles[g]) }
	})
}

// join gives each record without a person to the bundle of the nearest class.
func (l *linking) join(ctx context.Context) error {
	var centres []*space.Centroid
	var owner []int
	for g, b := range l.bundles {
		for _, class := range b.classes {
			c := l.s.NewCentroid()
			for _, i := range class {
				c.Add(i)
			}
			centres, owner = append(centres, c), append(owner, g)
		}
	}
	nearest := make([]int, len(l.without))
	err := space.Parallel(ctx, len(l.without), "partition", space.ParallelOptions{Workers: l.o.Workers}, func() func(int) {
		return func(n int) {
			least := math.Inf(1)
			for c, centre := range centres {
				if d := centre.Distance2(l.without[n]); d < least {
					least, nearest[n] = d, c
				}
			}
		}
	})
	if err != nil {
		return err
	}
	touched := map[int]bool{}
	for n, c := range nearest {
		b := l.bundles[owner[c]]
		b.extra = append(b.extra, l.without[n])
		touched[owner[c]] = true
	}
	for g := range touched {
		l.bundles[g].classes = l.classes(l.bundles[g])
	}
	return nil
}

// classes divides the records of a bundle.
func (l *linking) classes(b *bundle) [][]int32 {
	lists := make([][]int32, len(b.persons))
	for n, person := range b.persons {
		lists[n] = l.records[person]
	}
	classes := l.divide(lists)
	if len(b.extra) == 0 {
		return classes
	}
	centres := l.centres(classes)
	for _, i := range b.extra {
		at := nearestOf(centres, i)
		classes[at] = append(classes[at], i)
	}
	return classes
}

func (l *linking) centres(classes [][]int32) []*space.Centroid {
	out := make([]*space.Centroid, len(classes))
	for c, class := range classes {
		out[c] = l.s.NewCentroid()
		for _, i := range class {
			out[c].Add(i)
		}
	}
	return out
}

func nearestOf(centres []*space.Centroid, i int32) int {
	best, least := 0, math.Inf(1)
	for c, centre := range centres {
		if d := centre.Distance2(i); d < least {
			best, least = c, d
		}
	}
	return best
}

// hold merges classes of a bundle until all hold, or one is left.
func (l *linking) hold(b *bundle) {
	b.fails = false
	if l.o.Holds == nil {
		return
	}
	for {
		failing := slices.IndexFunc(b.classes, func(class []int32) bool { return !l.o.Holds(class) })
		if failing < 0 {
			return
		}
		if len(b.classes) == 1 {
			b.fails = true
			return
		}
		centres := l.centres(b.classes)
		best, least := -1, math.Inf(1)
		for c := range b.classes {
			if c == failing {
				continue
			}
			if rise := centres[failing].Merging(centres[c]); best < 0 || rise < least {
				best, least = c, rise
			}
		}
		b.classes[best] = append(b.classes[best], b.classes[failing]...)
		b.classes = slices.Delete(b.classes, failing, failing+1)
	}
}

// enforce merges bundles that fail with the nearest.
func (l *linking) enforce(ctx context.Context) error {
	for {
		order := make([]int, 0)
		for g, b := range l.bundles {
			if b.fails {
				order = append(order, g)
			}
		}
		if len(order) == 0 {
			return nil
		}
		if len(l.bundles) == 1 {
			return &noren.Error{
				Kind: noren.NotMet, What: "even the whole table as one class does not keep what is asked of its sensitive columns",
				Hint: "ask for less",
			}
		}
		gone := make([]bool, len(l.bundles))
		for _, g := range order {
			if err := ctx.Err(); err != nil {
				return err
			}
			b := l.bundles[g]
			if gone[g] || !b.fails {
				continue
			}
			best, least := -1, math.Inf(1)
			for h, other := range l.bundles {
				if h == g || gone[h] {
					continue
				}
				if rise := b.centre.Merging(other.centre); best < 0 || rise < least {
					best, least = h, rise
				}
			}
			if best < 0 {
				continue
			}
			l.merge(l.bundles[best], b)
			gone[g] = true
		}
		kept := l.bundles[:0]
		for g, b := range l.bundles {
			if !gone[g] {
				kept = append(kept, b)
			}
		}
		l.bundles = kept
	}
}

// merge makes the persons of b part of to.
func (l *linking) merge(to, b *bundle) {
	to.persons = append(slices.Clone(to.persons), b.persons...)
	to.extra = append(to.extra, b.extra...)
	for _, person := range b.persons {
		to.centre.Add(person)
	}
	to.classes = l.classes(to)
	l.hold(to)
}

// number makes the classes a partition.
func (l *linking) number() {
	p := space.Partition{Group: make([]uint32, l.s.Len())}
	for _, b := range l.bundles {
		for _, class := range b.classes {
			for _, i := range class {
				p.Group[i] = uint32(p.Groups)
			}
			p.Groups++
		}
	}
	l.p = p.Canonical()
	l.at = make([]*bundle, l.p.Groups)
	for _, b := range l.bundles {
		for _, class := range b.classes {
			l.at[l.p.Group[class[0]]] = b
		}
	}
}
