package service_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/cputime"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/service"
)

// boundedTable is a table with questions whose computations are compared with their bounds.
type boundedTable struct {
	name, text string
	definition *dataset.Definition
	questions  map[string]api.Question
}

// worstTables are tables that take longest: every record meets every condition and belongs to
// a group, all values differ, persons have more records than count.
func worstTables(n int) []boundedTable {
	rows := func(who func(i int) int) string {
		var b strings.Builder
		b.WriteString("who,age,x,y,z,w,sex,city,many\n")
		for i := range n {
			fmt.Fprintf(&b, "p%d,%d,%.6f,%.6f,%.6f,%.6f,%s,city %d,text %d\n", who(i), i%111, float64(i)/float64(n), float64((i*7919)%n)/float64(n),
				float64((i*613)%n)/float64(n), float64((i*1301)%n)/float64(n), []string{"f", "m"}[i%2], i%500, i)
		}
		return b.String()
	}
	cities := make([]string, 500)
	for i := range cities {
		cities[i] = fmt.Sprint("city ", i)
	}
	long := make([]string, 1000)
	for i := range long {
		long[i] = fmt.Sprintf("'text %d'", i)
	}
	edges := make([]string, 1001)
	for i := range edges {
		edges[i] = fmt.Sprintf("%.3f", float64(i)/1000)
	}
	terms := strings.TrimSuffix(strings.Repeat("x >= 0 and ", 40), " and ")
	definition := func(unit string) *dataset.Definition {
		return &dataset.Definition{AtMost: int64(n), Unit: unit, Columns: []dataset.Column{
			{Name: "who"},
			{Name: "age", Type: "integer", Bounds: []string{"0", "110"}},
			{Name: "x", Type: "decimal", Bounds: []string{"0", "1"}},
			{Name: "y", Type: "decimal", Bounds: []string{"0", "1"}},
			{Name: "z", Type: "decimal", Bounds: []string{"0", "1"}},
			{Name: "w", Type: "decimal", Bounds: []string{"0", "1"}},
			{Name: "sex", Keys: []string{"f", "m"}},
			{Name: "city", Keys: cities},
			{Name: "many"},
		}}
	}
	pay := func(epsilon string) *api.Amount { return &api.Amount{Epsilon: epsilon} }
	many := map[string]api.Question{
		"count":              {Of: kinds.Count{Where: "age >= 0 and x <= 1"}, Pay: pay("0.1")},
		"one comparison":     {Of: kinds.Count{Where: "x != 0.5"}, Pay: pay("0.1")},
		"no value":           {Of: kinds.Count{Where: "not age is missing"}, Pay: pay("0.1")},
		"a short list":       {Of: kinds.Sum{Column: "x", Where: "not age in (0, 1, 2, 3, 4, 5, 6, 7)"}, Pay: pay("0.1")},
		"a mean of all":      {Of: kinds.Mean{Column: "x", Where: "y <= 1"}, Pay: pay("0.1")},
		"many terms":         {Of: kinds.Count{Where: terms}, Pay: pay("0.1")},
		"a list":             {Of: kinds.Count{Where: "many in (" + strings.Join(long, ",") + ") or x >= 0"}, Pay: pay("0.1")},
		"groups":             {Of: kinds.Count{By: []string{"city", "sex"}, Where: "x >= 0"}, Pay: pay("0.1")},
		"sum":                {Of: kinds.Sum{Column: "x", Where: "age >= 0"}, Pay: pay("0.1")},
		"mean of groups":     {Of: kinds.Mean{Column: "x", By: []string{"city"}, Where: "age >= 0"}, Pay: pay("1")},
		"variance of groups": {Of: kinds.Variance{Column: "y", By: []string{"city"}, Where: "age >= 0"}, Pay: pay("1")},
		"bins":               {Of: kinds.Histogram{Column: "x", Bins: edges, Where: "age >= 0"}, Pay: pay("0.1")},
		"bins of groups":     {Of: kinds.Histogram{Column: "x", Bins: edges[:101], By: []string{"sex"}, Where: "age >= 0"}, Pay: pay("0.1")},
		"median":             {Of: kinds.Quantile{Column: "x", Where: "age >= 0"}, Pay: pay("0.000001")},
		"a rank of 6 places": {Of: kinds.Quantile{Column: "x", Rank: "0.618033", Where: "age >= 0"}, Pay: pay("0.000001")},
		"a median of groups": {Of: kinds.Quantile{Column: "x", By: []string{"city"}, Where: "age >= 0"}, Pay: pay("0.000001")},
		"a fine grid":        {Of: kinds.Quantile{Column: "x", GridBits: places(30), Where: "age >= 0"}, Pay: pay("0.000001")},
		"places of few":      {Of: kinds.Quantile{Column: "x", GridBits: places(21), Where: "age >= 0"}, Pay: pay("0.000001")},
		"a smooth median":    {Of: kinds.Quantile{Column: "x", Noise: "smooth", Where: "age >= 0"}, Pay: pay("0.01")},
	}
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = fmt.Sprintf("text %d", i)
	}
	some := func(column string) []string {
		if column == "age" {
			return []string{"0", "1"}
		}
		return []string{"0.000000", "0.500000"}
	}
	numbers := make([]string, 1000)
	for i := range numbers {
		numbers[i] = fmt.Sprintf("%.6f", float64(i)/1000)
	}
	for name, q := range map[string]api.Question{
		"groups of a number":    {Of: kinds.Count{By: []string{"y"}, Keys: [][]string{some("y")}}, Pay: pay("0.1")},
		"a mean of such groups": {Of: kinds.Mean{Column: "x", By: []string{"y"}, Keys: [][]string{some("y")}}, Pay: pay("0.1")},
		"groups of five numbers": {
			Of: kinds.Count{
				By:   []string{"age", "x", "y", "z", "w"},
				Keys: [][]string{some("age"), some("x"), some("y"), some("z"), some("w")},
			},
			Pay: pay("0.1"),
		},
		"groups of many numbers": {Of: kinds.Count{By: []string{"y"}, Keys: [][]string{numbers}}, Pay: pay("0.1")},
		"groups of texts": {
			Of: kinds.Count{
				By:    []string{"many", "city", "sex", "who"},
				Keys:  [][]string{{"text 1"}, cities[:2], {"f"}, {"p1"}},
				Where: "many != 'x' and who != 'x'",
			},
			Pay: pay("0.1"),
		},
		"groups of all": {
			Of: kinds.Count{
				By:   []string{"many", "city", "sex", "who", "age", "x", "y", "z", "w"},
				Keys: [][]string{{"text 1"}, {"city 1"}, {"f"}, {"p1"}, {"0"}, {"0"}, {"0"}, {"0"}, {"0"}},
			},
			Pay: pay("0.1"),
		},
		"bins of numbers":           {Of: kinds.Histogram{Column: "y", Bins: edges[:129]}, Pay: pay("0.1")},
		"a text with an end":        {Of: kinds.Count{Where: "many != 'text' or many is missing"}, Pay: pay("0.1")},
		"values of many":            {Of: kinds.Histogram{Column: "many", Values: texts, Where: "age >= 0"}, Pay: pay("0.1")},
		"a median of integers":      {Of: kinds.Quantile{Column: "age", Where: "age >= 0"}, Pay: pay("0.000001")},
		"a smooth median of groups": {Of: kinds.Quantile{Column: "x", Noise: "smooth", By: []string{"city"}, Where: "age >= 0"}, Pay: pay("1")},
	} {
		many[name] = q
	}
	for _, o := range []kinds.Outliers{
		{K: 20, Radius: 0.07},
		{K: 50, Radius: 0.1},
		{K: 200, Radius: 0.178},
		{K: 5, Radius: 0.001, Columns: []string{"x"}},
		{K: 20, Radius: 0.16, Columns: []string{"x", "y", "z"}},
		{K: 200, Radius: 0.3, Columns: []string{"x", "y", "z"}},
		{K: 20, Radius: 0.5, Columns: []string{"x", "y", "z", "w"}},
	} {
		if n > 2000 {
			break
		}
		if o.Columns == nil {
			o.Columns = []string{"x", "y"}
		}
		many[fmt.Sprint("outliers of ", o.Columns, " with ", o.K, " within ", o.Radius)] = api.Question{Of: o, Pay: pay("1")}
	}
	for _, radius := range []float64{0.01, 0.03, 0.1, 0.3, 2} {
		if n > 2000 {
			break // docs/threat-model.md: their time is no multiple of the number of records
		}
		many[fmt.Sprint("outliers within ", radius)] = api.Question{
			Of:  kinds.Outliers{Columns: []string{"x", "y"}, K: 5, Radius: radius},
			Pay: pay("1"),
		}
	}
	persons := map[string]api.Question{
		"count":  {Of: kinds.Count{Where: "age >= 0 and x <= 1", MaxRows: 1}, Pay: pay("0.1")},
		"mean":   {Of: kinds.Mean{Column: "x", Where: "age >= 0", MaxRows: 2}, Pay: pay("0.1")},
		"median": {Of: kinds.Quantile{Column: "y", Where: "age >= 0", MaxRows: 3}, Pay: pay("0.0001")},
	}
	// Places where many records lie, each with records about it that are nearly outliers.
	const k, ring = 20, 90
	var clusters strings.Builder
	clusters.WriteString("x,y\n")
	side := int(math.Ceil(math.Sqrt(float64(n) / (2 * ring))))
	for i := range n {
		c, at := i/(2*ring), i%(2*ring)
		x, y := (float64(c%side)+0.5)/float64(side), (float64(c/side)+0.5)/float64(side)
		radius := 0.0001 * float64(at)
		if at >= ring {
			radius = 1.5 / 8
		} else {
			radius /= 8
		}
		x, y = x+radius/float64(side)*math.Cos(2*math.Pi*float64(at)/ring), y+radius/float64(side)*math.Sin(2*math.Pi*float64(at)/ring)
		fmt.Fprintf(&clusters, "%.6f,%.6f\n", x, y)
	}
	// A place where half of the records lie, with all numbers of neighbours, and a ring about it.
	// The bound of the sensitivity looks at many windows of these numbers where epsilon is small.
	var ringed strings.Builder
	ringed.WriteString("x,y\n")
	dense := rand.New(rand.NewPCG(1, 2))
	for i := range min(n, 2000) {
		a, d := float64(i)/float64(min(n, 2000)/2)*2*math.Pi*7.3, 0.02*dense.Float64()
		if i%2 == 1 {
			d = 0.1 * (1 + 0.95*float64(i%7)/6)
		}
		fmt.Fprintf(&ringed, "%.6f,%.6f\n", 0.5+d*math.Cos(a), 0.5+d*math.Sin(a))
	}
	plane := &dataset.Definition{AtMost: int64(n), Columns: []dataset.Column{
		{Name: "x", Type: "decimal", Bounds: []string{"0", "1"}},
		{Name: "y", Type: "decimal", Bounds: []string{"0", "1"}},
	}}
	few := min(n, 300)
	model := dataset.Definition{
		Neighbours: "replace-one", Records: int64(few), Columns: []dataset.Column{{Name: "state"}},
		Model: &dataset.Model{Column: "state", States: []string{"off", "on"}, Distribution: json.RawMessage(fmt.Sprintf(
			`{"type":"chain","states":["off","on"],"source":"made up","init":[0.6,0.4],"P":[[0.9,0.1],[0.2,0.8]],"length":%d}`, few))},
	}
	return []boundedTable{
		{"records", rows(func(i int) int { return i }), definition(account.Record), many},
		{"persons with 8 records", rows(func(i int) int { return i / 8 }), definition("who"), persons},
		{"one person", rows(func(int) int { return 0 }), definition("who"), persons},
		{"clusters", clusters.String(), plane, map[string]api.Question{
			"outliers": {Of: kinds.Outliers{Columns: []string{"x", "y"}, K: k, Radius: 1.0 / 8 / float64(side)}, Pay: pay("1")},
		}},
		{"a ring", ringed.String(), plane, map[string]api.Question{
			"outliers for little":      {Of: kinds.Outliers{Columns: []string{"x", "y"}, K: k, Radius: 0.005}, Pay: pay("0.1")},
			"outliers for less":        {Of: kinds.Outliers{Columns: []string{"x", "y"}, K: k, Radius: 0.005}, Pay: pay("0.05")},
			"outliers of many, little": {Of: kinds.Outliers{Columns: []string{"x", "y"}, K: 50, Radius: 0.005}, Pay: pay("0.1")},
		}},
		{"dependent records", "state\n" + strings.Repeat("on\n", few), &model, map[string]api.Question{
			"count": {Of: kinds.Correlated{Query: json.RawMessage(`{"count":"on"}`)}, Pay: pay("1")},
			"off":   {Of: kinds.Correlated{Query: json.RawMessage(`{"g":[2.5,0]}`)}, Pay: pay("1")},
		}},
	}
}

