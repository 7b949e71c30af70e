package kanon

import (
	"math"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/verify"
)

// LeftOut is the class of a record that was suppressed.
const LeftOut = math.MaxUint32

// ResultSchema names the JSON form of a [Result].
const ResultSchema = "noren.anonymize/1"

// Result is what a release came to. All of it but the loss, the NCP and the share
// of excluded outsiders follows from the released file; these compare with the
// source and belong to the steward.
type Result struct {
	// Schema is noren.anonymize/1.
	Schema string `json:"schema"`
	// Input is the table as named in the request.
	Input string `json:"input"`
	// Output is the release as named in the request.
	Output string `json:"output"`
	// Unit is the column that tells persons apart. With a unit, k counts persons.
	Unit string `json:"unit,omitempty"`
	// Linkage is one or all: what others may know of a person's records.
	Linkage string `json:"unit_linkage,omitempty"`
	// Pseudonym says that the release shows a pseudonym of each person.
	Pseudonym bool `json:"pseudonym,omitempty"`
	// Rows is the number of records of the release. The source has Suppressed more.
	Rows int `json:"rows"`
	// K is what was asked for: records, or persons with a unit.
	K int `json:"k"`
	// AchievedK is the size of the smallest class that the verifier found in the
	// file: records, or persons with a unit.
	AchievedK int `json:"achieved_k"`
	// Groups is the number of groups that were made.
	Groups int `json:"groups"`
	// Classes is the number of classes that the file shows: groups that publish the
	// same values are one class.
	Classes int `json:"classes"`
	// GroupSize describes the numbers of records of the groups.
	GroupSize GroupSize `json:"group_size"`
	// Loss is the information loss: SSE/SST of the partition in the scaled space of
	// the quasi-identifiers, 0 when SST is.
	Loss float64 `json:"loss"`
	// SSE is the sum of squared errors within the groups.
	SSE float64 `json:"sse"`
	// SST is the total sum of squares.
	SST float64 `json:"sst"`
	// NCP is the normalised certainty penalty: the mean width of what the groups
	// span, over the width of each column (package publish).
	NCP float64 `json:"ncp"`
	// Excluded tells how many persons outside the table the published ranges and
	// sets exclude; absent for other ways to publish.
	Excluded *publish.Excluded `json:"excluded_outsiders,omitempty"`
	// Objective is what the groups were made to lower: "sse", or "boxes" where
	// ranges are published (package kanon/cost).
	Objective string `json:"objective"`
	// LowerBound is a loss that no grouping of these records by K or more gets
	// below, rounded down (docs/loss-bounds.md).
	LowerBound float64 `json:"lower_bound"`
	// Gap is the optimality gap: the share of Loss that a better grouping could save
	// at most, rounded up.
	Gap float64 `json:"gap"`
	// Bound says how LowerBound was computed.
	Bound Bound `json:"bound"`
	// Method is the method that was used.
	Method string `json:"method"`
	// MethodReason says why this method was chosen, where the choice was automatic.
	MethodReason string `json:"method_reason,omitempty"`
	// Coarse is the least size of the coarse cells, 0 without a coarse step.
	Coarse int `json:"coarse"`
	// Refine is the effort of the local search after the method.
	Refine string `json:"refine"`
	// RefinedFrom is the loss before the local search. With unit linkage all, persons
	// are refined before their records are divided, and this is the loss of these
	// first classes.
	RefinedFrom float64 `json:"refined_from"`
	// Scale is minmax, zscore or none.
	Scale string `json:"scale"`
	// Publish is how quasi-identifiers are published.
	Publish string `json:"publish"`
	// Merged is the number of groups that were merged for diversity or
	// closeness.
	Merged int `json:"merged"`
	// Suppressed is the number of records left out, all of those of a person where
	// there is a unit. In NCP each counts as all values in every column.
	Suppressed int `json:"suppressed"`
	// SuppressedLoss is the part of Loss of the records left out: each counts by its
	// squared distance from the centre of the table.
	SuppressedLoss float64 `json:"suppressed_loss,omitempty"`
	// Large is the number of groups of more than ten times K records, where groups
	// must be diverse or close: no division of them was found that is.
	Large int `json:"large,omitempty"`
	// LargeEqual is how many of the Large groups hold records of equal
	// quasi-identifiers: a class of the release holds them all however they are divided.
	LargeEqual int `json:"large_equal,omitempty"`
	// MostGroups is how many diverse groups the values of the sensitive columns allow
	// at most. It is present where Large is and these groups would have more than ten
	// times K records on average, so that large ones cannot be avoided.
	MostGroups int `json:"most_groups,omitempty"`
	// LooksMissing names the quasi-identifiers in which a value that was made, a
	// mean or an ancestor, happens to be a text that stands for a missing value
	// in the source. In the release it is a value: what is missing there is
	// empty, or null.
	LooksMissing []LooksMissing `json:"looks_missing,omitempty"`
	// Repeated is the identifier that tells most persons apart among those whose
	// values repeat, where no unit was named and classes hold fewer than K of
	// them. It is private.
	Repeated *verify.Repeated `json:"repeated_identifier,omitempty"`
	// Uncounted names the identifiers of which it is not known whether they
	// repeat, as counting by them would have taken more memory than is allowed.
	Uncounted []string `json:"uncounted_identifiers,omitempty"`
	// ClassOf is the class of each record of the source, in its order, where
	// [Output.Classes] asks for it, and [LeftOut] for those that were suppressed: with
	// it the secret order of the rows can be undone. It belongs to the steward.
	ClassOf []uint32 `json:"-"`
	// Columns is the fate of every column of the source, and why.
	Columns []gate.Fate `json:"columns"`
	// Unique counts the records that are unique on the kept columns. It is private,
	// and absent for a release in shards with kept columns, where they are not counted.
	Unique *gate.Unique `json:"unique_on_kept,omitempty"`
	// FreeText names the kept columns that are free text.
	FreeText []string `json:"free_text,omitempty"`
	// Guarantee states what the file was verified to hold.
	Guarantee noren.Guarantee `json:"guarantee"`
	// Verified is what the verifier found.
	Verified *verify.Result `json:"verified"`
	// Seconds is the wall-clock time of each step.
	Seconds Seconds `json:"seconds"`
}

