package learn

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// The figures of scikit-learn, made by testdata/figures.py.
type svmFigure struct {
	C, B       float64
	Weights    [][]float64
	Intercepts []float64
}

type cvFigure struct {
	Repeats  int
	Mean, SD float64
}

func figures(t testing.TB, name string, into any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

func fromRows(rows [][]float64) *Matrix {
	m := NewMatrix(len(rows), len(rows[0]))
	for i, r := range rows {
		copy(m.Row(i), r)
	}
	return m
}

// wdbc is the UCI breast-cancer table, 569 x 30, class 1 malignant; the test is
// skipped where it is absent.
func wdbc(t testing.TB) (*Matrix, []int) {
	t.Helper()
	dir := os.Getenv("NOREN_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(dir, "wdbc.csv"))
	if err != nil {
		t.Skipf("the table wdbc.csv is needed: set NOREN_DATA (%v)", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows = rows[1:]
	m, y := NewMatrix(len(rows), len(rows[0])-1), make([]int, len(rows))
	for i, r := range rows {
		for j := range m.Cols {
			v, err := strconv.ParseFloat(r[j], 64)
			if err != nil {
				t.Fatal(err)
			}
			m.Set(i, j, v)
		}
		if r[m.Cols] == "malignant" {
			y[i] = 1
		}
	}
	return m, y
}

func zscored(t testing.TB, x *Matrix) *Matrix {
	t.Helper()
	s, err := FitScaler(x)
	if err != nil {
		t.Fatal(err)
	}
	z, err := s.Apply(x)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.9g, want %.9g within %g", what, got, want, tolerance)
	}
}

// meanAndSD are over repeats, the deviation with n-1 below.
func meanAndSD(v []float64) (mean, sd float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		sd += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(sd / float64(len(v)-1))
}
