package api

import (
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/table/infer"
)

// Parts of requests and results that other packages define.
type (
	// Question is one question to a data set: [kinds.Question].
	Question = kinds.Question
	// Margin is how close an answer must be: [kinds.Margin].
	Margin = kinds.Margin
	// AnswerRow is one value of an answer: [kinds.AnswerRow].
	AnswerRow = kinds.AnswerRow
	// Amount is an amount of privacy loss: [account.Amount].
	Amount = account.Amount
	// Message is a sentence with a code: [lang.Message].
	Message = lang.Message
)

// Say is [lang.Say].
func Say(code string, args map[string]any) Message { return lang.Say(code, args) }

// Because is the reason of a type or role as a message.
func Because(r infer.Reason) *Message { return &Message{Code: r.Code, Text: r.Text, Args: r.Args} }

// AskSchema is the form of [Answers], and of their quote.
const AskSchema = "noren.ask/1"

// AskRequest asks several questions of one data set as one request, with one charge and
// one certificate.
type AskRequest struct {
	// Dataset is the name of a data set of the ledger, or the path of its file.
	Dataset string `json:"dataset"`
	// Questions are 1 to 20 questions. Required.
	Questions []Question `json:"questions"`
	// Analyst is the name of the analyst. Defaults to that of the service.
	Analyst string `json:"analyst,omitempty"`
	// Records is about how many records of the data set count, as its steward states in public. From it
	// follows the number of records of a group where a margin does not guess it. Optional.
	Records int64 `json:"records,omitempty"`
	// RequestKey makes the request idempotent: asked again under the same key, it is
	// answered with the same bytes and free of charge.
	RequestKey string `json:"request_key,omitempty"`
	// Reuse asks for the stored answer to the same questions, where the ledger has one,
	// free of charge.
	Reuse bool `json:"reuse,omitempty"`
	// Most is the largest cost that may be charged. A request that costs more is refused
	// and nothing is charged. Optional.
	Most *Amount `json:"most,omitempty"`
	// Definition is the hash of the schema that a quote was made for. Where the data set
	// has another by now, the request is refused and nothing is charged. Optional.
	Definition string `json:"definition,omitempty"`
	// Request is the hash of the request that a quote was made for. Where the request is
	// another by now (a version of the data set, a public table), it is refused and nothing is
	// charged. Optional.
	Request string `json:"request,omitempty"`
	// Outputs are files that the caller will write. One that is the private file or the
	// ledger is refused before anything is charged.
	Outputs []string `json:"-"`
}
