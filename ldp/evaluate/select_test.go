package evaluate

import (
	"fmt"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// coins are columns of random letters of which none tells anything of the class.
func coins(t *testing.T, n, columns int, seed uint64) Options {
	t.Helper()
	draw := func() uint64 { // a generator of its own: nothing is secret here
		seed = seed*6364136223846793005 + 1442695040888963407
		return seed >> 33
	}
	texts := make([][]string, columns+1)
	for j := range texts {
		for range n {
			texts[j] = append(texts[j], string(rune('a'+draw()%2)))
		}
	}
	o := Options{Label: column(t, table.Field{Name: "class"}, texts[0]), Seed: seed}
	for j := range columns {
		o.Attributes = append(o.Attributes, Attribute{Column: column(t, table.Field{Name: fmt.Sprint("c", j)}, texts[j+1])})
	}
	return o
}

// Attributes that are chosen from many columns of pure noise teach nothing: those that go
// with the class by chance in the records of the test are not known where they are chosen.
func TestSelectionFromNoise(t *testing.T) {
	const n, tables = 100, 6
	sum := map[string]float64{}
	for i := range tables {
		o := coins(t, n, 200, uint64(i+1))
		o.Select, o.Repeats, o.Folds, o.Epsilons, o.Mechanisms = 5, 1, 5, []float64{4}, []string{"grr"}
		for _, c := range run(t, o).Cells {
			sum[c.Model+" "+c.Train+" "+c.Test] += c.Balanced.Mean / tables
		}
	}
	for what, mean := range sum {
		if mean < 0.35 || mean > 0.65 { // a half; 600 answers, of which those of one table go together
			t.Errorf("%s: balanced accuracy %.3f of noise", what, mean)
		}
	}
}

// persons has eight records with one random class and one random feature for each of 60
// persons: a model that saw other records of a person knows its class.
func persons(t *testing.T, seed uint64) Options {
	t.Helper()
	o := coins(t, 60, 1, seed)
	var class, feature, person []string
	for i := range 60 {
		for range 8 {
			class = append(class, o.Label.Dict[o.Label.Codes[i]])
			feature = append(feature, fmt.Sprint("f", i))
			person = append(person, fmt.Sprint("p", i))
		}
	}
	return Options{
		Label: column(t, table.Field{Name: "class"}, class), Unit: column(t, table.Field{Name: "person"}, person),
		Attributes: []Attribute{{Column: column(t, table.Field{Name: "face"}, feature)}}, Seed: seed,
	}
}

// With persons as units all records of a person are in one part, so that random classes
// are not learned.
func TestPersonsInOnePart(t *testing.T) {
	const tables = 6
	mean := map[bool]float64{}
	for i := range tables {
		for _, unit := range []bool{true, false} {
			o := persons(t, uint64(i+1))
			o.Models, o.Repeats, o.Folds, o.Epsilons, o.Mechanisms = []string{"svm"}, 1, 5, []float64{8}, []string{"grr"}
			if !unit {
				o.Unit = nil
			}
			r := run(t, o)
			mean[unit] += r.Find("svm", Raw, Raw, "", 0).Balanced.Mean / tables
			if unit && (r.Persons != 60 || r.MostOfPerson != 8 || r.Unit != "person") {
				t.Errorf("%d persons with up to %d records by %q", r.Persons, r.MostOfPerson, r.Unit)
			}
		}
	}
	if mean[true] < 0.3 || mean[true] > 0.65 {
		t.Errorf("balanced accuracy %.3f with whole persons in a part", mean[true])
	}
	if mean[false] < 0.95 {
		t.Errorf("balanced accuracy %.3f without: the test shows nothing", mean[false])
	}
	o := persons(t, 1)
	o.Folds = 61
	if _, err := Run(t.Context(), o); noren.KindOf(err) != noren.Usage {
		t.Errorf("61 folds of 60 persons: %v", err)
	}
}
