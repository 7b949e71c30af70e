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
	// Output is the file to which the caller writes the reports, for the result. Optional.
	Output string `json:"output,omitempty"`
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

	// Lines are the reports, one a line.
	Lines []byte `json:"-"`
}
