package ratio

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table/axis"
)

// Options say what to reproduce.
type Options struct {
	// Repeats of each setting, with fresh tables and fresh noise. Defaults to 100.
	Repeats int
	// Dir is the folder of the reference data sets, where adult.csv is. Without that
	// file the second case is left out; so it is where Settings are named.
	Dir string
	// Public is asked before a file is read; an error refuses the file, such as one that a
	// ledger has granted. Optional.
	Public func(ctx context.Context, path string) error
	// Settings are names of [Settings]. Defaults to all.
	Settings []string
	// Seed of tables and noise. Defaults to 1.
	Seed uint64
	// Progress receives the progress. Optional.
	Progress noren.Progress
}

// Row is what one method reached in one setting at one epsilon, over all repeats.
type Row struct {
	Setting string `json:"setting"`
	Method  string `json:"method"`
	// Remark says what is not paid for, or not private at all.
	Remark string `json:"remark,omitempty"`
	// Epsilon is 0 for methods without privacy.
	Epsilon float64 `json:"epsilon"`
	// Normalised says whether the weights were divided by their mean.
	Normalised bool `json:"normalised"`
	Repeats    int  `json:"repeats"`
	// MSEMean and MSEMedian, over repeats, are of the mean squared error over the
	// public records; MSEError is the standard error of MSEMean.
	MSEMean   float64 `json:"mse_mean"`
	MSEMedian float64 `json:"mse_median"`
	MSEError  float64 `json:"mse_error"`
	// Integrated is the squared error integrated over p_E, its mean over repeats.
	Integrated float64 `json:"integrated"`
	// AbsMean is the mean absolute error of the weighted mean of the first coordinate.
	AbsMean float64 `json:"abs_mean"`
	ESS     float64 `json:"ess"`
	Sigma   float64 `json:"sigma,omitempty"`
	// Warned is the share of repeats in which the fit check warned; absent where a
	// method has no fit check.
	Warned *float64 `json:"warned,omitempty"`
	// Note is the mean that the design's own trial had, where it has one.
	Note *float64 `json:"note,omitempty"`
}

// Result is everything that [Run] makes.
type Result struct {
	Rows   []Row       `json:"rows"`
	Curves []Curve     `json:"curves"`
	Adult  []AdultRow  `json:"adult"`
	Facts  *AdultFacts `json:"facts,omitempty"`
	// Verdict says in sentences what came out.
	Verdict []string `json:"verdict"`
}

// Curve is one example of a fitted ratio in the paper's setting, the first repeat.
type Curve struct {
	Method  string    `json:"method"`
	Epsilon float64   `json:"epsilon"`
	X       []float64 `json:"x"`
	Y       []float64 `json:"y"`
}

