package kanon

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/persons"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// CurveJob asks for loss and risk over k and methods.
type CurveJob struct {
	// Source and Schema are the table, as in [Job]. Required.
	Source  table.Source
	Schema  table.Schema
	Missing []string
	// K lists the least sizes of groups. Required.
	K []int
	// Methods are compared; Auto is the default method of a release. Defaults
	// to Auto alone.
	Methods []partition.Method
	// Refine is done after each. Defaults to Off.
	Refine refine.Effort
	// Scale defaults to min-max.
	Scale space.Scaling
	// Count measures how far counts over a release of groups are off, given the
	// quasi-identifiers, the group of each record and the number of groups.
	// Optional.
	Count func(ctx context.Context, columns []*table.Column, group []uint32, groups int) (*float64, error)
	// Unit and Linkage are those of [Options]: groups then hold k persons.
	Unit    string
	Linkage Linkage
	// Workers defaults to one a processor.
	Workers int
	// Progress receives progress. Optional.
	Progress noren.Progress
}

// CurvePoint is what one k and method come to.
type CurvePoint struct {
	// K is the least size of a group.
	K int `json:"k"`
	// Method is the method that made the groups.
	Method string `json:"method"`
	// Groups is the number of groups.
	Groups int `json:"groups"`
	// Loss is SSE/SST in the scaled space of the quasi-identifiers.
	Loss float64 `json:"loss"`
	// MaxRisk is the largest probability of finding a person of a group by guessing:
	// 1/(smallest group) (prosecutor risk; El Emam 2013). With a unit the size of a group is
	// its number of persons. Groups that publish the same values form larger classes, so the
	// risks of a release are at most these.
	MaxRisk float64 `json:"max_risk"`
	// MeanRisk is the mean risk of a record: groups/records (marketer risk). With a unit it is
	// the mean risk over the pairs of a group and a person in that group.
	MeanRisk float64 `json:"mean_risk"`
	// CountError is the mean relative error of random counts over a release of these groups; absent
	// where no counts were requested or none can be asked.
	CountError *float64 `json:"count_error,omitempty"`
	// Seconds is the wall-clock time of this point.
	Seconds float64 `json:"seconds"`
}

// Curve partitions the table for every k by every method. It passes each point to
// emit as soon as it is computed, ordered by k and then by method, and returns the
// number of records. Nothing is written. Errors are those of [Anonymize], or emit's.
func Curve(ctx context.Context, job CurveJob, emit func(CurvePoint) error) (rows int, err error) {
	quasi := job.Schema.WithRole(table.Quasi)
	if job.Source == nil || len(quasi) == 0 || len(job.K) == 0 {
		return 0, &noren.Error{Kind: noren.Usage, What: "a curve needs a table, quasi-identifiers and values of k"}
	}
	var fields []table.Field
	for _, i := range quasi {
		fields = append(fields, job.Schema.Fields[i])
	}
	if job.Unit != "" {
		o := Options{Unit: job.Unit, Linkage: job.Linkage}
		if faults := o.unitFaults(&job.Schema); len(faults) > 0 {
			return 0, &noren.Error{Kind: noren.Usage, What: "%s", Args: []any{faults}}
		}
		fields = append(fields, o.unitField())
	}
	t, err := table.Read(ctx, job.Source, fields, table.ReadOptions{Missing: job.Missing, Progress: job.Progress})
	if err != nil {
		return 0, err
	}
	var of []uint32 // persons
	if job.Unit != "" {
		last := len(t.Columns) - 1
		of, t.Columns = PersonsOf(t.Columns[last]), t.Columns[:last]
		if err := persons.Enough(of, slices.Max(job.K)); err != nil {
			return 0, err
		}
	}
	for _, c := range t.Columns {
		if err := CheckHierarchy(table.PlaceOf(job.Source), c); err != nil {
			return 0, err
		}
	}
	if most := slices.Max(job.K); most > t.Rows || slices.Min(job.K) < 1 {
		return 0, &noren.Error{
			Kind: noren.Usage, Where: table.PlaceOf(job.Source),
			What: "k must lie between 1 and the number of records, %d", Args: []any{t.Rows},
		}
	}
	s, err := space.FromTable(t.Columns, job.Scale)
	if err != nil {
		return 0, &noren.Error{Where: table.PlaceOf(job.Source), What: "the quasi-identifiers make no space", Err: err}
	}
	methods := job.Methods
	if len(methods) == 0 {
		methods = []partition.Method{partition.Auto}
	}
	for _, k := range slices.Sorted(slices.Values(job.K)) {
		for _, method := range methods {
			began := time.Now()
			p, err := job.divide(ctx, s, of, k, method)
			if err != nil {
				return 0, err
			}
			sizes, total := sizesOf(p, of)
			point := CurvePoint{
				K: k, Method: method.String(), Groups: p.Groups, Loss: s.Loss(p),
				MaxRisk: 1 / float64(slices.Min(sizes)), MeanRisk: float64(p.Groups) / float64(total), Seconds: time.Since(began).Seconds(),
			}
			if job.Count != nil {
				if point.CountError, err = job.Count(ctx, t.Columns, p.Group, p.Groups); err != nil {
					return 0, err
				}
			}
			if err := emit(point); err != nil {
				return 0, err
			}
		}
	}
	return t.Rows, nil
}

