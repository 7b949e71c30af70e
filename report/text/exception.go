package text

import "github.com/noren-privacy/noren/api"

// TimeMayTell warns of a question whose time of reply from a server may depend on the data: kind is
// outliers or ratio. above is the number of records up to which the bound of a count of
// outliers was compared with measurements.
func TimeMayTell(_ Lang, kind string, above int64) api.Message {
	if kind == api.KindRatio {
		return say("time.ratio", "The time of this answer is not bounded by a measured estimate: on a server, a reply that misses its time class may tell something about the data that the cost does not cover.", nil)
	}
	return say("time.outliers", "The estimate of time of a count of outliers was compared with measurements up to {above} records, and this table may have more: on a server, a reply that misses its time class may tell something about the data that the cost does not cover.", map[string]any{"above": above})
}
