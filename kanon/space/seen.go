package space

// Seen is what a [Survey] has seen of one column. Surveys of the parts of a table are
// put together by it: see [Survey.Take].
type Seen struct {
	// Missing and Present count the records without and with a value.
	Missing, Present int
	// Lo, Hi and Sum are of the values of a number. Lo is +Inf and Hi -Inf where there is
	// none.
	Lo, Hi, Sum float64
	// Squares is the sum of squared deviations about the mean, from the second look.
	Squares float64
	// Counts is how often each code of a category occurs.
	Counts []int
}

// Rows is the number of records of the first look.
func (v *Survey) Rows() int { return v.rows }

// Seen is what was seen of each column. The counts are the survey's own.
func (v *Survey) Seen() []Seen {
	out := make([]Seen, len(v.columns))
	for a := range v.columns {
		c := &v.columns[a]
		out[a] = Seen{Missing: c.missing, Present: c.present, Lo: c.lo, Hi: c.hi, Sum: c.sum, Squares: c.squares, Counts: c.counts}
	}
	return out
}

// Take adds what a survey of other records has seen; the codes of categories must be
// those of the same dictionary. Minima, maxima and counts do not depend on the order of
// the calls, sums of numbers do in their last bits.
func (v *Survey) Take(rows int, seen []Seen) {
	v.rows += rows
	for a := range v.columns {
		c, s := &v.columns[a], &seen[a]
		c.missing += s.Missing
		c.present += s.Present
		c.lo, c.hi = min(c.lo, s.Lo), max(c.hi, s.Hi)
		c.sum += s.Sum
		c.squares += s.Squares
		if len(c.counts) < len(s.Counts) {
			c.counts = append(c.counts, make([]int, len(s.Counts)-len(c.counts))...)
		}
		for code, n := range s.Counts {
			c.counts[code] += n
		}
	}
}

// Squares are the sums of squared distances so far, by numeric axis; nil where no
// records were added.
func (t *SST) Squares() []float64 { return t.squares }

// Take adds the squares of another sum of the same frame.
func (t *SST) Take(squares []float64) {
	if t.squares == nil {
		t.squares = make([]float64, len(squares))
	}
	for a := range min(len(t.squares), len(squares)) {
		t.squares[a] += squares[a]
	}
}
