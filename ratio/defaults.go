package ratio

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
)

// Shares of epsilon for the checks of a fit: the default of each, and the maximum of both
// together.
const (
	CheckShare     = 0.1
	MaxCheckShares = 0.2
)

// Shares are the shares of epsilon for the number of private records and for the number of
// those outside of the public range. Nil takes the default: [CheckShare] for each as far as
// [MaxCheckShares] allows, and 0 for the number of records in ReplaceOne, where it is public.
// Error: [noren.Usage].
func Shares(count, outside *float64, n account.Neighbours) (forCount, forOutside float64, err error) {
	forCount, forOutside = CheckShare, CheckShare
	if n == account.ReplaceOne {
		forCount = 0
	}
	if count != nil {
		forCount = *count
	}
	forOutside = max(0, min(forOutside, MaxCheckShares-forCount))
	if outside != nil {
		forOutside = *outside
	}
	if !(forCount >= 0 && forOutside >= 0 && forCount+forOutside <= MaxCheckShares+1e-9) {
		return 0, 0, &noren.Error{
			Kind: noren.Usage, Where: "count-share",
			What: "expected shares for both checks that add up to at most %g of epsilon, got %g", Args: []any{MaxCheckShares, forCount + forOutside},
			Hint: "0 leaves a check out",
		}
	}
	return forCount, forOutside, nil
}

// PreferredFeatures are the features for a frame where the caller has no preference:
// histograms where a column has more than two categories, which kernels follow worse as they
// see all categories equally far from each other, else kernels.
func PreferredFeatures(f *Frame) Feature {
	for _, a := range f.Axes() {
		if len(a.Categories) > 2 {
			return MarginalFeatures
		}
	}
	return KernelFeatures
}
