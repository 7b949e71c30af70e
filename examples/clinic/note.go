package clinic

import (
	"strconv"

	"github.com/noren-privacy/noren/examples/internal/dice"
)

// note draws the free text of a visit. The phrases hold nothing about the
// person; they hold what a table passes through unchanged only if no program
// interprets it: delimiters, quotes, line breaks, blanks at the ends, other
// scripts, and words that look like numbers, formulas or missing values.
func note(d *dice.Dice) string {
	if d.Chance(450) {
		return ""
	}
	plain := [...]string{
		"no change", "follow-up in 2 weeks", "referred, letter sent", "advised rest, fluids", "blood test ordered; results by phone",
		"same medicine as before", "first visit", "came with family", "will call back",
	}
	if d.Chance(700) {
		return plain[d.Below(len(plain))]
	}
	odd := [...]string{
		`said "much better", sleeps well`,
		"two lines:\nthe second one, with a comma",
		"経過良好、次回は来月",
		"薬を変更。\n「眠気」に注意",
		" leading and trailing blanks ",
		`"quoted from end to end"`,
		"tab\there; semicolon; pipe|",
		"NA", "-", "NULL", "007", "1e5", "=1+1", "*",
		"naïve café 🙂 10 µg",
		"half-width ｶﾀｶﾅ, full-width ＡＢＣ，１２３",
		"ends with a line break\n",
		`back\slash and 'apostrophe'`,
	}
	i := d.Below(len(odd) + 2)
	if i < len(odd) {
		return odd[i]
	}
	return "temp. " + strconv.Itoa(d.Between(36, 39)) + "," + strconv.Itoa(d.Below(10)) + " °C"
}
