package release

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"noren"
	"noren/account"
	"noren/certificate"
	"noren/ledger"
	"noren/table/csvio"
	"noren/table/file"
)

// Request is a question to a private table.
type Request struct {
	// Mechanism is the question. Required.
	Mechanism Mechanism
	// File is the path of the private table. Required.
	File string
	// Input says how the file is written. Optional.
	Input file.Options
	// Missing are the texts that stand for no value, beside the empty one.
	Missing []string
	// Budget is what pays. Required.
	Budget Budget
	// Signer signs the certificate. Required.
	Signer ed25519.PrivateKey
	// Tool is the program, as the certificate names it. Required.
	Tool certificate.Tool
	// Publish makes what leaves out of the answer's bytes, when that is a file
	// and not these bytes themselves: it sees the noisy answer alone. It runs
	// before the certificate is signed. Optional.
	Publish func(ctx context.Context, payload []byte) (certificate.Released, error)
	// Progress is told how far reading has come.
	Progress noren.Progress
}

// Budget is what pays for an answer.
type Budget struct {
	// Ledger holds the file's budget. Required, unless Unaccounted.
	Ledger *ledger.Ledger
	// Principal is who asks. Required with a ledger.
	Principal string
	// Key makes the request idempotent: asked again under the same key, it is
	// answered with the same bytes and free of charge. Defaults to a key of its
	// own, which asks for a fresh answer.
	Key string
	// Unaccounted answers without a ledger, for neighbours of the relation and
	// unit given here; with a ledger those of the book count.
	Unaccounted bool
	Neighbours  account.Neighbours
	Unit        string
}

func (q *Request) validate() error {
	var faults []string
	need := func(ok bool, what string) {
		if !ok {
			faults = append(faults, what)
		}
	}
	need(q.Mechanism != nil, "a mechanism")
	need(q.File != "", "a file")
	need(q.Budget.Ledger != nil || q.Budget.Unaccounted, "a ledger, or to be unaccounted")
	need(q.Budget.Ledger == nil || !q.Budget.Unaccounted, "either a ledger or to be unaccounted, not both")
	need(q.Budget.Ledger == nil || q.Budget.Principal != "", "the name of whoever asks")
	if len(faults) > 0 {
		return &noren.Error{Kind: noren.Usage, Where: "release", What: "the request needs " + strings.Join(faults, ", ")}
	}
	return nil
}

// Quote is what a request costs and what would be left, from public facts.
type Quote struct {
	// Dataset is the data set's name in the ledger; empty when unaccounted.
	Dataset    string
	Neighbours account.Neighbours
	Unit       string
	Cost       account.Cost
	Guarantee  noren.Guarantee
	// Remaining is what each account has before the charge: the data set's and,
	// where there is one, the analyst's. Nil when unaccounted.
	Remaining []ledger.Remaining
	// Fits says that all of them cover Cost.
	Fits bool

	fingerprint string
}

// Price looks a request's budget up and prices it. Nothing is charged, and of
// the file only its header and its fingerprint are taken. Errors are of kind
// Usage (a request that contradicts itself or the file's columns) and Refused (no
// budget for this file, a file that has changed, a sealed ledger).
func Price(ctx context.Context, q *Request) (*Quote, error) {
	if err := q.validate(); err != nil {
		return nil, err
	}
	detected, err := checkColumns(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &Quote{Neighbours: q.Budget.Neighbours, Unit: q.Budget.Unit, Fits: true}
	if out.Unit == "" {
		out.Unit = account.Record
	}
	if l := q.Budget.Ledger; l != nil {
		if err := l.Sealed(); err != nil {
			return nil, err
		}
		book, err := l.FindByFile(ctx, q.File)
		if err != nil {
			return nil, err
		}
		out.Dataset, out.Neighbours, out.Unit, out.fingerprint = book.Name, book.Neighbours, book.Unit, book.Fingerprint
		out.Remaining = append(out.Remaining, ledger.Remaining{Kind: "dataset", Name: book.Name, Left: book.Remaining})
		for _, a := range book.Analysts {
			if a.Name == q.Budget.Principal {
				out.Remaining = append(out.Remaining, ledger.Remaining{Kind: "analyst", Name: a.Name, Left: a.Remaining})
			}
		}
	}
	if out.Cost, err = q.Mechanism.Cost(out.Neighbours, out.Unit); err != nil {
		return nil, err
	}
	if err := out.Cost.Validate(); err != nil {
		return nil, err
	}
	if out.Guarantee, err = q.Mechanism.Guarantee(out.Neighbours, out.Unit); err != nil {
		return nil, err
	}
	if detected {
		out.Guarantee.Assumptions = append(slices.Clone(out.Guarantee.Assumptions),
			"how the file is written (delimiter, encoding) was detected from it, and comes out the same for its neighbours")
	}
	for _, r := range out.Remaining {
		out.Fits = out.Fits && out.Cost.Within(r.Left)
	}
	return out, nil
}

// checkColumns makes sure that the file has the columns that are asked for,
// before anything is charged. It tells whether the form of a text file was in part
// detected from its records: that they decide how all are read is no part of any
// mechanism's proof.
func checkColumns(ctx context.Context, q *Request) (detected bool, err error) {
	src, err := file.Open(ctx, q.File, q.Input)
	if err != nil {
		return false, err
	}
	defer func() { _ = src.Close() }()
	var names []string
	for _, f := range q.Mechanism.Columns() {
		names = append(names, f.Name)
	}
	_, text := src.(*csvio.Source)
	_, err = file.Find(src, names)
	return text && (q.Input.Delimiter == 0 || q.Input.Encoding == csvio.AnyEncoding), err
}

// description is the mechanism in canonical JSON, as the ledger keeps it and
// the certificate states it, and the hash that two requests share only if they
// ask the same of the same data set.
func (q *Request) description(quote *Quote) (mechanism certificate.Mechanism, text json.RawMessage, hash [32]byte, err error) {
	fail := func(err error) (certificate.Mechanism, json.RawMessage, [32]byte, error) {
		return certificate.Mechanism{}, nil, hash, &noren.Error{Where: q.Mechanism.Name(), What: "its parameters cannot be written down", Err: err}
	}
	parameters, err := json.Marshal(q.Mechanism.Parameters())
	if err != nil {
		return fail(err)
	}
	if len(parameters) == 0 || parameters[0] != '{' {
		return fail(errors.New("they make no JSON object"))
	}
	mechanism = certificate.Mechanism{Name: q.Mechanism.Name(), Parameters: parameters}
	plain, err := json.Marshal(mechanism)
	if err != nil {
		return fail(err)
	}
	if text, err = certificate.Canonical(plain); err != nil {
		return fail(err)
	}
	all, err := json.Marshal(struct {
		Mechanism  json.RawMessage `json:"mechanism"`
		Dataset    string          `json:"dataset"`
		File       string          `json:"file"`
		Neighbours string          `json:"neighbours"`
		Unit       string          `json:"unit"`
		Missing    []string        `json:"missing"`
		Delimiter  string          `json:"delimiter"`
		Encoding   int             `json:"encoding"`
	}{text, quote.Dataset, quote.fingerprint, quote.Neighbours.String(), quote.Unit, q.Missing, string(q.Input.Delimiter), int(q.Input.Encoding)})
	if err != nil {
		return fail(err)
	}
	return mechanism, text, sha256.Sum256(append([]byte("noren.release/1\x00"), all...)), nil
}
