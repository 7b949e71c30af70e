package release

import (
	"context"
	"crypto/ed25519"
	"encoding/json"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/identity"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release/shards"
)

// Request is a query to a private table.
type Request struct {
	// Mechanism is the query. Required.
	Mechanism Mechanism
	// Dataset is the private table. Required. One that a ledger holds is charged
	// there.
	Dataset *Dataset
	// Budget says who asks. Required for a data set of a ledger.
	Budget Budget
	// Signer signs the certificate. Required.
	Signer ed25519.PrivateKey
	// Tool is the program, as the certificate names it. Required.
	Tool certificate.Tool
	// Publish makes what is released out of the answer's bytes, when that is a file
	// and not these bytes themselves: it sees the noisy answer alone. It runs
	// before the certificate is signed. Optional.
	Publish func(ctx context.Context, payload []byte) (certificate.Released, error)
	// Step is called where a request stands: reserved, read, noise, computed, settled. An
	// error at noise is one of the source of randomness; at settled it is passed over, and at
	// every other step it ends the request there. It is for tests of faults and of slowness. Optional.
	Step func(step string) error
	// Collect runs the job of a sharded data set and returns its parts, in any order. It is
	// called once, after the charge; what it fails with is not shown. Defaults to
	// [shards.Plan.Collect], which runs all of it in this process.
	Collect func(ctx context.Context, p *shards.Plan) (parts [][]byte, err error)
	// Buckets is the number of buckets of that job, for persons. Defaults to one for each
	// 2^20 records of the definition's public bound.
	Buckets int
}

// Budget says who asks for a charged answer.
type Budget struct {
	// Principal is the analyst. Required.
	Principal string
	// Identity says how the name was established. Defaults to Declared.
	Identity certificate.Identity
	// Key makes the request idempotent: asked again under the same key, it is
	// answered with the same bytes and free of charge. Defaults to a key of its
	// own, which asks for a fresh answer.
	Key string
	// NoiseKey encrypts the secret from which the noise of a request with a Key is expanded,
	// so that its answer is computed again after a crash: 32 uniform bytes, which are not
	// kept in the ledger. Without it a charge that a crash left is forfeited. Optional.
	NoiseKey []byte
	// Expanded says that the request has a Key and a NoiseKey, or will have: the guarantee
	// states that the noise is expanded.
	Expanded bool
	// Alone says that no other process uses the ledger: what a crash left is computed again
	// at once, and not only when the lease of the charge has run out.
	Alone bool
	// Most is the largest cost that may be charged; a request that costs more is refused,
	// with the code costs-more, before anything is charged. Optional.
	Most *account.Cost
	// Priced is the hash of the request, in hexadecimal, that a price was made for. A request
	// that is another by now is refused, with the code changed, before anything is charged
	// or a stored answer is taken. Optional.
	Priced string
	// Hold keeps the cost free for this request ([ledger.Ledger.Hold]). Optional.
	Hold *ledger.Hold
	// Charged is called once the charge is durable; private data is read after it returns.
	// Every error of [Run] after it is one of a charged request. Optional.
	Charged func()
	// Read is called once the columns are in memory, where they stay until the answer was
	// computed, and before the mechanism computes. It is not called where the columns cannot
	// be read. Shards are read while they are computed, after it. Optional.
	Read func()
	// Computed is called once the answer was computed or has failed; the ledger notes the
	// end of the charge, either way, after it returns. A caller that waits here until a
	// time that follows from public facts keeps the order and the times of the ledger's
	// entries free of how long the computation took. Optional.
	Computed func()
	// Reuse takes a stored answer to the same query if the ledger has one,
	// by whichever analyst it was asked: the same bytes, free of charge.
	Reuse bool
}

// resumable reports whether an answer can be computed again after a crash.
func (b *Budget) resumable() bool { return b.Key != "" && len(b.NoiseKey) > 0 }

// accounted reports whether a ledger is charged.
func (q *Request) accounted() bool { return q.Dataset.ledger != nil }

func (q *Request) validate() error {
	var faults noren.Texts
	need := func(ok bool, what noren.Format) {
		if !ok {
			faults = append(faults, noren.Textf(what))
		}
	}
	need(q.Mechanism != nil, "a mechanism")
	need(q.Dataset != nil, "a data set")
	need(q.Dataset == nil || !q.accounted() || q.Budget.Principal != "", "the name of the analyst")
	if q.Budget.Identity == "" {
		q.Budget.Identity = certificate.Declared
	}
	if len(faults) > 0 {
		return &noren.Error{Kind: noren.Usage, Where: noren.Phrase("release"), What: "the request needs %s", Args: []any{faults}}
	}
	return nil
}

// question is a query in canonical form.
type question struct {
	mechanism certificate.Mechanism
	text      json.RawMessage // {"mechanism":{"name":...,"parameters":{...}}}, as the ledger keeps it
	hash      identity.ID     // two requests share it only if they ask the same of the same version
}

// asked is all that a stored answer depends on, beside the ledger that stores it: name,
// version and definition of the data set, in one ledger, fix the prints of its table and of
// its columns; of a question every parameter is there, and the public files that it read by
// SHA-256. Nothing private is.
type asked struct {
	Dataset    string          `json:"dataset"`
	Definition string          `json:"definition_sha256"`
	Version    int             `json:"version"`
	Question   json.RawMessage `json:"question"`
	// Reading is the version of the rule by which a version of a data set is recognised,
	// where it is not the first: [shardReading].
	Reading int `json:"reading,omitempty"`
}

// shardReading is the rule by which data sets in several files are recognised: by the prints
// of each file's columns together. Answers under the first rule, which compared the files of
// each column by itself, may be about another table than the granted one.
const shardReading = 2

// question brings the request to its canonical form. The hash covers the data set,
// its version and definition, and the mechanism with all its parameters.
func (q *Request) question() (*question, error) {
	fail := func(err error) (*question, error) {
		return nil, noren.Bug("release: the parameters of " + q.Mechanism.Name() + " cannot be written as JSON: " + err.Error())
	}
	parameters, err := identity.Form(q.Mechanism.Parameters())
	if err != nil {
		return fail(err)
	}
	if len(parameters) == 0 || parameters[0] != '{' {
		return fail(noren.Bug("they are not a JSON object"))
	}
	out := &question{mechanism: certificate.Mechanism{Name: q.Mechanism.Name(), Parameters: parameters}}
	if out.text, err = identity.Form(struct {
		Mechanism certificate.Mechanism `json:"mechanism"`
	}{out.mechanism}); err != nil {
		return fail(err)
	}
	all := asked{Dataset: q.Dataset.Name, Definition: q.Dataset.Hash(), Version: q.Dataset.Version, Question: out.text}
	if q.Dataset.Definition.File.Sharded {
		all.Reading = shardReading
	}
	if out.hash, err = identity.Of("noren.release/2", all); err != nil {
		return fail(err)
	}
	return out, nil
}

// canonical is v in canonical JSON.
func canonical(v any) (json.RawMessage, error) { return identity.Form(v) }
