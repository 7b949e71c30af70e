package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"

	"github.com/noren-privacy/noren"
)

// The kinds of entries.
const (
	kindCreate    = "create"
	kindGrant     = "grant"
	kindCharge    = "charge"
	kindRelease   = "release"
	kindForfeit   = "forfeit"
	kindReconcile = "reconcile"
	kindRecover   = "recover"
	kindContents  = "contents"
)

// link is an entry of the chain. Its body holds everything that is needed to repeat
// the change: replayed from the first entry on, the chain gives the tables.
type link struct {
	Seq  int64
	Kind string
	Body []byte
	Prev []byte
	Hash []byte
}

// digest is SHA-256 over the format's name, the place, the hash before, and
// kind and body, each of which ends where the next begins in one way only. A grant with a
// salt is hashed without its paths (see [hide]).
func (k *link) digest() []byte {
	if k.Kind == kindGrant && bytes.Contains(k.Body, saltKey) {
		if h, err := hide(k.Kind, k.Body); err == nil && h != nil && h.paths != nil {
			return (&link{Seq: k.Seq, Kind: k.Kind, Body: h.body, Prev: k.Prev}).digestWith(h.paths)
		}
	}
	return k.digestWith(nil)
}

// digestWith is the digest of an entry whose body has no paths, given the commitment to
// them; nil for an entry that is hashed as it is.
func (k *link) digestWith(paths []byte) []byte {
	h := sha256.New()
	if paths == nil {
		h.Write([]byte("noren.ledger.link/1\x00"))
	} else {
		h.Write([]byte("noren.ledger.link/2\x00"))
		h.Write(paths)
	}
	var seq [8]byte
	binary.BigEndian.PutUint64(seq[:], uint64(k.Seq))
	h.Write(seq[:])
	h.Write(k.Prev)
	h.Write([]byte(k.Kind))
	h.Write([]byte{0})
	h.Write(k.Body)
	return h.Sum(nil)
}

// follows reports whether k is sound by itself and stands after prev.
func (k *link) follows(seq int64, prev []byte) bool {
	return k.Seq == seq+1 && bytes.Equal(k.Prev, prev) && bytes.Equal(k.Hash, k.digest())
}

// The bodies. Times are the ledger's, in milliseconds since 1970.
type (
	createBody struct {
		Ledger string `json:"ledger"`
		Time   int64  `json:"time"`
	}
	// grantBody makes an account or changes it. The optional fields came with
	// the versions of data sets; bodies without them are as they were before.
	grantBody struct {
		Account     int64  `json:"account"`
		Parent      int64  `json:"parent"`
		Kind        string `json:"kind"`
		Name        string `json:"name"`
		Unit        string `json:"unit"`
		Neighbours  string `json:"neighbours"`
		Fingerprint string `json:"fingerprint"`
		Path        string `json:"path"`
		CapEps      int64  `json:"cap_eps_nano"`
		CapDelta    int64  `json:"cap_delta"`
		Time        int64  `json:"time"`
		// A new version of a data set: its number, definition, hash and the
		// prints of its columns. Fingerprint is then the print of the table.
		Version        int64             `json:"version,omitempty"`
		Definition     string            `json:"definition,omitempty"`
		DefinitionHash string            `json:"definition_sha256,omitempty"`
		Columns        map[string]string `json:"columns,omitempty"`
		// Contents is the HMAC of what the columns of the version are recognised by, beside
		// their names and prints: see contentsRow.
		Contents string `json:"contents_hmac,omitempty"`
		// Replaces: nothing was spent, and what was granted before no longer
		// counts. Relation, unit and a lower cap are accepted with it alone.
		Replaces bool `json:"replaces,omitempty"`
		// OtherPeople are the similar data sets that hold no person of this one,
		// as the steward declared.
		OtherPeople []string `json:"other_people,omitempty"`
		// Sources are the private files that the data set's file was copied from.
		// Their paths belong to the data set.
		Sources []string `json:"sources,omitempty"`
		// PathSalt is drawn for each grant with paths: see hide.
		PathSalt string `json:"path_salt,omitempty"`
		// Closed: the analyst may not ask until the next grant.
		Closed bool `json:"closed,omitempty"`
		// Accounting is "zcdp" or absent. In zCDP the cap is CapRho, in units of 1e-15,
		// the other two are 0, and StatementDelta is the delta of the statements.
		Accounting     string `json:"accounting,omitempty"`
		CapRho         int64  `json:"cap_rho_femto,omitempty"`
		StatementDelta int64  `json:"statement_delta,omitempty"`
	}
	// contentsBody gives a version its contents, which was granted without.
	contentsBody struct {
		Account  int64  `json:"account"`
		Version  int64  `json:"version"`
		Contents string `json:"contents_hmac"`
		Time     int64  `json:"time"`
	}
	// line is what one account was charged. In a budget in zCDP that is Rho, of which
	// Gaussian is the share of the parts that are not private without a delta; Eps is
	// the sum of the epsilons of the other parts, and Delta is 0.
	line struct {
		Account  int64 `json:"account"`
		Eps      int64 `json:"eps"`
		Delta    int64 `json:"delta"`
		Rho      int64 `json:"rho_femto,omitempty"`
		Gaussian int64 `json:"gaussian_femto,omitempty"`
	}
	chargeBody struct {
		Charge      string `json:"charge"`
		Account     int64  `json:"account"`
		Principal   string `json:"principal"`
		Key         string `json:"key"`
		RequestHash string `json:"request_hash"`
		Mechanism   string `json:"mechanism"`
		Owner       string `json:"owner"`
		Lines       []line `json:"lines"`
		Time        int64  `json:"time"`
	}
	releaseBody struct {
		Charge    string `json:"charge"`
		Payload   string `json:"payload_sha256"`
		Signature string `json:"signature_sha256"`
		KeyID     string `json:"key_id"`
		Time      int64  `json:"time"`
	}
	forfeitBody struct {
		Charge string `json:"charge"`
		// Reason is in English alone: the body is hashed into the chain, and earlier programs refuse a body with
		// further fields, so that a format and arguments have no place beside it. Front ends find it in a closed list.
		Reason string `json:"reason"`
		Time   int64  `json:"time"`
	}
	// reconcileBody ends a recovery. The entries From..To were rolled forward
	// from the head file; whatever charge has an entry among them is forfeited,
	// since its answer is not here. Both are 0 when the head file was given up. Known
	// are entries that the chain does not have and that other files knew: what they
	// knew to be spent is charged, and need not be charged again.
	reconcileBody struct {
		From  int64        `json:"from"`
		To    int64        `json:"to"`
		Time  int64        `json:"time"`
		Known []knownEntry `json:"known,omitempty"`
	}
	knownEntry struct {
		Seq  int64  `json:"seq"`
		Hash string `json:"hash"`
	}
)

