package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/noren-privacy/noren"
)

// Evidence is what a release certificate states of a charge. The caller has
// checked the certificate's signature.
type Evidence struct {
	Charge    ChargeInfo
	Dataset   string
	Mechanism json.RawMessage // for the history; optional
}

// ReconcileOptions are the steward's evidence.
type ReconcileOptions struct {
	// Evidence are the certificates of all releases that are known; those the
	// ledger contains change nothing.
	Evidence []Evidence
	// WithoutHead says that the head file is lost or unusable, and that the
	// certificates are the only evidence. It is refused while the head file is
	// usable. A charge that neither the readable part of the head file nor a
	// certificate states is lost by it.
	WithoutHead bool
	// WithoutAnchor says that the anchor is lost, or that it states no amounts and the
	// ledger cannot be brought up to it, and that it is made anew. It is refused while the
	// anchor serves. A charge that neither the head file, nor a certificate, nor the amounts
	// of Seen state is lost by it.
	WithoutAnchor bool
	// Seen is what other files know of this ledger, such as the store of a server. No data
	// set ends with less spent than they state. The anchor need not be among them.
	Seen []Seen
}

// Recovery is what a reconciliation did.
type Recovery struct {
	Rolled    int64       // entries rolled forward from the head file
	Recovered []string    // charges that only a certificate, or a head file that does not fit, knew
	Skipped   noren.Texts // what could not be charged, and why
	Raised    []Raise     // accounts whose spent rose
	Rebuilt   noren.Texts // what was changed from outside and is again as the chain says
	Lost      int64       // entries that an anchor or another file knew and that nothing brought back
	Missing   []int64     // these entries; what they spent is charged where amounts are known
	Restored  []string    // data sets whose grant was lost, and whose account was made anew, closed by its cap

	known []knownEntry // what other files knew and is charged now
}

// Raise is an account whose spent rose.
type Raise struct {
	Kind, Name    string
	Before, After Cost
	Accounting    Accounting // of the budget
}

