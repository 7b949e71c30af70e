package ratio

import (
	"math"
	"slices"
)

// singles are what the error of an answer owes to single public records: sums of the powers
// of their parts in it, of their corrected weights, and the skewness of the question.
type singles struct {
	square, third, fourth float64 // of g_i r_i
	weight2, weight4      float64 // of g_i
	skew                  float64 // of the question among the weighted records
	spread                float64 // on the side of skew: standard deviation by mean of the distance from u(w)
	index                 float64 // Hill's, of the largest w_i (u_i - u(w)) on that side
}

func (t *singles) add(g, r float64) {
	t.weight2 += g * g
	t.weight4 += g * g * g * g
	r *= g
	t.square += r * r
	t.third += r * r * r
	t.fourth += r * r * r * r
}

// shape fills skew and index for values u of mean m by the weights w.
func (t *singles) shape(w, u []float64, m float64) {
	var square, third float64
	for i, wi := range w {
		d := u[i] - m
		square += wi * d * d
		third += wi * d * d * d
	}
	if square <= 0 {
		return
	}
	t.skew = third / math.Pow(square, 1.5)
	n, above := 0, make([]float64, 0, len(w))
	var sum, first, second float64
	for i, wi := range w {
		if wi <= 0 {
			continue
		}
		n++
		if d := (u[i] - m) * math.Copysign(1, t.skew); d > 0 {
			above = append(above, wi*d)
			sum += wi
			first += wi * d
			second += wi * d * d
		}
	}
	if first > 0 {
		t.spread = math.Sqrt(max(0, second*sum/(first*first)-1))
	}
	slices.Sort(above)
	most := min(max(leastTail, n/20), len(above)/2)
	if most < leastTail/2 {
		return
	}
	t.index = hill(above, most)
}

// hill is Hill's estimate of the index of a tail, by the most largest of sorted values. It is
// 0 where fewer are positive.
func hill(sorted []float64, most int) (index float64) {
	from := len(sorted) - most
	if most < 1 || from < 1 || sorted[from-1] <= 0 {
		return 0
	}
	for _, v := range sorted[from:] {
		index += math.Log(v/sorted[from-1]) / float64(most)
	}
	return index
}

// leastTail is how many parts Hill's estimator takes at least, where half as many records
// lie above the mean as that.
const leastTail = 8

// degrees of freedom of the variance sum (g_i r_i)^2. Its own variance is estimated by
// sum (g_i r_i)^4 - sum E[(g_i r_i)^2]^2, the second by the weights alone; residuals that
// are normal and alike have those of the weights.
func (t *singles) degrees() float64 {
	df := t.weight2 * t.weight2 / t.weight4
	if more := t.fourth/(t.square*t.square) - 1/df; more > 0 {
		df = min(df, 2/more)
	}
	return df
}

// enlarged is what the variance must be multiplied by for an interval of 1.96 standard
// errors: Student's quantile, and the part of skewness. With skewness g of the answer,
// P(|t| > q) is the normal tail beyond q - g(2q^2+1)/6 and beyond q + g(2q^2+1)/6
// (Edgeworth's expansion of a studentised mean, Hall 1992); it is .05 at q = 1.96(1 +
// 1.25 g^2), to half a hundredth for g up to 1/3. Above 1/2 the expansion says nothing. Of a
// skewed question a sample mostly shows less skewness than there is, and each side keeps
// 2.5 %: q = 1.96 + g(2 1.96^2 + 1)/6. The two values of a share have no larger ones that a
// sample could lack, and the degrees of freedom of the weights alone.
func (t *singles) enlarged(ess float64) float64 {
	if t.square <= 0 || t.weight4 <= 0 {
		return 1
	}
	if t.spread < twoValued {
		return student(t.weight2 * t.weight2 / t.weight4)
	}
	g := min(0.5, max(math.Abs(t.third)/math.Pow(t.square, 1.5), t.asymmetry(ess)))
	by := 1 + 1.25*g*g
	if t.skewed() {
		by = max(by, 1+g*(2*z95*z95+1)/(6*z95))
	}
	return student(t.degrees()) * by * by
}

// asymmetry is the skewness of a mean of ess values of the question.
func (t *singles) asymmetry(ess float64) float64 { return math.Abs(t.skew) / math.Sqrt(ess) }

// skewed reports a long side: the values on it spread as those of a normal distribution do,
// or more.
func (t *singles) skewed() bool { return math.Abs(t.skew) > 1 && t.spread > 0.75 }

// heavy reports that the largest parts rule the answer: the question is skewed, its parts
// have the tail of a distribution without a variance, and there are too few records for
// that.
func (t *singles) heavy(ess float64) bool {
	return t.skewed() && t.index > mostIndex && t.index*t.asymmetry(ess) > mostRuled
}

// Above mostIndex Hill's estimator of a tail says that there is no variance (it is 1/2 where
// the variance ends, and estimates too much for other tails). mostRuled was chosen on
// log-normal, gamma and Pareto outcomes (docs/density-ratio.md, section 15).
const (
	twoValued = 0.3 // of spread, below which values are nearly those of a share
	mostIndex = 0.85
	mostRuled = 0.12
)
