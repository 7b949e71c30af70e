package partition_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/space"
)

// dataDir is the folder of the reference data sets.
func dataDir(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("NOREN_DATA")
	if dir == "" {
		dir = "../../../shared/data"
	}
	if _, err := os.Stat(filepath.Join(dir, "eia.csv")); err != nil {
		tb.Skip("the reference data sets are not here: set NOREN_DATA to their folder")
	}
	return dir
}

// codeSpace reads columns of a reference file in the paper's code space.
func codeSpace(tb testing.TB, name string, keep func(column string) bool, scaling space.Scaling) *space.Space {
	tb.Helper()
	f, err := os.Open(filepath.Join(dataDir(tb), name))
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	var columns [][]float64
	for a, column := range rows[0] {
		if !keep(column) {
			continue
		}
		words := make([]string, len(rows)-1)
		numeric := true
		values := make([]float64, len(rows)-1)
		for i, row := range rows[1:] {
			words[i] = row[a]
			v, err := strconv.ParseFloat(row[a], 64)
			values[i] = v
			numeric = numeric && err == nil
		}
		if !numeric {
			distinct := slices.Clone(words)
			sort.Strings(distinct)
			distinct = slices.Compact(distinct)
			for i, w := range words {
				values[i] = float64(sort.SearchStrings(distinct, w))
			}
		}
		columns = append(columns, values)
	}
	s, err := space.FromMatrix(columns, scaling)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

type goldenRow struct {
	Dataset       string         `json:"dataset"`
	Normalisation string         `json:"normalisation"`
	Algorithm     string         `json:"algorithm"`
	Params        map[string]any `json:"params"`
	K             int            `json:"k"`
	Groups        int            `json:"groups"`
	MinSize       int            `json:"min_size"`
	MaxSize       int            `json:"max_size"`
	Loss          float64        `json:"loss"`
}

// options translates the words of the golden file.
func (r *goldenRow) options(t *testing.T) partition.Options {
	o := partition.Options{K: r.K, Coarse: partition.CoarseOff, Literal: true, Start: partition.FromLowest, CoarseCut: partition.Strict}
	number := func(key string) float64 { v, _ := r.Params[key].(float64); return v }
	word := func(key string) string { v, _ := r.Params[key].(string); return v }
	switch r.Algorithm {
	case "mdav":
		o.Method = partition.MDAV
	case "vmdav":
		o.Method, o.Gamma, o.LargeLimit = partition.VMDAV, number("gamma"), word("limit") == "2k"
	case "mondrian":
		o.Method = partition.Mondrian
		if strings.HasPrefix(word("cut"), "strict <") {
			o.Method = partition.MondrianStrict
		}
	case "tomobiki", "tomobiki#":
		o.Method, o.M = partition.Tomobiki, int(number("m"))
		if word("ties") == "index" {
			o.Ties = space.ByIndex
		}
		if word("start") == "farthest from component centroid" {
			o.Start = partition.FromCentroid
		}
		if k := int(number("ksharp")); k > 0 {
			o.Coarse = k
		}
	default:
		t.Fatalf("unknown algorithm %q", r.Algorithm)
	}
	return o
}

// testdata/kanon.json: figures of two independent implementations that agree
// with each other, and on EIA with the paper's Table 6(a). The figures of Adult are
// trials of their own.
func TestGolden(t *testing.T) {
	randtest.SkipShort(t)
	testGolden(t, func(r *goldenRow) bool {
		return usualGolden(r) && (r.K == 5 || !testing.Short())
	})
}

func TestLongGolden(t *testing.T) {
	randtest.Long(t)
	testGolden(t, func(r *goldenRow) bool { return !usualGolden(r) })
}

// usualGolden says that a figure is no trial of its own.
func usualGolden(r *goldenRow) bool { return r.Dataset != "adult" }

func testGolden(t *testing.T, taken func(*goldenRow) bool) {
	data, err := os.ReadFile("testdata/kanon.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []goldenRow
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	dataDir(t)
	amounts := []string{
		"UTILITYID", "RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES", "INDREVENUE", "INDSALES", "OTHREVENUE", "OTHRSALES",
		"TOTREVENUE", "TOTSALES",
	}
	drop := func(names ...string) func(string) bool {
		return func(c string) bool { return !slices.Contains(names, c) }
	}
	spaces := map[string]*space.Space{}
	tested := 0
	for _, r := range rows {
		if !taken(&r) {
			continue
		}
		tested++
		key := r.Dataset + "/" + r.Normalisation
		if spaces[key] == nil {
			scaling, err := space.ParseScaling(r.Normalisation)
			if err != nil {
				t.Fatal(err)
			}
			switch r.Dataset {
			case "eia":
				spaces[key] = codeSpace(t, "eia.csv", drop("UTILITYID", "UTILNAME", "YEAR"), scaling)
			case "eia (UTILITYID + 10 amounts)":
				spaces[key] = codeSpace(t, "eia.csv", func(c string) bool { return slices.Contains(amounts, c) }, scaling)
			case "adult":
				spaces[key] = codeSpace(t, "adult.csv", drop("salary-class"), scaling)
			default:
				spaces[key] = codeSpace(t, r.Dataset+".csv", drop(), scaling)
			}
		}
		params, _ := json.Marshal(r.Params)
		t.Run(strings.Join([]string{r.Dataset, r.Normalisation, r.Algorithm, string(params), "k=" + strconv.Itoa(r.K)}, "/"), func(t *testing.T) {
			s := spaces[key]
			p, _, err := partition.Partition(context.Background(), s, r.options(t))
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Validate(r.K); err != nil {
				t.Fatal(err)
			}
			sizes := p.Sizes()
			if p.Groups != r.Groups || slices.Min(sizes) != r.MinSize || slices.Max(sizes) != r.MaxSize {
				t.Errorf("%d groups of %d..%d, want %d of %d..%d", p.Groups, slices.Min(sizes), slices.Max(sizes), r.Groups, r.MinSize, r.MaxSize)
			}
			if loss := s.Loss(p); math.Abs(loss-r.Loss) > 1e-6*r.Loss+5e-9 {
				t.Errorf("loss %.8f, want %.8f", loss, r.Loss)
			}
		})
	}
	if tested == 0 {
		t.Error("no figure was tested")
	}
}
