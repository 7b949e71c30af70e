package ratio

import (
	"encoding/csv"
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/learn"
	core "github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/table/axis"
)

// The second case: the census table adult.csv, split into a public part that has far
// too many people with a degree, a private part, and a part of the same distribution as the
// private one, to try classifiers on.

// adultColumns are those of the file that are looked at.
var adultColumns = []string{
	"age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country",
	"salary-class",
}

// schooling is the order of the categories of the column education, which is known.
var schooling = []string{
	"Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad",
	"Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
}

// degree is the first place in schooling that counts as a degree.
const degree = 12

// Shares of the records: of those with and without a degree in the public part, and of
// the others in the part to try on.
const (
	publicDegree = 0.6
	publicOthers = 0.15
	tried        = 0.3
)

// census is the table in numbers.
type census struct {
	kernels  *core.Points  // what the weights are fitted on
	features *learn.Matrix // what classifiers learn from
	class    []int         // 1: above 50K
	degree   []bool
	ask      []question
}

// question is a mean that is asked of the private part: a number for each record.
type question struct {
	name   string
	values []float64
	// width is what one record can change of the sum: for the price of a direct answer.
	width float64
}

func censusIn(dir string) string { return filepath.Join(dir, "adult.csv") }

// loadCensus reads adult.csv. It returns nil where there is no such file.
func loadCensus(dir string) (*census, error) {
	path := censusIn(dir)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: "--data", What: "the table adult.csv cannot be opened", Err: err}
	}
	defer func() { _ = f.Close() }()
	r := csv.NewReader(f)
	r.FieldsPerRecord = len(adultColumns)
	rows, err := r.ReadAll()
	if err != nil || len(rows) < 1000 || !slices.Equal(rows[0], adultColumns) {
		return nil, &noren.Error{
			Kind: noren.BadData, Where: "adult.csv", What: "not the census table of nine columns that was expected",
			Err: err,
		}
	}
	return newCensus(rows[1:])
}

func newCensus(rows [][]string) (*census, error) {
	n := len(rows)
	c := &census{kernels: axis.NewPoints[float64](n, 4), class: make([]int, n), degree: make([]bool, n)}
	age, years := make([]float64, n), make([]float64, n)
	married, above := make([]float64, n), make([]float64, n)
	male, manager, self := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, row := range rows {
		v, err := strconv.ParseFloat(row[0], 64)
		rank := slices.Index(schooling, row[2])
		if err != nil || !(v >= 0 && v <= 120) || rank < 0 {
			return nil, &noren.Error{Kind: noren.BadData, Where: "adult.csv", What: "an age is no number, or a category of education is unknown"}
		}
		age[i], years[i] = v, float64(rank+1)
		married[i], male[i] = flag(row[3] == "Married-civ-spouse"), flag(row[6] == "Male")
		manager[i], self[i] = flag(row[4] == "Exec-managerial"), flag(row[1] == "Self-emp-inc" || row[1] == "Self-emp-not-inc")
		c.degree[i] = rank >= degree
		if row[8] == ">50K" {
			c.class[i], above[i] = 1, 1
		}
		// Public scales: ages from 17 to 90 and sixteen steps of school are known
		// beforehand, and so are two sexes and being married or not.
		p := c.kernels.Row(i)
		p[0], p[1] = (min(max(v, 17), 90)-17)/73, float64(rank)/15
		p[2], p[3] = married[i]/math.Sqrt2, male[i]/math.Sqrt2
	}
	// The kernels see age, school, marriage and sex; the last three questions are
	// carried by these alone.
	c.ask = []question{
		{"mean age", age, 73},
		{"mean step of school, 1 to 16", years, 15},
		{"share married", married, 1},
		{"share above 50K", above, 1},
		{"share of managers", manager, 1},
		{"share of self-employed", self, 1},
	}
	columns := [][]float64{age, years, male}
	for _, j := range []int{1, 3, 4, 5} {
		columns = append(columns, oneHot(rows, j)...)
	}
	x, err := learn.FromColumns(columns)
	if err != nil {
		return nil, err
	}
	scaler, err := learn.FitScaler(x)
	if err != nil {
		return nil, err
	}
	c.features, err = scaler.Apply(x)
	return c, err
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// oneHot is a column of 0 and 1 for each category of column j but the first.
func oneHot(rows [][]string, j int) [][]float64 {
	var words []string
	for _, row := range rows {
		if !slices.Contains(words, row[j]) {
			words = append(words, row[j])
		}
	}
	slices.Sort(words)
	var out [][]float64
	for _, w := range words[1:] {
		c := make([]float64, len(rows))
		for i, row := range rows {
			c[i] = flag(row[j] == w)
		}
		out = append(out, c)
	}
	return out
}

// parts are the three parts of a split, as numbers of records.
type parts struct{ public, private, try []int }

func (c *census) split(rng *rand.Rand) parts {
	var p parts
	for i, d := range c.degree {
		share := publicOthers
		if d {
			share = publicDegree
		}
		switch u := rng.Float64(); {
		case u < share:
			p.public = append(p.public, i)
		case u < share+(1-share)*(1-tried):
			p.private = append(p.private, i)
		default:
			p.try = append(p.try, i)
		}
	}
	return p
}

// pick is the points of some records.
func pick(p *core.Points, rows []int) *core.Points {
	out := axis.NewPoints[float64](len(rows), p.Dim)
	for i, r := range rows {
		copy(out.Row(i), p.Row(r))
	}
	return out
}

// resample draws as many records as there are, each as often as its weight says, to
// the next whole number up or down (systematic sampling): the expected loss of a
// learner on it is the weighted one.
func resample(rng *rand.Rand, rows []int, weights []float64) []int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	out := make([]int, 0, len(rows))
	step := total / float64(len(rows))
	next, sum := step*rng.Float64(), 0.0
	for i, w := range weights {
		for sum += w; next < sum && len(out) < len(rows); next += step {
			out = append(out, rows[i])
		}
	}
	return out
}
