package report

import (
	"math"
	"time"

	"github.com/noren-privacy/noren/table"
)

// Scale is how numbers are laid along an axis.
type Scale uint8

const (
	// Linear is equal steps for equal differences.
	Linear Scale = iota
	// Log is equal steps for equal ratios; values that are not positive cannot
	// be shown and are left out.
	Log
)

// axis maps values to positions on a picture.
type axis struct {
	scale    Scale
	lo, hi   float64 // values at the ends
	from, to float64 // positions of the ends
}

func (a *axis) at(v float64) float64 {
	lo, hi := a.lo, a.hi
	if a.scale == Log {
		v, lo, hi = math.Log10(v), math.Log10(lo), math.Log10(hi)
	}
	if hi == lo {
		return (a.from + a.to) / 2
	}
	return a.from + (v-lo)/(hi-lo)*(a.to-a.from)
}

// ticks are about n round values on the axis.
func (a *axis) ticks(n int) []float64 {
	if a.scale == Log {
		return logTicks(a.lo, a.hi, n)
	}
	return linearTicks(a.lo, a.hi, n)
}

// niceStep is the 1, 2 or 5 times a power of ten that cuts width into at most
// n pieces.
func niceStep(width float64, n int) float64 {
	rough := width / float64(n)
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, m := range [...]float64{1, 2, 5} {
		if m*power >= rough*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

func linearTicks(lo, hi float64, n int) []float64 {
	if !(hi > lo) || math.IsInf(hi-lo, 0) {
		return []float64{lo}
	}
	step := niceStep(hi-lo, max(1, n))
	first := math.Ceil(lo/step - 1e-9)
	var t []float64
	for i := 0.0; i < 100; i++ {
		v := (first + i) * step
		if v > hi+step*1e-9 {
			break
		}
		t = append(t, v)
	}
	return t
}

func logTicks(lo, hi float64, n int) []float64 {
	first, last := int(math.Floor(math.Log10(lo))), int(math.Ceil(math.Log10(hi)))
	marks := []float64{1}
	switch decades := last - first; {
	case decades*3 <= n:
		marks = []float64{1, 2, 5}
	case decades*2 <= n:
		marks = []float64{1, 3}
	}
	skip := max(1, (last-first+n-1)/max(1, n))
	var t []float64
	for e := first; e <= last; e += skip {
		for _, m := range marks {
			if v := m * math.Pow10(e); v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
				t = append(t, v)
			}
		}
	}
	return t
}

// extent is the range of an axis that starts and ends at a tick.
func extent(lo, hi float64, scale Scale, n int) (float64, float64) {
	if scale == Log {
		return math.Pow(10, math.Floor(math.Log10(lo)+1e-9)), math.Pow(10, math.Ceil(math.Log10(hi)-1e-9))
	}
	if lo == hi {
		if lo == 0 {
			return 0, 1
		}
		return lo - math.Abs(lo)/2, hi + math.Abs(hi)/2
	}
	step := niceStep(hi-lo, n)
	return math.Floor(lo/step+1e-9) * step, math.Ceil(hi/step-1e-9) * step
}

// dateTicks are about n round days between lo and hi, in units of the layout.
func dateTicks(lo, hi float64, n int, layout table.Layout) []float64 {
	unit := 86400.0
	if layout.HasTime() {
		unit = 1
	}
	days := (hi - lo) * unit / 86400
	if days < float64(n) || hi*unit > 2.5e11 || lo*unit < -6e10 {
		return linearTicks(lo, hi, n)
	}
	type stride struct {
		days          float64
		year, mon, dd int
	}
	strides := []stride{
		{1, 0, 0, 1},
		{2, 0, 0, 2},
		{7, 0, 0, 7},
		{14, 0, 0, 14},
		{30.4, 0, 1, 0},
		{91.3, 0, 3, 0},
		{182.6, 0, 6, 0},
		{365.2, 1, 0, 0},
	}
	for _, y := range [...]int{2, 5, 10, 20, 50, 100, 200, 500, 1000} {
		strides = append(strides, stride{365.2 * float64(y), y, 0, 0})
	}
	chosen := strides[len(strides)-1]
	for _, s := range strides {
		if days/s.days <= float64(n) {
			chosen = s
			break
		}
	}
	start := time.Unix(int64(lo*unit), 0).UTC()
	year, month, day := start.Date()
	switch {
	case chosen.year > 0:
		year, month, day = year-year%chosen.year, time.January, 1
	case chosen.mon > 0:
		month, day = time.Month((int(month)-1)/chosen.mon*chosen.mon+1), 1
	}
	var t []float64
	for d := time.Date(year, month, day, 0, 0, 0, 0, time.UTC); len(t) < 100; d = d.AddDate(chosen.year, chosen.mon, chosen.dd) {
		v := float64(d.Unix()) / unit
		if v > hi {
			break
		}
		if v >= lo {
			t = append(t, v)
		}
	}
	return t
}
