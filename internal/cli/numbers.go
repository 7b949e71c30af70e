package cli

import words "github.com/noren-privacy/noren/report/text"

// share writes a share, or its error, for people.
func share(v float64) string { return words.Share(v) }
