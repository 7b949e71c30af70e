package release

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/cputime"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/table"
)

// Answer is the result of a request.
type Answer struct {
	// Payload is the mechanism's answer in canonical JSON: the bytes that were
	// stored, and that the certificate is about unless a file was published.
	Payload json.RawMessage
	// Certificate is signed and states all that may be known of the answer.
	Certificate *certificate.Signed
	// Charge is what was charged; nil when unaccounted.
	Charge *ledger.ChargeInfo
	// Remaining is what each account has left; nil when unaccounted.
	Remaining []ledger.Remaining
	// Quote is the price that was paid, or that the same query has now where it was answered
	// before.
	Quote *Quote
	// Repeated says that the same query was answered before: these are the
	// stored bytes, free of charge.
	Repeated bool
}

// Run prices, charges and answers a request. Errors before the charge are of kind
// Usage and Refused. After it, every failure of reading or computing is one
// error, of kind BadData and code withheld, that says nothing of the reason; a
// lost lease is Refused, an interruption Interrupted; the charge stays.
func Run(ctx context.Context, q Request) (*Answer, error) {
	quote, err := Price(ctx, &q)
	if err != nil {
		return nil, err
	}
	if len(q.Signer) == 0 {
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.Phrase("release"), What: "the request needs a key to sign the certificate with"}
	}
	if priced := q.Budget.Priced; priced != "" && priced != quote.question.hash.String() {
		return nil, &noren.Error{
			Kind: noren.Refused, Code: CodeChanged, Where: noren.Phrase("the request"),
			What: "it is another than the one that was priced: the data set has another version, or a public table has changed; nothing was charged",
			Hint: "ask for the price again",
		}
	}
	r := &run{q: &q, quote: quote, question: quote.question, time: time.Now()}
	if err := r.rehearse(); err != nil {
		return nil, err
	}
	if most := q.Budget.Most; most != nil && !quote.Cost.Within(*most) {
		return nil, &noren.Error{
			Kind: noren.Refused, Code: CodeMost, Where: noren.Phrase("the request"),
			What: "it costs %s, more than the %s that it allows; nothing was charged", Args: []any{quote.Cost, *most},
			Hint: "ask for the price again",
		}
	}
	if !q.accounted() {
		return r.answer(ctx)
	}
	l := q.Dataset.ledger
	if q.Budget.Reuse && quote.admits {
		stored, err := l.StoredByQuestion(ctx, quote.Dataset, r.question.hash)
		if err != nil {
			return nil, err
		}
		if stored != nil {
			return repeated(stored, quote)
		}
	}
	// A request that was charged before learns what is wrong with the file after the charge.
	charged, err := l.Pending(ctx, q.Budget.Principal, q.Budget.Key)
	if err != nil {
		return nil, err
	}
	if !charged {
		if err := q.Dataset.readable(ctx, q.Mechanism.Columns()); err != nil {
			return nil, err
		}
	}
	sealed, err := r.newSecret()
	if err != nil {
		return nil, err
	}
	reservation, stored, err := l.Reserve(ctx, ledger.Request{
		Sealed: sealed, Alone: q.Budget.Alone,
		Dataset: quote.Dataset, Version: quote.Version, Definition: q.Dataset.hash,
		Principal: q.Budget.Principal, Key: q.Budget.Key, Hash: r.question.hash, Hold: q.Budget.Hold,
		Mechanism: r.question.text, Cost: quote.Alone, Loss: quote.Loss, Neighbours: quote.Neighbours, Unit: quote.Unit,
	})
	if err != nil {
		return nil, err
	}
	if stored != nil {
		return repeated(stored, quote)
	}
	charge := reservation.Charge()
	r.charge, r.time = &charge, reservation.Made()
	if err := r.open(reservation); err != nil {
		_ = reservation.Leave("")
		return nil, err
	}
	if q.Budget.Charged != nil {
		q.Budget.Charged()
	}
	computing := reservation.Context()
	if q.Budget.Read != nil {
		computing = cputime.OneThread(computing)
	}
	answer, err := r.answer(computing)
	if q.Budget.Computed != nil {
		q.Budget.Computed()
	}
	if err != nil {
		r.end(reservation, err)
		return nil, lost(reservation, err)
	}
	text, err := answer.Certificate.Encode()
	if err == nil {
		err = reservation.Settle(ctx, answer.Payload, text, answer.Certificate.Signature.KeyID)
	}
	if err != nil {
		_ = reservation.Leave("not stored")
		return nil, err
	}
	answer.Remaining = reservation.Remaining()
	_ = r.step("settled") // nothing loses an answer that is stored
	return answer, nil
}

