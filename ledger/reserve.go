package ledger

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"github.com/noren-privacy/noren"
)

// maxMechanism bounds the description of a request, in bytes.
const maxMechanism = 64 << 10

// Request is what is asked, before any data is read. Nothing in it may depend
// on the data.
type Request struct {
	// Dataset is the name of a granted data set. Required.
	Dataset string
	// Principal is the name of the analyst. Required.
	Principal string
	// Key makes the request idempotent: asked again under the same key, it is
	// answered with the stored bytes and not charged. Defaults to a random key,
	// which asks for a fresh answer.
	Key string
	// Hash is the SHA-256 of all that the answer depends on besides the data:
	// two requests with one hash are one request. Required.
	Hash [32]byte
	// Mechanism is the mechanism and its public parameters, a JSON object of at
	// most 64 KiB. Required. It is kept for the history.
	Mechanism json.RawMessage
	// Cost is the privacy cost, at least 0 in each part and above 0 in one. Required for
	// a budget in epsilon and delta, and not used in zCDP.
	Cost Cost
	// Loss is the privacy loss. Required for a budget in zCDP, and not used otherwise.
	Loss Loss
	// Neighbours and Unit are what Cost was computed for: those of the data set.
	// Required; the zero Neighbours is add-remove.
	Neighbours Neighbours
	Unit       string
	// Version and Definition are the version of the data set that the request
	// was made for, and the hash of its definition. Required.
	Version    int
	Definition [32]byte
	// Hold keeps the cost free for this request. It ends when the charge is made. Optional.
	Hold *Hold
	// Sealed is the secret from which the answer is made, encrypted by the caller under a key
	// that is not in the ledger, at most 256 bytes. It is stored with the charge and deleted
	// when the charge ends. A charge with one that a crash left without an answer is not
	// forfeited: the same request under the same key takes it up ([Reservation.Resumed]).
	// Optional; needs a Key.
	Sealed []byte
	// Alone says that no other process uses the ledger: a reservation that this process does
	// not answer can be taken up before its lease has run out.
	Alone bool
}

// Release is a stored answer.
type Release struct {
	Charge    ChargeInfo
	Payload   []byte
	Signature []byte
	KeyID     string
}

// ChargeInfo is a charge as a certificate states it.
type ChargeInfo struct {
	Ledger   string   // the ledger's id
	ID       string   // the charge's id
	Link     int64    // its place in the chain
	Head     [32]byte // the chain's head there
	Accounts []int64  // the accounts that were charged, in order
	Cost     Cost     // what each of them was charged; in zCDP rho alone
	Loss     Loss     // in zCDP, with the same rho
}

// checkRequest lists what is wrong with r by itself.
func checkRequest(r *Request) error {
	switch {
	case len(r.Sealed) > maxSealed:
		return errSecretLength()
	case len(r.Mechanism) > maxMechanism:
		return noren.Usagef(noren.Phrase("the request"), "its description is longer than %d bytes", maxMechanism)
	case !json.Valid(r.Mechanism) || len(bytes.TrimSpace(r.Mechanism)) == 0 || bytes.TrimSpace(r.Mechanism)[0] != '{':
		return noren.Usagef(noren.Phrase("the request"), "its description is not a JSON object")
	case r.Cost.Epsilon < 0 || r.Cost.Delta < 0 || r.Cost == Cost{} && r.Loss == Loss{}:
		return noren.Usagef(noren.Phrase("the request"), "its cost is not above 0")
	case r.Hash == [32]byte{}:
		return noren.Usagef(noren.Phrase("the request"), "its hash is missing")
	}
	return firstFault(errors.Join(checkName(noren.Phrase("the data set's name"), r.Dataset),
		checkName(noren.Phrase("the analyst's name"), r.Principal), checkName(noren.Phrase("the idempotency key"), r.Key)))
}

