package assess

// Schema names the JSON form of an [Assessment].
const Schema = "noren.assess/1"

// Assessment is the risk and the utility of a table, in the form that is
// printed as JSON. Fields that were not asked for are absent.
type Assessment struct {
	Schema string `json:"schema"`
	// Quasi names the quasi-identifiers that classes are taken over.
	Quasi []string `json:"quasi_identifiers"`
	// Original is the risk of the table as it is held, Release that of the
	// table as handed out.
	Original *Risk `json:"original,omitempty"`
	Release  *Risk `json:"release,omitempty"`
	// OriginalPersons and ReleasePersons count persons where a column tells them
	// apart; ReleasePersons is absent where the release's persons are not known.
	OriginalPersons *Persons `json:"original_persons,omitempty"`
	ReleasePersons  *Persons `json:"release_persons,omitempty"`
	// OriginalJournalist and ReleaseJournalist are measured against a
	// population table.
	OriginalJournalist *Journalist `json:"original_journalist,omitempty"`
	ReleaseJournalist  *Journalist `json:"release_journalist,omitempty"`
	// OriginalUniqueness and ReleaseUniqueness are estimated from a sampling
	// fraction.
	OriginalUniqueness *Uniqueness `json:"original_uniqueness,omitempty"`
	ReleaseUniqueness  *Uniqueness `json:"release_uniqueness,omitempty"`
	// K is the k that was asked for and AverageClassRatio is C_avg of the
	// release for it; absent without a k.
	K                 int      `json:"k,omitempty"`
	AverageClassRatio *float64 `json:"average_class_ratio,omitempty"`
	// Utility compares the release with the original.
	Utility *Utility `json:"utility,omitempty"`
	// Queries tells how far counts over the release are off.
	Queries *Queries `json:"queries,omitempty"`
	// Sensitive measures each sensitive column in the classes of the release.
	Sensitive []*Sensitive `json:"sensitive,omitempty"`
	// Overlap compares the release with an earlier one of the same people.
	Overlap *Overlap `json:"overlap,omitempty"`
}