// lost prefers the reason for which a reservation's context ended.
func lost(r *ledger.Reservation, err error) error {
	switch cause := context.Cause(r.Context()); {
	case cause == nil || errors.Is(cause, context.Canceled):
		return err
	case errors.Is(cause, ledger.ErrForfeited):
		return &noren.Error{
			Kind: noren.Refused, Where: "ledger", What: "the answer is not given", Err: cause,
			Hint: "the process was silent for longer than its lease; what was charged stays charged",
		}
	default:
		return cause
	}
}

// repeated is an answer that was given before.
func repeated(s *ledger.Release, quote *Quote) (*Answer, error) {
	c, err := certificate.Parse(s.Signature)
	if err != nil {
		return nil, &noren.Error{
			Where: "ledger", What: "the certificate of the stored answer cannot be read", Err: err,
			Hint: "verify the ledger",
		}
	}
	return &Answer{Payload: s.Payload, Certificate: c, Charge: &s.Charge, Remaining: quote.Remaining, Quote: quote, Repeated: true}, nil
}

// run is a request under way.
type run struct {
	q        *Request
	quote    *Quote
	question *question
	charge   *ledger.ChargeInfo
	// time is that of the certificate. It is taken before private data is read: the end of
	// the computation depends on it.
	time time.Time
	// secret is what the noise is expanded from, about what it is for; nil where noise is
	// drawn from the system.
	secret *[32]byte
	about  [32]byte
}

// rehearse signs a certificate of an empty answer, so that a fault that would keep
// the true one from being signed is found before anything is charged.
func (r *run) rehearse() error {
	if _, err := r.sign(certificate.Answer(nil)); err != nil {
		return &noren.Error{Kind: noren.Usage, Where: noren.Phrase("release"), What: "the answer could not be certified", Err: err}
	}
	return nil
}

// answer reads, computes, adds noise and signs. A panic is an error like any
// other: its text, and the values in its trace, are private.
func (r *run) answer(ctx context.Context) (a *Answer, err error) {
	defer func() {
		if recover() != nil {
			a, err = nil, r.withheld(ctx)
		}
	}()
	payload, err := r.compute(ctx)
	if err != nil {
		return nil, r.withheld(ctx)
	}
	released := certificate.Answer(payload)
	if r.q.Publish != nil {
		// It sees the noisy answer and public files alone: its errors may be told.
		if released, err = r.q.Publish(ctx, payload); err != nil {
			return nil, err
		}
	}
	signed, err := r.sign(released)
	if err != nil {
		return nil, err
	}
	return &Answer{Payload: payload, Certificate: signed, Charge: r.charge, Quote: r.quote}, nil
}

// compute reads the table and answers from it. Its errors are not shown.
func (r *run) compute(ctx context.Context) ([]byte, error) {
	if err := r.step("reserved"); err != nil {
		return nil, err
	}
	out, err := r.answered(ctx)
	if err != nil {
		return nil, err
	}
	payload, err := canonical(out)
	if err != nil {
		return nil, err
	}
	return payload, r.step("computed")
}

// answered is the mechanism's answer, with noise.
func (r *run) answered(ctx context.Context) (any, error) {
	if r.q.Dataset.Definition.File.Sharded {
		r.hasRead()
		return r.computeShards(ctx)
	}
	t, err := r.read(ctx)
	if err == nil {
		r.hasRead()
		err = r.step("read")
	}
	if err == nil {
		err = r.step("noise")
	}
	if err != nil {
		return nil, err
	}
	return r.q.Mechanism.Answer(ctx, t, r.source(answerStream))
}

