package assess

import (
	"math"
	"sort"

	"github.com/noren-privacy/noren"
)

// Count is any integer that counts the records of a class.
type Count interface {
	~int | ~int32 | ~int64 | ~uint32 | ~uint64
}

// DefaultThreshold is the risk above which a record counts as being at risk
// where nothing else is said: 0.2, a class of fewer than five records.
const DefaultThreshold = 0.2

// Risk measures how well the records of a table can be told apart by their
// quasi-identifiers. All figures are exact for the table they were taken of.
type Risk struct {
	// Records is the number of records.
	Records int64 `json:"records"`
	// Classes is the number of classes.
	Classes int64 `json:"classes"`
	// SmallestClass is the smallest number of records of a class: the k for which the
	// table is k-anonymous.
	SmallestClass int64 `json:"smallest_class"`
	// LargestClass is the largest number of records of a class.
	LargestClass int64 `json:"largest_class"`
	// AverageClass is the average number of records of a class.
	AverageClass float64 `json:"average_class"`
	// Prosecutor is the risk when the attacker knows that the person is in the
	// table.
	Prosecutor Prosecutor `json:"prosecutor"`
	// Marketer is the expected share of records that an attacker who links the whole table
	// re-identifies: classes / records. This equals the mean prosecutor risk, since each class
	// adds size * 1/size.
	Marketer float64 `json:"marketer"`
	// UniqueRecords is the number of records that are alone in their class.
	UniqueRecords int64 `json:"unique_records"`
	// UniqueShare is the share of the records that are alone in their class.
	UniqueShare float64 `json:"unique_share"`
	// Below is the number of classes and records below the class sizes 2, 3, 5, 10, 20 and 50.
	Below []Below `json:"below"`
	// Distribution is the histogram of class sizes; empty bins are left out
	// only after the largest class.
	Distribution []SizeBin `json:"distribution"`
	// Discernibility is the discernibility metric DM: the sum of the squared class sizes
	// (Bayardo and Agrawal 2005), which is the number of pairs of records that cannot be told
	// apart.
	Discernibility float64 `json:"discernibility"`
}

// Prosecutor is re-identification risk given that the target is in the table:
// for a record in a class of f records, 1/f (El Emam and Dankar 2008).
type Prosecutor struct {
	// Max is the largest risk: 1 / smallest class.
	Max float64 `json:"max"`
	// Mean is the mean risk over the records: classes / records.
	Mean float64 `json:"mean"`
	// Threshold is the risk above which a record counts as at risk.
	Threshold float64 `json:"threshold"`
	// RecordsAbove is the number of records whose risk is greater than Threshold.
	RecordsAbove int64 `json:"records_above"`
	// ShareAbove is the share of the records whose risk is greater than Threshold.
	ShareAbove float64 `json:"share_above"`
}

// Below counts the records in classes of fewer than K records.
type Below struct {
	// K is the class size to compare with.
	K int64 `json:"k"`
	// Classes is the number of classes of fewer than K records.
	Classes int64 `json:"classes"`
	// Records is the number of records in these classes.
	Records int64 `json:"records"`
	// Share is the share of the records that are in these classes.
	Share float64 `json:"share"`
}

// SizeBin counts the classes of Low to High records (both included).
type SizeBin struct {
	// Low is the smallest size of the bin.
	Low int64 `json:"low"`
	// High is the largest size of the bin.
	High int64 `json:"high"`
	// Classes is the number of classes of such a size.
	Classes int64 `json:"classes"`
	// Records is the number of records in these classes.
	Records int64 `json:"records"`
}

// AverageClassRatio is C_avg = (records / classes) / k (LeFevre, DeWitt and
// Ramakrishnan 2006): 1 when every class has exactly k records, 2 when classes
// are twice as large as asked for. k must be positive.
func (r *Risk) AverageClassRatio(k int) float64 { return r.AverageClass / float64(k) }

var (
	belowLimits = [...]int64{2, 3, 5, 10, 20, 50}
	// sizeEdges are the lowest sizes of the first bins; later ones go on as
	// 1, 2, 5 times a power of ten.
	sizeEdges = [...]int64{1, 2, 3, 4, 5, 10, 20, 50}
)

