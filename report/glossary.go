package report

// glossary explains the words that the page uses.
func (b *assessment) glossary() []Term {
	terms := []Term{
		{"Quasi-identifier", "A column that someone may know about a person from elsewhere: age, sex, postcode, profession. Not a name by itself, but several together can be as good as one."},
		{"Class", "All records that agree in every quasi-identifier. A missing value agrees with a missing value only."},
		{"k-anonymity", "Every class has at least k records."},
		{"Prosecutor risk", "The chance of a right guess for someone who knows that a person is in the table: one divided by the size of the class."},
		{"Marketer risk", "The share of records that someone would get right who guesses a person for every record."},
	}
	if b.a.OriginalJournalist != nil || b.a.ReleaseJournalist != nil {
		terms = append(terms, Term{"Journalist risk", "The chance of a right guess for someone who does not know who is in the table and searches the whole population."})
	}
	if b.a.Utility != nil {
		terms = append(
			terms,
			Term{"Loss (SSE/SST)", "The squared distance between values and what is published for them, over their squared distance from the mean. 0% keeps every value, 100% leaves nothing but the mean."},
			Term{"Certainty penalty (NCP)", "How wide the published range or set is, over the width of the whole column. 0% tells the value, 100% tells nothing."},
			Term{"Frequencies moved (total variation)", "The smallest share of records that would have to change their value to turn the frequencies of the original into those of the release."},
			Term{"Standard deviation", "How far values typically lie from their mean."},
			Term{"Correlation", "Pearson's: how closely two columns follow a straight line, from −1 to 1."},
		)
	}
	return append(
		terms,
		Term{"Discernibility", "The sum of squared class sizes. The larger it is, the less records can be told apart; among releases with the same k, smaller means more detail."},
		Term{"C_avg", "The average class size divided by k. 1 is as fine as k allows."},
	)
}
