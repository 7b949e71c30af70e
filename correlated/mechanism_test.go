package correlated

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/table"
)

func columnOf(t testing.TB, name string, names []string, states []int) *table.Table {
	t.Helper()
	b, err := table.NewBuilder(table.Field{Name: name, Type: table.Ordered, Levels: names}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range states {
		if v < 0 {
			b.AppendMissing()
			continue
		}
		if err := b.Append([]byte(names[v])); err != nil {
			t.Fatal(err)
		}
	}
	return &table.Table{Rows: len(states), Columns: []*table.Column{b.Column()}}
}

func costOf(epsilon float64) account.Cost {
	return account.Cost{Epsilon: int64(math.Round(epsilon * account.EpsilonUnits))}
}

func mechanismFor(t testing.TB, model, query string, epsilon float64) *Mechanism {
	t.Helper()
	f, err := ParseModel(strings.NewReader(model), "m.json")
	if err != nil {
		t.Fatal(err)
	}
	q, err := ParseQuery(strings.NewReader(query), "q.json", f)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(context.Background(), Options{Model: f, Query: q, Column: "state", Cost: costOf(epsilon)})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const powerDay = `{"type":"chain","states":["off","on"],"source":"synthetic","init":[0.8,0.2],"P":[[0.95,0.05],[0.2,0.8]],"length":1440}`

// A day of power use, a record a minute.
func TestPowerDay(t *testing.T) {
	m := mechanismFor(t, powerDay, `{"count":"on"}`, 1)
	cost, err := m.Cost(account.ReplaceOne, account.Record)
	if err != nil {
		t.Fatal(err)
	}
	l := m.Leakage()
	if l.Upper > 1 || l.Upper < 0.98 || m.Calibration().Scale < 1 || float64(cost.Epsilon) < l.Upper*1e9 || m.Plain() > 1 {
		t.Errorf("leakage %+v, cost %v, plain %g, scale %s", l, cost, m.Plain(), m.Scale())
	}
	if _, err := m.Cost(account.AddRemove, account.Record); noren.KindOf(err) != noren.Usage {
		t.Errorf("add-remove: %v", err)
	}
	if _, err := m.Cost(account.ReplaceOne, "household"); noren.KindOf(err) != noren.Usage {
		t.Errorf("another unit: %v", err)
	}
	g, err := m.Guarantee(account.ReplaceOne, account.Record)
	if err != nil || !strings.Contains(g.Assumptions.Join(" "), "source: synthetic") || g.Epsilon > 1 {
		t.Errorf("%+v, %v", g, err)
	}
	text, err := json.Marshal(m.Parameters())
	if err != nil || !strings.Contains(string(text), `"scale"`) || !strings.Contains(string(text), `"model_sha256":"`+m.hash+`"`) ||
		strings.Contains(string(text), "0.95") {
		t.Errorf("%s, %v", text, err)
	}
	states := make([]int, 1440)
	for i := range states {
		states[i] = i / 100 % 2
	}
	a, err := m.Answer(context.Background(), columnOf(t, "state", []string{"off", "on"}, states), randtest.Source(1))
	if err != nil {
		t.Fatal(err)
	}
	v, err := a.(*Answer).Values[0].Float64()
	if err != nil || math.Abs(v-700) > 40*a.(*Answer).Within95[0] || v != math.Trunc(v) {
		t.Errorf("%+v", a)
	}
	for name, bad := range map[string]*table.Table{
		"short":  columnOf(t, "state", []string{"off", "on"}, states[1:]),
		"column": columnOf(t, "other", []string{"off", "on"}, states),
		"levels": columnOf(t, "state", []string{"on", "off"}, states),
	} {
		if _, err := m.Answer(context.Background(), bad, randtest.Source(1)); noren.KindOf(err) != noren.BadData {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Values are exact decimals on the query's grid.
func TestAnswersLieOnTheGrid(t *testing.T) {
	m := mechanismFor(t, `{"type":"chain","init":[0.5,0.5],"P":[[0.7,0.3],[0.4,0.6]],"length":30}`, `{"g":[-0.1,0.15]}`, 2)
	states := make([]int, 30)
	for i := range 10 {
		states[i] = 1
	}
	exact, err := m.Steps(context.Background(), columnOf(t, "state", []string{"0", "1"}, states))
	if err != nil || exact[0] != 10 {
		t.Fatalf("%v, %v", exact, err)
	}
	a, err := m.Answer(context.Background(), columnOf(t, "state", []string{"0", "1"}, states), randtest.Source(2))
	if err != nil {
		t.Fatal(err)
	}
	v, ok := new(big.Rat).SetString(a.(*Answer).Values[0].String())
	if !ok {
		t.Fatal(a)
	}
	if v.Add(v, big.NewRat(3, 1)).Quo(v, big.NewRat(1, 4)); !v.IsInt() {
		t.Errorf("%v is on no grid point", a.(*Answer).Values)
	}
}

func TestScalesAreRoundedUp(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	for range 10000 {
		x := math.Ldexp(1+r.Float64(), r.IntN(80)-40)
		up := ratUp(x)
		f, _ := up.Float64()
		if up.Cmp(new(big.Rat).SetFloat64(x)) < 0 || f > x*(1+1e-9) || up.Num().BitLen() > scaleBits+60 {
			t.Fatalf("%g became %s", x, up)
		}
	}
}

// What an attack measures on released answers stays below the claim, and an
// attack on half the noise finds more than the claim: the test can fail.
func TestEmpiricalLeakage(t *testing.T) {
	randtest.SkipShort(t)
	m := mechanismFor(t, `{"type":"chain","init":[0.5,0.5],"P":[[0.85,0.15],[0.15,0.85]],"length":6}`, `{"count":1}`, 1)
	w := m.Leakage().Witness
	c := m.options.Model.Model.(*Chain)
	// answer draws records given what the witness knows and the target's
	// state, and adds the noise.
	answer := func(state int, noisy *noise.Laplace) randtest.Mechanism {
		return func(src *noise.Source) (int64, error) {
			for {
				x, sum, fits := 0, int64(0), true
				for i := range c.Records() {
					dist := c.init
					if i > 0 {
						dist = c.pool[0].matrix()[x]
					}
					u, err := noise.Uniform(src)
					if err != nil {
						return 0, err
					}
					x = 0
					if u >= dist[0] {
						x = 1
					}
					fits = fits && (i != w.Target || x == state)
					for _, k := range w.Known {
						fits = fits && (k.Record != i || k.State == x)
					}
					sum += int64(x)
				}
				if !fits {
					continue
				}
				z, err := noisy.Draw(src)
				return sum + z, err
			}
		}
	}
	attack := func(scale *big.Rat) float64 {
		l, err := noise.NewLaplace(scale)
		if err != nil {
			t.Fatal(err)
		}
		b, err := randtest.EpsilonLowerBound(context.Background(), randtest.Audit{Runs: 120_000, Seed: 3}, answer(w.State, l), answer(w.Other, l))
		if err != nil {
			t.Fatal(err)
		}
		return b.Epsilon
	}
	if e := attack(m.steps[0]); e > m.Leakage().Upper || e < 0.7 {
		t.Errorf("the attack finds a loss of %g, and %g is claimed", e, m.Leakage().Upper)
	}
	if e := attack(new(big.Rat).Quo(m.steps[0], big.NewRat(2, 1))); e <= 1 {
		t.Errorf("on half the noise the attack finds only %g", e)
	}
}

// A town of households: one infected member infects others. Equal households
// are one, and the leakage is exact.
func TestHouseholds(t *testing.T) {
	const households, size = 500, 4
	parent := make([]int, households*size)
	spread := [][]float64{{0.95, 0.05}, {0.4, 0.6}}
	cpt := make([][][]float64, len(parent))
	for i := range parent {
		parent[i] = -1
		if i%size > 0 {
			parent[i], cpt[i] = i-i%size, spread
		}
	}
	tree, err := NewTree(parent, []float64{0.9, 0.1}, cpt)
	if err != nil {
		t.Fatal(err)
	}
	one, err := NewTree(parent[:size], []float64{0.9, 0.1}, cpt[:size])
	if err != nil {
		t.Fatal(err)
	}
	f := &ModelFile{Model: tree, States: []string{"well", "ill"}, Source: "an earlier year's survey"}
	m, err := New(context.Background(), Options{Model: f, Query: Count(1), Column: "state", Cost: costOf(1)})
	if err != nil {
		t.Fatal(err)
	}
	alone, err := Calibrate(context.Background(), one, Count(1), 1, LeakageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !m.Leakage().Exact || math.Abs(m.Calibration().Scale-alone.Scale) > 1e-8 {
		t.Errorf("the town needs b=%.12g, a household %.12g: %+v", m.Calibration().Scale, alone.Scale, m.Leakage())
	}
	// The other households hide nothing from who knows nothing: at the largest
	// answers an independent summand cancels from the ratio.
	l, err := ComputeLeakage(context.Background(), tree, Count(1), 2.5, LeakageOptions{Adversaries: EmptyAdversaries()})
	if err != nil {
		t.Fatal(err)
	}
	all, err := ComputeLeakage(context.Background(), tree, Count(1), 2.5, LeakageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !l.Exact || !agree(l.Upper, all.Upper) {
		t.Errorf("who knows nothing learns %g, any adversary %g", l.Upper, all.Upper)
	}
	states := make([]int, len(parent))
	for i := range states {
		if i%7 == 0 {
			states[i] = 1
		}
	}
	a, err := m.Answer(context.Background(), columnOf(t, "state", f.States, states), randtest.Source(5))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := a.(*Answer).Values[0].Float64(); err != nil || math.Abs(v-286) > 100 {
		t.Errorf("%+v", a)
	}
}

// Every table of as many records as the model has is answered: a value that is
// missing or no state of its record counts as the record's first state.
func TestEveryTableIsAnswered(t *testing.T) {
	m := mechanismFor(t,
		`{"type":"tree","parent":[-1,0,0],"prior":[0.5,0.5],"cpt":[null,[[0.2,0.3,0.5],[0.6,0.2,0.2]],[[0.9,0.1],[0.3,0.7]]]}`,
		`{"g":[[0,1],[0,10,20],[0,100]]}`, 1)
	if f := m.Columns()[0]; f.Type != table.Ordered || !slices.Equal(f.Levels, []string{"0", "1", "2"}) {
		t.Fatalf("%+v", f)
	}
	for want, states := range map[int64][]int{0: {-1, -1, -1}, 1: {1, 0, 0}, 111: {1, 1, 1}, 20: {2, 2, 2}, 10: {-1, 1, -1}} {
		x := columnOf(t, "state", []string{"0", "1", "2"}, states)
		got, err := m.Steps(context.Background(), x)
		if err != nil || got[0] != want {
			t.Errorf("%v: %v, %v, want %d", states, got, err, want)
		}
		if _, err := m.Answer(context.Background(), x, randtest.Source(1)); err != nil {
			t.Errorf("%v: %v", states, err)
		}
	}
	for records, ok := range map[int64]bool{3: true, 0: false, 2: false, 4: false} {
		err := m.Covers(20_000_000, records)
		if (err == nil) != ok || err != nil && (noren.KindOf(err) != noren.Usage || noren.CodeOf(err) != "records") {
			t.Errorf("%d records: %v", records, err)
		}
	}
}

// Charges, leakages and ordinary epsilons are decimals of nine places, and none is
// below what it stands for.
func TestWhatIsPrintedIsExact(t *testing.T) {
	randtest.SkipShort(t)
	for _, epsilon := range []float64{0.5, 0.1, 1, 3.7} {
		for _, model := range []string{powerDay, `{"type":"chain","init":[0.5,0.5],"P":[[0.7,0.3],[0.4,0.6]],"length":30}`} {
			m := mechanismFor(t, model, `{"count":1}`, epsilon)
			b, _ := m.Scale().Float64()
			exact, err := ComputeLeakage(context.Background(), m.options.Model.Model, m.options.Query, b, LeakageOptions{})
			if err != nil {
				t.Fatal(err)
			}
			g, err := m.Guarantee(account.ReplaceOne, account.Record)
			if err != nil {
				t.Fatal(err)
			}
			if g.Epsilon < exact.Lower || g.Epsilon > epsilon || m.Leakage().Upper < exact.Lower || m.Plain() < 1/b {
				t.Errorf("epsilon %v: %v stated, %v leaked, plain %v", epsilon, g.Epsilon, exact.Lower, m.Plain())
			}
			for _, v := range []float64{g.Epsilon, m.Leakage().Upper, m.Leakage().Lower, m.Calibration().Leakage.Upper, m.Plain()} {
				if _, part, _ := strings.Cut(strconv.FormatFloat(v, 'f', -1, 64), "."); len(part) > 9 {
					t.Errorf("epsilon %v: %v has more than nine places", epsilon, v)
				}
			}
		}
	}
}

// An answer has canonical JSON whatever the noise, and reads back the same.
func TestExtremeAnswersHaveCanonicalJSON(t *testing.T) {
	m := mechanismFor(t, `{"type":"chain","init":[0.5,0.5],"P":[[0.7,0.3],[0.4,0.6]],"length":30}`, `{"g":[-0.1,0.15]}`, 2)
	for _, steps := range []int64{0, 1, 10, 1 << 53, math.MaxInt64, math.MinInt64, -1 << 40} {
		v := m.query.dims[0].value(steps)
		text, err := json.Marshal(Answer{Values: []Decimal{v}, Scale: 1, Within95: []float64{1}})
		if err != nil {
			t.Fatal(err)
		}
		if text, err = certificate.Canonical(text); err != nil {
			t.Fatalf("%s: %v", v, err)
		}
		var back Answer
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		a, _ := new(big.Rat).SetString(v.String())
		if b, ok := new(big.Rat).SetString(back.Values[0].String()); !ok || a.Cmp(b) != 0 {
			t.Errorf("%s became %s", v, back.Values[0])
		}
	}
	// A scale that canonical JSON cannot hold is refused from public figures.
	f := m.options
	f.Cost, f.Query = costOf(1e-9), Sum([]float64{0, 1e8})
	if _, err := New(context.Background(), f); noren.KindOf(err) != noren.Usage {
		t.Errorf("noise beyond 2^53: %v", err)
	}
}

// One model has one hash, however its file is laid out; another has another.
func TestModelHash(t *testing.T) {
	hash := func(text string) string {
		f, err := ParseModel(strings.NewReader(text), "m.json")
		if err != nil {
			t.Fatal(err)
		}
		h, err := f.Hash()
		if err != nil || len(h) != 64 {
			t.Fatalf("%q, %v", h, err)
		}
		return h
	}
	first := hash(powerDay)
	for text, same := range map[string]bool{
		strings.ReplaceAll(powerDay, ",", " , "):                       true,
		strings.Replace(powerDay, `"length":1440`, `"length":1441`, 1): false,
		strings.Replace(powerDay, `"off","on"`, `"on","off"`, 1):       false,
		strings.Replace(powerDay, "0.95,0.05", "0.96,0.04", 1):         false,
	} {
		if (hash(text) == first) != same {
			t.Errorf("%s: the same hash: %v", text, !same)
		}
	}
}