// Reserve charges q to its data set and its analyst, both or neither,
// and returns a reservation that is durable: the caller may read the data. Of
// the results one is not nil: stored is the answer to the same request under
// the same key, given before, which costs nothing.
//
// Errors are of kind Refused for a budget that does not cover q (with a
// [*Refusal]), a missing grant ([ErrNoGrant]), a data set without a schema (code
// no-schema), a version or definition that is not the current one ([ErrChanged],
// code changed), a closed analyst (code closed), a charge that was forfeited
// ([ErrForfeited]) and a sealed ledger ([SealedError]); of kind Usage for
// [ErrConflict] and for a cost of another relation or unit; of kind Internal for
// [ErrInProgress] and for a disk that fails. After an error nothing may be
// answered; a charge that was made stays.
//
// The lease is renewed until ctx ends, or Settle or Forfeit is called.
func (l *Ledger) Reserve(ctx context.Context, q Request) (r *Reservation, stored *Release, err error) {
	if q.Key == "" {
		q.Key = "random-" + randomID()
	}
	if err := checkRequest(&q); err != nil {
		return nil, nil, err
	}
	l.at("begin")
	j := &job{guarded: true, synced: true, step: "charged", hold: q.Hold}
	j.do = func(ctx context.Context, tx *sql.Tx, now int64) error {
		book, err := findAccount(ctx, tx, 0, kindDataset, q.Dataset)
		if err != nil {
			return err
		}
		if book == nil {
			return noDataset(q.Dataset)
		}
		if err := mayAsk(ctx, tx, &q, book); err != nil {
			return err
		}
		if stored, r, err = l.lookup(ctx, tx, &q, book, now); err != nil || stored != nil {
			j.idle = true
			return err
		}
		if r != nil {
			j.step = ""
			return nil
		}
		if err := isCurrent(ctx, tx, &q, book); err != nil {
			return err
		}
		r, err = l.charge(ctx, tx, &q, book, now)
		return err
	}
	committed, err := l.grouped(ctx, "the request was not charged", j)
	if err != nil && !committed {
		return nil, nil, err
	}
	if stored != nil {
		return nil, stored, nil
	}
	r.watch(ctx)
	if err != nil {
		// Without the head file's line the charge could be undone by an older
		// copy of the database: nothing is answered on it.
		_ = r.Leave("the head file could not be written") // otherwise its lease runs out
		return nil, nil, &noren.Error{
			Kind: noren.Refused, Code: "forfeited", Where: noren.File(l.path), What: "the request was charged and is not answered",
			Err: marked{err, ErrCharged}, Hint: "the head file and the anchor must be writable; what was charged stays charged",
		}
	}
	l.at("reserved")
	return r, nil, nil
}

// unsealed fails on a sealed ledger, and seals one whose files were exchanged
// since it was opened. It runs under the write lock.
func (l *Ledger) unsealed(ctx context.Context, tx *sql.Tx) error {
	if err := l.Sealed(); err != nil {
		return err
	}
	head, err := l.knownHead()
	if err := l.compareHead(ctx, tx, head, err); err != nil {
		return err
	}
	return l.compareAnchor(ctx, tx)
}

