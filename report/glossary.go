package report

import "github.com/noren-privacy/noren"

// glossary explains the words that the page uses.
func (b *assessment) glossary() []Term {
	terms := []Term{
		{noren.Textf("Quasi-identifier"), noren.Textf("A column that someone may know about a person from elsewhere: age, sex, postcode, " +
			"profession. Not a name by itself, but several together can be as good as one.")},
		{
			noren.Textf("Class"),
			noren.Textf("All records that agree in every quasi-identifier. A missing value agrees with a missing value only."),
		},
		{noren.Textf("k-anonymity"), noren.Textf("Every class has at least k records.")},
		{
			noren.Textf("Prosecutor risk"),
			noren.Textf("The chance of a right guess for someone who knows that a person is in the table: one divided by the size of the class."),
		},
		{noren.Textf("Marketer risk"), noren.Textf("The share of records that someone would get right who guesses a person for every record.")},
	}
	if b.a.OriginalJournalist != nil || b.a.ReleaseJournalist != nil {
		terms = append(terms, Term{
			noren.Textf("Journalist risk"),
			noren.Textf("The chance of a right guess for someone who does not know who is in the table and searches the whole population."),
		})
	}
	if b.a.Utility != nil {
		terms = append(
			terms,
			Term{noren.Textf("Loss (SSE/SST)"), noren.Textf("The squared distance between values and what is published for them, over their " +
				"squared distance from the mean. 0% keeps every value, 100% leaves nothing but the mean.")},
			Term{
				noren.Textf("Certainty penalty (NCP)"),
				noren.Textf("How wide the published range or set is, over the width of the whole column. 0% tells the value, 100% tells nothing."),
			},
			Term{noren.Textf("Frequencies moved (total variation)"), noren.Textf("The smallest share of records that would have to change their " +
				"value to turn the frequencies of the original into those of the release.")},
			Term{noren.Textf("Standard deviation"), noren.Textf("How far values typically lie from their mean.")},
			Term{noren.Textf("Correlation"), noren.Textf("Pearson's: how closely two columns follow a straight line, from −1 to 1.")},
		)
	}
	return append(
		terms,
		Term{noren.Textf("Discernibility"), noren.Textf("The sum of squared class sizes. The larger it is, the less records can be told " +
			"apart; among releases with the same k, smaller means more detail.")},
		Term{noren.Textf("C_avg"), noren.Textf("The average class size divided by k. 1 is as fine as k allows.")},
	)
}
