package assess

import (
	"context"
	"math"
)

// correlate compares all pairs of columns.
func correlate(ctx context.Context, names []string, original, release []*numbers) (*Correlations, error) {
	c := &Correlations{Columns: names}
	var err error
	if c.Original, err = correlationMatrix(ctx, original); err != nil {
		return nil, err
	}
	if c.Release, err = correlationMatrix(ctx, release); err != nil {
		return nil, err
	}
	sum, largest := 0.0, -1.0
	for i := range names {
		for j := range i {
			a, b := c.Original[i][j], c.Release[i][j]
			if a == nil || b == nil {
				continue
			}
			change := math.Abs(*a - *b)
			c.Pairs++
			sum += change
			if change > largest {
				largest = change
				c.Largest = &CorrelationChange{First: names[j], Second: names[i], Original: *a, Release: *b}
			}
		}
	}
	if c.Pairs > 0 {
		c.MeanChange = finite(sum / float64(c.Pairs))
	}
	return c, nil
}

func correlationMatrix(ctx context.Context, x []*numbers) ([][]*float64, error) {
	m := make([][]*float64, len(x))
	for i := range m {
		m[i] = make([]*float64, len(x))
	}
	for i := range x {
		for j := range i + 1 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			r := correlation(x[i], x[j])
			m[i][j], m[j][i] = r, r
		}
	}
	return m, nil
}

// correlation is Pearson's, over the records that have both values: means
// first, then products about them.
func correlation(a, b *numbers) *float64 {
	var n, sumA, sumB float64
	minA, maxA, minB, maxB := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for i := range a.present {
		if !a.present[i] || !b.present[i] {
			continue
		}
		x, y := a.mid(i), b.mid(i)
		n++
		sumA += x
		sumB += y
		minA, maxA, minB, maxB = min(minA, x), max(maxA, x), min(minB, y), max(maxB, y)
	}
	if n < 2 || minA == maxA || minB == maxB {
		return nil
	}
	// Scaling by the widths keeps the products of huge and of tiny values
	// within range.
	meanA, meanB := sumA/n, sumB/n
	widthA, widthB := maxA-minA, maxB-minB
	var aa, bb, ab float64
	for i := range a.present {
		if !a.present[i] || !b.present[i] {
			continue
		}
		x, y := (a.mid(i)-meanA)/widthA, (b.mid(i)-meanB)/widthB
		aa += x * x
		bb += y * y
		ab += x * y
	}
	return finite(min(1, max(-1, ab/math.Sqrt(aa)/math.Sqrt(bb))))
}
