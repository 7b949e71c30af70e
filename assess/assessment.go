package assess

// Schema names the JSON form of an [Assessment].
const Schema = "noren.assess/1"

// Assessment is the risk and the utility of a table, in the form that is
// printed as JSON. Fields that were not asked for are absent.
type Assessment struct {
	// Schema is noren.assess/1.
	Schema string `json:"schema"`
	// Quasi names the quasi-identifiers that classes are taken over.
	Quasi []string `json:"quasi_identifiers"`
	// Original is the risk of the table.
	Original *Risk `json:"original,omitempty"`
	// Release is the risk of the release.
	Release *Risk `json:"release,omitempty"`
	// OriginalPersons counts persons in the table, where a column tells them apart.
	OriginalPersons *Persons `json:"original_persons,omitempty"`
	// ReleasePersons counts persons in the release; absent where they are not known.
	ReleasePersons *Persons `json:"release_persons,omitempty"`
	// OriginalJournalist is the risk of the table against a population table.
	OriginalJournalist *Journalist `json:"original_journalist,omitempty"`
	// ReleaseJournalist is the risk of the release against a population table.
	ReleaseJournalist *Journalist `json:"release_journalist,omitempty"`
	// OriginalUniqueness is estimated from a sampling fraction, for the table.
	OriginalUniqueness *Uniqueness `json:"original_uniqueness,omitempty"`
	// ReleaseUniqueness is estimated from a sampling fraction, for the release.
	ReleaseUniqueness *Uniqueness `json:"release_uniqueness,omitempty"`
	// K is the k of the release; absent where it is not stated.
	K int `json:"k,omitempty"`
	// AverageClassRatio is C_avg of the release: records over classes, over K. Absent without a K.
	AverageClassRatio *float64 `json:"average_class_ratio,omitempty"`
	// Utility compares the release with the original.
	Utility *Utility `json:"utility,omitempty"`
	// ClassLoss is the information loss of the classes of the release; absent where it is
	// not known which row of the release is which of the table.
	ClassLoss *ClassLoss `json:"class_loss,omitempty"`
	// Queries tells how far counts over the release are off.
	Queries *Queries `json:"queries,omitempty"`
	// Sensitive measures each sensitive column in the classes of the release.
	Sensitive []*Sensitive `json:"sensitive,omitempty"`
	// Overlap compares the release with an earlier one of the same people.
	Overlap *Overlap `json:"overlap,omitempty"`
}
