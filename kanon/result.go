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
	// Linkage is how many records of a person an adversary is assumed to know: one or all.
	Linkage string `json:"unit_linkage,omitempty"`
	// Pseudonym is true if the release shows a pseudonym of each person.
	Pseudonym bool `json:"pseudonym,omitempty"`
	// Rows is the number of records of the release. The source has Rows + Suppressed records.
	Rows int `json:"rows"`
	// K is the required k: records, or persons where there is a unit.
	K int `json:"k"`
	// AchievedK is the size of the smallest class that the verifier found in the file:
	// records, or persons where there is a unit.
	AchievedK int `json:"achieved_k"`
	// Groups is the number of groups that were made.
	Groups int `json:"groups"`
	// Classes is the number of classes that the file shows: groups that publish the
	// same values are one class.
	Classes int `json:"classes"`
	// GroupSize is the smallest, mean and largest number of records of a group.
	GroupSize GroupSize `json:"group_size"`
	// Loss is the information loss: SSE/SST of the partition in the scaled space of the
	// quasi-identifiers, 0 where SST is 0.
	Loss float64 `json:"loss"`
	// SSE is the sum of squared errors within the groups.
	SSE float64 `json:"sse"`
	// SST is the total sum of squares.
	SST float64 `json:"sst"`
	// NCP is the normalised certainty penalty: the mean width of what the groups span, divided
	// by the width of each column.
	NCP float64 `json:"ncp"`
	// Excluded is the share of persons outside the table whom the published ranges and sets
	// show not to be in it; absent for other ways to publish.
	Excluded *publish.Excluded `json:"excluded_outsiders,omitempty"`
	// Objective is the loss that the groups were made to lower: "sse", or "boxes" where ranges
	// are published.
	Objective string `json:"objective"`
	// LowerBound is a lower bound on the loss of every partition of these records into groups
	// of K or more, rounded down (docs/loss-bounds.md).
	LowerBound float64 `json:"lower_bound"`
	// Gap is the optimality gap: the largest share of Loss that a better partition could save,
	// rounded up.
	Gap float64 `json:"gap"`
	// Bound is how LowerBound was computed.
	Bound Bound `json:"bound"`
	// Method is the method that was used.
	Method string `json:"method"`
	// Requested is what the request says of the method and of suppression. A certificate states
	// these, because the method that was used and the number of suppressed records can depend on
	// private data.
	Requested Requested `json:"requested"`
	// MethodReason is the reason why this method was chosen, where the choice was automatic.
	MethodReason noren.Text `json:"method_reason,omitzero"`
	// Coarse is the least size of the coarse cells, 0 without a coarse step.
	Coarse int `json:"coarse"`
	// Refine is the effort of the local search after the method.
	Refine string `json:"refine"`
	// RefinedFrom is the loss before the local search. With unit linkage "all", persons are
	// refined before their records are divided, and this is the loss of the classes before
	// that division.
	RefinedFrom float64 `json:"refined_from"`
	// Scale is the scaling of the quasi-identifiers: minmax, zscore or none.
	Scale string `json:"scale"`
	// Publish is how quasi-identifiers are published.
	Publish string `json:"publish"`
	// Merged is the number of groups that were merged for diversity or
	// closeness.
	Merged int `json:"merged"`
	// Suppressed is the number of suppressed records; where there is a unit, all records of a
	// person are suppressed together. In NCP each counts as all values in every column.
	Suppressed int `json:"suppressed"`
	// SuppressedLoss is the part of Loss from suppressed records: each counts by its squared
	// distance from the centre of the table.
	SuppressedLoss float64 `json:"suppressed_loss,omitempty"`
	// Large is the number of groups of more than ten times K records, where groups must be
	// diverse or close: no division into smaller groups that are diverse or close was found.
	Large int `json:"large,omitempty"`
	// LargeEqual is the number of groups, of those counted in Large, whose records have equal
	// quasi-identifiers: a class of the release contains them all however they are divided.
	LargeEqual int `json:"large_equal,omitempty"`
	// MostGroups is the largest number of diverse groups that the values of the sensitive
	// columns allow. Present where Large is and these groups would have more than ten times K
	// records on average, so that large groups cannot be avoided.
	MostGroups int `json:"most_groups,omitempty"`
	// LooksMissing are the quasi-identifiers in which a published value, a mean or an
	// ancestor, happens to be a text that marks a missing value in the source. In the release
	// it is a value: missing values there are empty, or null.
	LooksMissing []LooksMissing `json:"looks_missing,omitempty"`
	// Formulas counts the texts that spreadsheets take for formulas. Absent where the release
	// has none and they were to be kept, and for formats whose cells have types.
	Formulas *Formulas `json:"formulas,omitempty"`
	// Repeated is the identifier that tells most persons apart among those whose values
	// repeat, where no unit was named and classes contain fewer than K of these persons. It is
	// private.
	Repeated *verify.Repeated `json:"repeated_identifier,omitempty"`
	// Uncounted are the identifiers of which it is not known whether they repeat, as counting
	// by them would have taken more memory than is allowed.
	Uncounted []string `json:"uncounted_identifiers,omitempty"`
	// ClassOf is the class of each record of the source, in its order, where
	// [Output.Classes] asks for it, and [LeftOut] for those that were suppressed: with
	// it the secret order of the rows can be undone. It belongs to the steward.
	ClassOf []uint32 `json:"-"`
	// Columns are the columns of the source, each with what was done with it and why.
	Columns []gate.Fate `json:"columns"`
	// Unique is the number of records that are unique on the kept columns. It is private, and
	// absent for a release in shards with kept columns, where they are not counted.
	Unique *gate.Unique `json:"unique_on_kept,omitempty"`
	// FreeText are the kept columns that are free text.
	FreeText []string `json:"free_text,omitempty"`
	// Guarantee is the guarantee that the file was verified to meet.
	Guarantee noren.Guarantee `json:"guarantee"`
	// Verified is the result of the verifier.
	Verified *verify.Result `json:"verified"`
	// Seconds is the wall-clock time of each step.
	Seconds Seconds `json:"seconds"`
}

// Requested is the part of a request that bounds what a release does with its records.
type Requested struct {
	// Method is the method as requested, auto where the program was to choose it.
	Method string `json:"method"`
	// Suppress is the largest number of records that could be left out: a share such as 1%, or
	// a number. Absent where none could.
	Suppress string `json:"suppress,omitempty"`
}

// Bound tells how a lower bound of the loss was found.
type Bound struct {
	// Method is the method of the bound: simple (nearest neighbours), dual (dual prices) or
	// none. Without a method the bound is 0, and the gap is the whole loss.
	Method string `json:"method"`
	// Records is the number of records with dual prices of their own in the dual bound; 0
	// where the dual bound was not requested.
	Records int `json:"records"`
	// Converged is true if the computation of the dual bound ended because the bound no longer
	// rose.
	Converged bool `json:"converged"`
	// Reason is the reason why there is no bound, or no better one, in words.
	Reason noren.Text `json:"reason,omitzero"`
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
	// Check is the time of the check of the kept columns.
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