// Reconcile rolls a ledger that was restored from an older copy forward to its known
// state, and unseals it. Entries that the head file has and the database
// lacks are done again, so that the ledger is as it was but for stored answers,
// whose charges are forfeited. Then each charge that a certificate states and
// the ledger does not contain is charged to its accounts, whose caps rise to
// what is spent where they must: nothing is left of them.
//
// Accounts and data sets that were changed from outside are made anew from the
// chain, with the triggers that guard them. If an account said that more was
// spent than the chain, the difference is charged. A chain that is damaged is an
// error of kind BadData: only a copy helps.
//
// Last, what the anchor and the Seen of the options know to be spent beyond that is
// charged: no data set ends with less spent. If the ledger was charged after an older copy was
// restored, what they know and these charges add up, and so do the amounts and certificates of
// several such histories (partWays). A data set whose grant is lost gets its
// account back, with the print of its table and with nothing left, so that another grant of
// the same table is refused. The anchor is made anew.
//
// What is spent can only rise. It can be run on a sound ledger, with
// certificates, to find out that an older copy of both its files was restored.
// Running it again changes nothing more.
func (l *Ledger) Reconcile(ctx context.Context, o ReconcileOptions) (*Recovery, error) {
	for _, e := range o.Evidence {
		if e.Charge.Ledger != l.id {
			return nil, noren.Usagef(noren.Textf("certificate of charge %s", e.Charge.ID), "is of another ledger").
				Hinted("bring the certificates of ledger %s", l.id)
		}
		if e.Charge.Cost.Epsilon < 0 || e.Charge.Cost.Delta < 0 || e.Charge.Cost.Rho < 0 || e.Charge.Cost.Rho > 0 &&
			e.Charge.Loss.Validate() != nil || e.Charge.ID == "" {
			return nil, &noren.Error{Kind: noren.BadData, Where: noren.Textf("certificate of charge %s", e.Charge.ID), What: "states no charge"}
		}
	}
	for i := range o.Seen {
		if o.Seen[i].Ledger != l.id {
			return nil, noren.Usagef(noren.File(l.path), "it is not the ledger that the files beside it know (%s)", o.Seen[i].Ledger).
				Hinted("put a copy of that ledger back")
		}
	}
	var did *Recovery
	var seq int64
	rewrite, anew := false, false
	err := l.write(ctx, "the ledger was not reconciled", func(ctx context.Context, tx *sql.Tx, now int64) error {
		did = &Recovery{}
		before, err := accounts(ctx, tx, "TRUE")
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM checkpoint"); err != nil {
			return err
		}
		p := newBooks()
		if err := p.catchUp(ctx, tx); err != nil {
			return l.damaged(err)
		}
		if err := fillPassbook(ctx, tx); err != nil {
			return err
		}
		excess, err := l.rebuild(ctx, tx, p, before, did)
		if err != nil {
			return err
		}
		lost, stray, headErr := l.lostLinks(ctx, tx)
		if headErr != nil && !o.WithoutHead {
			return headErr
		}
		if headErr == nil && o.WithoutHead {
			return noren.Usagef(noren.File(l.path), "its head file serves").Hinted("reconcile with it")
		}
		if headErr != nil {
			rewrite = true
			lost = nil
		}
		known, _, err := lastLink(ctx, tx)
		if err != nil {
			return err
		}
		known += int64(len(lost))
		amounts, err := l.amounts(o.Seen)
		if err != nil {
			return err
		}
		for _, k := range lost {
			if err := l.rollForward(ctx, tx, k); err != nil {
				return noren.Reasonf("entry %d of the head file: %s", k.Seq, err)
			}
		}
		did.Rolled = int64(len(lost))
		evidence := o.Evidence
		if rewrite {
			evidence = append(stray, evidence...)
		}
		open, err := findUnheld(ctx, tx, amounts, known)
		if err != nil {
			return err
		}
		if err := l.restoreDatasets(ctx, tx, open, did, now); err != nil {
			return err
		}
		var brought []broughtBack
		for _, e := range evidence {
			lines, err := l.recover(ctx, tx, &e, did, now)
			if err != nil {
				return err
			}
			brought = append(brought, broughtBack{e.Charge.Link, e.Charge.Head[:], lines})
		}
		if err := l.chargeExcess(ctx, tx, excess, recoveredRow, now); err != nil {
			return err
		}
		ways, forked := partWays(open, evidence)
		short, err := shortfall(ctx, tx, ways, forked, brought, did)
		if err != nil {
			return err
		}
		if err := l.chargeExcess(ctx, tx, short, recoveredAmount, now); err != nil {
			return err
		}
		for i := range open {
			did.known = append(did.known, open[i].entry())
		}
		if seq, err = l.conclude(ctx, tx, lost, did, rewrite, now); err != nil {
			return err
		}
		if err := l.sweep(ctx, tx, now); err != nil {
			return err
		}
		if err := l.finishBooks(ctx, tx, p); err != nil {
			return err
		}
		if did.Missing, anew, err = l.reconcileAnchor(ctx, tx, o.WithoutAnchor, known, evidence); err != nil {
			return err
		}
		for i := range open {
			if missing := unexplained(open[i].after, open[i].Seq, evidence); len(missing) > len(did.Missing) {
				did.Missing = missing
			}
		}
		did.Lost = int64(len(did.Missing))
		return did.compare(ctx, tx, before)
	})
	if err != nil {
		return nil, err
	}
	l.at("reconciled")
	if err := l.renewAnchor(ctx, anew); err != nil {
		return nil, err
	}
	if rewrite {
		err = l.rebuildHead(ctx)
	} else {
		err = l.syncHead(ctx, seq)
	}
	if err != nil {
		return nil, err
	}
	l.setSealed(nil)
	return did, nil
}

// lostLinks returns the entries that the head file has after the database's last.
// If the head file is no continuation of the chain, that is the error, and
// stray are the charges it knows, as far as it can be read.
func (l *Ledger) lostLinks(ctx context.Context, tx *sql.Tx) (lost []*link, stray []Evidence, err error) {
	seq, hash, err := lastLink(ctx, tx)
	if err != nil {
		return nil, nil, err
	}
	var fault error
	var n, meets int64
	err = l.eachHeadLine(ctx, func(text []byte) error {
		n++
		k, err := l.parseHeadLine(text)
		if err != nil {
			fault = noren.Reasonf("line %d: %s", n, err)
			return nil
		}
		if e, ok := strayCharge(ctx, tx, l.id, k); ok {
			stray = append(stray, e)
		}
		var own []byte
		switch {
		case k.Seq > seq:
			if k.follows(seq+int64(len(lost)), hash) {
				lost, hash = append(lost, k), k.Hash
				return nil
			}
			fault = noren.Reasonf("line %d does not follow the database's chain", n)
		case tx.QueryRowContext(ctx, "SELECT hash FROM chain WHERE seq = ?", k.Seq).Scan(&own) != nil || !bytes.Equal(own, k.Hash):
			fault = noren.Reasonf("line %d is not in the database's chain", n)
		default:
			meets++
		}
		return nil
	})
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = errNoHead
	}
	if err = errors.Join(err, fault); err == nil && meets == 0 && seq > 1 {
		err = errNoHead
	}
	if err == nil {
		return lost, nil, nil
	}
	return nil, stray, &noren.Error{
		Kind: noren.Usage, Where: noren.File(headPath(l.path)), What: "the head file does not serve", Err: err,
		Hint: "put the right one back, or reconcile without it, with the certificates of all releases",
	}
}

