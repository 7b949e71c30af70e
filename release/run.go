package release

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"noren"
	"noren/account"
	"noren/certificate"
	"noren/ledger"
	"noren/noise"
	"noren/table"
	"noren/table/file"
)

// Answer is what a request came to.
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
	// Repeated says that the same request was answered before under its key:
	// these are the same bytes, free of charge.
	Repeated bool
}

// Run asks, pays and answers. Errors are of kind Usage and Refused before
// anything is charged; after that of kind Refused (the lease was lost), BadData
// (the file cannot be read as it is declared, or has changed since it was
// charged), Internal, or the context's, and the charge stays.
func Run(ctx context.Context, q Request) (*Answer, error) {
	quote, err := Price(ctx, &q)
	if err != nil {
		return nil, err
	}
	if len(q.Signer) == 0 {
		return nil, &noren.Error{Kind: noren.Usage, Where: "release", What: "the request needs a key to sign the certificate with"}
	}
	r := &run{q: &q, quote: quote}
	var text json.RawMessage
	var hash [32]byte
	if r.mechanism, text, hash, err = q.description(quote); err != nil {
		return nil, err
	}
	if err := r.rehearse(); err != nil {
		return nil, err
	}
	if q.Budget.Unaccounted {
		answer, err := r.answer(ctx)
		if err != nil {
			return nil, err
		}
		return answer, nil
	}
	reservation, stored, err := q.Budget.Ledger.Reserve(ctx, ledger.Request{
		Dataset: quote.Dataset, Principal: q.Budget.Principal, Key: q.Budget.Key, Hash: hash,
		Mechanism: text, Cost: quote.Cost, Neighbours: quote.Neighbours, Unit: quote.Unit,
	})
	if err != nil {
		return nil, err
	}
	if stored != nil {
		return repeated(stored, quote)
	}
	charge := reservation.Charge()
	r.charge = &charge
	answer, err := r.answer(reservation.Context())
	if err != nil {
		// What was reserved stays spent; the reason holds nothing of the data.
		_ = reservation.Forfeit(noren.KindOf(err).String() + " while answering")
		return nil, lost(reservation, err)
	}
	text, err = answer.Certificate.Encode()
	if err == nil {
		err = reservation.Settle(ctx, answer.Payload, text, answer.Certificate.Signature.KeyID)
	}
	if err != nil {
		_ = reservation.Forfeit("not stored")
		return nil, err
	}
	answer.Remaining = reservation.Remaining()
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
		return nil, &noren.Error{Where: "ledger", What: "the certificate of the stored answer cannot be read", Err: err, Hint: "noren ledger verify"}
	}
	return &Answer{Payload: s.Payload, Certificate: c, Charge: &s.Charge, Remaining: quote.Remaining, Repeated: true}, nil
}

// run is a request under way.
type run struct {
	q         *Request
	quote     *Quote
	mechanism certificate.Mechanism
	charge    *ledger.ChargeInfo
}

// rehearse signs a certificate of nothing, so that whatever keeps the true one
// from being signed is found before anything is charged.
func (r *run) rehearse() error {
	if _, err := r.sign(certificate.Answer(nil)); err != nil {
		return &noren.Error{Kind: noren.Usage, Where: "release", What: "the answer could not be certified", Err: err}
	}
	return nil
}

