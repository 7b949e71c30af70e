package privacy

import "sort"

// MostDiverse is the number of disjoint classes of the whole table that can each be
// diverse, at most: each model asks a class for ceil(L) different values at least. G
// such classes have ceil(L) G pairs of a class and a value in it, and a value of n
// records is in min(n, G) classes at most, so that G is at most the largest number
// with sum min(n, G) >= ceil(L) G. The difference of the sides is concave in G and 0
// at 0, so that it is not below 0 up to that number and below 0 beyond.
func (a *Attribute) MostDiverse(d *Diversity) int {
	asked := int64(d.L)
	if d.Model == Entropy && d.L*(1-EntropyTolerance) > float64(asked) {
		asked++
	}
	asked = max(1, asked)
	whole := a.Whole
	if !d.CountMissing {
		whole = whole[:a.values]
	}
	var records int64
	for _, n := range whole {
		records += n
	}
	return sort.Search(int(records/asked), func(g int) bool {
		var pairs int64
		for _, n := range whole {
			pairs += min(n, int64(g)+1)
		}
		return pairs < asked*(int64(g)+1)
	})
}
