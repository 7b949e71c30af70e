package correlated

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"noren"
	"noren/account"
	"noren/internal/randtest"
	"noren/noise"
	"noren/table"
)

func columnOf(t testing.TB, name string, names []string, states []int) *table.Table {
	t.Helper()
	f := table.Field{Name: name, Type: table.Integer}
	if names != nil {
		f.Type = table.Category
	}
	b, err := table.NewBuilder(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range states {
		if names != nil {
			err = b.Append([]byte(names[v]))
		} else {
			b.AppendInt(int64(v))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return &table.Table{Rows: len(states), Columns: []*table.Column{b.Column()}}
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
	m, err := NewMechanism(context.Background(), Spec{Model: f, Query: q, Column: "state", Epsilon: epsilon})
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
	if err != nil || !strings.Contains(strings.Join(g.Assumptions, " "), "source: synthetic") || g.Epsilon > 1 {
		t.Errorf("%+v, %v", g, err)
	}
	if text, err := json.Marshal(m.Parameters()); err != nil || !strings.Contains(string(text), `"scale"`) {
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
		"short":   columnOf(t, "state", []string{"off", "on"}, states[1:]),
		"unknown": columnOf(t, "state", []string{"off", "idle"}, states),
		"column":  columnOf(t, "other", []string{"off", "on"}, states),
	} {
		if _, err := m.Answer(context.Background(), bad, randtest.Source(1)); noren.KindOf(err) != noren.BadData || strings.Contains(fmt.Sprint(err), "idle") {
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
	exact, err := m.Steps(context.Background(), columnOf(t, "state", nil, states))
	if err != nil || exact[0] != 10 {
		t.Fatalf("%v, %v", exact, err)
	}
	a, err := m.Answer(context.Background(), columnOf(t, "state", nil, states), randtest.Source(2))
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
	for range 10000 {
		x := math.Ldexp(1+rand.Float64(), rand.IntN(80)-40)
		r := ratUp(x)
		f, _ := r.Float64()
		if r.Cmp(new(big.Rat).SetFloat64(x)) < 0 || f > x*(1+1e-9) || r.Num().BitLen() > scaleBits+60 {
			t.Fatalf("%g became %s", x, r)
		}
	}
}

// What an attack measures on released answers stays below the claim, and an
// attack on half the noise finds more than the claim: the test can fail.
func TestEmpiricalLeakage(t *testing.T) {
	m := mechanismFor(t, `{"type":"chain","init":[0.5,0.5],"P":[[0.85,0.15],[0.15,0.85]],"length":6}`, `{"count":1}`, 1)
	w := m.Leakage().Witness
	c := m.spec.Model.Model.(*Chain)
	// answer draws records given what the witness knows and the target's
	// state, and adds the noise.
	answer := func(state int, noisy *noise.Laplace) randtest.Mechanism {
		return func(src *noise.Source) (int64, error) {
			for {
				x, sum, fits := 0, int64(0), true
				for i := range c.Records() {
					law := c.init
					if i > 0 {
						law = c.pool[0].matrix()[x]
					}
					u, err := noise.Uniform(src)
					if err != nil {
						return 0, err
					}
					x = 0
					if u >= law[0] {
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
	m, err := NewMechanism(context.Background(), Spec{Model: f, Query: Count(1), Column: "state", Epsilon: 1})
	if err != nil {
		t.Fatal(err)
	}
	alone, err := Calibrate(context.Background(), one, Count(1), 1, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !m.Leakage().Exact || math.Abs(m.Calibration().Scale-alone.Scale) > 1e-8 {
		t.Errorf("the town needs b=%.12g, a household %.12g: %+v", m.Calibration().Scale, alone.Scale, m.Leakage())
	}
	// The other households hide nothing from who knows nothing: at the largest
	// answers an independent summand cancels from the ratio.
	l, err := ComputeLeakage(context.Background(), tree, Count(1), 2.5, Options{Adversaries: EmptyAdversaries()})
	if err != nil {
		t.Fatal(err)
	}
	all, err := ComputeLeakage(context.Background(), tree, Count(1), 2.5, Options{})
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