func places(bits int) *int { return &bits }

// Every kind of question uses at most its bound of processor time, on tables that take longest and
// with all bounds at their public limits, both calibrated and not. The clock is that of the thread:
// other programs do not change what it shows but for caches, so the least of some trials counts.
func TestBoundsOfComputations(t *testing.T) {
	randtest.SkipShort(t)
	testBounds(t, 20_000, 2000)
}

func TestLongBoundsOfComputations(t *testing.T) {
	randtest.Long(t)
	testBounds(t, 200_000, 300, 2000, 20_000, 200_000)
}

// testBounds calibrates on tables of one size and computes on tables of others.
func testBounds(t *testing.T, records int, sizes ...int) {
	c, err := bare(t).Calibrate(t.Context(), &api.CalibrateRequest{Dir: t.TempDir(), Records: records})
	must(t, err)
	text, err := json.Marshal(c)
	must(t, err)
	t.Logf("calibration: %s", text)
	for _, n := range sizes {
		for _, table := range worstTables(n) {
			s, dir := granted(t, table.text, table.definition)
			s.Note = nil
			kept, err := service.Keep(t.Context(), filepath.Join(dir, "budgets.db"), service.KeepOptions{TableMemory: 1 << 30})
			must(t, err)
			s.Kept = kept
			for name, q := range table.questions {
				request := &api.AskRequest{Dataset: "people", Questions: []api.Question{q}}
				price, err := s.AskPrice(t.Context(), request)
				if err != nil {
					t.Errorf("%s, %s: %v", table.name, name, err)
					continue
				}
				bounds := map[string]time.Duration{}
				for kind, calibrated := range map[string]*api.Calibration{"calibrated": c, "not calibrated": nil} {
					bounds[kind] = time.Duration(service.TimesOf(&price.Work, calibrated, 1<<30).Bound * float64(time.Second))
				}
				least := time.Duration(math.MaxInt64)
				for trial := 0; trial < 3 || trial < 15 && least > min(bounds["calibrated"], bounds["not calibrated"]); trial++ {
					var m *cputime.Meter
					held := &service.Held{Read: func() { m = cputime.Start() }, Computed: func() {
						if m != nil {
							least = min(least, m.Used())
							m.Stop()
						}
					}}
					if _, err := held.Ask(t.Context(), s, request); err != nil {
						t.Errorf("%s, %s: %v", table.name, name, err)
					}
				}
				for kind, bound := range bounds {
					t.Logf("%d %s, %s, %s: %s of %s, %.2f", n, table.name, name, kind, least, bound, least.Seconds()/bound.Seconds())
					if least > bound {
						t.Errorf("%d %s, %s: used %s of processor time, the bound is %s (%s)", n, table.name, name, least, bound, kind)
					}
				}
			}
			must(t, kept.Close())
		}
	}
}
