package jobs

import (
	"encoding/json"
	"time"
)

// State is where a job stands.
type State string

// The states of a job.
const (
	Queued    State = "queued"
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
	// Lost: the process that ran the job ended before the job did.
	Lost State = "lost"
)

// Ended reports whether a job in this state has ended.
func (s State) Ended() bool { return s != Queued && s != Running }

// Job describes a job. It is stored and shown in this form.
type Job struct {
	// ID is jb_ and 16 characters.
	ID string `json:"id"`
	// Kind is what the job does: read, confirm, curve, preview, release or compare.
	Kind string `json:"kind"`
	// Table is the id of the table that the job is about.
	Table string `json:"table,omitempty"`
	// Recipe is the id of the recipe that the job is about.
	Recipe string `json:"recipe,omitempty"`
	// State is queued, running, done, failed, cancelled or lost.
	State State `json:"state"`
	// Stage is the step that a running job is at.
	Stage string `json:"stage,omitempty"`
	// Done is how much of the stage is done, in units of Total.
	Done int64 `json:"done,omitempty"`
	// Total is the size of the stage; 0 where it is not known.
	Total int64 `json:"total,omitempty"`
	// Made is when the job was asked for.
	Made time.Time `json:"made"`
	// Started is when the job began to run.
	Started *time.Time `json:"started,omitempty"`
	// Ended is when the job ended.
	Ended *time.Time `json:"ended,omitempty"`
	// By is the id of the principal who asked for the job.
	By string `json:"by"`
	// ByName is that principal's name, in replies.
	ByName string `json:"by_name,omitempty"`
	// Result is what a job that is done returned.
	Result json.RawMessage `json:"result,omitempty"`
	// ResultTexts are the texts of Result with their arguments, in the store alone.
	ResultTexts json.RawMessage `json:"result_texts,omitempty" hidden:"true"`
	// Problem says why a job failed.
	Problem json.RawMessage `json:"problem,omitempty"`
	// ProblemTexts are the texts of Problem with their arguments, in the store alone.
	ProblemTexts json.RawMessage `json:"problem_texts,omitempty" hidden:"true"`
}
