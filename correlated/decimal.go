package correlated

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren/table"
)

// Decimal is an exact decimal number of an answer. As JSON it is a number where
// readers that hold numbers as doubles lose nothing (15 digits and 2^53 - 1), and
// otherwise a string of its digits: every answer has a canonical form.
type Decimal string

// exactDigits is how many significant digits every double keeps, and maxPublished
// the largest number that canonical JSON holds.
const (
	exactDigits  = 15
	maxPublished = 1<<53 - 1
)

// String writes d with all its digits.
func (d Decimal) String() string { return string(d) }

// Float64 is the nearest float to d. Error: d is no decimal.
func (d Decimal) Float64() (float64, error) { return strconv.ParseFloat(string(d), 64) }

// MarshalJSON implements [json.Marshaler].
func (d Decimal) MarshalJSON() ([]byte, error) {
	digits := strings.TrimLeft(strings.Replace(strings.TrimPrefix(string(d), "-"), ".", "", 1), "0")
	if len(digits) <= exactDigits {
		return []byte(d), nil
	}
	return json.Marshal(string(d))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (d *Decimal) UnmarshalJSON(text []byte) error {
	s := string(text)
	if len(s) > 1 && s[0] == '"' {
		s = s[1 : len(s)-1]
	}
	if _, _, err := table.ParseDecimal([]byte(s)); err != nil {
		return err
	}
	*d = Decimal(s)
	return nil
}
