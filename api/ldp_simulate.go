package api

import "github.com/noren-privacy/noren/ldp/survey"

// LDPSimulateSchema names the form of [LDPSimulate] in JSON.
const LDPSimulateSchema = "noren.ldp.simulate/1"

// LDPSimulateRequest asks for a simulated collection.
type LDPSimulateRequest struct {
	// Survey is the specification of the reports. Required.
	Survey LDPSurvey `json:"survey"`
	// N is the number of people who report. Defaults to the records of Table; required
	// without one.
	N int `json:"n,omitempty"`
	// Table is a table from whose columns people are drawn. Its values are private, and so
	// is the result. Optional.
	Table *Table `json:"table,omitempty"`
	// Population is the shape of a made-up population: zipf (the default), uniform or
	// geometric for labels and words; normal (the default), uniform or bimodal for numbers.
	Population string `json:"population,omitempty"`
	// Shares are the true shares of the labels, instead of Population.
	Shares []float64 `json:"shares,omitempty"`
	// Words is the number of different words, for RAPPOR. Defaults to 20.
	Words int `json:"words,omitempty"`
	// Compare names other mechanisms for the curves.
	Compare []string `json:"compare,omitempty"`
	// Epsilons of the curves. Default to a quarter to four times the survey's.
	Epsilons []float64 `json:"epsilons,omitempty"`
	// Ns are the numbers of people of the curves. Default to a tenth to three times N.
	Ns []int `json:"ns,omitempty"`
	// Trials is the number of simulated collections for each point. Defaults to 20.
	Trials int `json:"trials,omitempty"`
	// Level is the confidence of all intervals together. Defaults to 0.95.
	Level float64 `json:"level,omitempty"`
	// Seed of all draws. Defaults to a random one, which the result names.
	Seed *uint64 `json:"seed,omitempty"`
	// Workers is the number of parallel workers. Defaults to one a processor.
	Workers int `json:"workers,omitempty"`
}

// LDPSimulate is a simulated collection: true beside estimated values, and curves of the
// error.
type LDPSimulate struct {
	// Schema is the form, noren.ldp.simulate/1.
	Schema string `json:"schema"`
	// Private is the text "do not release"; absent for a made-up population.
	Private string `json:"private,omitempty"`
	// Input is the table from which people were drawn; absent for a made-up population.
	Input string `json:"input,omitempty"`
	// Mechanism is the name of the simulated mechanism.
	Mechanism string `json:"mechanism"`
	// N is the number of people who report.
	N int `json:"n"`
	// Seed of all draws.
	Seed uint64 `json:"seed"`
	// Trials is the number of simulated collections per point of a curve.
	Trials int `json:"trials"`
	// Error is the error of the estimate, in the measure of the curves.
	Error float64 `json:"error"`
	// Attributes are the true and the estimated values, one element per attribute.
	Attributes []LDPTruth `json:"attributes"`
	// Curves of the error over epsilon and over the number of people.
	Curves []LDPErrorCurve `json:"curves"`
	// Privacy is the guarantee that real reports would have.
	Privacy survey.Privacy `json:"privacy"`

	// Kind is what is estimated.
	Kind survey.Kind `json:"-"`
}

// LDPTruth holds true and estimated values of an attribute.
type LDPTruth struct {
	// Column is the column of the attribute.
	Column string `json:"column,omitempty"`
	// Labels are the true and the estimated shares of labels or of words.
	Labels []LDPTrueShare `json:"labels,omitempty"`
	// Mean is the true and the estimated mean of a number.
	Mean *LDPTrueMean `json:"mean,omitempty"`
	// Distribution is the true and the estimated distribution of a number, by buckets.
	Distribution []LDPTrueBucket `json:"distribution,omitempty"`
	// Wasserstein is the distance between the true and the estimated distribution.
	Wasserstein *float64 `json:"wasserstein,omitempty"`
}

// LDPTrueShare is the share of a label or a word.
type LDPTrueShare struct {
	// Label is the label or the word.
	Label string `json:"label"`
	// True is the true share.
	True float64 `json:"true"`
	// Estimate is the estimated share.
	Estimate float64 `json:"estimate"`
	// StdErr is the standard error of the estimate; null for a word that was not found.
	StdErr *float64 `json:"std_err"`
	// Low is the lower end of the interval for the share; absent for words.
	Low *float64 `json:"low,omitempty"`
	// High is the upper end of the interval for the share; absent for words.
	High *float64 `json:"high,omitempty"`
	// Found is true if the word was found; absent for labels.
	Found *bool `json:"found,omitempty"`
}

// LDPTrueMean is the mean of a number. Of a distribution it has no error.
type LDPTrueMean struct {
	// True is the true mean.
	True float64 `json:"true"`
	// Estimate is the estimated mean.
	Estimate float64 `json:"estimate"`
	// StdErr is the standard error of the estimate.
	StdErr float64 `json:"std_err"`
	// Low is the lower end of the interval for the mean.
	Low float64 `json:"low"`
	// High is the upper end of the interval for the mean.
	High float64 `json:"high"`
}

// LDPTrueBucket is the share of a bucket of a distribution.
type LDPTrueBucket struct {
	// From is the lower edge of the bucket.
	From float64 `json:"from"`
	// To is the upper edge of the bucket.
	To float64 `json:"to"`
	// True is the true share.
	True float64 `json:"true"`
	// Estimate is the estimated share.
	Estimate float64 `json:"estimate"`
}

// LDPErrorCurve is the error of a mechanism over epsilon or over the number of people.
type LDPErrorCurve struct {
	// Mechanism is the name of the mechanism.
	Mechanism string `json:"mechanism"`
	// Over is the variable of the curve: epsilon or n.
	Over string `json:"over"`
	// Points of the curve.
	Points []LDPErrorPoint `json:"points"`
}

// LDPErrorPoint is a point of a curve.
type LDPErrorPoint struct {
	// X is the value of epsilon or the number of people.
	X float64 `json:"x"`
	// Error is the root mean square error over the trials, or the mean Wasserstein distance;
	// null where neither is available.
	Error *float64 `json:"error"`
	// Expected is the error by the formulas; null where there is no formula.
	Expected *float64 `json:"expected"`
}
