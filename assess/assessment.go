package assess

// Schema names the JSON form of an [Assessment].
const Schema = "noren.assess/1"

// Assessment is the risk and the utility of a table, in the form that is
// printed as JSON. Fields that were not asked for are absent.
type Assessment struct {
	// Schema is noren.assess/1.
	Schema string `json:"schema"`
	// Quasi are the quasi-identifiers that define the classes.
	Quasi []string `json:"quasi_identifiers"`
	// Original is the risk of the table.
	Original *Risk `json:"original,omitempty"`
	// Release is the risk of the release.
	Release *Risk `json:"release,omitempty"`
	// OriginalPersons is the risk of the table, counted in persons; absent where no column
	// tells persons apart.
	OriginalPersons *Persons `json:"original_persons,omitempty"`
	// ReleasePersons is the risk of the release, counted in persons; absent where the persons
	// are not known.
	ReleasePersons *Persons `json:"release_persons,omitempty"`
	// OriginalJournalist is the risk of the table against a population table.
	OriginalJournalist *Journalist `json:"original_journalist,omitempty"`
	// ReleaseJournalist is the risk of the release against a population table.
	ReleaseJournalist *Journalist `json:"release_journalist,omitempty"`
	// OriginalUniqueness is the estimated population uniqueness of the table, from a sampling
	// fraction.
	OriginalUniqueness *Uniqueness `json:"original_uniqueness,omitempty"`
	// ReleaseUniqueness is the estimated population uniqueness of the release, from a sampling
	// fraction.
	ReleaseUniqueness *Uniqueness `json:"release_uniqueness,omitempty"`
	// K is the k of the release; absent where k is not stated.
	K int `json:"k,omitempty"`
	// AverageClassRatio is C_avg of the release: records / classes / K. Absent without K.
	AverageClassRatio *float64 `json:"average_class_ratio,omitempty"`
	// Utility is a comparison of the release with the original.
	Utility *Utility `json:"utility,omitempty"`
	// ClassLoss is the information loss of the classes of the release; absent where it is not
	// known which row of the release belongs to which row of the table.
	ClassLoss *ClassLoss `json:"class_loss,omitempty"`
	// Queries is the error of counts over the release.
	Queries *Queries `json:"queries,omitempty"`
	// Sensitive is what the classes of the release reveal about each sensitive column.
	Sensitive []*Sensitive `json:"sensitive,omitempty"`
	// Overlap is a comparison of the release with an earlier one of the same people.
	Overlap *Overlap `json:"overlap,omitempty"`
}