// lookup finds what the idempotency key was used for: a stored answer, or a charge that can
// be taken up.
func (l *Ledger) lookup(ctx context.Context, tx *sql.Tx, q *Request, book *account, now int64) (*Release, *Reservation, error) {
	var (
		id, state, reason string
		dataset           int64
		hash              []byte
		held              lease
	)
	err := tx.QueryRowContext(ctx, `SELECT id, account, request_hash, state, reason, owner_boot, lease_until, lease_boot
		FROM charge WHERE principal = ? AND idempotency_key = ?`, q.Principal, q.Key).
		Scan(&id, &dataset, &hash, &state, &reason, &held.boot, &held.until, &held.bootTime)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	sealed, err := sealedSecret(ctx, tx, id)
	if err != nil {
		return nil, nil, err
	}
	where := noren.Textf("idempotency key %s", q.Key)
	switch {
	case dataset != book.id || !bytes.Equal(hash, q.Hash[:]):
		return nil, nil, &noren.Error{
			Kind: noren.Usage, Code: "conflict", Where: where, What: "not charged", Err: ErrConflict,
			Hint: "choose another key",
		}
	case state == "released":
		stored, err := l.stored(ctx, tx, id)
		return stored, nil, err
	case state == "reserved" && sealed != nil && l.free(id, held, now, q.Alone):
		r, err := l.resume(ctx, tx, id, sealed, now)
		return nil, r, err
	case state == "reserved" && (sealed != nil || !l.clock.expired(held, now)):
		return nil, nil, &noren.Error{
			Code: "in-progress", Where: where, What: "not charged again", Err: ErrInProgress,
			Hint: "ask again when that is done",
		}
	case state == "reserved":
		reason = "its lease ran out"
	}
	return nil, nil, &noren.Error{
		Kind: noren.Refused, Code: "forfeited", Where: where, What: "charged before and not answered (%s)",
		Args: []any{reason}, Err: ErrForfeited, Hint: "its cost stays spent; ask under another key to be charged anew",
	}
}

// stored reads a released charge.
func (l *Ledger) stored(ctx context.Context, tx *sql.Tx, id string) (*Release, error) {
	s := &Release{}
	err := tx.QueryRowContext(ctx, "SELECT payload, signature, key_id FROM release WHERE charge = ?", id).
		Scan(&s.Payload, &s.Signature, &s.KeyID)
	if err != nil {
		return nil, err
	}
	s.Charge, err = l.chargeInfo(ctx, tx, id)
	return s, err
}

// chargeInfo reads a charge as a certificate states it.
func (l *Ledger) chargeInfo(ctx context.Context, tx *sql.Tx, id string) (ChargeInfo, error) {
	c := ChargeInfo{Ledger: l.id, ID: id}
	var head []byte
	if err := tx.QueryRowContext(ctx, "SELECT chain.seq, chain.hash FROM charge JOIN chain USING (seq) WHERE charge.id = ?", id).
		Scan(&c.Link, &head); err != nil {
		return c, err
	}
	c.Head = [32]byte(head)
	rows, err := tx.QueryContext(ctx, "SELECT account, eps, delta, rho, gaussian FROM charge_line WHERE charge = ? ORDER BY account", id)
	if err != nil {
		return c, err
	}
	defer rows.Close()
	for rows.Next() {
		var n line
		if err := rows.Scan(&n.Account, &n.Eps, &n.Delta, &n.Rho, &n.Gaussian); err != nil {
			return c, err
		}
		c.Cost, c.Loss = n.spentBy()
		c.Accounts = append(c.Accounts, n.Account)
	}
	return c, rows.Err()
}

