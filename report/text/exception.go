package text

import (
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/kinds"
)

// TimeMayTell warns of a question whose time of reply from a server may depend on the data: of
// outliers or a ratio. above is the number of records up to which the bound of a count of
// outliers was compared with measurements.
func TimeMayTell(k kinds.Kind, above int64) api.Message {
	if _, ok := k.(kinds.Ratio); ok {
		return api.Say("time.ratio", nil)
	}
	return api.Say("time.outliers", map[string]any{"above": above})
}
