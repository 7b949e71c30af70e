package text

import "github.com/noren-privacy/noren/api"

// TimeMayTell warns of a question whose time of reply from a server may depend on the data: kind is
// outliers or ratio. above is the number of records up to which the bound of a count of
// outliers was compared with measurements.
func TimeMayTell(kind string, above int64) api.Message {
	if kind == api.KindRatio {
		return api.Say("time.ratio", nil)
	}
	return api.Say("time.outliers", map[string]any{"above": above})
}
