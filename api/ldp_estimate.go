package api

import (
	"io"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/survey"
)

// LDPEstimateSchema names the form of [LDPEstimate] in JSON.
const LDPEstimateSchema = "noren.ldp.estimate/1"

// LDPFile is a file of reports, counts or a map: an open reader, or the path of a file.
type LDPFile struct {
	// Name of the file: its path, or what errors call the reader.
	Name string `json:"name"`
	// Reader is read where it is not nil; the file of that name is opened otherwise.
	Reader io.Reader `json:"-"`
}

// LDPSurvey is a specification of reports and where it comes from.
type LDPSurvey struct {
	// Spec is the specification.
	Spec survey.Spec `json:"spec"`
	// File is the name of its file, for errors; may be empty.
	File string `json:"file,omitempty"`
}

// LDPEstimateRequest asks for estimates from files of reports.
type LDPEstimateRequest struct {
	// Survey is the specification by which the reports were made. Required.
	Survey LDPSurvey `json:"survey"`
	// Reports are the files, one or more. Required.
	Reports []LDPFile `json:"reports"`
	// Counts says that Reports are counts files of the reference RAPPOR server.
	Counts bool `json:"counts,omitempty"`
	// Rounds says that each file is a round of one question with memory.
	Rounds bool `json:"rounds,omitempty"`
	// AllowRepeats counts every report of a client.
	AllowRepeats bool `json:"allow_repeats,omitempty"`
	// MaxMalformed is the largest share of lines that may be no reports. Defaults to 0.01.
	MaxMalformed float64 `json:"max_malformed,omitempty"`
	// Level is the confidence of all intervals together. Defaults to 0.95.
	Level float64 `json:"level,omitempty"`
	// Project adds the nearest shares that are not negative and add up to 1.
	Project bool `json:"project,omitempty"`
	// Rough leaves the distribution of a square wave unsmoothed.
	Rough bool `json:"rough,omitempty"`
	// Candidates are the words to look for, for RAPPOR.
	Candidates []string `json:"candidates,omitempty"`
	// CandidatesFile is the name of their file, for errors.
	CandidatesFile string `json:"candidates_file,omitempty"`
	// Map holds the candidates as a map file of the reference client, instead of
	// Candidates.
	Map *LDPFile `json:"map,omitempty"`
	// Alpha is the probability of any false discovery of a word. Defaults to 0.05.
	Alpha float64 `json:"alpha,omitempty"`
	// Correction of the tests of many words: holm (the default) or bonferroni.
	Correction string `json:"correction,omitempty"`
	// AllWords keeps the candidates that were not found.
	AllWords bool `json:"all_words,omitempty"`
	// Associate names two attributes of these reports whose joint shares are estimated.
	Associate []string `json:"associate,omitempty"`
	// With names reports of the same people, whose joint shares with these are estimated.
	With *LDPOther `json:"with,omitempty"`
	// WantCounts, WantMap and WantParams ask for RAPPOR's counts, the candidates' map and
	// the parameters in the result, for files of the reference client.
	WantCounts, WantMap, WantParams bool `json:"-"`
}

// LDPOther names reports of another attribute of the same people.
type LDPOther struct {
	// Survey is the specification by which they were made.
	Survey LDPSurvey `json:"survey"`
	// Reports is their file.
	Reports LDPFile `json:"reports"`
	// Candidates are the words to look for, for RAPPOR.
	Candidates []string `json:"candidates,omitempty"`
	// CandidatesFile is the name of their file, for errors.
	CandidatesFile string `json:"candidates_file,omitempty"`
}

