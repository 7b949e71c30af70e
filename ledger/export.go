package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"

	"github.com/noren-privacy/noren"
)

// ExportEntry is an entry of the chain as it is stored. Its hash is SHA-256 over
//
//	"noren.ledger.link/1", a zero byte, the number as 8 bytes (big-endian), the hash of
//	the entry before (32 bytes; zeros before the first), the kind, a zero byte, the body.
//
// That of a grant with Paths is over the same, after "noren.ledger.link/2", a zero byte and
// the 32 bytes of Paths.
type ExportEntry struct {
	Link int64
	Kind string
	Body []byte // JSON
	Prev [32]byte
	Hash [32]byte
	// WithoutPaths says that the entry is a grant whose paths of files Body leaves out. Paths
	// is the commitment to them, from which and Body the hash follows; nil for a grant of an
	// older ledger, whose hash cannot be computed without its paths: the signer of the export
	// states that hash and Body belong together.
	WithoutPaths bool
	Paths        []byte
}

// ExportAnswer is a stored answer with its certificate, of the release at entry Link.
type ExportAnswer struct {
	Link                 int64
	Charge               string
	Payload, Certificate []byte
	KeyID                string
}

// Export calls entry with each entry of the chain, in order and without the paths of files,
// and answer after each release whose answer is stored. It sees the ledger at one moment,
// beside writers. An error of either function ends it and is returned as it is.
func (l *Ledger) Export(ctx context.Context, entry func(ExportEntry) error, answer func(ExportAnswer) error) error {
	tx, err := l.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return fail(l.path, "cannot be exported", err)
	}
	defer tx.Rollback()
	read, err := tx.PrepareContext(ctx, "SELECT payload, signature, key_id FROM release WHERE charge = ?")
	if err != nil {
		return fail(l.path, "cannot be exported", err)
	}
	defer read.Close()
	if err := eachLink(ctx, tx, 0, func(k *link) error {
		if len(k.Prev) != 32 || len(k.Hash) != 32 {
			return &SealedError{noren.Textf("entry %d has no hash", k.Seq)}
		}
		out := ExportEntry{Link: k.Seq, Kind: k.Kind, Body: k.Body, Prev: [32]byte(k.Prev), Hash: [32]byte(k.Hash)}
		h, err := hide(k.Kind, k.Body)
		if err != nil {
			return &SealedError{noren.Textf("entry %d does not have its form", k.Seq)}
		}
		if h != nil {
			out.Body, out.Paths, out.WithoutPaths = h.body, h.paths, true
		}
		if err := entry(out); err != nil {
			return err
		}
		var of releaseBody
		if k.Kind != kindRelease || decodeBody(k.Body, &of) != nil {
			return nil
		}
		a := ExportAnswer{Link: k.Seq, Charge: of.Charge}
		err = read.QueryRowContext(ctx, of.Charge).Scan(&a.Payload, &a.Certificate, &a.KeyID)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // lost with the database, or missing: who checks the export says so
		}
		if err != nil {
			return err
		}
		return answer(a)
	}); err != nil {
		return fail(l.path, "cannot be exported", err)
	}
	return nil
}

// ExportChecker replays an exported chain without a ledger: each entry must have its
// hash, follow the one before, and be one that the protocol allows; what is spent is
// summed up anew and compared with the caps.
type ExportChecker struct {
	p        *replay
	answered map[int64]bool // releases with their answers, by entry
}

// NewExportChecker starts with an empty chain.
func NewExportChecker() *ExportChecker {
	return &ExportChecker{p: newReplay(), answered: map[int64]bool{}}
}