// answer reads, computes, adds noise and signs. A panic is an error like any
// other: what it says, and the values in its trace, are private.
func (r *run) answer(ctx context.Context) (a *Answer, err error) {
	defer func() {
		if recover() != nil {
			a, err = nil, private(ctx, nil, noren.Internal, "the answer could not be computed")
		}
	}()
	t, err := r.read(ctx)
	if err != nil {
		return nil, err
	}
	out, err := r.q.Mechanism.Answer(ctx, t, noise.NewSource())
	if err != nil {
		return nil, private(ctx, err, noren.Internal, "the answer could not be computed")
	}
	plain, err := json.Marshal(out)
	if err != nil {
		return nil, &noren.Error{What: "the answer cannot be written as JSON"}
	}
	payload, err := certificate.Canonical(plain)
	if err != nil {
		return nil, &noren.Error{What: "the answer cannot be written as JSON"}
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
	return &Answer{Payload: payload, Certificate: signed, Charge: r.charge}, nil
}

// private turns an error that may tell something of the data into one that does
// not.
func private(ctx context.Context, err error, kind noren.Kind, what string) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if noren.KindOf(err) == noren.Interrupted {
		kind = noren.Interrupted
	}
	return &noren.Error{Kind: kind, What: what, Hint: "what was charged stays charged; the details are private: the steward finds them with noren inspect"}
}

// read reads the mechanism's columns, and makes sure that the file is the one
// that was charged.
func (r *run) read(ctx context.Context) (*table.Table, error) {
	f, err := os.Open(r.q.File)
	if err != nil {
		return nil, private(ctx, err, noren.BadData, "the private file cannot be read")
	}
	defer func() { _ = f.Close() }()
	o := r.q.Input
	o.Name = r.q.File
	src, err := file.OpenFile(ctx, borrowed{f}, o)
	if err != nil {
		return nil, private(ctx, err, noren.BadData, "the private file cannot be read")
	}
	defer func() { _ = src.Close() }()
	fields := r.q.Mechanism.Columns()
	labels := r.quote.Unit != account.Record && slices.ContainsFunc(src.Columns(), func(c table.StoredColumn) bool { return c.Name == r.quote.Unit })
	if labels { // the texts of the unit column, whatever the question makes of it
		fields = append(slices.Clone(fields), table.Field{Name: r.quote.Unit, Type: table.Category})
	}
	t, err := file.Read(ctx, src, fields, r.q.Missing, r.q.Progress)
	if err != nil {
		return nil, private(ctx, err, noren.BadData, "the private file cannot be read as its columns are declared")
	}
	if last := len(t.Columns) - 1; labels {
		t.Unit, t.Columns = t.Columns[last], t.Columns[:last]
	}
	if r.charge == nil {
		return t, nil
	}
	h := r.q.Budget.Ledger.NewFileHash()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, private(ctx, err, noren.BadData, "the private file cannot be read")
	}
	if _, err := io.Copy(h, f); err != nil {
		return nil, private(ctx, err, noren.BadData, "the private file cannot be read")
	}
	if h.Sum() != r.quote.fingerprint {
		return nil, &noren.Error{Kind: noren.BadData, Where: r.q.File, What: "the file has changed since it was charged", Hint: "ask again when nothing writes to it"}
	}
	return t, nil
}

// borrowed is a file that its reader must not close.
type borrowed struct{ *os.File }

func (borrowed) Close() error { return nil }

// sign states the release.
func (r *run) sign(released certificate.Released) (*certificate.Signed, error) {
	c := certificate.Certificate{
		Released: released, Mechanism: r.mechanism, Guarantee: r.quote.Guarantee,
		Accounting: certificate.Unaccounted, Tool: r.q.Tool, Time: certificate.Time(time.Now()),
	}
	if r.charge != nil {
		c.Accounting = certificate.Charged
		c.Source = &certificate.Source{Dataset: r.quote.Dataset, Fingerprint: r.quote.fingerprint}
		c.Charge = chargeOf(r.charge)
	}
	return certificate.Sign(r.q.Signer, c)
}

func chargeOf(c *ledger.ChargeInfo) *certificate.Charge {
	cost := account.Cost(c.Cost)
	return &certificate.Charge{
		Ledger: c.Ledger, ID: c.ID, Link: c.Link, Head: hex.EncodeToString(c.Head[:]), Accounts: c.Accounts,
		EpsilonNano: cost.Epsilon, DeltaAtto: cost.Delta,
	}
}