// LDPEstimate holds the estimates from files of reports.
type LDPEstimate struct {
	// Schema is the form, noren.ldp.estimate/1.
	Schema string `json:"schema"`
	// Inputs are the names of the files.
	Inputs []string `json:"inputs"`
	// Question is the question that the specification states.
	Question string `json:"question,omitempty"`
	// Column is the column of the attribute; absent for several attributes.
	Column string `json:"column,omitempty"`
	// Mechanism is the name of the mechanism.
	Mechanism string `json:"mechanism"`
	// Rappor are the parameters of RAPPOR as used; absent for other mechanisms.
	Rappor *ldp.Params `json:"rappor,omitempty"`
	// Kind is what is estimated: shares, words, mean, distribution or several.
	Kind survey.Kind `json:"kind"`
	// Reports is the number of reports counted.
	Reports int64 `json:"reports"`
	// Rounds is the number of rounds that were estimated together.
	Rounds int `json:"rounds,omitempty"`
	// People is the number of persons in the rounds that were estimated.
	People int64 `json:"people,omitempty"`
	// Rejected are the numbers of excluded lines, by reason.
	Rejected ldp.Rejected `json:"rejected"`
	// BadLines are the places of the first malformed lines.
	BadLines []survey.BadLine `json:"malformed_lines,omitempty"`
	// Specification is the SHA-256 of the specification by which it was estimated.
	Specification string `json:"specification_sha256"`
	// Without are the files that name no specification: nothing ties their reports to the
	// one by which they were estimated.
	Without []string `json:"files_without_specification,omitempty"`
	// Warnings are doubts about the estimate, in sentences.
	Warnings []noren.Text `json:"warnings,omitempty"`
	// Attributes are the estimates of several attributes, one per attribute.
	Attributes []LDPAttribute `json:"attributes,omitempty"`
	// Association is the estimate of the joint shares of two attributes.
	Association *LDPAssociation `json:"association,omitempty"`
	LDPLearned
	// Privacy is the privacy cost of the reports for a person.
	Privacy survey.Privacy `json:"privacy"`

	// Counts, Map and Params are set where the request wants them.
	Counts *ldp.RapporCounts `json:"-"`
	Map    *ldp.Map          `json:"-"`
	Params *ldp.Params       `json:"-"`
	// WriteCounts writes Counts as a counts file; nil where Counts is.
	WriteCounts func(io.Writer) error `json:"-"`
}

// LDPLearned is the estimate of an attribute; one of its fields is set.
type LDPLearned struct {
	// Shares of labels.
	Shares *LDPShares `json:"shares,omitempty"`
	// Words are the shares of words among candidates.
	Words *LDPWords `json:"words,omitempty"`
	// Mean of a number.
	Mean *LDPMean `json:"mean,omitempty"`
	// Distribution of a number.
	Distribution *LDPDistribution `json:"distribution,omitempty"`
}

// LDPAttribute is the estimate of one of several attributes.
type LDPAttribute struct {
	// Column is the column of the attribute.
	Column string `json:"column"`
	// Reports is the number of reports that hold the attribute.
	Reports int64 `json:"reports"`
	LDPLearned
}

// LDPShares are shares of labels.
type LDPShares struct {
	// Level is the confidence of all intervals together.
	Level float64 `json:"level"`
	// Labels are the shares, one per label of the domain.
	Labels []LDPShare `json:"labels"`
	// Midpoints of the labels, where these are bins.
	Midpoints []float64 `json:"-"`
}

// LDPShare is the share of a label.
type LDPShare struct {
	// Label is the name of the label.
	Label string `json:"label"`
	// Share is the unbiased estimate, which may lie outside [0, 1].
	Share float64 `json:"share"`
	// StdErr is the standard error of the share.
	StdErr float64 `json:"std_err"`
	// Low is the lower end of the interval for the share.
	Low float64 `json:"low"`
	// High is the upper end of the interval for the share.
	High float64 `json:"high"`
	// Count is the share times the number of reports, or of people.
	Count float64 `json:"count"`
	// CountStdErr is the standard error of the count.
	CountStdErr float64 `json:"count_std_err"`
	// Projected is the share after a projection of all shares to the nearest ones that are not
	// negative and add up to 1; absent unless requested.
	Projected *float64 `json:"projected,omitempty"`
}

// LDPWords are shares of words among candidates.
type LDPWords struct {
	// Candidates is the number of candidates.
	Candidates int `json:"candidates"`
	// Level is the confidence of all intervals together.
	Level float64 `json:"level"`
	// Explained is the share of the reports that the found words explain.
	Explained float64 `json:"explained"`
	// Joint is true if all candidates were fitted together.
	Joint bool `json:"fitted_together"`
	// Unnamed is the share of words that are not among the candidates.
	Unnamed LDPUnnamed `json:"unnamed"`
	// Found are the words that were found, and, if all words were requested, the other
	// candidates.
	Found []LDPWord `json:"found"`
}