// strayCharge reads a charge off a line of the head file, unless the database
// has it.
func strayCharge(ctx context.Context, tx *sql.Tx, ledger string, k *link) (Evidence, bool) {
	var b chargeBody
	if k.Kind != kindCharge && k.Kind != kindRecover || decodeBody(k.Body, &b) != nil || len(b.Lines) == 0 {
		return Evidence{}, false
	}
	e := Evidence{Mechanism: json.RawMessage(b.Mechanism)}
	e.Charge = ChargeInfo{Ledger: ledger, ID: b.Charge, Link: k.Seq, Head: [32]byte(k.Hash)}
	for _, n := range b.Lines {
		e.Charge.Accounts = append(e.Charge.Accounts, n.Account)
		e.Charge.Cost, e.Charge.Loss = n.spentBy() // all lines of a charge are of one cost
	}
	if err := tx.QueryRowContext(ctx, "SELECT name FROM account WHERE id = ?", b.Account).Scan(&e.Dataset); err != nil {
		e.Dataset = fmt.Sprintf("of account %d", b.Account)
	}
	return e, true
}

// rollForward repeats a lost entry.
func (l *Ledger) rollForward(ctx context.Context, tx *sql.Tx, k *link) error {
	if err := l.insertLink(ctx, tx, k); err != nil {
		return err
	}
	switch k.Kind {
	case kindGrant:
		var b grantBody
		if err := decodeBody(k.Body, &b); err != nil {
			return err
		}
		return applyGrant(ctx, tx, k.Seq, &b)
	case kindCharge:
		var b chargeBody
		if err := decodeBody(k.Body, &b); err != nil {
			return err
		}
		return insertCharge(ctx, tx, k.Seq, &b, lease{})
	case kindRecover:
		var b chargeBody
		if err := decodeBody(k.Body, &b); err != nil {
			return err
		}
		return insertRecovered(ctx, tx, k.Seq, &b)
	}
	return nil // ends: conclude forfeits these charges, whose answers are gone
}

// insertRecovered writes a charge without regard to the caps.
func insertRecovered(ctx context.Context, tx *sql.Tx, seq int64, b *chargeBody) error {
	for _, n := range b.Lines {
		if _, err := tx.ExecContext(ctx,
			`UPDATE account SET cap_eps_nano = max(cap_eps_nano, spent_eps_nano + ?), cap_delta = max(cap_delta, spent_delta + ?), cap_rho = max(cap_rho, spent_rho + ?) WHERE id = ?`, n.Eps, n.Delta, n.Rho, n.Account); err != nil {
			return err
		}
	}
	if err := insertCharge(ctx, tx, seq, b, lease{}); err != nil {
		return err
	}
	return setEnded(ctx, tx, b.Charge, "forfeited", string(b.recoveredReason()), b.Time) // it has no secret
}

