// Package bigtable writes synthetic tables of any size, to measure how Noren
// grows with its input: eight quasi-identifiers (three numbers, a date, an
// ordered and three plain categories) that depend on each other as those of real
// people do, and four further columns where they are asked for. Beside them,
// readings of sensors in the plane, of which few are outliers ([WriteSensors]).
//
// Records are drawn one after the other and never held, so memory does not
// grow with the number of rows, and the first n rows are the same whatever
// number was asked for. The same options give the same bytes on every platform. The
// values are not about real people: the tables are public.
package bigtable

import (
	"context"
	"io"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/examples/internal/dice"
	"github.com/noren-privacy/noren/table"
)

// Options says what table to write.
type Options struct {
	// Rows is the number of records. Required; 0 writes the header alone.
	Rows int64
	// Seed decides the records. Defaults to 0, a seed like any other.
	Seed uint64
	// Extra adds columns around the quasi-identifiers: id (identifier) before
	// them, and diagnosis (sensitive, skewed), spending (sensitive, decimal)
	// and note (other, sometimes with commas and quotes) behind.
	Extra bool
}

var (
	educations = []string{"none", "primary", "lower secondary", "upper secondary", "vocational", "college", "bachelor", "master", "doctorate"}
	diagnoses  = []string{
		"hypertension", "diabetes", "back pain", "influenza", "depression", "asthma", "migraine", "fracture", "angina",
		"eczema", "stroke", "cancer", "epilepsy", "hepatitis", "HIV infection",
	}
	notes = []string{"", "", "", "", "no change", "\"follow-up, in two weeks\"", "\"said \"\"better\"\"\"", "経過良好"}
)

const (
	occupations = 40
	regions     = 47
	firstDay    = 18262 // 2020-01-01, counted from 1970-01-01
	days        = 6 * 365
)

// Schema describes the columns that [Write] writes under the same options.
func Schema(o Options) *table.Schema {
	s := &table.Schema{Fields: []table.Field{
		{Name: "age", Role: table.Quasi, Type: table.Integer},
		{Name: "sex", Role: table.Quasi, Type: table.Category},
		{Name: "education", Role: table.Quasi, Type: table.Ordered, Levels: append([]string(nil), educations...)},
		{Name: "occupation", Role: table.Quasi, Type: table.Category},
		{Name: "region", Role: table.Quasi, Type: table.Category},
		{Name: "income", Role: table.Quasi, Type: table.Integer},
		{Name: "height_cm", Role: table.Quasi, Type: table.Decimal},
		{Name: "day", Role: table.Quasi, Type: table.Date},
	}}
	if o.Extra {
		s.Fields = append([]table.Field{{Name: "id", Role: table.Identifier}}, s.Fields...)
		s.Fields = append(
			s.Fields,
			table.Field{Name: "diagnosis", Role: table.Sensitive, Type: table.Category},
			table.Field{Name: "spending", Role: table.Sensitive, Type: table.Decimal},
			table.Field{Name: "note"},
		)
	}
	return s
}

// flushAt is how many bytes are gathered before they are written.
const flushAt = 1 << 16

// Write writes a header and o.Rows records as CSV (UTF-8, LF) to w. The error
// is of kind Usage when o.Rows is negative, of kind Interrupted when ctx ended,
// and otherwise that of w.
func Write(ctx context.Context, w io.Writer, o Options) error {
	var header []byte
	for i, f := range Schema(o).Fields {
		if i > 0 {
			header = append(header, ',')
		}
		header = append(header, f.Name...)
	}
	return write(ctx, w, o.Rows, string(header), newGenerator(o).append)
}

// write writes a header and as many rows as record appends.
func write(ctx context.Context, w io.Writer, rows int64, header string, record func(b []byte, row int64) []byte) error {
	if rows < 0 {
		return &noren.Error{Kind: noren.Usage, Where: "rows", What: "must not be negative"}
	}
	out := make([]byte, 0, flushAt+1024)
	out = append(append(out, header...), '\n')
	for row := int64(1); row <= rows; row++ {
		out = record(out, row)
		if len(out) < flushAt {
			continue
		}
		if err := ctx.Err(); err != nil {
			return &noren.Error{Kind: noren.Interrupted, What: "stopped before the table was whole", Err: err}
		}
		if _, err := w.Write(out); err != nil {
			return err
		}
		out = out[:0]
	}
	_, err := w.Write(out)
	return err
}

// generator draws records; what it picks from is laid out once.
type generator struct {
	d          *dice.Dice
	extra      bool
	ages       []int
	regions    []int
	education  [3][]int // by age: below 25, below 60, above
	occupation [3][]int // by education: low, middle, high
	diagnosis  [2][]int // by age: below 50, above
	dates      []string // one text a day
	words      []string // names of occupations
	places     []string // names of regions
}