// LDPUnnamed is the share of words that are no candidates.
type LDPUnnamed struct {
	// Share is the estimate.
	Share float64 `json:"share"`
	// StdErr is the standard error of the estimate; null where none is known.
	StdErr *float64 `json:"std_err"`
	// Low is the lower end of the interval for the share.
	Low float64 `json:"low"`
	// High is the upper end of the interval for the share.
	High float64 `json:"high"`
	// P is the p-value of the hypothesis that there are no such words; null where the
	// hypothesis was not tested.
	P *float64 `json:"p_value"`
}

// LDPWord is the share of a candidate.
type LDPWord struct {
	// Word is the candidate.
	Word string `json:"word"`
	// Share is the estimate.
	Share float64 `json:"share"`
	// StdErr is the standard error of the share; null where none is known.
	StdErr *float64 `json:"std_err"`
	// Low is the lower end of the interval for the share.
	Low float64 `json:"low"`
	// High is the upper end of the interval for the share.
	High float64 `json:"high"`
	// P is the p-value of the hypothesis that the share is 0.
	P float64 `json:"p_value"`
	// Significant is true if the word counts as found.
	Significant bool `json:"significant"`
}

// LDPMean is the mean of a number.
type LDPMean struct {
	// Level is the confidence of the interval.
	Level float64 `json:"level"`
	// Value is the estimate.
	Value float64 `json:"value"`
	// StdErr is the standard error of the estimate.
	StdErr float64 `json:"std_err"`
	// Low is the lower end of the interval for the mean.
	Low float64 `json:"low"`
	// High is the upper end of the interval for the mean.
	High float64 `json:"high"`
	// Basis is the inequality from which the interval follows.
	Basis string `json:"interval_basis"`
}

// LDPDistribution is the distribution of a number.
type LDPDistribution struct {
	// Edges of the buckets, one more than there are buckets.
	Edges []float64 `json:"edges"`
	// Shares of the buckets.
	Shares []float64 `json:"shares"`
	// Mean of the shares, each bucket at its middle. The first of errors is the estimate of the mean of
	// what people hold.
	Mean float64 `json:"mean"`
	// Quartiles are the first quartile, the median and the third quartile.
	Quartiles []float64 `json:"quartiles"`
	// Errors are the mean and the quartiles with their standard errors and intervals. The
	// mean is the linear estimate from the counts of reports, without bias, cut to the range.
	Errors []LDPMeasured `json:"errors,omitempty"`
	// Iterations is the number of iterations of the EM algorithm.
	Iterations int `json:"iterations"`
	// Converged is true if the EM algorithm converged.
	Converged bool `json:"converged"`
}

// LDPMeasured is a statistic of a distribution with its interval.
type LDPMeasured struct {
	// Of is the name of the statistic: mean, first quartile, median or third quartile.
	Of string `json:"of"`
	// Value is the estimate.
	Value float64 `json:"value"`
	// StdErr is the standard error of the estimate.
	StdErr float64 `json:"std_err"`
	// Low is the lower end of the interval for the statistic.
	Low float64 `json:"low"`
	// High is the upper end of the interval for the statistic.
	High float64 `json:"high"`
	// Level is the confidence of the interval.
	Level float64 `json:"level"`
	// Basis is what the interval is by. That of the mean holds for every number of reports; those
	// of quartiles are approximate, and a warning says where they hold less often.
	Basis string `json:"basis"`
}

// LDPAssociation holds the joint shares of two attributes.
type LDPAssociation struct {
	// First is the name of the attribute of the rows.
	First string `json:"first"`
	// Second is the name of the attribute of the columns.
	Second string `json:"second"`
	// FirstLabels are the labels of the rows.
	FirstLabels []string `json:"first_labels"`
	// SecondLabels are the labels of the columns.
	SecondLabels []string `json:"second_labels"`
	// People is the number of persons whose reports hold both attributes.
	People int `json:"people"`
	// Shares are the joint shares, one row per first label.
	Shares [][]float64 `json:"shares"`
	// StdErr are the standard errors of the shares; null where none is known.
	StdErr [][]*float64 `json:"std_err"`
	// Iterations is the number of iterations of the EM algorithm.
	Iterations int `json:"iterations"`
	// Converged is true if the EM algorithm converged.
	Converged bool `json:"converged"`
	// Loss is the privacy loss of both reports of a person.
	Loss ldp.Loss `json:"loss"`
}