// Run runs the settings and, where its file is there, the second case.
func Run(ctx context.Context, o Options) (*Result, error) {
	if o.Repeats == 0 {
		o.Repeats = 100
	}
	if o.Repeats < 2 || o.Repeats > 10_000 {
		return nil, &noren.Error{Kind: noren.Usage, Where: "--repeats", What: "between 2 and 10,000 repeats are possible"}
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	for _, name := range o.Settings {
		if !slices.ContainsFunc(Settings(), func(s *Setting) bool { return s.Name == name }) {
			return nil, &noren.Error{Kind: noren.Usage, Where: "--setting", What: "there are the settings S1, S2, S3 and S4"}
		}
	}
	var census *census
	if len(o.Settings) == 0 {
		var err error
		if o.Public != nil {
			err = o.Public(ctx, censusIn(o.Dir))
		}
		if err != nil {
			return nil, err
		}
		if census, err = loadCensus(o.Dir); err != nil {
			return nil, err
		}
	}
	r := &Result{}
	for i, s := range Settings() {
		if len(o.Settings) > 0 && !slices.Contains(o.Settings, s.Name) {
			continue
		}
		if err := r.setting(ctx, s, o, uint64(i)); err != nil {
			return nil, err
		}
	}
	if census != nil {
		if err := r.adult(ctx, o, census); err != nil {
			return nil, err
		}
	}
	r.Verdict = r.verdict()
	return r, nil
}

// task is a method at an epsilon.
type task struct {
	method  *method
	epsilon float64
}

func (r *Result) setting(ctx context.Context, s *Setting, o Options, at uint64) error {
	var tasks []task
	list := methods()
	for i := range list {
		m := &list[i]
		if len(m.only) > 0 && !slices.Contains(m.only, s.Name) {
			continue
		}
		for _, e := range m.epsilons {
			tasks = append(tasks, task{m, e})
		}
	}
	g := s.grid()
	found := make([][]measured, len(tasks)) // tasks x repeats
	for i := range found {
		found[i] = make([]measured, o.Repeats)
	}
	curves := make([]Curve, len(tasks))
	var next, done atomic.Int64
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range min(runtime.GOMAXPROCS(0), o.Repeats) {
		wg.Go(func() {
			for {
				repeat := int(next.Add(1)) - 1
				if repeat >= o.Repeats || ctx.Err() != nil {
					return
				}
				err := r.repeat(ctx, s, o, at, repeat, tasks, g, found, curves)
				mu.Lock()
				if err != nil && failed == nil {
					failed = err
				}
				bad := failed != nil
				o.Progress.Report("setting "+s.Name, done.Add(1), int64(o.Repeats))
				mu.Unlock()
				if bad {
					return
				}
			}
		})
	}
	wg.Wait()
	if failed != nil {
		return failed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, t := range tasks {
		r.Rows = append(r.Rows, rowOf(s, t, found[i], asFitted), rowOf(s, t, found[i], normalised))
		if curves[i].Method != "" {
			r.Curves = append(r.Curves, curves[i])
		}
	}
	return nil
}

// repeat runs all methods on one draw of the tables.
func (r *Result) repeat(ctx context.Context, s *Setting, o Options, at uint64, repeat int, tasks []task, g *grid, found [][]measured,
	curves []Curve,
) error {
	var limit []float64
	if s.Name == "S1" {
		limit = []float64{boxLow, boxHigh}
	}
	seed := o.Seed<<32 | at<<24
	t := &trial{sample: s.draw(seed, uint64(repeat), limit), setting: s, seed: seed<<20 + uint64(repeat)}
	for i, k := range tasks {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, err := k.method.fit(ctx, t, k.epsilon, uint64(16+i))
		if err != nil {
			return &noren.Error{
				Kind: noren.Internal, Where: noren.Textf("%s, %s, epsilon %g", s.Name, k.method.name, k.epsilon),
				What: "the method failed", Err: err,
			}
		}
		if found[i][repeat], err = t.measure(f, g); err != nil {
			return err
		}
		if repeat == 0 && s.Dim() == 1 && s.Name != "S2" {
			if curves[i], err = curve(s, k, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// curve evaluates a fit for the figures, as fitted; it is divided by its mean there
// where a figure says so.
func curve(s *Setting, k task, f *fitted) (Curve, error) {
	const points = 181
	lo, hi := s.public.mean[0]-3.5*s.public.sd[0], s.public.mean[0]+3.5*s.public.sd[0]
	x := axis.NewPoints[float64](points, 1)
	for i := range points {
		x.Data[i] = lo + (hi-lo)*float64(i)/(points-1)
	}
	y, err := f.at(x)
	return Curve{Method: s.Name + ": " + k.method.name, Epsilon: k.epsilon, X: x.Data, Y: y}, err
}

func rowOf(s *Setting, t task, found []measured, kind int) Row {
	pick := func(f func(*measured) float64) []float64 {
		out := make([]float64, len(found))
		for i := range found {
			out[i] = f(&found[i])
		}
		return out
	}
	mse := pick(func(e *measured) float64 { return e.mse[kind] })
	row := Row{
		Setting: s.Name, Method: t.method.name, Remark: t.method.remark, Epsilon: t.epsilon, Normalised: kind == normalised, Repeats: len(found),
		MSEMean: meanOf(mse), MSEMedian: medianOf(mse), MSEError: errorOf(mse),
		Integrated: meanOf(pick(func(e *measured) float64 { return e.integrated[kind] })),
		AbsMean:    meanOf(pick(func(e *measured) float64 { return e.mean })),
		ESS:        meanOf(pick(func(e *measured) float64 { return e.ess })),
		Sigma:      meanOf(pick(func(e *measured) float64 { return e.sigma })),
		Note:       note(s.Name, t.method.name, t.epsilon, kind == normalised),
	}
	if t.method.checked() {
		w := meanOf(pick(func(e *measured) float64 { return e.warned }))
		row.Warned = &w
	}
	return row
}
