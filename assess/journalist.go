package assess

import (
	"github.com/noren-privacy/noren"
)

// Journalist is re-identification risk when the attacker does not know who is
// in the table, and looks a record up in a population of which the table is a
// sample (El Emam, Guide to the De-Identification of Personal Health
// Information, 2013, chapter 16). f is the size of a class in the sample, F
// that of the same class in the population; sums are over the classes of the
// sample. All figures are exact, given that population.
type Journalist struct {
	// PopulationRecords is the number of records of the population.
	PopulationRecords int64 `json:"population_records"`
	// SmallestClass is the smallest size in the population of a class of the sample.
	SmallestClass int64 `json:"smallest_class"`
	// Max is 1 / SmallestClass.
	Max float64 `json:"max"`
	// Mean is the larger of two risks: Marketer (the attacker picks a record), and classes /
	// sum F, where F is the size of a class in the population (the attacker picks a person of
	// the population).
	Mean float64 `json:"mean"`
	// Threshold is the risk above which a record counts as at risk.
	Threshold float64 `json:"threshold"`
	// RecordsAbove is the number of records of the sample with 1/F above Threshold, where F is
	// the size of the record's class in the population.
	RecordsAbove int64 `json:"records_above"`
	// ShareAbove is the share of the records whose risk is above Threshold.
	ShareAbove float64 `json:"share_above"`
	// Marketer is the sum of f/F over the classes, divided by the number of records, where f
	// and F are the sizes of a class in the sample and in the population: the expected share
	// of records that are re-identified when all are linked to the population.
	Marketer float64 `json:"marketer"`
	// PopulationUniques is the number of records of the sample that are unique in the
	// population.
	PopulationUniques int64 `json:"population_uniques"`
}

// NewJournalist measures a sample against its population: entry i of both is
// the size of one and the same class, as [Classify] numbers them. Classes that
// the sample lacks are skipped. A threshold of 0 means [DefaultThreshold]. A
// class that has fewer records in the population than in the sample, or none,
// contradicts the claim that the one was drawn from the other: an error of
// kind BadData that counts such classes and their records.
func NewJournalist[C Count](sample, population []C, threshold float64) (*Journalist, error) {
	if threshold == 0 {
		threshold = DefaultThreshold
	}
	if !(threshold > 0 && threshold <= 1) {
		return nil, &noren.Error{Kind: noren.Usage, Where: "threshold", What: "a risk lies between 0 and 1"}
	}
	if len(sample) != len(population) {
		return nil, &noren.Error{
			Kind: noren.Usage, What: "%d {class|classes} of the sample and %d of the population do not correspond",
			Args: []any{len(sample), len(population)},
		}
	}
	j := &Journalist{Threshold: threshold}
	var classes, records, members, absent, absentRecords, short, shortRecords int64
	for i, s := range sample {
		f, all := int64(s), int64(population[i])
		if f < 0 || all < 0 {
			return nil, &noren.Error{Kind: noren.Usage, Where: noren.Textf("class %d", i), What: "a class size must be a count of records"}
		}
		j.PopulationRecords += all
		switch {
		case f == 0:
			continue
		case all == 0:
			absent++
			absentRecords += f
			continue
		case all < f:
			short++
			shortRecords += f
			continue
		}
		classes++
		records += f
		members += all
		j.Marketer += float64(f) / float64(all)
		if j.SmallestClass == 0 || all < j.SmallestClass {
			j.SmallestClass = all
		}
		if riskAbove(all, threshold) {
			j.RecordsAbove += f
		}
		if all == 1 {
			j.PopulationUniques++
		}
	}
	if absent+short > 0 {
		return nil, &noren.Error{
			Kind: noren.BadData, Where: "population",
			What: "the table is no sample of it: %d of its classes (%d {record|records}) {1|does|do} not occur there, and %d {class|classes} (%d " +
				"{record|records}) {3|has|have} fewer records there than in the table", Args: []any{absent, absentRecords, short, shortRecords},
			Hint: "the population must hold every person of the table, with the quasi-identifiers written alike",
		}
	}
	if records == 0 {
		return nil, &noren.Error{Kind: noren.BadData, What: "the table has no records", Hint: "there is nothing to assess"}
	}
	j.Marketer /= float64(records)
	j.Max = 1 / float64(j.SmallestClass)
	j.Mean = max(float64(classes)/float64(members), j.Marketer)
	j.ShareAbove = float64(j.RecordsAbove) / float64(records)
	return j, nil
}
