package ratio

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/noise"
)

// What canonical JSON and the arithmetic of the mechanisms can hold, and how the answers
// keep to it. Every table within these limits is answered, and every answer has canonical
// JSON: the limits are compared with public figures before any charge, and noisy figures
// that pass the largest number stop there. Such a stop looks at what is already noisy and
// costs no privacy.
const (
	// maxRecords bounds a table: 2^30 records of at most 2^30 steps fit 64 bits.
	maxRecords = 1 << 30
	// maxNumber is the largest number that canonical JSON holds, 2^53 - 1.
	maxNumber = 1<<53 - 1
)

// Covers refuses a data set whose tables cannot all be answered: of more than 2^30 records,
// or, for replace-one, of another number than Options.Records. atMost is a public bound of
// the number of records, and records their public number, 0 where it is not stated. Error:
// [noren.Usage], code "too-many-records" or "records".
func (m *Mechanism) Covers(atMost, records int64) error {
	return covers(m.options.Neighbours, m.options.Records, atMost, records)
}

// Covers is as for [Mechanism.Covers].
func (c *Check) Covers(atMost, records int64) error {
	return covers(c.options.Neighbours, c.options.Records, atMost, records)
}

func covers(n account.Neighbours, declared int, atMost, records int64) error {
	if n == account.ReplaceOne && records != int64(declared) {
		return &noren.Error{
			Kind: noren.Usage, Code: "records", Where: "records", What: "expected the data set's public number of records, %d, got %d", Args: []any{
				records, declared,
			},
			Hint: "a data set of replace-one neighbours states the number of its records",
		}
	}
	if atMost > maxRecords {
		return &noren.Error{
			Kind: noren.Usage, Code: "too-many-records", Where: "records", What: "expected at most %d records, got a bound of %d", Args: []any{
				maxRecords, atMost,
			},
			Hint: "state a smaller bound of the number of records",
		}
	}
	return nil
}

// checkScale refuses noise whose scale, which is public, canonical JSON cannot hold.
func checkScale(scale float64) error {
	if scale <= maxNumber {
		return nil
	}
	return noren.Usagef("epsilon", "expected noise of a scale below 2^53 steps, got more").
		Hinted("choose a larger epsilon, fewer centres or fewer columns")
}

// publishable is x, or the end of what canonical JSON holds that it passes.
func publishable(x float64) float64 { return min(max(x, -maxNumber), maxNumber) }

// publishableCount is n, or the end of what canonical JSON holds that it passes.
func publishableCount(n int64) int64 { return min(max(n, -maxNumber), maxNumber) }

// sumsJSON is [Sums] as JSON: whole numbers beyond 2^53, which a sum over 2^23 records
// passes, are none there, so all are strings of decimal digits.
type sumsJSON struct {
	Sums    []steps `json:"sums"`
	Records steps   `json:"records"`
}

type steps int64

// MarshalJSON writes s as a string of digits.
func (s steps) MarshalJSON() ([]byte, error) {
	return []byte(`"` + strconv.FormatInt(int64(s), 10) + `"`), nil
}

// UnmarshalJSON reads a string of digits, or a whole number, as earlier answers have it.
func (s *steps) UnmarshalJSON(text []byte) error {
	if len(text) > 1 && text[0] == '"' && text[len(text)-1] == '"' {
		text = text[1 : len(text)-1]
	}
	v, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return badMeta("a released sum is no whole number of 64 bits")
	}
	*s = steps(v)
	return nil
}

// MarshalJSON implements [json.Marshaler]: sums are strings of decimal digits.
func (s Sums) MarshalJSON() ([]byte, error) {
	out := sumsJSON{Sums: make([]steps, len(s.Sums)), Records: steps(s.Records)}
	for i, v := range s.Sums {
		out.Sums[i] = steps(v)
	}
	return json.Marshal(out)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *Sums) UnmarshalJSON(text []byte) error {
	var in sumsJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	s.Records, s.Sums = int64(in.Records), make([]int64, len(in.Sums))
	for i, v := range in.Sums {
		s.Sums[i] = int64(v)
	}
	return nil
}

// centreNoise is the noise on each coordinate of the centres of NoisyCentres, in steps of
// 2^-30: R in steps, and a step a coordinate for rounding, over eps'.
func (m *Mechanism) centreNoise() (*noise.Laplace, error) {
	o := &m.options
	length := int64(0)
	for j, low := range o.Low {
		length += int64(math.Ceil(math.Ldexp(o.High[j]-low, centreBits)*(1+0x1p-40))) + 1
	}
	units := int64(math.Floor(m.inner * account.EpsilonUnits))
	if units < 1 {
		return nil, noren.Usagef("epsilon", "the epsilon is too small for noisy centres")
	}
	scale, err := noise.ScaleFor(new(big.Rat).SetInt64(length), units)
	if err != nil {
		return nil, err
	}
	return noise.NewLaplace(scale)
}
