package questions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
)

// Answer is a paid answer as it is shown.
type Answer struct {
	ID          string          `json:"id" doc:"an_ and 16 characters."`
	Book        string          `json:"book" doc:"The id of the book."`
	At          time.Time       `json:"at" doc:"When it was asked."`
	By          string          `json:"by" doc:"The name of the principal who paid, at that time."`
	N           int64           `json:"n" doc:"The entry of the charge in the ledger's chain."`
	Cost        api.Amount      `json:"cost" doc:"What was charged."`
	Left        *LeftAfter      `json:"left,omitempty" doc:"What was left after it. For the principal who paid."`
	Replayed    bool            `json:"replayed" doc:"The stored answer, read again for nothing."`
	Questions   []AnsweredPart  `json:"questions" nullable:"false" doc:"The answers, in the order of the questions."`
	Statement   []api.Message   `json:"statement" nullable:"false" doc:"What one person changes of the answers."`
	NotCovered  []api.Message   `json:"not_covered" nullable:"false" doc:"What is not promised."`
	Certificate json.RawMessage `json:"certificate" doc:"The signed certificate."`
	Payload     string          `json:"payload" doc:"The released answer, byte for byte as the certificate names it."`
}

// AnsweredPart is the answer to one question.
type AnsweredPart struct {
	Asked        []api.Message `json:"asked" nullable:"false" doc:"The question in words."`
	Kind         string        `json:"kind" doc:"The kind of the question."`
	Question     api.Question  `json:"question" doc:"The question with its price."`
	Result       Result        `json:"result" doc:"The values."`
	Accuracy     api.Promise   `json:"accuracy" doc:"What the noise was expected to move the answer by."`
	Notes        []api.Message `json:"notes" nullable:"false" doc:"Which values were counted as others."`
	ReadWithCare []api.Message `json:"read_with_care" nullable:"false" doc:"What to keep in mind about these values."`
}

// Result holds the values of an answer.
type Result struct {
	Rows      []Row  `json:"rows" nullable:"false" doc:"One row for each group and bin."`
	UnitLabel string `json:"unit_label,omitempty" doc:"The unit of the values: records, the name of a column, or empty."`
}

// Row is one value of an answer.
type Row struct {
	Keys     []string `json:"keys" nullable:"false" doc:"The group, a value for each column, and the bin of a histogram last."`
	Value    any      `json:"value" doc:"The answer: a number, a text for dates, or null where there is none."`
	Low      any      `json:"low,omitempty" doc:"The lower end of the interval for the value without noise."`
	High     any      `json:"high,omitempty" doc:"Its upper end."`
	Noise    *float64 `json:"noise,omitempty" doc:"Half the width of that interval."`
	Sampling *float64 `json:"sampling,omitempty" doc:"Half the width of the usual 95% interval for more people than those in the table."`
	Records  *float64 `json:"records,omitempty" doc:"About how many records the value is of, with noise."`
}

// rowsOf are the rows of an answer as they are shown.
func rowsOf(rows []api.AnswerRow) []Row {
	out := make([]Row, len(rows))
	for i := range rows {
		r := &rows[i]
		one := Row{Keys: list(r.Keys), Noise: r.Noise, Sampling: r.Sampling, Records: r.Records}
		switch {
		case r.Text != "":
			one.Value = r.Text
		case r.Value != nil:
			one.Value = r.Value
		}
		if r.Low != nil {
			one.Low = r.Low
		}
		if r.High != nil {
			one.High = r.High
		}
		out[i] = one
	}
	return out
}

// compose makes the body of an answer and its line in a list.
func (q *Questions) compose(ctx context.Context, id string, c *content, principal string, a *api.Answers) (body, line []byte, link int64,
	err error,
) {
	certificate, err := a.Certificate.Encode()
	if err != nil {
		return nil, nil, 0, err
	}
	kept, err := q.config.Store.QuestionByID(ctx, id)
	if err != nil {
		return nil, nil, 0, err
	}
	out := &Answer{
		ID: id, Book: c.Book, At: kept.Made, By: q.config.Host.Name(ctx, principal), Cost: c.Cost, Statement: list(a.Statement),
		NotCovered:  list(a.NotCovered),
		Certificate: bytes.TrimSpace(certificate), Payload: string(a.Payload), Questions: []AnsweredPart{},
	}
	if a.Charge != nil {
		out.N = a.Charge.Link
	}
	out.Left = remaining(a)
	questions := make([]api.Question, len(a.Answers))
	for i := range a.Answers {
		questions[i] = a.Answers[i].Question
	}
	questions = q.named(questions)
	for i := range a.Answers {
		one := &a.Answers[i]
		out.Questions = append(out.Questions, AnsweredPart{
			Asked: list(one.Asked), Kind: one.Question.Name(), Question: questions[i], Result: Result{rowsOf(one.Rows), one.UnitLabel},
			Accuracy: one.Accuracy,
			Notes:    list(one.Notes), ReadWithCare: list(one.ReadWithCare),
		})
	}
	if body, err = json.Marshal(out); err != nil {
		return nil, nil, 0, err
	}
	line, err = json.Marshal(AnswerLine{Asked: c.Asked, Cost: c.Cost, Margin: c.Margins})
	return body, line, out.N, err
}