// NewRisk measures a table whose classes have these sizes, in any order; sizes
// of zero are skipped. A threshold of 0 means [DefaultThreshold]. Errors are
// of kind Usage (threshold outside [0,1], a negative size) or BadData (no
// record).
func NewRisk[C Count](sizes []C, threshold float64) (*Risk, error) {
	if threshold == 0 {
		threshold = DefaultThreshold
	}
	if !(threshold > 0 && threshold <= 1) {
		return nil, &noren.Error{Kind: noren.Usage, Where: "threshold", What: "a risk lies between 0 and 1"}
	}
	counts, err := histogram(sizes)
	if err != nil {
		return nil, err
	}
	r := &Risk{SmallestClass: counts[0].size, LargestClass: counts[len(counts)-1].size}
	for _, k := range belowLimits {
		r.Below = append(r.Below, Below{K: k})
	}
	r.Distribution = sizeBins(r.LargestClass)
	bin := 0
	for _, c := range counts {
		records := c.size * c.classes
		r.Records += records
		r.Classes += c.classes
		r.Discernibility += float64(c.size) * float64(records)
		if riskAbove(c.size, threshold) {
			r.Prosecutor.RecordsAbove += records
		}
		for i := range r.Below {
			if c.size < r.Below[i].K {
				r.Below[i].Classes += c.classes
				r.Below[i].Records += records
			}
		}
		for c.size > r.Distribution[bin].High {
			bin++
		}
		r.Distribution[bin].Classes += c.classes
		r.Distribution[bin].Records += records
	}
	n := float64(r.Records)
	for i := range r.Below {
		r.Below[i].Share = float64(r.Below[i].Records) / n
	}
	r.UniqueRecords = r.Below[0].Records
	r.UniqueShare = r.Below[0].Share
	r.AverageClass = n / float64(r.Classes)
	r.Marketer = float64(r.Classes) / n
	r.Prosecutor.Max = 1 / float64(r.SmallestClass)
	r.Prosecutor.Mean = r.Marketer
	r.Prosecutor.Threshold = threshold
	r.Prosecutor.ShareAbove = float64(r.Prosecutor.RecordsAbove) / n
	return r, nil
}

// riskAbove reports whether 1/size > threshold. The margin keeps a class of 5
// from being above 1/5 by the last bit of a division.
func riskAbove(size int64, threshold float64) bool {
	return 1/float64(size) > threshold*(1+1e-12)
}

// sizeBins are empty bins up to the one that holds largest.
func sizeBins(largest int64) []SizeBin {
	var bins []SizeBin
	steps := [...]int64{2, 5, 10}
	low, decade, step := int64(1), int64(10), -1
	for i := 0; low <= largest; i++ {
		var next int64
		if i+1 < len(sizeEdges) {
			next = sizeEdges[i+1]
		} else {
			if step < 0 {
				decade, step = 10, 2
			}
			next = decade * steps[step]
			if step++; step == len(steps) {
				decade, step = decade*10, 0
			}
		}
		bins = append(bins, SizeBin{Low: low, High: next - 1})
		low = next
	}
	return bins
}

// sizeCount says how many classes have a size.
type sizeCount struct{ size, classes int64 }

// histogram counts the classes by size, in ascending order of size.
func histogram[C Count](sizes []C) ([]sizeCount, error) {
	// Nearly all sizes are small: an array for those, a map for the rest.
	var small [256]int64
	large := map[int64]int64{}
	total := uint64(0)
	for i, s := range sizes {
		if s < 0 || uint64(s) > math.MaxInt64/4 {
			return nil, &noren.Error{Kind: noren.Usage, Where: noren.Textf("class %d", i), What: "a class size must be a count of records"}
		}
		total += uint64(s)
		if total > 1<<52 {
			return nil, &noren.Error{
				Kind: noren.Usage, Where: noren.Phrase("class sizes"),
				What: "they add up to more records than can be counted exactly",
			}
		}
		if v := int64(s); v < int64(len(small)) {
			small[v]++
		} else {
			large[v]++
		}
	}
	if total == 0 {
		return nil, &noren.Error{Kind: noren.BadData, What: "the table has no records", Hint: "there is nothing to assess"}
	}
	var counts []sizeCount
	for s, n := range small {
		if s > 0 && n > 0 {
			counts = append(counts, sizeCount{int64(s), n})
		}
	}
	few := len(counts)
	for s, n := range large {
		counts = append(counts, sizeCount{s, n})
	}
	rest := counts[few:]
	sort.Slice(rest, func(a, b int) bool { return rest[a].size < rest[b].size })
	return counts, nil
}
