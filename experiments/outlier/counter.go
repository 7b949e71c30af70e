package outlier

import (
	"context"
	"math"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/outlier"
	"github.com/noren-privacy/noren/outlier/paper"
)

// Counterexample is a case in which the paper's bound fails, with ours beside.
type Counterexample struct {
	Name string `json:"name"`
	What string `json:"what"`
	// T is the number of records that are moved before the last.
	T int `json:"t"`
	// Sensitivity is by how much the query really changes then.
	Sensitivity int `json:"sensitivity"`
	// Paper is the paper's bound of that, Ours the corrected one.
	Paper int   `json:"paper"`
	Ours  int64 `json:"ours"`
}

// Unsmooth is a pair of neighbours whose bounds differ by more than e^beta.
type Unsmooth struct {
	Name    string  `json:"name"`
	Beta    float64 `json:"beta"`
	Allowed float64 `json:"allowed"` // e^beta
	Paper   float64 `json:"paper"`   // the larger S over the smaller, by the paper's bound
	Ours    float64 `json:"ours"`
}

// Failure is the pair of the paper's own size on which its mechanism breaks its
// guarantee: P_X'[E] - e^epsilon P_X[E] is above delta for the event E that the
// answer is more than Threshold from 0.
type Failure struct {
	N         int     `json:"n"`
	D         int     `json:"d"`
	Epsilon   float64 `json:"epsilon"`
	Delta     float64 `json:"delta"`
	Beta      float64 `json:"beta"`
	PaperS    float64 `json:"paper_S"`
	PaperSp   float64 `json:"paper_S_neighbour"`
	OursS     float64 `json:"ours_S"`
	OursSp    float64 `json:"ours_S_neighbour"`
	Threshold float64 `json:"threshold"`
	P         float64 `json:"P"`
	Pp        float64 `json:"P_neighbour"`
	Excess    float64 `json:"excess"` // P_X'[E] - e^epsilon P_X[E]
}

func flat(rows [][]int64) []int32 {
	var out []int32
	for _, r := range rows {
		for _, x := range r {
			out = append(out, int32(x))
		}
	}
	return out
}

func diagnose(ctx context.Context, rows [][]int64, k int, r2 int64, upTo int, betas ...float64) (*outlier.Diagnosis, error) {
	points, err := outlier.NewPoints(len(rows[0]), flat(rows), 0)
	if err != nil {
		return nil, err
	}
	return outlier.Diagnose(ctx, points, outlier.Setting{K: k, Radius2: r2, Neighbours: account.ReplaceOne}, upTo, betas)
}

// move is a record that goes somewhere else.
type move struct {
	record int
	to     []int64
}

// path moves records one after another and returns by how much the query
// changes with the last.
func path(rows [][]int64, k int, r2 int64, moves ...move) int {
	now := append([][]int64(nil), rows...)
	before, after := 0, paper.New(now, k, r2).Outliers()
	for _, m := range moves {
		now[m.record] = m.to
		before, after = after, paper.New(now, k, r2).Outliers()
	}
	return int(math.Abs(float64(after - before)))
}

// Counterexamples to the paper's bound (docs/outliers.md): each comes with the moves
// that exceed it.
func Counterexamples(ctx context.Context) ([]Counterexample, error) {
	pairs := [][]int64{{0, 1}, {0, 1}, {1, 0}, {1, 0}, {1, 2}, {1, 2}, {2, 1}, {2, 1}}
	cross := append(append([][]int64(nil), pairs...), []int64{0, 0}, []int64{2, 2})
	lone := append(append([][]int64(nil), pairs...), []int64{50, 50})
	var out []Counterexample
	for _, c := range []struct {
		name, what string
		rows       [][]int64
		k          int
		r2         int64
		moves      []move
	}{
		{
			"line", "three records at 0, 4 and 20 on a line, k = 1, r = 2: moving 20 to 2 makes all three inliers",
			[][]int64{{0}, {4}, {20}},
			1, 4,
			[]move{{2, []int64{2}}},
		},
		{
			"pairs", "two pairs at 0 and 4 and a record at 20, k = 2, r = 2: moving it to 2 makes all five inliers",
			[][]int64{{0}, {0}, {4}, {4}, {20}},
			2, 4,
			[]move{{4, []int64{2}}},
		},
		{
			"lone record", "four pairs around an empty centre in the plane, k = 2, r = 1: a far record moves to the centre", lone, 2, 1,
			[]move{{8, []int64{1, 1}}},
		},
		{
			"cross", "the same with single records at (0,0) and (2,2): one goes to the centre, the other away, and the first away again", cross, 2,
			1,
			[]move{{9, []int64{1, 1}}, {8, []int64{50, 50}}, {9, []int64{50, 60}}},
		},
	} {
		data := paper.New(c.rows, c.k, c.r2)
		t := len(c.moves) - 1
		d, err := diagnose(ctx, c.rows, c.k, c.r2, t)
		if err != nil {
			return nil, err
		}
		out = append(out, Counterexample{
			Name: c.name, What: c.what, T: t,
			Sensitivity: path(c.rows, c.k, c.r2, c.moves...),
			Paper:       data.Bound(t, data.Anywhere), Ours: d.U[t],
		})
	}
	return out, nil
}

