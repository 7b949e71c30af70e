package learn

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren"
)

// Classifier tells the class of a record of d features. It is safe for
// concurrent use.
type Classifier interface {
	Predict(x []float64) int
}

// Learner trains a classifier: [SVM] and [Forest].
type Learner interface {
	Train(ctx context.Context, x *Matrix, y []int, seed uint64) (Classifier, error)
	String() string
}

// Fold is one round of a cross-validation: records to learn from and records to
// be tried on, both ascending.
type Fold struct{ Train, Test []int }

// KFold deals n records, shuffled, into k parts of sizes that differ by at
// most one; each part is tested once.
func KFold(n, k int, seed uint64) ([]Fold, error) {
	if k < 2 || k > n {
		return nil, &noren.Error{
			Kind: noren.Usage,
			What: "%d {fold|folds} of %d {record|records}: take 2 or more, and no more than there are records", Args: []any{k, n},
		}
	}
	order := stream(seed, 0).Perm(n)
	part := make([]int, n)
	for i, at := 0, 0; i < k; i++ {
		size := n / k
		if i < n%k {
			size++
		}
		for range size {
			part[order[at]] = i
			at++
		}
	}
	return folds(part, k), nil
}

// StratifiedKFold deals the records of every class by themselves, so that each
// part has its share of each class, give or take one record; the parts' sizes
// differ by at most one.
func StratifiedKFold(y []int, k int, seed uint64) ([]Fold, error) {
	if k < 2 || k > len(y) {
		return nil, &noren.Error{
			Kind: noren.Usage,
			What: "%d {fold|folds} of %d {record|records}: take 2 or more, and no more than there are records", Args: []any{k, len(y)},
		}
	}
	// Shuffled, then stably sorted by class, then dealt like cards: neighbours of
	// one class go to different parts.
	order := stream(seed, 0).Perm(len(y))
	slices.SortStableFunc(order, func(a, b int) int { return y[a] - y[b] })
	part := make([]int, len(y))
	for at, i := range order {
		part[i] = at % k
	}
	return folds(part, k), nil
}

// GroupedKFold is [StratifiedKFold] for records that belong together, such as those of one
// person: all records of a group are in one part. group names the group of each record by a
// number from 0. Groups are dealt in a random order, the larger ones first, each to the part that has
// the smallest share of its classes so far, and the fewest records among equal ones.
func GroupedKFold(y, group []int, k int, seed uint64) ([]Fold, error) {
	if len(group) != len(y) {
		return nil, &noren.Error{
			Kind: noren.Usage, What: "%d {group|groups} for %d {record|records}: expected the group of each record",
			Args: []any{len(group), len(y)},
		}
	}
	var members [][]int
	classes := 0
	for i, g := range group {
		for len(members) <= g {
			members = append(members, nil)
		}
		members[g] = append(members[g], i)
		classes = max(classes, y[i]+1)
	}
	members = slices.DeleteFunc(members, func(m []int) bool { return len(m) == 0 })
	if k < 2 || k > len(members) {
		return nil, &noren.Error{
			Kind: noren.Usage,
			What: "%d {fold|folds} of %d {group|groups}: take 2 or more, and no more than there are groups", Args: []any{k, len(members)},
		}
	}
	total := make([]float64, classes)
	for _, c := range y {
		total[c]++
	}
	order := stream(seed, 0).Perm(len(members))
	slices.SortStableFunc(order, func(a, b int) int { return len(members[b]) - len(members[a]) })
	held, size, part := make([][]float64, k), make([]int, k), make([]int, len(y))
	for p := range held {
		held[p] = make([]float64, classes)
	}
	share := func(p int, m []int) (sum float64) {
		for _, i := range m {
			sum += held[p][y[i]] / total[y[i]]
		}
		return sum
	}
	for _, g := range order {
		best, least := 0, share(0, members[g])
		for p := 1; p < k; p++ {
			if s := share(p, members[g]); s < least || s == least && size[p] < size[best] {
				best, least = p, s
			}
		}
		for _, i := range members[g] {
			part[i] = best
			held[best][y[i]]++
			size[best]++
		}
	}
	return folds(part, k), nil
}

// Sample draws k of n records without putting back, ascending; every k of them
// are as likely.
func Sample(n, k int, seed uint64) ([]int, error) {
	if k < 1 || k > n {
		return nil, &noren.Error{
			Kind: noren.Usage, What: "a sample of %d of %d {record|records}: take 1 or more, and no more than there are",
			Args: []any{k, n},
		}
	}
	picked := stream(seed, 1).Perm(n)[:k]
	slices.Sort(picked)
	return picked, nil
}

// folds makes the rounds from every record's part.
func folds(part []int, k int) []Fold {
	all := make([]Fold, k)
	for i, p := range part {
		for f := range all {
			if f == p {
				all[f].Test = append(all[f].Test, i)
			} else {
				all[f].Train = append(all[f].Train, i)
			}
		}
	}
	return all
}

// CV says how a cross-validation runs.
type CV struct {
	// Folds. Required.
	Folds []Fold
	// Seed of the learner's own draws.
	Seed uint64
	// Workers train folds side by side. Defaults to 1. The result does not depend
	// on it.
	Workers int
	// Tests are the records to be tried on, each n x d as x, with the same record
	// at the same place. Defaults to x itself. Trained is always on x: this is how
	// a model of randomised data is tried on raw data, and the reverse.
	Tests []*Matrix
}

// CrossValidate trains on the training part of every fold and returns the shares
// of right answers on the test part: Tests x folds.
func CrossValidate(ctx context.Context, l Learner, x *Matrix, y []int, cv CV) ([][]float64, error) {
	if _, err := checkClasses(x, y); err != nil {
		return nil, err
	}
	tests := cv.Tests
	if len(tests) == 0 {
		tests = []*Matrix{x}
	}
	for _, t := range tests {
		if err := checkMatrix(t); err != nil {
			return nil, err
		}
		if t.Rows != x.Rows || t.Cols != x.Cols {
			return nil, &noren.Error{
				Kind: noren.Usage,
				What: "records to be tried on must be the training records, in the same order and with the same features",
			}
		}
	}
	for k, f := range cv.Folds {
		if len(f.Train) == 0 || len(f.Test) == 0 || !within(f.Train, x.Rows) || !within(f.Test, x.Rows) {
			return nil, &noren.Error{
				Kind: noren.Usage, Where: noren.Textf("fold %d", k+1),
				What: "a fold names records of the matrix, at least one for training and one for testing",
			}
		}
	}
	if len(cv.Folds) == 0 {
		return nil, &noren.Error{Kind: noren.Usage, What: "a cross-validation needs folds"}
	}
	rates := make([][]float64, len(tests))
	for t := range rates {
		rates[t] = make([]float64, len(cv.Folds))
	}
	err := parallel(ctx, cv.Workers, len(cv.Folds), func() func(int) error {
		return func(k int) error {
			f := cv.Folds[k]
			labels := make([]int, len(f.Train))
			for i, r := range f.Train {
				labels[i] = y[r]
			}
			c, err := l.Train(ctx, x.Select(f.Train), labels, mix(cv.Seed)+uint64(k))
			if err != nil {
				return err
			}
			for t, m := range tests {
				right := 0
				for _, r := range f.Test {
					if c.Predict(m.Row(r)) == y[r] {
						right++
					}
				}
				rates[t][k] = float64(right) / float64(len(f.Test))
			}
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	return rates, nil
}

func within(rows []int, n int) bool {
	for _, r := range rows {
		if r < 0 || r >= n {
			return false
		}
	}
	return true
}