// charge is T1: the charge, its lines, its entry and what is spent.
func (l *Ledger) charge(ctx context.Context, tx *sql.Tx, q *Request, book *account, now int64) (*Reservation, error) {
	if book.neighbours != q.Neighbours.String() || book.unit != q.Unit {
		return nil, noren.Usagef(noren.Textf("data set %s", q.Dataset),
			"its budget is for %s neighbours of one %s, and the cost is for %s of one %s", book.neighbours, noren.UnitName(book.unit), q.Neighbours,
			noren.UnitName(q.Unit)).
			Hinted("epsilons of different relations do not add up")
	}
	if err := q.accounted(book); err != nil {
		return nil, err
	}
	touched, err := touchedAccounts(ctx, tx, q, book)
	if err != nil {
		return nil, err
	}
	owner := l.clock.newOwner()
	id := randomID()
	body := chargeBody{
		Charge: id, Account: book.id, Principal: q.Principal, Key: q.Key, RequestHash: hex.EncodeToString(q.Hash[:]),
		Mechanism: string(q.Mechanism), Owner: owner, Time: now,
	}
	refusal := &Refusal{}
	of := book.line(q.Cost, q.Loss)
	cost, loss := of.spentBy()
	r := &Reservation{ledger: l, owner: owner, info: ChargeInfo{Ledger: l.id, ID: id, Cost: cost, Loss: loss}}
	for i := range touched {
		a := &touched[i]
		body.Lines = append(body.Lines, a.line(q.Cost, q.Loss))
		r.info.Accounts = append(r.info.Accounts, a.id)
		left := a.left()
		free := l.held.freeFor(q.Hold, a.id, left)
		refusal.Left = append(refusal.Left, Remaining{a.kind, a.name, free, Accounting(a.accounting)})
		if !cost.Within(free) || of.Eps > a.cap.eps-a.spent.eps {
			refusal.Short = append(refusal.Short, Shortfall{a.kind, a.name, cost, free})
			continue
		}
		r.remaining = append(r.remaining, Remaining{a.kind, a.name, left.Minus(cost), Accounting(a.accounting)})
	}
	if len(refusal.Short) > 0 {
		return nil, refusedBudget(refusal)
	}
	k, err := l.appendLink(ctx, tx, kindCharge, body)
	if err != nil {
		return nil, err
	}
	r.info.Link, r.info.Head = k.Seq, [32]byte(k.Hash)
	held := l.clock.lease(now, l.opts.Lease)
	if err := insertCharge(ctx, tx, k.Seq, &body, held); err != nil {
		return nil, err
	}
	if err := keepSecret(ctx, tx, id, q.Sealed); err != nil {
		return nil, err
	}
	r.sealed, r.made = q.Sealed, now
	l.at("before-commit")
	return r, nil
}

// accounted refuses a request that does not state what the accounting of its budget
// adds up.
func (q *Request) accounted(book *account) error {
	if !book.zcdp() {
		if (Cost{Epsilon: q.Cost.Epsilon, Delta: q.Cost.Delta} == Cost{}) || q.Cost.Rho != 0 {
			return noren.Usagef(noren.Textf("data set %s", q.Dataset), "its budget is in epsilon and delta, and the request states none")
		}
		return nil
	}
	if (q.Loss == Loss{}) {
		return &noren.Error{
			Kind: noren.Usage, Code: "not-zcdp", Where: noren.Textf("data set %s", q.Dataset),
			What: "its budget is in zCDP, and the request states no loss there",
		}
	}
	return q.Loss.Validate()
}

// mayAsk refuses all requests to a data set without a schema, and those of a
// closed analyst.
func mayAsk(ctx context.Context, tx *sql.Tx, q *Request, book *account) error {
	if book.version == 0 {
		return noSchema(q.Dataset)
	}
	analyst, err := findAccount(ctx, tx, book.id, kindAnalyst, q.Principal)
	switch {
	case err != nil:
		return err
	case analyst == nil:
		return checkNewName("the analyst's name", q.Principal) // as declared
	case analyst.closed:
		return closedAnalyst(q.Dataset, q.Principal)
	}
	return nil
}

func refusedBudget(r *Refusal) error {
	return &noren.Error{
		Kind: noren.Refused, Code: "budget-refused", What: "the budget does not cover the request", Err: r,
		Hint: "ask for less; nothing was charged",
	}
}

func noSchema(dataset string) error {
	return &noren.Error{
		Kind: noren.Refused, Code: "no-schema", Where: noren.Textf("data set %s", dataset), What: "has no schema yet",
		Hint: "the steward grants one first; nothing was charged",
	}
}

func closedAnalyst(dataset, principal string) error {
	return &noren.Error{
		Kind: noren.Refused, Code: "closed", Where: noren.Textf("analyst %s", principal), What: "is closed in data set %s", Args: []any{dataset},
		Hint: "a new grant of the steward opens it; nothing was charged",
	}
}