// hasRead tells the caller that the columns are in memory.
func (r *run) hasRead() {
	if r.q.Budget.Read != nil {
		r.q.Budget.Read()
	}
}

// step tells a test where the request stands.
func (r *run) step(name string) error {
	if r.q.Step == nil {
		return nil
	}
	return r.q.Step(name)
}

// withheld is the one error of everything that fails between charge and answer,
// so that the failure reveals only that it happened. An interruption is
// the caller's own doing.
func (r *run) withheld(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	e := &noren.Error{
		Kind: noren.BadData, Code: CodeWithheld, Where: noren.File(r.q.Dataset.Path),
		What: "the answer is withheld: the file could not be read as declared",
	}
	if r.charge != nil {
		e.Where = noren.Textf("data set %s", r.q.Dataset.Name)
		e.Saying("the answer is withheld: the file could not be read as granted; the charge stays")
		e.Hinted("the steward grants the file again to find out why")
	}
	return e
}

var errChanged = errors.New("the file is not the granted version")

// read reads the mechanism's columns and the unit's labels, each record by a rule
// of its own (package dataset), and makes sure that they are those of the version
// that was charged.
func (r *run) read(ctx context.Context) (*table.Table, error) {
	d := r.q.Dataset
	fields := r.q.Mechanism.Columns()
	switch {
	case d.tables != nil:
		return d.tables.read(ctx, d, fields)
	case d.ledger != nil:
		return d.readPinned(ctx, fields)
	}
	f, err := os.Open(d.Path)
	if err != nil {
		return nil, err
	}
	src, err := dataset.Open(ctx, f, filepath.Base(d.Path), d.Definition)
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }()
	t, _, err := dataset.Read(ctx, src, d.Definition, fields, nil)
	if err != nil {
		return nil, err
	}
	return t, d.form(int64(t.Rows))
}

// form makes sure that a table of that many records is of the form of the
// definition. A grant has made sure of it for the data sets of a ledger.
func (d *Dataset) form(rows int64) error {
	if rows > d.Definition.AtMost || d.Definition.Records > 0 && rows != d.Definition.Records {
		return errChanged
	}
	return nil
}

// sign states the release.
func (r *run) sign(released certificate.Released) (*certificate.Signed, error) {
	d := r.q.Dataset
	var columns []string
	for _, f := range r.q.Mechanism.Columns() {
		columns = append(columns, f.Name)
	}
	c := certificate.Certificate{
		Released: released, Mechanism: r.question.mechanism, Guarantee: r.quote.Guarantee, Accounting: certificate.Unaccounted,
		RequestSHA256: hex.EncodeToString(r.question.hash[:]), Tool: r.q.Tool, Time: certificate.Time(r.time),
	}
	var err error
	if c.Source, err = d.source(columns); err != nil {
		return nil, err
	}
	if r.q.Budget.Principal != "" {
		c.Analyst = &certificate.Analyst{Name: r.q.Budget.Principal, Identity: r.q.Budget.Identity}
	}
	switch {
	case r.charge != nil:
		c.Accounting, c.Charge = certificate.Charged, chargeOf(r.charge)
	case r.q.accounted(): // the rehearsal: a charge of the same form
		c.Accounting = certificate.Charged
		cost := ledger.ChargeInfo{Ledger: d.ledger.ID(), ID: d.ledger.ID(), Link: 1, Accounts: []int64{1}, Cost: r.quote.Cost, Loss: r.quote.Loss}
		c.Charge = chargeOf(&cost)
	}
	return certificate.Sign(r.q.Signer, c)
}

func chargeOf(c *ledger.ChargeInfo) *certificate.Charge {
	out := &certificate.Charge{
		Ledger: c.Ledger, ID: c.ID, Link: c.Link, Head: hex.EncodeToString(c.Head[:]), Accounts: c.Accounts,
		EpsilonNano: c.Cost.Epsilon, DeltaAtto: c.Cost.Delta,
	}
	if c.Cost.Rho > 0 {
		out.Accounting, out.EpsilonNano = account.ZCDP, c.Loss.Pure
		out.RhoFemto, out.GaussianFemto = c.Loss.Rho, c.Loss.Gaussian
	}
	return out
}