// Bound tells how a lower bound of the loss was found.
type Bound struct {
	// Method is simple (nearest neighbours), dual (dual prices) or none: then the
	// bound is 0, and the gap the whole loss.
	Method string `json:"method"`
	// Records is how many records the dual bound had prices of their own for,
	// 0 where it was not asked for.
	Records int `json:"records"`
	// Converged is true where the dual bound ended because it no longer rose.
	Converged bool `json:"converged"`
	// Reason says why there is no bound, or none better, in words.
	Reason string `json:"reason,omitempty"`
}

// LooksMissing counts the groups that show in a column what could be taken for
// a missing value.
type LooksMissing struct {
	// Column is the column's name.
	Column string `json:"column"`
	// Groups is the number of groups that show such a value.
	Groups int `json:"groups"`
}

// GroupSize tells the sizes of the groups.
type GroupSize struct {
	// Min is the smallest size.
	Min int `json:"min"`
	// Mean is the average size.
	Mean float64 `json:"mean"`
	// Max is the largest size.
	Max int `json:"max"`
}

// Seconds is the time each step took.
type Seconds struct {
	// Check is the time of looking at kept columns.
	Check float64 `json:"check"`
	// Read is the time of reading the quasi-identifiers.
	Read float64 `json:"read"`
	// Partition is the time of making the groups.
	Partition float64 `json:"partition"`
	// Refine is the time of the local search.
	Refine float64 `json:"refine"`
	// Publish is the time of computing published values and writing the file.
	Publish float64 `json:"publish"`
	// Bound is the time of computing the lower bound.
	Bound float64 `json:"bound"`
	// Verify is the time of reading the file back and verifying it.
	Verify float64 `json:"verify"`
	// Total is the time of all steps.
	Total float64 `json:"total"`
}
