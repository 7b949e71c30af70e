package space

// Rows lays records out one after the other, for distances of single pairs: the
// numbers of a record together, each about the mean of its axis, which keeps the
// rounding small where an axis lies far from zero, and the categories in words of
// lanes.
type Rows struct {
	dims  int       // numeric axes, rounded up to a multiple of four
	x     []float64 // n*dims, zeros at the end
	packs []pack
	// of the first pack, where it has lanes of 8 bits and is the only one
	words []uint64
	table *[256]float64
}

// NewRows lays out all records of s.
func (s *Space) NewRows() *Rows {
	r := &Rows{dims: (len(s.numbers) + 3) &^ 3}
	r.x = make([]float64, s.n*r.dims)
	for a, column := range s.numbers {
		if s.n == 0 {
			break
		}
		shift := column[0]
		var mean float64
		for _, v := range column {
			mean += (v - shift) / float64(s.n)
		}
		for i, v := range column {
			r.x[i*r.dims+a] = v - shift - mean
		}
	}
	for _, l := range s.lanes {
		k := pack{lanes: l, words: make([]uint64, s.n)}
		for i := range k.words {
			k.words[i] = l.word(s.words, int32(i))
		}
		r.packs = append(r.packs, k)
	}
	if len(r.packs) == 1 && r.packs[0].width == 8 {
		r.words, r.table = r.packs[0].words, r.packs[0].table
	}
	return r
}

// Dims is how many numbers a record has: one an axis, and zeros up to a multiple of
// four.
func (r *Rows) Dims() int { return r.dims }

// HasWords reports whether categories add to distances.
func (r *Rows) HasWords() bool { return len(r.packs) > 0 }

// Point is the numeric part of record i.
func (r *Rows) Point(i int32) []float64 { return r.x[int(i)*r.dims:][:r.dims:r.dims] }

// Differ is what the categories of two records add to their squared distance.
func (r *Rows) Differ(i, j int32) float64 {
	if r.words != nil {
		return r.table[differing8(r.words[i]^r.words[j])]
	}
	return r.differ(i, j)
}

func (r *Rows) differ(i, j int32) float64 {
	var d float64
	for k := range r.packs {
		p := &r.packs[k]
		d += p.table[differing(p.width, p.words[i]^p.words[j])]
	}
	return d
}

// MostDiffer is the most that the categories of two records can differ by.
func (r *Rows) MostDiffer() float64 {
	var most float64
	for k := range r.packs {
		most += r.packs[k].table[1<<len(r.packs[k].axes)-1]
	}
	return most
}

// DifferAll is the sum of [Rows.Differ] of record p and some records, of which each
// is written to out unless that is nil.
func (r *Rows) DifferAll(p int32, records []int32, out []float64) float64 {
	var sum float64
	if r.words != nil {
		word, words, table := r.words[p], r.words, r.table
		if out == nil {
			for _, i := range records {
				sum += table[differing8(word^words[i])]
			}
			return sum
		}
		out = out[:len(records)]
		for j, i := range records {
			d := table[differing8(word^words[i])]
			out[j] = d
			sum += d
		}
		return sum
	}
	for j, i := range records {
		d := r.differ(p, i)
		if out != nil {
			out[j] = d
		}
		sum += d
	}
	return sum
}