// NotSmooth is the pair on which the bound is not smooth even when its maxima are
// taken over the domain (item 2).
func NotSmooth(ctx context.Context) (*Unsmooth, error) {
	const beta = 0.3
	pair := [2][][]int64{
		{{0, 2}, {1, 0}, {1, 1}, {1, 1}, {1, 2}, {1, 2}, {2, 0}, {2, 0}, {2, 2}, {2, 2}},
		{{0, 2}, {0, 2}, {1, 1}, {1, 1}, {1, 2}, {1, 2}, {2, 0}, {2, 0}, {2, 2}, {2, 2}},
	}
	domain := [][]int64{{50, 50}}
	for x := range int64(3) {
		for y := range int64(3) {
			domain = append(domain, []int64{x, y})
		}
	}
	var theirs, ours [2]float64
	for i, rows := range pair {
		data := paper.New(rows, 2, 1)
		theirs[i] = paper.SmoothCapped(len(rows), beta, func(t int) int { return data.BoundOverDomain(t, data.OverDomain(domain)) })
		d, err := diagnose(ctx, rows, 2, 1, -1, beta)
		if err != nil {
			return nil, err
		}
		ours[i] = d.S[0].S
	}
	ratio := func(s [2]float64) float64 { return max(s[0]/s[1], s[1]/s[0]) }
	return &Unsmooth{
		Name: "one record moves from (1,0) to (0,2)", Beta: beta, Allowed: math.Exp(beta), Paper: ratio(theirs),
		Ours: ratio(ours),
	}, nil
}

// FailingPair is item 3: 39 groups of six at the ends of the axes in 34
// dimensions, and one record far away (X) or at the origin (X').
func FailingPair(ctx context.Context) (*Failure, error) {
	f := &Failure{N: 235, D: 34, Epsilon: 0.5, Delta: 1e-3}
	f.Beta = paper.Beta(f.Epsilon, f.Delta)
	var rows [][]int64
	for g := range 39 {
		row := make([]int64, f.D)
		row[g%f.D] = 1
		if g >= f.D {
			row[g%f.D] = -1
		}
		for range 6 {
			rows = append(rows, row)
		}
	}
	far, origin := make([]int64, f.D), make([]int64, f.D)
	far[0] = 100
	var theirs, ours, query [2]float64
	for i, last := range [][]int64{far, origin} {
		all := append(rows[:len(rows):len(rows)], last)
		bound, err := paperBound(ctx, f.D, flat(all), K, 1)
		if err != nil {
			return nil, err
		}
		theirs[i] = paper.SmoothCapped(f.N, f.Beta, bound)
		d, err := diagnose(ctx, all, K, 1, -1, f.Beta)
		if err != nil {
			return nil, err
		}
		ours[i], query[i] = d.S[0].S, float64(d.Query)
	}
	f.PaperS, f.PaperSp, f.OursS, f.OursSp = theirs[0], theirs[1], ours[0], ours[1]
	alpha := paper.Alpha(f.Epsilon, f.Delta)
	// P(|q + sigma Z| > c) for a normal Z.
	beyond := func(q, sigma, c float64) float64 {
		return math.Erfc((c-q)/sigma/math.Sqrt2)/2 + math.Erfc((c+q)/sigma/math.Sqrt2)/2
	}
	// The threshold with the largest excess, by golden section: the excess rises
	// to one top.
	excess := func(c float64) float64 {
		return beyond(query[1], theirs[1]/alpha, c) - math.Exp(f.Epsilon)*beyond(query[0], theirs[0]/alpha, c)
	}
	lo, hi := 0.0, 10*theirs[1]/alpha
	for range 200 {
		a, b := lo+(hi-lo)*0.382, lo+(hi-lo)*0.618
		if excess(a) < excess(b) {
			lo = a
		} else {
			hi = b
		}
	}
	f.Threshold = (lo + hi) / 2
	f.P, f.Pp, f.Excess = beyond(query[0], theirs[0]/alpha, f.Threshold), beyond(query[1], theirs[1]/alpha, f.Threshold), excess(f.Threshold)
	return f, nil
}
