package api

// FailureSchema names the form of [Failure].
const FailureSchema = "noren.error/1"

// Failure is an error of a command that was asked for JSON: the last line of its standard
// error.
type Failure struct {
	// Schema is noren.error/1.
	Schema string `json:"schema"`
	// Kind is internal, usage, bad-data, not-met, refused or interrupted.
	Kind string `json:"kind"`
	// ExitCode is that of the process.
	ExitCode int `json:"exit_code"`
	// Code names the fault, stable between versions; left out where it has none.
	Code string `json:"code,omitempty"`
	// Where is the file and position, the flag or the part of a specification that the
	// error is about.
	Where string `json:"where,omitempty"`
	// Message is the whole error, as it is printed without JSON.
	Message string `json:"message"`
	// Hint is what to do about it.
	Hint string `json:"hint,omitempty"`
	// Faults are the single errors, where several are reported together.
	Faults []Fault `json:"faults,omitempty"`
}

// Fault is one of several errors.
type Fault struct {
	// Code names the fault; left out where it has none.
	Code string `json:"code,omitempty"`
	// Where is what the error is about.
	Where string `json:"where,omitempty"`
	// Message is the whole error.
	Message string `json:"message"`
	// Hint is what to do about it.
	Hint string `json:"hint,omitempty"`
}
