package kanon

import (
	"fmt"

	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
)

// Params are an algorithm's parameters in the words of the golden figures, in
// the order in which they are printed.
type Params struct {
	Gamma   float64 `json:"gamma,omitempty"`
	Limit   string  `json:"limit,omitempty"`
	Ksharp  int     `json:"ksharp,omitempty"`
	M       int     `json:"m,omitempty"`
	Start   string  `json:"start,omitempty"`
	Ties    string  `json:"ties,omitempty"`
	Cut     string  `json:"cut,omitempty"`
	CellCut string  `json:"mondrian_cut,omitempty"`
	Refine  string  `json:"refine,omitempty"`
}

// String is p for people.
func (p Params) String() string {
	var s string
	add := func(format string, args ...any) {
		if s != "" {
			s += ", "
		}
		s += fmt.Sprintf(format, args...)
	}
	if p.Gamma != 0 {
		add("gamma %g", p.Gamma)
	}
	if p.Limit == "2k" {
		add("up to 2k")
	}
	if p.Ksharp != 0 {
		add("k# %d", p.Ksharp)
	}
	if p.M != 0 {
		add("m %d", p.M)
	}
	if p.Start != "" {
		add("%s", p.Start)
	}
	if p.Ties != "" {
		add("ties %s", p.Ties)
	}
	if p.Cut != "" {
		add("%s", p.Cut)
	}
	if p.Refine != "" {
		add("refine %s", p.Refine)
	}
	return s
}

// run is one row to be made.
type run struct {
	algorithm string
	params    Params
	options   partition.Options
	effort    refine.Effort
}

// The golden file's words.
const (
	strictCut    = "strict < upper median (fits Table 6)"
	balancedCut  = "strict best-balanced cut"
	cellCut      = "strict < upper median"
	fromLowest   = "farthest from lowest index"
	fromCentroid = "farthest from component centroid"
)

// slowRecords is from how many records on the rows that only trace the
// influence of m are left to --quick no less.
const slowRecords = 10_000

// runs lists the rows of a data set of n records for one k: the paper's methods
// as the golden figures have them (Algorithm 3 literally), then ours.
func runs(n, k int, quick bool, effort refine.Effort) []run {
	var all []run
	add := func(algorithm string, p Params, o partition.Options) {
		o.K, o.CoarseCut = k, partition.Strict
		if o.Coarse == partition.CoarseAuto {
			o.Coarse = partition.CoarseOff
		}
		all = append(all, run{algorithm: algorithm, params: p, options: o})
	}
	add("mdav", Params{}, partition.Options{Method: partition.MDAV})
	for _, gamma := range []float64{0.2, 1.1} {
		add("vmdav", Params{Gamma: gamma, Limit: "2k-1"}, partition.Options{Method: partition.VMDAV, Gamma: gamma})
	}
	if !quick && n < slowRecords {
		add("vmdav", Params{Gamma: 1.1, Limit: "2k"}, partition.Options{Method: partition.VMDAV, Gamma: 1.1, LargeLimit: true})
	}
	add("mondrian", Params{Cut: strictCut}, partition.Options{Method: partition.MondrianStrict})
	add("mondrian", Params{Cut: balancedCut}, partition.Options{Method: partition.Mondrian})
	tomobiki := func(m int, start partition.Start, ties space.Ties, words string) {
		add("tomobiki", Params{M: m, Start: words, Ties: ties.String()}, partition.Options{
			Method: partition.Tomobiki, M: m, Start: start,
			Ties: ties, Literal: true,
		})
	}
	for m := 1; m <= 5; m++ {
		if m == 3 || !quick {
			tomobiki(m, partition.FromLowest, space.ByIndex, fromLowest)
		}
	}
	tomobiki(3, partition.FromLowest, space.Cyclic, fromLowest)
	tomobiki(3, partition.FromCentroid, space.Cyclic, fromCentroid)
	for _, ksharp := range []int{k, 20, 80, 320, 1280, 3840} {
		if ksharp >= n || ksharp != k && ksharp <= 2*k {
			continue
		}
		add("tomobiki#", Params{Ksharp: ksharp, M: 3, Ties: "cyclic", CellCut: cellCut}, partition.Options{
			Method: partition.Tomobiki, M: 3, Start: partition.FromLowest, Literal: true, Coarse: ksharp,
		})
	}
	efforts := []refine.Effort{refine.Off, refine.Fast}
	if effort.Duration > 0 || effort.Exchange {
		efforts = append(efforts, effort)
	}
	for _, e := range efforts {
		all = append(all, run{algorithm: "noren", params: Params{Refine: e.String()}, options: partition.Options{K: k}, effort: e})
	}
	return all
}