// Entry takes the next entry and returns its faults. After a fault it goes on from what
// the entry says, so that one fault does not hide the next.
func (c *ExportChecker) Entry(e ExportEntry) (faults noren.Texts) {
	k := &link{Seq: e.Link, Kind: e.Kind, Body: e.Body, Prev: e.Prev[:], Hash: e.Hash[:]}
	if e.Link != c.p.seq+1 {
		faults = append(faults, noren.Textf("it follows entry %d", c.p.seq))
	}
	if !bytes.Equal(k.Prev, c.p.hash) {
		faults = append(faults, noren.Textf("the hash of the entry before is not the one that it states"))
	}
	switch {
	case e.WithoutPaths && !withoutPaths(k):
		faults = append(faults, noren.Textf("it is said to be without paths, and is no grant without paths"))
	case e.WithoutPaths && e.Paths == nil:
	case e.WithoutPaths && !bytes.Equal(k.Hash, k.digestWith(e.Paths)),
		!e.WithoutPaths && !bytes.Equal(k.Hash, k.digest()):
		faults = append(faults, noren.Textf("its hash does not fit its content"))
	}
	c.p.seq, c.p.hash = k.Seq, k.Hash
	body, err := c.p.take(k)
	if err == nil {
		c.p.hashes = append(c.p.hashes, k.Hash)
		err = c.p.record(k, body)
	}
	if err != nil {
		faults = append(faults, noren.Textf("it does not follow from those before: %s", err))
	}
	return faults
}

// ExportedCharge is what the chain says of a charge that was released.
type ExportedCharge struct {
	ChargeInfo
	Dataset     string
	Accounting  Accounting
	Principal   string
	RequestHash string // hexadecimal
	// Differs says that the accounts were charged different costs, which no charge of a
	// query does; Cost and Loss are then those of the last account.
	Differs   bool
	Mechanism json.RawMessage
	// Versions are those of the data set up to the charge, with the hashes of their
	// definitions and the prints of their tables.
	Versions []Version
}

// Answer takes the answer of the release entry that was taken last and returns its
// faults, and the charge that it is of; nil where there is none.
func (c *ExportChecker) Answer(a ExportAnswer) (charge *ExportedCharge, faults noren.Texts) {
	r := c.p.charges[a.Charge]
	if a.Link != c.p.seq || r == nil || r.end != a.Link || r.state != "released" {
		return nil, noren.Sentences("an answer does not follow the release that it is of")
	}
	if c.answered[a.Link] {
		return nil, noren.Sentences("its answer is there twice")
	}
	c.answered[a.Link] = true
	if b := r.release; b.Payload != hexHash(a.Payload) {
		faults = append(faults, noren.Textf("its answer is not the one that was released"))
	} else if b.Signature != hexHash(a.Certificate) || b.KeyID != a.KeyID {
		faults = append(faults, noren.Textf("its certificate is not the one that was stored"))
	}
	charge = c.charge(r)
	if charge.Differs {
		faults = append(faults, noren.Textf("entry %d charges its accounts different costs", charge.Link))
	}
	return charge, faults
}

func (c *ExportChecker) charge(r *replayed) *ExportedCharge {
	out := &ExportedCharge{Principal: r.body.Principal, RequestHash: r.body.RequestHash, Mechanism: json.RawMessage(r.body.Mechanism)}
	out.Ledger, out.ID, out.Link = c.p.ledger, r.body.Charge, r.seq
	if at := r.seq - 1; at >= 0 && at < int64(len(c.p.hashes)) {
		out.Head = [32]byte(c.p.hashes[at])
	}
	for i := range r.body.Lines {
		out.Accounts = append(out.Accounts, r.body.Lines[i].Account)
		cost, loss := r.body.Lines[i].spentBy()
		out.Differs = out.Differs || i > 0 && (cost != out.Cost || loss != out.Loss)
		out.Cost, out.Loss = cost, loss
	}
	slices.Sort(out.Accounts)
	if a := c.p.accounts[r.body.Account]; a != nil {
		out.Dataset, out.Accounting = a.name, Accounting(a.accounting)
		out.Versions = c.p.granted[a.id]
	}
	return out
}

// End returns the number of entries and charges, the head, and for each release without
// its answer the entry. Answers that a reconciliation found lost are not missed.
func (c *ExportChecker) End() (r *Report, missing []int64) {
	r = &Report{Links: c.p.seq, Charges: len(c.p.charges), Head: [32]byte(c.p.hash)}
	for _, charge := range c.p.charges {
		if charge.state == "released" && !c.answered[charge.end] {
			missing = append(missing, charge.end)
		}
	}
	slices.Sort(missing)
	return r, missing
}

// Ledger is the id of the ledger whose chain it is.
func (c *ExportChecker) Ledger() string { return c.p.ledger }
