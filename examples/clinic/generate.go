package clinic

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/noren-privacy/noren/examples/internal/dice"
)

// Generate makes the table and its hierarchies, by file name; noren.yaml is
// written by hand and not among them. The same seed gives the same bytes on
// every platform.
func Generate(seed uint64) (map[string][]byte, error) {
	d := dice.New(seed)
	places := newPlaces()
	people := newPeople(d, places)
	made := map[string][][]string{
		VisitsFile:     visitRows(d, people, places),
		PostcodeFile:   places.rows,
		DepartmentFile: departments,
		DiagnosisFile:  diagnosisRows(),
	}
	out := make(map[string][]byte, len(made))
	for name, rows := range made {
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		if err := w.WriteAll(rows); err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
		out[name] = b.Bytes()
	}
	return out, nil
}

// visit is one record before it is numbered and written.
type visit struct {
	person     *person
	day        time.Time
	age        int
	department string
	diagnosis  string
	severity   string
	weight     int // 100 g; 0 is not measured
	systolic   int // mm Hg; 0 is not measured
	cost       int // yen
	note       string
}

// visitRows draws the visits and writes them in the order of their days. Visits
// and people are numbered in the order in which they first appear.
func visitRows(d *dice.Dice, people []person, places *places) [][]string {
	weights := make([]int, len(people))
	for i := range people {
		weights[i] = people[i].visits
	}
	byVisits := dice.Cumulative(weights...)
	calendar := newCalendar()
	visits := make([]visit, Visits)
	for i := range visits {
		visits[i] = newVisit(d, &people[d.Pick(byVisits)], calendar)
	}
	slices.SortStableFunc(visits, func(a, b visit) int { return a.day.Compare(b.day) })

	rows := make([][]string, 0, Visits+1)
	rows = append(rows, Columns())
	numbers := map[*person]string{}
	for i, v := range visits {
		p := v.person
		if numbers[p] == "" {
			numbers[p] = fmt.Sprintf("P%05d", len(numbers)+1)
		}
		postcode := ""
		if p.postcode >= 0 {
			postcode = places.rows[p.postcode][0]
		}
		insurance := insurance(d, p, v.age)
		rows = append(rows, []string{
			fmt.Sprintf("V%06d", i+1), numbers[p], p.name, strconv.Itoa(v.age), p.sex, postcode,
			v.day.Format(time.DateOnly), v.department, v.diagnosis, v.severity, insurance,
			decimal(v.weight), positive(v.systolic), strconv.Itoa(v.cost), v.note,
		})
	}
	return rows
}

// decimal writes tenths with one place, and nothing for zero.
func decimal(tenths int) string {
	if tenths == 0 {
		return ""
	}
	return strconv.Itoa(tenths/10) + "." + strconv.Itoa(tenths%10)
}

func positive(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func newVisit(d *dice.Dice, p *person, c *calendar) visit {
	v := visit{person: p}
	for {
		v.day = c.draw(d)
		if !v.day.Before(p.born) {
			break
		}
	}
	v.age = p.ageOn(v.day)
	sunday := v.day.Weekday() == time.Sunday
	var ill *illness
	if len(p.chronic) > 0 && !sunday && d.Chance(620) {
		ill = &illnesses[p.chronic[d.Below(len(p.chronic))]]
	} else {
		ill = acute(d, v.age, p.sexDrawn, v.day.Month())
	}
	grade := severityGrade(d, ill, v.age)
	v.diagnosis, v.severity = ill.name, severities[grade]
	v.department = department(d, ill, v.age, grade, sunday)
	v.weight, v.systolic = p.measure(d, v.age, ill.department)
	v.cost = cost(d, ill, grade)
	if d.Chance(6) {
		v.diagnosis = "" // not yet known
	}
	if d.Chance(30) {
		v.severity = ""
	}
	v.note = note(d)
	return v
}

// severityGrade draws from the weights of the illness; the old fare worse.
func severityGrade(d *dice.Dice, ill *illness, age int) int {
	grade := d.Pick(dice.Cumulative(ill.severity[:]...))
	if age >= 78 && grade < len(severities)-1 && d.Chance(220) {
		grade++
	}
	return grade
}

// department is where the illness belongs, but for children, Sundays and the
// very ill.
func department(d *dice.Dice, ill *illness, age, grade int, sunday bool) string {
	switch {
	case sunday, grade == 3 && d.Chance(700), grade == 2 && d.Chance(150):
		return "emergency"
	case age < 15 && ill.department == "internal medicine":
		return "paediatrics"
	case d.Chance(40):
		return "internal medicine" // another department than the diagnosis says
	default:
		return ill.department
	}
}

// cost multiplies the illness's usual cost by the severity, by eight uneven
// steps (which multiply to a long tail) and, rarely, by an admission.
func cost(d *dice.Dice, ill *illness, grade int) int {
	yen := ill.cost * [...]int{10, 15, 34, 90}[grade] / 10
	for range 8 {
		yen = yen * d.Between(75, 130) / 100
	}
	if d.Chance(4 + 40*grade) {
		yen *= d.Between(3, 9)
	}
	return yen / 10 * 10 // fees are counted in points of ten yen
}

// calendar draws days of 2024 and 2025, more of them in winter and on Mondays,
// few on Sundays and holidays, when only emergency care is open.
type calendar struct {
	first      time.Time
	cumulative []int
}

func newCalendar() *calendar {
	weekday := [...]int{6, 130, 106, 92, 96, 112, 52} // from Sunday
	month := [...]int{126, 120, 110, 98, 88, 88, 98, 92, 88, 96, 106, 120}
	c := &calendar{first: time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC)}
	var weights []int
	for day := c.first; day.Year() < 2026; day = day.AddDate(0, 0, 1) {
		w := weekday[day.Weekday()] * month[day.Month()-1]
		switch m, d := day.Month(), day.Day(); {
		case m == time.January && d <= 3, m == time.August && d >= 13 && d <= 15, m == time.December && d >= 30:
			w /= 12
		}
		weights = append(weights, w)
	}
	c.cumulative = dice.Cumulative(weights...)
	return c
}

func (c *calendar) draw(d *dice.Dice) time.Time {
	return c.first.AddDate(0, 0, d.Pick(c.cumulative))
}
