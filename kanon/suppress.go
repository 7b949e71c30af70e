package kanon

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/records"
	"github.com/noren-privacy/noren/kanon/refine"
)

// suppress leaves out records, or with a unit all records of persons, that raise the
// loss of their groups most, up to the limit, and makes the groups of the others
// anew. It tries three ways: to leave out what lowers the loss most, whatever
// becomes of the groups; only what leaves groups of k, or whole groups; and what is
// far from its nearest records. The way by which the others lose least is taken, and
// nothing is left out where none makes them lose less, or they could not be made
// diverse or close.
//
// All of this is judged after a descent. The longer refinement that a release asks for
// follows for the way that is taken.
func (r *run) suppress(ctx context.Context, in *records.Table, g *grouping, how partition.Options) (*grouping, error) {
	most := min(r.job.Suppress.most(in.Rows), in.Rows-r.job.K)
	if most <= 0 {
		return g, nil
	}
	descent := refine.Effort{Descend: r.job.Refine.Descend}
	whole, err := r.job.refine(ctx, g, descent)
	if err != nil {
		return nil, err
	}
	remote, err := whole.remote(ctx, r.job, most)
	if err != nil {
		return nil, err
	}
	best, least := whole, whole.objective()
	var out, last []int32
	for _, picked := range [][]int32{whole.outliers(r.job.K, most, false), whole.outliers(r.job.K, most, true), remote} {
		if len(picked) == 0 || slices.Equal(picked, last) {
			continue
		}
		last = picked
		rest, err := r.without(ctx, in, whole, picked, how, descent)
		if err != nil {
			if kind := noren.KindOf(err); kind == noren.NotMet || kind == noren.BadData {
				continue
			}
			return nil, err
		}
		if loses := rest.objective(); loses < least {
			best, least, out = rest, loses, picked
		}
	}
	if len(out) > 0 {
		r.leave(best, whole, out)
	}
	return best, nil
}

// without makes the groups of the records of the table that are not in out anew.
func (r *run) without(ctx context.Context, in *records.Table, whole *grouping, out []int32, how partition.Options, effort refine.Effort) (
	*grouping, error,
) {
	n := whole.space.Len() - len(out)
	kept, places := make([]uint32, 0, n), make([]int32, 0, n)
	for i := range int32(whole.space.Len()) {
		if len(out) > 0 && out[0] == i {
			out = out[1:]
			continue
		}
		kept, places = append(kept, uint32(i)), append(places, i)
	}
	columns, err := in.Select(ctx, kept)
	if err != nil {
		return nil, err
	}
	g, err := r.job.divide(ctx, r.population(columns, whole.frame, whole.space.Subset(places)), how)
	if err != nil {
		return nil, err
	}
	return r.job.refine(ctx, g, effort)
}

// leave leaves records of the table out of g and adds up what they count for: in the loss
// by their distance from the centre of the table.
func (r *run) leave(g, whole *grouping, out []int32) {
	s := whole.space
	centre := s.NewCentroid()
	for i := range int32(s.Len()) {
		centre.Add(i)
	}
	g.left = make([]bool, s.Len())
	for _, i := range out {
		g.left[i] = true
		g.lost += centre.Distance2(i)
	}
	r.result.Suppressed, r.result.Rows = len(out), s.Len()-len(out)
	if sst := s.SST(); sst > 0 {
		r.result.SuppressedLoss = g.lost / sst
	}
}
