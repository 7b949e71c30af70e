package text

import (
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/outlier"
)

// Outliers says the intervals and the noise of a count of outliers. guess is the public
// guess of the request.
func Outliers(l Lang, a *outlier.Answer, guess int) []Line {
	lines := []Line{{"95 %", l.Text("%s to %s, whatever the data", Figure(float64(a.Interval.Low)), Figure(float64(a.Interval.High)))}}
	if a.Expected != nil {
		lines = append(lines, Line{"expected", l.Text("%s to %s, %s", Figure(float64(a.Expected.Low)), Figure(float64(a.Expected.High)),
			ifGuess(l, guess))})
	}
	return append(lines, Line{"noise", l.Shown(a.Noise)}, Line{"basis", l.Shown(a.Basis)})
}

// OutliersAccuracy says how far a count of outliers is expected to be off. guess is the
// public guess of the request.
func OutliersAccuracy(l Lang, a *api.OutliersAccuracy, guess int) []Line {
	lines := []Line{{"noise", l.Shown(a.Noise)}}
	if a.SD > 0 {
		lines = append(lines, Line{"expected", l.Text("standard deviation %s, 95 %% within %s, %s", Figure(a.SD), Figure(a.HalfWidth),
			ifGuess(l, guess))})
	}
	return append(lines, Line{"at most", l.Text("standard deviation %s, 95 %% within %s, whatever the data", Figure(a.MostSD),
		Figure(a.MostHalfWidth))})
}

func ifGuess(l Lang, guess int) string {
	return l.Text("if at most %d records change sides at once (your guess, not a bound)", guess)
}
