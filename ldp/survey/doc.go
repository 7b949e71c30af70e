// Package survey is a collection of randomised reports from end to end: what is
// asked and by which mechanism (a [Spec], the file that clients and collector
// share), what each person's device sends ([Survey.Randomise]), and what the
// collector makes of the lines it gets ([Collector]).
//
//	s, err := survey.New(spec)                       // spec from survey.Parse
//	line, err := s.Randomise(src, "", []string{"42"}) // on the device
//	c, err := s.NewCollector()                        // at the collector
//	err = c.AddLines(ctx, file, "reports.txt", nil)
//	e, err := c.Estimate(ctx, survey.Options{})
//
// # The promise
//
// The loss that [Survey.Loss] states holds for every line that Randomise makes,
// whatever the values: the mechanisms are those of package ldp. A specification is
// public. Bins are public by default; what was paid for them is stated in
// [Survey.Unprotected], and bins fitted on raw data cannot be had here at all.
// Errors about values say where they stand, never what they are.
//
// A line that is no report of the survey, and a second report of a client, are
// counted by reason and change nothing in the estimate of the others.
package survey