// remaining is what was left after an answer was charged; nil where that is not known.
func remaining(a *api.Answers) *LeftAfter {
	if a == nil || a.Remaining == nil {
		return nil
	}
	out := &LeftAfter{}
	for _, held := range a.Remaining.Accounts {
		left := amountOf(held.Cost)
		if held.Kind == "analyst" {
			out.Own = &left
		} else {
			out.Table = left
		}
	}
	return out
}

func amountOf(c api.Cost) api.Amount {
	return api.Amount{Epsilon: string(c.Epsilon), Delta: string(c.Delta), Rho: string(c.Rho)}
}

// unmarshal reads what the store holds.
func unmarshal(text []byte, v any) error {
	if json.Unmarshal(text, v) != nil {
		return errors.New("questions: the store holds a question that cannot be read")
	}
	return nil
}

// replay is the stored reply of a question. One that a killed process left is looked up in
// the ledger first.
func (q *Questions) replay(ctx context.Context, kept *store.Question) (*Reply, error) {
	if kept.State == store.Asked {
		if err := q.resolve(ctx, kept); err != nil {
			return nil, err
		}
		var err error
		if kept, err = q.config.Store.QuestionByKey(ctx, kept.Key); err != nil {
			if errors.Is(err, store.ErrNotFound) {
				return nil, problem.New("conflict", "The request with this key was not charged.").Hinted("send it again")
			}
			return nil, err
		}
		if kept.State == store.Asked {
			return nil, inProgress()
		}
	}
	var c content
	if err := unmarshal(kept.Paid, &c); err != nil {
		return nil, err
	}
	out := &Reply{Status: http.StatusOK, Answer: kept.ID, Body: fill(kept.Body, c.Length)}
	if kept.State == store.Withheld {
		var p problem.Problem
		if err := unmarshal(kept.Body, &p); err != nil {
			return nil, err
		}
		out = withheld(kept.ID, &p, c.Length)
	}
	out.Replayed = true
	return out, nil
}

func inProgress() error {
	p := problem.New("conflict", "The request was charged by a process that stopped, and it is not known yet whether it is answered.")
	p.RetryAfter = 30
	return p
}

// Get is the reply of a paid question, which the caller may read. Before its boundary it
// says only when to ask again.
func (q *Questions) Get(ctx context.Context, id string, r *Reader) (*Reply, error) {
	q.mu.Lock()
	p := q.byID[id]
	q.mu.Unlock()
	if p != nil {
		select {
		case <-p.begun:
		default:
			if q.stands(p) == resumed {
				return nil, inProgress()
			}
			return nil, problem.NotFound()
		}
		if p.err != nil {
			return nil, p.err
		}
		if p.waits() {
			return missed(p, time.Now()), nil
		}
		if p.refused != nil {
			return nil, p.refused
		}
	}
	kept, err := q.config.Store.QuestionByID(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, problem.NotFound()
	}
	if err != nil {
		return nil, err
	}
	out, err := q.replay(ctx, kept)
	if err != nil || kept.State == store.Withheld || out.Status != http.StatusOK {
		return out, err
	}
	var a Answer
	body := bytes.TrimRight(out.Body, " ")
	if err := unmarshal(body, &a); err != nil {
		return nil, err
	}
	a.Replayed = true
	if kept.Principal != r.ID {
		a.Left = nil // what another principal has left is not the reader's
	}
	if body, err = json.Marshal(&a); err != nil {
		return nil, err
	}
	out.Body = fill(body, len(out.Body))
	return out, nil
}

// Parts are the certificate of an answer and the bytes that it is about.
func (q *Questions) Parts(ctx context.Context, id string, r *Reader) (certificate json.RawMessage, payload string, err error) {
	reply, err := q.Get(ctx, id, r)
	if err != nil {
		return nil, "", err
	}
	if reply.Status != http.StatusOK {
		return nil, "", problem.NotFound()
	}
	var a Answer
	if err := unmarshal(bytes.TrimRight(reply.Body, " "), &a); err != nil {
		return nil, "", err
	}
	return a.Certificate, a.Payload, nil
}

// CertificateOf is the certificate of an answer, in the form in which it is sent and stored.
func CertificateOf(body []byte) (json.RawMessage, error) {
	var a struct {
		Certificate json.RawMessage `json:"certificate"`
	}
	err := json.Unmarshal(body, &a)
	return a.Certificate, err
}