const (
	// recoveredBy is the principal of charges that a certificate brought back.
	recoveredBy noren.Term = "(recovered from a certificate)"
	// recoveredRow is the principal of charges for what an account's row said to
	// be spent beyond the chain.
	recoveredRow noren.Term = "(recovered from an account's row)"
	// recoveredAmount is the principal of charges for what an anchor, or another file, knew
	// to be spent.
	recoveredAmount noren.Term = "(recovered from what was known to be spent)"
)

func decodeBody(body []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return errors.New("a body is not of its kind's form")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("data follows a body")
	}
	return nil
}

// lastLink returns the chain's head; Seq 0 and 32 zero bytes when it is empty.
func lastLink(ctx context.Context, tx querier) (seq int64, hash []byte, err error) {
	err = tx.QueryRowContext(ctx, "SELECT seq, hash FROM chain ORDER BY seq DESC LIMIT 1").Scan(&seq, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, make([]byte, 32), nil
	}
	return seq, hash, err
}

// appendLink adds what was done to the chain.
func (l *Ledger) appendLink(ctx context.Context, tx *sql.Tx, kind string, body any) (*link, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	seq, prev, err := lastLink(ctx, tx)
	if err != nil {
		return nil, err
	}
	k := &link{Seq: seq + 1, Kind: kind, Body: text, Prev: prev}
	k.Hash = k.digest()
	return k, l.insertLink(ctx, tx, k)
}

// insertLink writes k, and after each [checkpointEvery] entries a checkpoint.
func (l *Ledger) insertLink(ctx context.Context, tx *sql.Tx, k *link) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO chain (seq, kind, body, prev_hash, hash) VALUES (?, ?, ?, ?, ?)",
		k.Seq, k.Kind, string(k.Body), k.Prev, k.Hash)
	if err == nil {
		err = l.noteBeside(ctx, tx)
	}
	if err != nil || k.Seq%checkpointEvery != 0 {
		return err
	}
	return l.nextCheckpoint(ctx, tx, k.Seq)
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// eachLink calls do with the entries after seq, in order.
func eachLink(ctx context.Context, q querier, seq int64, do func(*link) error) error {
	rows, err := q.QueryContext(ctx, "SELECT seq, kind, body, prev_hash, hash FROM chain WHERE seq > ? ORDER BY seq", seq)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var k link
		if err := rows.Scan(&k.Seq, &k.Kind, &k.Body, &k.Prev, &k.Hash); err != nil {
			return err
		}
		if err := do(&k); err != nil {
			return err
		}
	}
	return rows.Err()
}

func hexHash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
