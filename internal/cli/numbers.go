package cli

import (
	"github.com/noren-privacy/noren/lang"
	words "github.com/noren-privacy/noren/report/text"
)

// share writes a share, or its error, for people.
func share(v float64) string { return words.Share(v) }

// plural writes n and what is counted.
func plural(n int, what string) lang.Words { return words.Count(n, what) }
