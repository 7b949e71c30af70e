package clinic

import (
	"time"

	"github.com/noren-privacy/noren/examples/internal/dice"
)

var severities = [...]string{"mild", "moderate", "severe", "critical"}

// departments is the hierarchy of departments.
var departments = [][]string{
	{"internal medicine", "medicine", "*"},
	{"paediatrics", "medicine", "*"},
	{"cardiology", "medicine", "*"},
	{"neurology", "medicine", "*"},
	{"psychiatry", "medicine", "*"},
	{"dermatology", "medicine", "*"},
	{"oncology", "medicine", "*"},
	{"orthopaedics", "surgery", "*"},
	{"gynaecology", "surgery", "*"},
	{"urology", "surgery", "*"},
	{"ophthalmology", "surgery", "*"},
	{"emergency", "surgery", "*"},
}

// season scales an illness by month, in percent from January on.
type season [12]int

var (
	always = season{100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100}
	winter = season{300, 280, 160, 70, 40, 25, 25, 20, 25, 50, 110, 230}
	flu    = season{420, 380, 180, 50, 4, 1, 1, 1, 3, 12, 60, 260}
	pollen = season{30, 280, 480, 330, 110, 20, 5, 5, 20, 15, 5, 5}
	heat   = season{0, 0, 0, 2, 20, 90, 290, 310, 80, 3, 0, 0}
)

// illness is one diagnosis, and whom and when it meets.
type illness struct {
	name, group, department string
	chronic                 bool
	ages                    [6]int // weights of the ages 0-9, 10-19, 20-39, 40-64, 65-79 and 80 or more
	sexes                   [2]int // percent of female and male
	season                  season // of acute ones
	severity                [4]int // weights of mild to critical
	cost                    int    // yen of a mild case
}

