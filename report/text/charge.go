package text

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/query"
)

// charge is what the words of an entry of a ledger need of its mechanism. Its parameters are public.
type charge struct {
	Name       string `json:"name"`
	Parameters struct {
		Column string          `json:"column"`
		By     []string        `json:"by"`
		Where  string          `json:"where"`
		Rank   string          `json:"rank"`
		Query  json.RawMessage `json:"query"` // of records of a model
		// of edges
		Count int `json:"count"`
		// of outliers
		K       int     `json:"k"`
		Step    float64 `json:"step"`
		Radius2 int64   `json:"radius_squared_steps"`
		// of outliers, weights and their check
		weighted
		// of an estimate from weights
		Fit    weighted `json:"fit"`
		Figure struct {
			Of     string `json:"of"`
			Column string `json:"column"`
			Where  string `json:"where"`
			Rank   string `json:"rank"`
		} `json:"figure"`
		// of randomised tables
		Columns []string    `json:"columns"`
		Report  json.Number `json:"epsilon_per_report"`
	} `json:"parameters"`
}

// weighted are the columns of weights: axes, or those of histograms.
type weighted struct {
	Axes []struct {
		Column string `json:"column"`
	} `json:"axes"`
	Histograms []struct {
		Axes []struct {
			Name string `json:"name"`
		} `json:"axes"`
	} `json:"histograms"`
}

// columns are the names, each once.
func (w *weighted) columns() []string {
	var names []string
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	for _, a := range w.Axes {
		add(a.Column)
	}
	for _, h := range w.Histograms {
		for _, a := range h.Axes {
			add(a.Name)
		}
	}
	return names
}

// Charged says in words what an entry of a ledger was charged for, by its mechanism as the ledger holds
// it; ok is false where that names none, as for an amount that was charged again without its question.
func Charged(mechanism json.RawMessage) (said api.Message, ok bool) {
	var of struct {
		Mechanism charge `json:"mechanism"`
		charge           // of charges from before schemas
	}
	_ = json.Unmarshal(mechanism, &of)
	c := &of.Mechanism
	if c.Name == "" {
		c = &of.charge
	}
	p := &c.Parameters
	columns := strings.Join(p.columns(), ", ")
	kind, isQuery := strings.CutPrefix(c.Name, "query.")
	switch {
	case c.Name == "":
		return api.Message{}, false
	case c.Name == "query.edges":
		return api.Say("asked.edges", map[string]any{"bins": p.Count, "column": p.Column}), true
	case isQuery:
		q, known := kinds.Query{Kind: query.Kind(kind), Column: p.Column, By: p.By, Where: p.Where, Rank: p.Rank}.Question()
		if known {
			return q.Of.Said(), true
		}
	case c.Name == "outlier.count":
		radius, _ := strconv.ParseFloat(strconv.FormatFloat(p.Step*math.Sqrt(float64(p.Radius2)), 'g', 9, 64), 64)
		return kinds.Outliers{K: p.K, Radius: radius, Columns: p.columns()}.Said(), true
	case c.Name == "ratio.estimate":
		f := &p.Figure
		return kinds.Ratio{Of: f.Of, Column: f.Column, Where: f.Where, Rank: f.Rank, Columns: p.Fit.columns()}.Said(), true
	case c.Name == "ratio.weights":
		return api.Say("asked.weights", map[string]any{"columns": columns}), true
	case c.Name == "ratio.check":
		return api.Say("asked.weights_check", map[string]any{"columns": columns}), true
	case c.Name == "correlated.answer":
		return kinds.Correlated{Query: p.Query}.Said(), true
	case c.Name == "ldp.randomize":
		return api.Say("asked.randomised", map[string]any{"columns": strings.Join(p.Columns, ", "), "epsilon": p.Report.String()}), true
	}
	return api.Say("asked.mechanism", map[string]any{"name": c.Name}), true
}