// divide makes the groups of one point.
func (j *CurveJob) divide(ctx context.Context, s *space.Space, of []uint32, k int, method partition.Method) (space.Partition, error) {
	o := partition.Options{Method: method, K: k, Workers: j.Workers, Progress: j.Progress}
	if of != nil && j.Linkage == LinkAll {
		linked, err := persons.Link(ctx, s, of, persons.LinkOptions{Partition: o, Refine: j.Refine, Workers: j.Workers, Progress: j.Progress})
		if err != nil {
			return space.Partition{}, err
		}
		return linked.Partition(), nil
	}
	p, err := persons.Divide(ctx, s, of, o)
	if err != nil {
		return p, err
	}
	p, _, err = refine.Refine(ctx, s, p, refine.Options{K: k, Effort: j.Refine, Workers: j.Workers, Persons: of, Progress: j.Progress})
	return p, err
}

// sizesOf are the sizes of groups, in records or where they are known in persons,
// and their sum.
func sizesOf(p space.Partition, of []uint32) (sizes []int, total int) {
	if of == nil {
		return p.Sizes(), len(p.Group)
	}
	links := privacy.NewLinks(p.Group, of, p.Groups)
	for g := range p.Groups {
		sizes = append(sizes, int(links.In(g)))
		total += int(links.In(g))
	}
	return sizes, total
}

// ParseKs reads the values of k for [CurveJob]: a list such as 2,5,10, or a range such
// as 2..50, which is covered in about fifteen steps of increasing width. Errors are of
// kind Usage.
func ParseKs(text string) ([]int, error) {
	bad := &noren.Error{Kind: noren.Usage, Where: "k", What: "expected a list as in 2,5,10 or a range as in 2..50, of numbers from 1 on"}
	low, high, ranged := strings.Cut(text, "..")
	if !ranged {
		var ks []int
		for _, part := range strings.Split(text, ",") {
			k, err := strconv.Atoi(strings.TrimSpace(part))
			if err != nil || k < 1 {
				return nil, bad
			}
			ks = append(ks, k)
		}
		slices.Sort(ks)
		return slices.Compact(ks), nil
	}
	from, err := strconv.Atoi(strings.TrimSpace(low))
	to, err2 := strconv.Atoi(strings.TrimSpace(high))
	if err != nil || err2 != nil || from < 1 || to < from {
		return nil, bad
	}
	var ks []int
	for k := from; k < to; k = max(k+1, k*5/4) {
		ks = append(ks, k)
	}
	return append(ks, to), nil
}
