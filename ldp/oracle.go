package ldp

import (
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/noise"
)

// Oracle is a mechanism for the frequencies of k labels, 0 to k-1. Every report
// of it supports some of the labels: the true one with one probability, any other
// with another, and nothing else matters for estimating (the "pure" protocols of
// Wang, Blocki, Li and Jha, USENIX Security 2017). Oracles hold no state and are
// safe for concurrent use.
type Oracle interface {
	// Name is the mechanism's, as NewOracle takes it.
	Name() string
	// Domain is k.
	Domain() int
	// Loss is what one report costs, and many.
	Loss() Loss
	// Randomise makes the report of a label.
	Randomise(src *noise.Source, label int) (Report, error)
	// Channel is how reports depend on labels.
	Channel() Channel
	// Check says why a report cannot be one of this mechanism, nil if it can.
	Check(r Report) error
	// Supports tells whether a report that Check accepts supports a label.
	Supports(r Report, label int) bool
	// Format and Parse write a report as one word of text, and read it.
	Format(r Report) string
	Parse(word string) (Report, error)

	// tally adds 1 to counts, one each label, where r, checked, supports it.
	tally(counts []int64, r *Report)
}

// Report is what a device sends. Which fields are used depends on the mechanism.
type Report struct {
	Value uint32    // GRR: the label; OLH: the hashed label
	Hash  [2]uint64 // OLH: the hash function
	Bits  []uint64  // sets of labels: bit l%64 of word l/64
}

// Channel is how the reports of a mechanism depend on the label.
type Channel struct {
	// True is the probability that a report supports the label it was made from,
	// Other that it supports any other given label.
	True, Other float64
	// On and Off are proportional to the probability of a report given a label
	// that it supports, and one that it does not: for a given report the factor is
	// the same for all labels.
	On, Off float64
}

// Names are the mechanisms that NewOracle makes.
func Names() []string { return []string{"grr", "olh", "oue", "subset", "sue"} }

// NewOracle makes a mechanism by name: grr, olh, oue, subset or sue (the last is
// Basic One-time RAPPOR), for k labels at epsilon for each report.
func NewOracle(name string, k int, epsilon float64) (Oracle, error) {
	switch strings.ToLower(name) {
	case "grr":
		return NewGRR(k, epsilon)
	case "oue":
		return NewOUE(k, epsilon)
	case "sue":
		return NewSUE(k, epsilon)
	case "olh":
		return NewOLH(k, epsilon)
	case "subset":
		return NewSubset(k, epsilon)
	}
	return nil, &noren.Error{Kind: noren.Usage, Where: "mechanism", What: "not one of %s", Args: []any{strings.Join(Names(), ", ")}}
}

// Errors of reports. None holds what the report says.
func malformed(what noren.Format) error {
	return &noren.Error{Kind: noren.BadData, Where: "report", What: what}
}

// formatBits writes k bits, the highest label first, as RAPPOR does.
func formatBits(b []uint64, k int) string {
	out := make([]byte, k)
	for l := range k {
		out[k-1-l] = '0' + byte(b[l/64]>>(l%64)&1)
	}
	return string(out)
}

// parseBits reads what formatBits writes.
func parseBits(word string, k int) ([]uint64, error) {
	if len(word) != k {
		return nil, &lengthError{got: len(word), want: k}
	}
	b := make([]uint64, (k+63)/64)
	for i := range len(word) {
		l := k - 1 - i
		switch word[i] {
		case '1':
			b[l/64] |= 1 << (l % 64)
		case '0':
		default:
			return nil, malformed("a bit that is neither 0 nor 1")
		}
	}
	return b, nil
}

// lengthError is a report with another number of bits than the mechanism's.
type lengthError struct{ got, want int }

func (e *lengthError) Error() string {
	return noren.Textf("report: %d {bit|bits} where %d {was|were} expected", e.got, e.want).String()
}

func (e *lengthError) Unwrap() error {
	return &noren.Error{Kind: noren.BadData, What: "wrong length"}
}

// checkBits refuses sets that are no sets of k labels.
func checkBits(b []uint64, k int) error {
	if len(b) != (k+63)/64 {
		return &lengthError{got: 64 * len(b), want: k}
	}
	if k%64 != 0 && b[len(b)-1]>>(k%64) != 0 {
		return malformed("a bit beyond the last label")
	}
	return nil
}
