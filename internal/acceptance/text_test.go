package acceptance

import "regexp"

var anyRequestID = regexp.MustCompile(`rq_[a-z2-7]{16}`)

// unnamed is a text without the ids of requests.
func unnamed(text string) string { return anyRequestID.ReplaceAllString(text, "rq_") }