func changedVersion(dataset string, what noren.Text) error {
	return &noren.Error{
		Kind: noren.Refused, Code: "changed", Where: noren.Textf("data set %s", dataset), What: "%s; nothing was charged", Args: []any{what},
		Err:  ErrChanged,
		Hint: "ask again for the current version",
	}
}

// isCurrent refuses a request for another version or definition than the
// current one.
func isCurrent(ctx context.Context, tx *sql.Tx, q *Request, book *account) error {
	v, err := currentVersion(ctx, tx, book)
	if err != nil {
		return err
	}
	changed := func(what noren.Text) error { return changedVersion(q.Dataset, what) }
	switch {
	case v == nil:
		return changed(noren.Textf("its version is missing"))
	case v.number != int64(q.Version):
		return changed(noren.Textf("its version is %d, the request is for version %d", v.number, q.Version))
	case !bytes.Equal(v.hash, q.Definition[:]):
		return changed(noren.Textf("the request is not for the definition of version %d", v.number))
	}
	return nil
}

// touchedAccounts are all accounts that q is charged to, in id order: the data
// set's, the analyst's, and those of all blocks that an older ledger granted,
// whose caps hold on.
func touchedAccounts(ctx context.Context, tx *sql.Tx, q *Request, book *account) ([]account, error) {
	below, err := accounts(ctx, tx, "parent = ?", book.id)
	if err != nil {
		return nil, err
	}
	touched := []account{*book}
	some, granted := false, false
	for _, a := range below {
		own := a.kind == kindAnalyst && a.name == q.Principal
		some, granted = some || a.kind == kindAnalyst, granted || own
		if own || a.kind == kindBlock {
			touched = append(touched, a)
		}
	}
	if some && !granted {
		return nil, noAnalyst(q.Dataset, q.Principal)
	}
	slices.SortFunc(touched, func(a, b account) int { return cmp.Compare(a.id, b.id) })
	return touched, nil
}

// insertCharge writes the rows of a charge and raises what is spent, each
// account only as far as its cap.
func insertCharge(ctx context.Context, tx *sql.Tx, seq int64, b *chargeBody, held lease) error {
	hash, err := hex.DecodeString(b.RequestHash)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO charge (id, seq, account, principal, idempotency_key, request_hash, mechanism_json, state,
		owner, owner_boot, lease_until, lease_boot, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, 'reserved', ?, ?, ?, ?, ?)`,
		b.Charge, seq, b.Account, b.Principal, b.Key, hash, b.Mechanism, b.Owner, held.boot, held.until, held.bootTime, b.Time); err != nil {
		return err
	}
	for _, n := range b.Lines {
		after := lineAfter{line: n, seq: seq}
		err := tx.QueryRowContext(ctx, `UPDATE account SET spent_eps_nano = spent_eps_nano + ?1, spent_delta = spent_delta + ?2,
				spent_rho = spent_rho + ?3, spent_gaussian = spent_gaussian + ?4, charges = charges + 1
			WHERE id = ?5 AND ?1 <= cap_eps_nano - spent_eps_nano AND ?2 <= cap_delta - spent_delta AND ?3 <= cap_rho - spent_rho
			RETURNING charges, spent_eps_nano, spent_delta, spent_rho, cap_eps_nano - spent_eps_nano, cap_delta - spent_delta, cap_rho - spent_rho`,
			n.Eps, n.Delta, n.Rho, n.Gaussian, n.Account).
			Scan(&after.n, &after.spent.eps, &after.spent.delta, &after.spent.rho, &after.left.eps, &after.left.delta, &after.left.rho)
		if errors.Is(err, sql.ErrNoRows) {
			return noren.Reasonf("account %d does not cover the charge", n.Account)
		}
		if err != nil {
			return err
		}
		if err := after.insert(ctx, tx, b.Charge); err != nil {
			return err
		}
	}
	return nil
}
