// Package survey collects randomised reports by a specification and estimates from
// them. A [Spec] is the file that clients and collector share: the question, its
// domain and the mechanism. [NewPlan] chooses one by its expected error,
// [Survey.Randomise] makes what each person's device sends, and a [Collector] counts
// the lines and estimates.
//
//	s, err := survey.New(spec)                       // spec from survey.Parse
//	line, err := s.Randomise(src, []string{"42"}) // on the device
//	c, err := s.NewCollector()                        // at the collector
//	err = c.AddLines(ctx, file, "reports.txt")
//	e, err := c.Estimate(ctx, survey.Options{})
//
// # The guarantee
//
// The loss that [Survey.Loss] states holds for every line that Randomise makes,
// whatever the values: the mechanisms are those of package ldp. A specification is
// public. Bins are public by default; what was paid for them is stated in
// [Survey.Unprotected], and bins fitted on raw data are refused.
// Errors about values say where they are, never what they are.
//
// A line that is no report of the survey, and a second report of a client, are
// counted by reason and change nothing in the estimate of the others.
package survey
