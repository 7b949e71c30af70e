package kanon

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/kanon/verify"
)

// ResultSchema names the JSON form of a [Result].
const ResultSchema = "noren.anonymize/1"

// Result is what a release came to. All of it but the loss follows from the
// released file; the loss and its parts compare with the source and belong to
// the steward.
type Result struct {
	Schema string `json:"schema"`
	Input  string `json:"input"`
	Output string `json:"output"`
	// Unit, Linkage and Pseudonym are those of the job. K and AchievedK count
	// persons where there is a unit.
	Unit      string `json:"unit,omitempty"`
	Linkage   string `json:"unit_linkage,omitempty"`
	Pseudonym bool   `json:"pseudonym,omitempty"`
	// Rows is the number of records of the release. The source has Suppressed more.
	Rows int `json:"rows"`
	// K was asked for; AchievedK is the smallest class that the verifier found
	// in the file.
	K         int `json:"k"`
	AchievedK int `json:"achieved_k"`
	// Groups is the number of groups that were made, Classes of those that the
	// file shows: groups that publish the same values are one class.
	Groups    int       `json:"groups"`
	Classes   int       `json:"classes"`
	GroupSize GroupSize `json:"group_size"`
	// Loss is SSE/SST of the partition in the scaled space of the
	// quasi-identifiers, 0 when SST is.
	Loss float64 `json:"loss"`
	SSE  float64 `json:"sse"`
	SST  float64 `json:"sst"`
	// Objective is what the groups were made to lower: "sse", or "boxes" where
	// ranges are published (package kanon/cost). NCP is then the mean width of the
	// groups over records and columns, from 0, one value, to 1, all of them.
	Objective string   `json:"objective"`
	NCP       *float64 `json:"ncp,omitempty"`
	// LowerBound is a loss that no grouping of these records by K or more gets
	// below, rounded down; Gap the share of Loss that a better one could save at
	// the most, rounded up.
	LowerBound float64 `json:"lower_bound"`
	Gap        float64 `json:"gap"`
	// Bound tells how LowerBound was found.
	Bound Bound `json:"bound"`
	// Method is the method that was used, MethodReason why when it was picked.
	Method       string `json:"method"`
	MethodReason string `json:"method_reason,omitempty"`
	// Coarse is the least size of the coarse cells, 0 without a coarse step.
	Coarse int `json:"coarse"`
	// Refine is the effort; RefinedFrom the loss before it. With a linkage of all
	// records persons are refined, before their records are divided, and
	// RefinedFrom is the loss of these first classes.
	Refine      string  `json:"refine"`
	RefinedFrom float64 `json:"refined_from"`
	Scale       string  `json:"scale"`
	Publish     string  `json:"publish"`
	// Merged is the number of groups that were merged for diversity or
	// closeness.
	Merged int `json:"merged"`
	// Suppressed is the number of records left out, all of those of a person where
	// there is a unit, and SuppressedLoss their part of Loss: each counts by its
	// squared distance from the centre of the table. In NCP each counts as all
	// values in every column.
	Suppressed     int     `json:"suppressed"`
	SuppressedLoss float64 `json:"suppressed_loss,omitempty"`
	// Large is the number of groups of more than ten times K records, where groups
	// must be diverse or close: no division of them was found that is.
	Large int `json:"large,omitempty"`
	// LooksMissing names the quasi-identifiers in which a value that was made, a
	// mean or an ancestor, happens to be a text that stands for a missing value
	// in the source. In the release it is a value: what is missing there is
	// empty, or null.
	LooksMissing []LooksMissing `json:"looks_missing,omitempty"`
	// Repeated is the identifier that tells most persons apart among those whose
	// values repeat, where no unit was named and classes hold fewer than K of
	// them. It belongs to the steward.
	Repeated *verify.Repeated `json:"repeated_identifier,omitempty"`
	// Uncounted names the identifiers of which it is not known whether they
	// repeat, as counting by them would have taken more memory than is allowed.
	Uncounted []string `json:"uncounted_identifiers,omitempty"`
	// Columns is the fate of every column of the source, and why.
	Columns []gate.Fate `json:"columns"`
	// Unique counts the records that are unique on the kept columns. It belongs
	// to the steward.
	Unique *gate.Unique `json:"unique_on_kept"`
	// FreeText names the kept columns that are free text.
	FreeText []string `json:"free_text,omitempty"`
	// Guarantee states what the file was verified to hold.
	Guarantee noren.Guarantee `json:"guarantee"`
	// Verified is what the verifier found.
	Verified *verify.Result `json:"verified"`
	Seconds  Seconds        `json:"seconds"`
}

// Bound tells how a lower bound of the loss was found.
type Bound struct {
	// Method is "simple" (nearest neighbours), "dual" (prices) or "none": then
	// the bound is 0, and the gap the whole loss.
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
	Column string `json:"column"`
	Groups int    `json:"groups"`
}

// GroupSize tells the sizes of the groups.
type GroupSize struct {
	Min  int     `json:"min"`
	Mean float64 `json:"mean"`
	Max  int     `json:"max"`
}

// Seconds is the time each step took.
type Seconds struct {
	Check     float64 `json:"check"`
	Read      float64 `json:"read"`
	Partition float64 `json:"partition"`
	Refine    float64 `json:"refine"`
	Publish   float64 `json:"publish"`
	Bound     float64 `json:"bound"`
	Verify    float64 `json:"verify"`
	Total     float64 `json:"total"`
}