// The weights are rough and made up: they follow what everybody knows of these
// illnesses, and no survey.
var illnesses = []illness{
	{
		"common cold", "respiratory", "internal medicine", false,
		[6]int{420, 260, 170, 110, 80, 60},
		[2]int{100, 100},
		winter,
		[4]int{88, 11, 1, 0},
		3200,
	},
	{
		"influenza", "infectious", "internal medicine", false,
		[6]int{250, 200, 100, 65, 50, 50},
		[2]int{100, 100},
		flu,
		[4]int{50, 40, 9, 1},
		5200,
	},
	{
		"gastroenteritis", "infectious", "internal medicine", false,
		[6]int{150, 90, 70, 45, 40, 40},
		[2]int{100, 100},
		winter,
		[4]int{62, 31, 6, 1},
		4100,
	},
	{
		"pneumonia", "respiratory", "internal medicine", false,
		[6]int{25, 8, 8, 16, 50, 110},
		[2]int{90, 120},
		winter,
		[4]int{12, 45, 32, 11},
		14800,
	},
	{
		"hay fever", "respiratory", "internal medicine", false,
		[6]int{40, 90, 110, 80, 30, 10},
		[2]int{110, 90},
		pollen,
		[4]int{70, 28, 2, 0},
		3600,
	},
	{"heat stroke", "injury", "emergency", false, [6]int{20, 45, 25, 28, 55, 90}, [2]int{85, 120}, heat, [4]int{35, 40, 18, 7}, 9400},
	{
		"urinary tract infection", "genitourinary", "urology", false,
		[6]int{8, 12, 40, 38, 50, 70},
		[2]int{190, 35},
		always,
		[4]int{58, 34, 7, 1},
		4600,
	},
	{"eczema", "skin", "dermatology", false, [6]int{120, 80, 60, 50, 45, 45}, [2]int{100, 100}, always, [4]int{76, 22, 2, 0}, 2900},
	{"shingles", "skin", "dermatology", false, [6]int{1, 4, 12, 34, 48, 50}, [2]int{110, 90}, always, [4]int{40, 46, 13, 1}, 6800},
	{"sprain", "injury", "orthopaedics", false, [6]int{30, 150, 70, 45, 30, 20}, [2]int{90, 115}, always, [4]int{78, 21, 1, 0}, 5100},
	{"fracture", "injury", "orthopaedics", false, [6]int{25, 55, 20, 28, 62, 120}, [2]int{120, 90}, always, [4]int{14, 52, 28, 6}, 21500},
	{
		"low back pain", "musculoskeletal", "orthopaedics", false,
		[6]int{0, 12, 85, 130, 120, 90},
		[2]int{95, 105},
		always,
		[4]int{60, 33, 7, 0},
		4700,
	},
	{"migraine", "neurological", "neurology", false, [6]int{4, 32, 75, 48, 12, 4}, [2]int{160, 55}, always, [4]int{40, 46, 14, 0}, 4900},
	{"stroke", "circulatory", "neurology", false, [6]int{0, 0, 2, 14, 44, 80}, [2]int{85, 120}, always, [4]int{8, 27, 40, 25}, 26500},
	{"angina", "circulatory", "cardiology", false, [6]int{0, 0, 4, 30, 62, 60}, [2]int{75, 130}, always, [4]int{30, 40, 22, 8}, 15200},
	{"pregnancy care", "pregnancy", "gynaecology", false, [6]int{0, 6, 260, 14, 0, 0}, [2]int{200, 0}, always, [4]int{84, 13, 2, 1}, 6100},
	{"conjunctivitis", "eye", "ophthalmology", false, [6]int{60, 40, 25, 22, 20, 18}, [2]int{100, 100}, pollen, [4]int{86, 14, 0, 0}, 2700},
	{"chlamydia", "infectious", "gynaecology", false, [6]int{0, 12, 26, 4, 0, 0}, [2]int{150, 60}, always, [4]int{76, 23, 1, 0}, 6400},

	{
		"hypertension", "circulatory", "internal medicine", true,
		[6]int{0, 1, 14, 180, 330, 370},
		[2]int{90, 110},
		always,
		[4]int{62, 31, 6, 1},
		4300,
	},
	{
		"type 2 diabetes", "metabolic", "internal medicine", true,
		[6]int{0, 1, 12, 100, 170, 130},
		[2]int{80, 125},
		always,
		[4]int{46, 40, 12, 2},
		7900,
	},
	{
		"high cholesterol", "metabolic", "internal medicine", true,
		[6]int{0, 0, 10, 120, 140, 80},
		[2]int{115, 85},
		always,
		[4]int{80, 19, 1, 0},
		3900,
	},
	{
		"asthma", "respiratory", "internal medicine", true,
		[6]int{90, 60, 34, 34, 32, 28},
		[2]int{100, 100},
		always,
		[4]int{48, 38, 12, 2},
		5600,
	},
	{
		"heart failure", "circulatory", "cardiology", true,
		[6]int{0, 0, 1, 14, 58, 150},
		[2]int{100, 100},
		always,
		[4]int{12, 40, 35, 13},
		18600,
	},
	{
		"osteoarthritis", "musculoskeletal", "orthopaedics", true,
		[6]int{0, 0, 4, 55, 120, 140},
		[2]int{140, 65},
		always,
		[4]int{40, 46, 14, 0},
		5800,
	},
	{
		"osteoporosis", "musculoskeletal", "orthopaedics", true,
		[6]int{0, 0, 1, 22, 85, 120},
		[2]int{180, 20},
		always,
		[4]int{52, 38, 10, 0},
		6200,
	},
	{"depression", "mental", "psychiatry", true, [6]int{0, 22, 62, 52, 24, 18}, [2]int{125, 75}, always, [4]int{36, 44, 17, 3}, 5300},
	{"anxiety disorder", "mental", "psychiatry", true, [6]int{2, 26, 46, 30, 12, 8}, [2]int{125, 75}, always, [4]int{46, 43, 11, 0}, 4800},
	{"schizophrenia", "mental", "psychiatry", true, [6]int{0, 4, 14, 12, 5, 2}, [2]int{90, 110}, always, [4]int{18, 46, 30, 6}, 8200},
	{"alcohol dependence", "mental", "psychiatry", true, [6]int{0, 0, 9, 18, 8, 1}, [2]int{45, 155}, always, [4]int{20, 44, 30, 6}, 7600},
	{"dementia", "neurological", "neurology", true, [6]int{0, 0, 0, 4, 48, 210}, [2]int{115, 85}, always, [4]int{34, 42, 22, 2}, 7200},
	{"epilepsy", "neurological", "neurology", true, [6]int{16, 14, 10, 8, 8, 8}, [2]int{95, 105}, always, [4]int{38, 42, 16, 4}, 8800},
	{"enlarged prostate", "genitourinary", "urology", true, [6]int{0, 0, 0, 44, 130, 150}, [2]int{0, 200}, always, [4]int{56, 36, 8, 0}, 5400},
	{"cataract", "eye", "ophthalmology", true, [6]int{0, 0, 1, 20, 110, 130}, [2]int{110, 90}, always, [4]int{50, 40, 10, 0}, 9800},
	{"breast cancer", "cancer", "oncology", true, [6]int{0, 0, 4, 26, 20, 12}, [2]int{198, 2}, always, [4]int{18, 42, 28, 12}, 21500},
	{"stomach cancer", "cancer", "oncology", true, [6]int{0, 0, 1, 12, 28, 24}, [2]int{60, 140}, always, [4]int{14, 38, 32, 16}, 24300},
	{
		"hepatitis B", "infectious", "internal medicine", true,
		[6]int{0, 1, 5, 12, 10, 4},
		[2]int{85, 115},
		always,
		[4]int{40, 42, 14, 4},
		14200,
	},
	{
		"HIV infection", "infectious", "internal medicine", true,
		[6]int{0, 0, 8, 8, 2, 0},
		[2]int{25, 175},
		always,
		[4]int{46, 40, 11, 3},
		28600,
	},
}

// diagnosisRows is the hierarchy of diagnoses.
func diagnosisRows() [][]string {
	rows := make([][]string, len(illnesses))
	for i, ill := range illnesses {
		rows[i] = []string{ill.name, ill.group, "*"}
	}
	return rows
}

// ageBand is the index into illness.ages.
func ageBand(age int) int {
	switch {
	case age < 10:
		return 0
	case age < 20:
		return 1
	case age < 40:
		return 2
	case age < 65:
		return 3
	case age < 80:
		return 4
	default:
		return 5
	}
}

// acute draws what brings someone of that age and sex in that month.
func acute(d *dice.Dice, age, sex int, month time.Month) *illness {
	band := ageBand(age)
	weights := make([]int, len(illnesses))
	for i, ill := range illnesses {
		if !ill.chronic {
			weights[i] = ill.ages[band] * ill.sexes[sex] * ill.season[month-1]
		}
	}
	return &illnesses[d.Pick(dice.Cumulative(weights...))]
}

// chronic draws up to three lasting illnesses of a person, mostly of the old.
func chronic(d *dice.Dice, age, sex int) []int {
	band := ageBand(age)
	weights := make([]int, len(illnesses))
	for i, ill := range illnesses {
		if ill.chronic {
			weights[i] = ill.ages[band] * ill.sexes[sex]
		}
	}
	var found []int
	for range 3 {
		if !d.Chance([...]int{110, 130, 240, 480, 700, 780}[band]) {
			break
		}
		i := d.Pick(dice.Cumulative(weights...))
		found = append(found, i)
		weights[i] = 0
	}
	return found
}
