package api

import (
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/survey"
)

// LDPRandomiseSchema names the form of [LDPRandomise] in JSON.
const LDPRandomiseSchema = "noren.ldp.randomize/1"

// LDPRandomiseRequest asks for the reports of the records of a table.
type LDPRandomiseRequest struct {
	// Table is the table. Required.
	Table
	// Survey is the specification of the reports. Required.
	Survey LDPSurvey `json:"survey"`
	// Columns that are reported. Defaults to those of the specification.
	Columns []string `json:"columns,omitempty"`
	// Client is the column whose ids are written before the reports; they are not
	// protected. Optional.
	Client string `json:"client,omitempty"`
	// Devices is the file with the key of all devices' secrets, which is made where there
	// is none. Optional; without it the permanent answers are forgotten.
	Devices string `json:"devices,omitempty"`
	// Finish is the question of a survey that an old key of the devices began, and goes on
	// with: its permanent answers are those of the first version. Optional; one survey for a
	// key.
	Finish string `json:"finish,omitempty"`
	// Output is the file to which the caller writes the reports, for the result. Optional.
	Output string `json:"output,omitempty"`
	// NotCharged accepts a table that a ledger has granted: the steward decides that its
	// budget is not charged, and the ledger notes it.
	NotCharged bool `json:"not_charged,omitempty"`
}

// LDPRandomise describes the reports of the records of a table.
type LDPRandomise struct {
	// Schema is the form, noren.ldp.randomize/1.
	Schema string `json:"schema"`
	// Input is the table.
	Input string `json:"input"`
	// Output is the file of the reports.
	Output string `json:"output"`
	// Reports is the number of reports.
	Reports int `json:"reports"`
	// Repeated is the number of reports that are not the first of their client.
	Repeated int `json:"repeated_clients"`
	// Mechanism is the name of the mechanism.
	Mechanism string `json:"mechanism"`
	// Columns are the columns of the attributes.
	Columns []string `json:"columns"`
	// Labels of each attribute; null for numbers and words.
	Labels [][]string `json:"labels"`
	// Rappor are the parameters of RAPPOR as used; absent for other mechanisms.
	Rappor *ldp.Params `json:"rappor,omitempty"`
	// Privacy is the privacy cost of the reports for a person.
	Privacy survey.Privacy `json:"privacy"`
	// NotCharged are the data sets that hold the table and were not charged; absent where
	// there is none.
	NotCharged []LDPNotCharged `json:"not_charged,omitempty"`
	// Question is the name of the question: permanent answers belong to it.
	Question string `json:"question,omitempty"`
	// Specification is the SHA-256 of the specification, which the reports name.
	Specification string `json:"specification_sha256"`
	// Devices is what the key of the devices answered so far; absent without one.
	Devices *LDPDevices `json:"devices,omitempty"`

	// Lines are the line that names the specification, and the reports, one a line.
	Lines []byte `json:"-"`
}

// LDPNotCharged is a data set whose table was randomised, and whose budget was not charged.
type LDPNotCharged struct {
	// Dataset is the name of the data set.
	Dataset string `json:"dataset"`
	// Ledger is the id of its ledger.
	Ledger string `json:"ledger"`
	// Link is the number of the entry of the ledger that notes it.
	Link int64 `json:"link"`
}

// LDPDevices is what a key of devices was used for, and what its answers cost a person.
type LDPDevices struct {
	// File is the file of the key.
	File string `json:"file"`
	// Before says that the key was made by an earlier version: what it answered by that is
	// not known, and not in the sum.
	Before bool `json:"before,omitempty"`
	// Uses are the surveys that were answered under the key.
	Uses []LDPDevicesUse `json:"uses"`
	// Epsilon is the sum of the losses of all uses, for a person whose values stay; null
	// where nothing bounds it.
	Epsilon *float64 `json:"epsilon"`
}

// LDPDevicesUse is a survey that was answered under a key of devices.
type LDPDevicesUse struct {
	// Question is the name of the question.
	Question string `json:"question"`
	// Mechanism is the name of the mechanism.
	Mechanism string `json:"mechanism"`
	// Rounds is the number of times that it was answered.
	Rounds int `json:"rounds"`
	// Records is the largest number of records of one person in a round.
	Records int `json:"records"`
	// Finishing says that its permanent answers are those of the first version.
	Finishing bool `json:"finishing,omitempty"`
	// Epsilon is the loss of all its reports, for a person whose values stay; null where
	// nothing bounds it.
	Epsilon *float64 `json:"epsilon"`
}