// recover charges what e states, unless the ledger has it, and returns the lines.
func (l *Ledger) recover(ctx context.Context, tx *sql.Tx, e *Evidence, did *Recovery, now int64) ([]line, error) {
	var known int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM charge WHERE id = ?", e.Charge.ID).Scan(&known); err != nil || known > 0 {
		return nil, err
	}
	book, err := findAccount(ctx, tx, 0, kindDataset, e.Dataset)
	if err != nil {
		return nil, err
	}
	if book == nil {
		did.Skipped = append(did.Skipped, noren.Textf("charge %s: data set %s is not in this ledger: grant it and reconcile again", e.Charge.ID,
			e.Dataset))
		return nil, nil
	}
	if len(e.Charge.ID) != 32 {
		return nil, &noren.Error{
			Kind: noren.BadData, Where: noren.Textf("certificate of charge %s", e.Charge.ID),
			What: "its charge has no proper id",
		}
	}
	// The data set is charged in any case; analysts and blocks as far as their
	// accounts still are what they were.
	listed, err := accounts(ctx, tx, "parent = ?", book.id)
	if err != nil {
		return nil, err
	}
	mechanism := "{}"
	if len(e.Mechanism) > 0 {
		mechanism = string(e.Mechanism)
	}
	b := chargeBody{
		Charge: e.Charge.ID, Account: book.id, Principal: string(recoveredBy), Key: e.Charge.ID,
		RequestHash: hex.EncodeToString(make([]byte, 32)), Mechanism: mechanism, Owner: "-", Time: now,
	}
	if book.zcdp() != (e.Charge.Cost.Rho > 0) {
		// The accounting was replaced before anything was spent, and the chain of that is
		// lost: the charge is of a budget that is not this one's.
		did.Skipped = append(did.Skipped,
			noren.Textf("charge %s: the budget of data set %s is in another accounting: grant it as it was and reconcile again", e.Charge.ID,
				e.Dataset))
		return nil, nil
	}
	b.Lines = append(b.Lines, book.line(e.Charge.Cost, e.Charge.Loss))
	for i := range listed {
		if slices.Contains(e.Charge.Accounts, listed[i].id) {
			b.Lines = append(b.Lines, listed[i].line(e.Charge.Cost, e.Charge.Loss))
		}
	}
	k, err := l.appendLink(ctx, tx, kindRecover, b)
	if err != nil {
		return nil, err
	}
	did.Recovered = append(did.Recovered, e.Charge.ID)
	return b.Lines, insertRecovered(ctx, tx, k.Seq, &b)
}

// conclude forfeits what was rolled forward and sets the reconciliation on the
// chain, unless there was nothing to do. It returns the chain's last entry.
func (l *Ledger) conclude(ctx context.Context, tx *sql.Tx, lost []*link, did *Recovery, rewrite bool, now int64) (int64, error) {
	seq, _, err := lastLink(ctx, tx)
	if err != nil || len(lost) == 0 && len(did.Recovered) == 0 && len(did.Rebuilt) == 0 && len(did.Restored) == 0 && len(did.known) == 0 &&
		!rewrite {
		return seq, err
	}
	b := reconcileBody{Time: now, Known: did.known}
	if len(lost) > 0 {
		b.From, b.To = lost[0].Seq, lost[len(lost)-1].Seq
	}
	k, err := l.appendLink(ctx, tx, kindReconcile, b)
	if err != nil {
		return 0, err
	}
	for _, m := range lost {
		// The one field all three bodies share.
		var of struct {
			Charge string `json:"charge"`
		}
		if m.Kind != kindCharge && m.Kind != kindRelease && m.Kind != kindForfeit {
			continue
		}
		if err := json.Unmarshal(m.Body, &of); err != nil {
			return 0, err
		}
		if err := l.endCharge(ctx, tx, of.Charge, "forfeited", string(lostAnswer), now); err != nil {
			return 0, err
		}
	}
	return k.Seq, nil
}

// compare notes which accounts' spent rose, and makes sure that none fell.
func (d *Recovery) compare(ctx context.Context, tx *sql.Tx, before []account) error {
	after, err := accounts(ctx, tx, "TRUE")
	if err != nil {
		return err
	}
	old := map[int64]account{}
	for _, a := range before {
		old[a.id] = a
	}
	for _, a := range after {
		before := old[a.id]
		fell := a.spent.eps < before.spent.eps || a.spent.delta < before.spent.delta
		if a.zcdp() {
			fell = a.spent.eps < before.spent.eps || a.spent.rho < before.spent.rho || a.spent.gaussian < before.spent.gaussian
		}
		if fell {
			return noren.Reasonf("account %d (%s) would say that less is spent than before", a.id, a.name)
		}
		if was, now := before.total(), a.total(); now != was {
			d.Raised = append(d.Raised, Raise{a.kind, a.name, was, now, Accounting(a.accounting)})
		}
	}
	return nil
}

// rebuildHead writes the head file anew from the database.
func (l *Ledger) rebuildHead(ctx context.Context) error {
	l.headMu.Lock()
	defer l.headMu.Unlock()
	return l.write(ctx, "the head file cannot be written", func(ctx context.Context, tx *sql.Tx, _ int64) error {
		var text bytes.Buffer
		if err := eachLink(ctx, tx, 0, func(k *link) error {
			line, err := l.headLine(k)
			text.Write(line)
			l.headSeq = k.Seq
			return err
		}); err != nil {
			return err
		}
		if err := rewriteHead(l.path, text.Bytes()); err != nil || !l.anchored() {
			return err
		}
		seq, hash, err := lastLink(ctx, tx)
		if err != nil {
			return err
		}
		return l.writeAnchor(ctx, tx, seq, hash)
	})
}
