package parts

import (
	"context"

	"github.com/noren-privacy/noren/table"
)

var _ table.Summed = (*Source)(nil)

// KeepSum implements [table.Summed].
func (s *Source) KeepSum() {
	s.keep = true
	for _, f := range s.files {
		table.KeepSum(f)
	}
}

// keepSum takes the sum of a file that a reading has come to the end of and that does not
// stay open.
func (r *reader) keepSum() error {
	if !r.s.keep || r.file == nil {
		return nil
	}
	sum, err := table.Sum(r.ctx, r.file)
	if err != nil {
		return err
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.s.sums == nil {
		r.s.sums = map[int][table.SumSize]byte{}
	}
	r.s.sums[r.next-1] = sum
	return nil
}

// Sum implements [table.Summed]: of all files in their order.
func (s *Source) Sum(ctx context.Context) (sum [table.SumSize]byte, err error) {
	sums := make([][table.SumSize]byte, len(s.paths))
	for i := range s.paths {
		if sums[i], err = s.sumOf(ctx, i); err != nil {
			return sum, err
		}
	}
	return table.SumAll(sums), nil
}

// sumOf is the sum of one file.
func (s *Source) sumOf(ctx context.Context, i int) (sum [table.SumSize]byte, err error) {
	if i < len(s.files) {
		return table.Sum(ctx, s.files[i])
	}
	s.mu.Lock()
	sum, have := s.sums[i]
	s.mu.Unlock()
	if have {
		return sum, nil
	}
	f, err := s.open(ctx, s.paths[i])
	if err != nil {
		return sum, err
	}
	defer func() { _ = f.Close() }()
	if sum, err = table.Sum(ctx, f); err != nil {
		return sum, err
	}
	return sum, s.same(i)
}