func newGenerator(o Options) *generator {
	g := &generator{d: dice.New(o.Seed), extra: o.Extra}
	ages := make([]int, 100)
	for a := range ages {
		// Even up to 60, then ever fewer.
		ages[a] = 60
		if a > 60 {
			ages[a] = (100 - a) * 60 / 40
		}
	}
	g.ages = dice.Cumulative(ages...)
	falling := func(n, offset int) []int {
		// Weights like 1/rank, with the ranks turned by offset.
		w := make([]int, n)
		for i := range w {
			w[i] = 10_000 / (1 + (i+n-offset)%n)
		}
		return dice.Cumulative(w...)
	}
	g.regions = falling(regions, 12)
	g.education = [3][]int{
		dice.Cumulative(1, 5, 30, 40, 10, 8, 6, 0, 0),
		dice.Cumulative(1, 2, 8, 38, 14, 12, 19, 5, 1),
		dice.Cumulative(3, 14, 30, 34, 8, 4, 6, 1, 0),
	}
	g.occupation = [3][]int{falling(occupations, 0), falling(occupations, 13), falling(occupations, 27)}
	g.diagnosis = [2][]int{falling(len(diagnoses), 3), falling(len(diagnoses), 0)}
	for i := range days {
		g.dates = append(g.dates, table.ISODate.Format(firstDay+int64(i)))
	}
	for i := range occupations {
		g.words = append(g.words, "occupation "+strconv.Itoa(i+1))
	}
	for i := range regions {
		g.places = append(g.places, "region "+strconv.Itoa(i+1))
	}
	return g
}

// append draws one record and appends its line to b.
func (g *generator) append(b []byte, row int64) []byte {
	d := g.d
	if g.extra {
		b = strconv.AppendInt(b, row, 10)
		b = append(b, ',')
	}
	age := d.Pick(g.ages)
	sex := d.Below(2)
	region := d.Pick(g.regions)
	schooling := 0
	if age >= 15 {
		schooling = d.Pick(g.education[band(age, 25, 60)])
	} else if age >= 7 {
		schooling = 1
	}
	work := d.Pick(g.occupation[band(schooling, 4, 6)])

	b = strconv.AppendInt(b, int64(age), 10)
	if d.Chance(10) {
		b = append(b, ",,"...)
	} else {
		b = append(append(b, ','), [...]string{"female,", "male,"}[sex]...)
	}
	b = append(append(b, educations[schooling]...), ',')
	if age >= 15 && age < 75 {
		b = append(b, g.words[work]...)
	}
	b = append(append(append(b, ','), g.places[region]...), ',')
	income := 0
	if age >= 18 {
		income = g.income(age, schooling, work, region)
		if !d.Chance(30) { // else not told
			b = strconv.AppendInt(b, int64(income), 10)
		}
	} else {
		b = append(b, '0')
	}
	b = append(b, ',')
	b = appendTenths(b, height(d, age, sex))
	b = append(append(b, ','), g.dates[d.Below(days)]...)
	if g.extra {
		b = g.appendExtra(b, age, income)
	}
	return append(b, '\n')
}

// income grows with age up to 55, schooling and the occupation's rank, and has
// a long tail by four uneven steps. Whole thousands.
func (g *generator) income(age, schooling, work, region int) int {
	x := 900 + 45*(min(age, 55)-18) + 330*schooling + 25*(occupations-work)
	if age >= 65 {
		x = x * 55 / 100
	}
	x = x * (115 - region*30/regions) / 100
	for range 4 {
		x = x * g.d.Between(70, 140) / 100
	}
	return x * 1000
}

// height is in millimetres.
func height(d *dice.Dice, age, sex int) int {
	adult := [2]int{1585, 1715}[sex]
	switch {
	case age < 18:
		return d.Bell(600+(adult-600)*(age+1)/19, 25+2*age)
	case age > 60:
		adult -= 12 * (age - 60) / 10
	}
	return d.Bell(adult, 60)
}

func (g *generator) appendExtra(b []byte, age, income int) []byte {
	d := g.d
	b = append(append(b, ','), diagnoses[d.Pick(g.diagnosis[min(age/50, 1)])]...)
	b = append(b, ',')
	b = appendTenths(b, d.Bell(4000+income/2000+60*age, 900))
	return append(append(b, ','), notes[d.Below(len(notes))]...)
}

// appendTenths writes a positive number of tenths with one decimal place.
func appendTenths(b []byte, tenths int) []byte {
	b = strconv.AppendInt(b, int64(tenths/10), 10)
	return append(b, '.', byte('0'+tenths%10))
}

// band is 0 below low, 1 below high and 2 from there on.
func band(x, low, high int) int {
	switch {
	case x < low:
		return 0
	case x < high:
		return 1
	default:
		return 2
	}
}
