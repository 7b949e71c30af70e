package refine

// yields is what each of some choices has gained lately, and spent on it. A
// choice that gains more is made more often, and none is given up.
type yields struct {
	gained, spent []float64
	keeping       float64 // of what was, at each new gain
	least         float64 // the share of time that all together have in any case
	floor         float64 // a gain for what was spent that is next to none
}

func newYields(choices int, keeping, least, floor float64) yields {
	return yields{gained: make([]float64, choices), spent: make([]float64, choices), keeping: keeping, least: least, floor: floor}
}

// learn takes note of what a choice gained.
func (y *yields) learn(choice int, gained, spent float64) {
	for c := range y.gained {
		y.gained[c] *= y.keeping
		y.spent[c] *= y.keeping
	}
	y.gained[choice] += gained
	y.spent[choice] += spent
}

// share is how often a choice is to be made.
func (y *yields) share(choice int) float64 {
	var of, sum float64
	for c := range y.gained {
		rate := y.floor
		if y.spent[c] > 0 {
			rate += y.gained[c] / y.spent[c]
		}
		sum += rate
		if c == choice {
			of = rate
		}
	}
	if sum == 0 {
		return 1 / float64(len(y.gained))
	}
	return y.least/float64(len(y.gained)) + (1-y.least)*of/sum
}

// choose makes a choice, u being uniform in [0,1).
func (y *yields) choose(u float64) int {
	for c := range y.gained {
		u -= y.share(c)
		if u < 0 {
			return c
		}
	}
	return len(y.gained) - 1
}
