package kanon

import (
	"math"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
)

// Suppression limits how many records a release may leave out. The zero value is
// none.
type Suppression struct {
	// Share of the records, from 0 to 1, or Records; not both.
	Share   float64
	Records int
}

// ParseSuppression reads "off", a share such as "1%" or a number of records.
func ParseSuppression(s string) (Suppression, error) {
	if s == "off" {
		return Suppression{}, nil
	}
	if share, ok := strings.CutSuffix(s, "%"); ok {
		if v, err := strconv.ParseFloat(share, 64); err == nil && v >= 0 && v < 100 {
			return Suppression{Share: v / 100}, nil
		}
	} else if n, err := strconv.Atoi(s); err == nil && n >= 0 {
		return Suppression{Records: n}, nil
	}
	return Suppression{}, &noren.Error{
		Kind: noren.Usage, What: "unknown limit of suppression %q", Args: []any{s},
		Hint: "off, a share below 100% such as 1%, or a number of records",
	}
}

// String is the limit as [ParseSuppression] reads it, "" for none.
func (s Suppression) String() string {
	switch {
	case s.Share > 0:
		return strconv.FormatFloat(math.Round(s.Share*1e14)/1e12, 'f', -1, 64) + "%"
	case s.Records > 0:
		return strconv.Itoa(s.Records)
	}
	return ""
}

// most is the limit in a table of n records.
func (s Suppression) most(n int) int {
	return max(s.Records, int(math.Floor(s.Share*float64(n))))
}

func (o *Options) suppressionFaults() noren.Texts {
	s := o.Suppress
	var faults noren.Texts
	if !(s.Share >= 0 && s.Share < 1) || s.Records < 0 || s.Share > 0 && s.Records > 0 {
		faults = append(faults, noren.Textf("suppression is limited by a share of the records from 0 to below 1, or by a number of them"))
	}
	if s != (Suppression{}) && o.Linkage == LinkAll {
		faults = append(faults, noren.Textf("suppression cannot go with a linkage of all records: leave one of them out"))
	}
	return faults
}
