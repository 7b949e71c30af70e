package clinic

import (
	"time"

	"github.com/noren-privacy/noren/examples/internal/dice"
)

// patients is the number of people that visits are drawn from; some of them
// never come.
const patients = 1700

// person is someone who may come to the clinic. What does not change from
// visit to visit is drawn once.
type person struct {
	name     string
	born     time.Time
	sex      string // as recorded; empty where it was not
	sexDrawn int    // female or male, for what depends on it
	postcode int    // row of places; -1 where it was not recorded
	visits   int    // weight of being drawn
	payer    string // insurance below the age of 75
	chronic  []int  // indices of illnesses
	heavy    int    // how far from the usual weight, 1/1000 of a deviation
	pressure int    // the same of blood pressure
}

const (
	female = iota
	male
)

func newPeople(d *dice.Dice, places *places) []person {
	// Weights of the ages 0-4, 5-9, ..., 95-99 among the people of a clinic.
	bands := dice.Cumulative(70, 58, 46, 40, 46, 54, 60, 66, 72, 76, 78, 80, 82, 88, 92, 84, 62, 34, 12, 2)
	people := make([]person, patients)
	for i := range people {
		p := &people[i]
		p.name = name(d)
		years := 5*d.Pick(bands) + d.Below(5)
		// Aged years at some day of 2024, the first of the two years.
		p.born = time.Date(2023-years, time.January, 1+d.Below(365), 0, 0, 0, 0, time.UTC)
		p.sexDrawn = d.Below(2)
		if years > 70 && d.Chance(180) {
			p.sexDrawn = female
		}
		p.sex = [...]string{"female", "male"}[p.sexDrawn]
		if d.Chance(18) {
			p.sex = ""
		}
		p.postcode = places.draw(d)
		if d.Chance(12) {
			p.postcode = -1
		}
		p.payer = [...]string{"employee", "national health", "public assistance", "none"}[d.Pick(payerWeights(years))]
		p.chronic = chronic(d, years, p.sexDrawn)
		p.visits = d.Between(1, 6) * (4 + 4*len(p.chronic) + min(years, 90)/30)
		if years < 6 {
			p.visits *= 2
		}
		p.heavy, p.pressure = d.Bell(0, 1000), d.Bell(0, 1000)
	}
	return people
}

// payerWeights are those of employee, national health, public assistance and
// none.
func payerWeights(age int) []int {
	if age >= 65 {
		return dice.Cumulative(14, 80, 5, 1)
	}
	return dice.Cumulative(66, 29, 3, 2)
}

// insurance is what is recorded at a visit: from 75 on everybody has the same.
func insurance(d *dice.Dice, p *person, age int) string {
	if d.Chance(10) {
		return ""
	}
	if age >= 75 {
		return "late-stage elderly"
	}
	return p.payer
}

// ageOn is the age in completed years.
func (p *person) ageOn(day time.Time) int {
	age := day.Year() - p.born.Year()
	if day.Month() < p.born.Month() || day.Month() == p.born.Month() && day.Day() < p.born.Day() {
		age--
	}
	return age
}

// childWeight is the usual weight, in 100 g, at the ages 0 to 19 of girls and
// boys.
var childWeight = [2][20]int{
	{70, 95, 119, 140, 160, 181, 204, 230, 259, 291, 328, 372, 421, 459, 488, 506, 516, 521, 525, 527},
	{75, 101, 124, 145, 165, 187, 212, 238, 268, 300, 335, 375, 429, 484, 534, 576, 600, 616, 626, 632},
}

// measure gives the weight (100 g) and the systolic blood pressure (mm Hg) of
// a visit, 0 where it was not measured.
func (p *person) measure(d *dice.Dice, age int, department string) (weight, systolic int) {
	adult := [2]int{536, 672}[p.sexDrawn]
	usual, spread := adult, [2]int{75, 95}[p.sexDrawn]
	switch {
	case age < 20:
		usual = childWeight[p.sexDrawn][age]
		spread = usual / 8
	case age > 65:
		usual -= 3 * (age - 65)
	}
	systolic = 98 + min(age, 85)*45/100 + 4*p.sexDrawn + p.pressure*11/1000 + d.Bell(0, 7)
	for _, c := range p.chronic {
		switch illnesses[c].name {
		case "type 2 diabetes":
			usual += 70
		case "heart failure":
			usual += 20
		case "hypertension":
			systolic += 17
		}
	}
	weight = max(usual+p.heavy*spread/1000+d.Bell(0, usual/60), 25)

	unweighed, unmeasured := 80, 60
	switch department {
	case "ophthalmology", "dermatology", "psychiatry":
		unweighed, unmeasured = 420, 350
	case "orthopaedics":
		unmeasured = 220
	}
	if age < 12 {
		unmeasured = 800
	}
	if d.Chance(unweighed) {
		weight = 0
	}
	if d.Chance(unmeasured) {
		systolic = 0
	}
	return weight, systolic
}

// name strings syllables together that belong to no language.
func name(d *dice.Dice) string {
	starts := [...]string{
		"Bra", "Cel", "Dru", "Fen", "Gal", "Hov", "Ist", "Jor", "Kel", "Lum", "Mav", "Nol", "Orb", "Pry", "Quo", "Rus",
		"Sib", "Tav", "Ulv", "Vex", "Wim", "Yst", "Zan",
	}
	ends := [...]string{
		"adu", "brim", "dol", "eko", "fane", "gith", "hul", "imo", "jask", "lorn", "mip", "nuvo", "ork", "pel", "quin", "roth",
		"sva", "tumi", "ux", "wen", "yal", "zeb",
	}
	word := func() string { return starts[d.Below(len(starts))] + ends[d.Below(len(ends))] }
	return word() + " " + word()
}
