package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash"
	"maps"
	"slices"

	"github.com/noren-privacy/noren"
)

// books is the state of the accounts and the data sets by the chain, without the
// charges one by one: all that a checkpoint holds and [Open] compares.
type books struct {
	seq      int64
	hash     []byte
	ledger   string
	accounts map[int64]*account
	versions map[versionKey]string // the digest of each version's row
	contents map[versionKey]string // the HMAC of its contents, where it has any
	prints   map[string]int64      // a table's print -> the account it belongs to
	paths    map[string]int64      // a path -> the account it belongs to

	// Of the last entry applied: its row in the passbook if it was a grant, its lines
	// if it was a charge.
	note  *grantNote
	lines []lineAfter
}

type versionKey struct{ account, version int64 }

func newBooks() *books {
	return &books{
		hash: make([]byte, 32), accounts: map[int64]*account{}, versions: map[versionKey]string{}, contents: map[versionKey]string{},
		prints: map[string]int64{}, paths: map[string]int64{},
	}
}

// apply takes the next entry and returns its body. An entry that does not follow,
// or holds what the protocol cannot write, is an error, after which the books must
// not be used.
func (p *books) apply(k *link) (body any, err error) {
	if !k.follows(p.seq, p.hash) {
		return nil, noren.Reasonf("entry %d does not follow entry %d", k.Seq, p.seq)
	}
	p.seq, p.hash = k.Seq, k.Hash
	if body, err = p.take(k); err != nil {
		return nil, noren.Reasonf("entry %d (%s): %s", k.Seq, k.Kind, err)
	}
	return body, nil
}

func (p *books) take(k *link) (any, error) {
	p.note, p.lines = nil, nil
	if (k.Kind == kindCreate) != (k.Seq == 1) {
		return nil, noren.Reasonf("is in the wrong place")
	}
	switch k.Kind {
	case kindCreate:
		b := &createBody{}
		err := decodeBody(k.Body, b)
		p.ledger = b.Ledger
		return b, err
	case kindGrant:
		b := &grantBody{}
		if err := decodeBody(k.Body, b); err != nil {
			return nil, err
		}
		return b, p.grant(b, k.Seq)
	case kindCharge, kindRecover:
		b := &chargeBody{}
		if err := decodeBody(k.Body, b); err != nil {
			return nil, err
		}
		return b, p.charge(b, k.Seq, k.Kind == kindRecover)
	case kindRelease:
		b := &releaseBody{}
		return b, decodeBody(k.Body, b)
	case kindForfeit:
		b := &forfeitBody{}
		return b, decodeBody(k.Body, b)
	case kindContents:
		b := &contentsBody{}
		if err := decodeBody(k.Body, b); err != nil {
			return nil, err
		}
		return b, p.takeContents(b)
	case kindReconcile:
		b := &reconcileBody{}
		return b, decodeBody(k.Body, b)
	}
	return nil, noren.Reasonf("is of no known kind")
}

func (p *books) grant(b *grantBody, seq int64) error {
	if b.Accounting != "" && b.Accounting != string(ZCDP) || (b.Accounting != "") != (b.StatementDelta > 0) || b.StatementDelta < 0 {
		return noren.Reasonf("is in no known accounting")
	}
	a := p.accounts[b.Account]
	var before *account
	if a != nil {
		was := *a
		before = &was
	} else {
		a = &account{
			id: b.Account, parent: b.Parent, kind: b.Kind, name: b.Name,
			unit: b.Unit, neighbours: b.Neighbours, accounting: b.accounting(), statementDelta: b.StatementDelta,
		}
		p.accounts[b.Account] = a
	}
	if a.parent != b.Parent || a.kind != b.Kind || a.name != b.Name {
		return noren.Reasonf("changes what is fixed of account %d", b.Account)
	}
	if a.unit != b.Unit || a.neighbours != b.Neighbours || a.accounting != b.accounting() || a.statementDelta != b.StatementDelta {
		for _, below := range p.accounts {
			if below != a && below.parent != a.id {
				continue
			}
			if !b.Replaces || b.Parent != 0 || below.isSpent() {
				return noren.Reasonf("changes what is fixed of account %d", below.id)
			}
			below.unit, below.neighbours, below.statementDelta = b.Unit, b.Neighbours, b.StatementDelta
			if below.accounting != b.accounting() {
				below.accounting = b.accounting()
				below.setCap(Cost{}) // that of the data set itself follows
			}
		}
	}
	if b.Replaces && a.isSpent() {
		return noren.Reasonf("replaces account %d, of which something is spent", b.Account)
	}
	if (b.Definition != "") != (b.Version != 0) || b.Version != 0 && (b.Kind != kindDataset || b.Version != a.version+1) {
		return noren.Reasonf("is no next version of account %d", b.Account)
	}
	if b.Contents != "" && b.Version == 0 {
		return noren.Reasonf("gives prints to no version of account %d", b.Account)
	}
	if b.Version != 0 {
		row, err := b.row(seq)
		if err != nil {
			return err
		}
		a.version = b.Version
		p.versions[versionKey{a.id, a.version}] = row.digest()
		if b.Contents != "" {
			p.contents[versionKey{a.id, a.version}] = b.Contents
		}
	}
	if b.Kind == kindDataset {
		claim(p.prints, b.Fingerprint, a.id)
		claim(p.paths, b.Path, a.id)
		for _, source := range b.Sources {
			claim(p.paths, source, a.id)
		}
	}
	a.fingerprint, a.path, a.closed = b.Fingerprint, b.Path, b.Closed
	a.setCap(b.limit())
	book := a
	if a.parent != 0 {
		book = p.accounts[a.parent]
		if book == nil {
			return noren.Reasonf("is below account %d, which is not there", a.parent)
		}
	}
	p.note = noteOf(seq, b, before, a, book)
	return a.within()
}

// claim gives key to its first holder.
func claim(held map[string]int64, key string, id int64) {
	if _, ok := held[key]; !ok && key != "" {
		held[key] = id
	}
}

func (p *books) charge(b *chargeBody, seq int64, recovered bool) error {
	for _, n := range b.Lines {
		a := p.accounts[n.Account]
		if a == nil || n.Eps < 0 || n.Delta < 0 || n.Rho < 0 || n.Gaussian < 0 {
			return noren.Reasonf("charges account %d, which is not there, or less than nothing", n.Account)
		}
		if a.zcdp() != (n.Rho > 0) || a.zcdp() && n.Delta != 0 || n.Gaussian > n.Rho {
			return noren.Reasonf("charges account %d, whose budget is in %s, in another accounting", n.Account, a.accounting)
		}
		a.spent = a.spent.plus(n.amounts())
		a.charges++
		if recovered {
			a.cap.eps, a.cap.delta, a.cap.rho = max(a.cap.eps, a.spent.eps), max(a.cap.delta, a.spent.delta), max(a.cap.rho, a.spent.rho)
		}
		if err := a.within(); err != nil {
			return err
		}
		after := lineAfter{line: n, seq: seq, n: a.charges, spent: a.spent, left: a.cap.minus(a.spent)}
		after.spent.gaussian, after.left.gaussian = 0, 0 // they are not noted
		p.lines = append(p.lines, after)
	}
	return nil
}

func (a *account) within() error {
	most := a.cap
	most.gaussian = a.spent.rho // it is a part of it
	if !(amounts{}).within(a.spent) || !a.spent.within(most) {
		return noren.Reasonf("account %d is spent beyond its cap", a.id)
	}
	return nil
}

func (a *account) isSpent() bool { return a.spent != amounts{} }

// catchUp applies the entries that q has after the last one applied. A chain that
// cannot be replayed is a [*SealedError].
func (p *books) catchUp(ctx context.Context, q querier) error {
	return eachLink(ctx, q, p.seq, func(k *link) error {
		if _, err := p.apply(k); err != nil {
			return &SealedError{noren.Textf("the chain is damaged: %s", err)}
		}
		return nil
	})
}

// compareBooks tells fault of each row of accounts, versions, prints, paths and contents
// that is not as the chain, p, says.
func (l *Ledger) compareBooks(ctx context.Context, q querier, p *books, fault func(format noren.Format, args ...any)) error {
	if err := p.compare(ctx, q, fault); err != nil {
		return err
	}
	return l.compareContents(ctx, q, p, fault)
}

// compare is compareBooks without contents.
func (p *books) compare(ctx context.Context, q querier, fault func(format noren.Format, args ...any)) error {
	if err := p.compareAccounts(ctx, q, fault); err != nil {
		return err
	}
	rows, err := versions(ctx, q, "TRUE")
	if err != nil {
		return err
	}
	for i := range rows {
		v := &rows[i]
		switch want, ok := p.versions[versionKey{v.account, v.number}]; {
		case !ok:
			fault("version %d of account %d was never granted", v.number, v.account)
		case want != v.digest():
			fault("version %d of account %d is not as it was granted", v.number, v.account)
		}
	}
	if len(rows) < len(p.versions) {
		fault("%d {version|versions} of data sets {1|is|are} missing", len(p.versions)-len(rows))
	}
	for _, t := range []struct {
		fault noren.Format
		query string
		want  map[string]int64
	}{
		{"the prints of the data sets are not as they were granted", "SELECT print, account FROM dataset_print", p.prints},
		{"the paths of the data sets are not as they were granted", "SELECT path, account FROM dataset_path", p.paths},
	} {
		have, err := holders(ctx, q, t.query)
		if err != nil {
			return err
		}
		if !maps.Equal(have, t.want) {
			fault(t.fault)
		}
	}
	return nil
}

func holders(ctx context.Context, q querier, query string) (map[string]int64, error) {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]int64{}
	for rows.Next() {
		var key string
		var id int64
		if err := rows.Scan(&key, &id); err != nil {
			return nil, err
		}
		all[key] = id
	}
	return all, rows.Err()
}

func (p *books) compareAccounts(ctx context.Context, q querier, fault func(format noren.Format, args ...any)) error {
	all, err := accounts(ctx, q, "TRUE")
	if err != nil {
		return err
	}
	known := 0
	for _, a := range all {
		want := p.accounts[a.id]
		if want == nil {
			fault("account %d (%s) was never granted", a.id, a.name)
			continue
		}
		known++
		switch {
		case a.spent != want.spent:
			fault("account %d (%s) says epsilon %s, delta %s, rho %s spent; its charges add up to %s, %s, %s", a.id, a.name,
				decimal(a.spent.eps, 9), decimal(a.spent.delta, 18), decimal(a.spent.rho, 15),
				decimal(want.spent.eps, 9), decimal(want.spent.delta, 18), decimal(want.spent.rho, 15))
		case a != *want:
			fault("account %d (%s) is not as it was granted", a.id, a.name)
		}
	}
	if known < len(p.accounts) {
		fault("%d {account is|accounts are} missing", len(p.accounts)-known)
	}
	return nil
}

// The form in which a checkpoint keeps books.
type (
	booksState struct {
		Hash     string           `json:"hash"`
		Ledger   string           `json:"ledger"`
		Accounts []accountState   `json:"accounts"`
		Versions []versionState   `json:"versions"`
		Prints   map[string]int64 `json:"prints"`
		Paths    map[string]int64 `json:"paths"`
	}
	accountState struct {
		ID          int64  `json:"id"`
		Parent      int64  `json:"parent"`
		Kind        string `json:"kind"`
		Name        string `json:"name"`
		Unit        string `json:"unit"`
		Neighbours  string `json:"neighbours"`
		Fingerprint string `json:"fingerprint"`
		Path        string `json:"path"`
		CapEps      int64  `json:"cap_eps_nano"`
		SpentEps    int64  `json:"spent_eps_nano"`
		CapDelta    int64  `json:"cap_delta"`
		SpentDelta  int64  `json:"spent_delta"`
		Closed      bool   `json:"closed"`
		Version     int64  `json:"version"`

		Accounting     string `json:"accounting"`
		StatementDelta int64  `json:"statement_delta"`
		CapRho         int64  `json:"cap_rho"`
		SpentRho       int64  `json:"spent_rho"`
		SpentGaussian  int64  `json:"spent_gaussian"`
		Charges        int64  `json:"charges"`
	}
	versionState struct {
		Account int64  `json:"account"`
		Version int64  `json:"version"`
		Digest  string `json:"digest"`
		// Contents is the HMAC of the version's contents.
		Contents string `json:"contents_hmac,omitempty"`
	}
)

func (p *books) encode() ([]byte, error) {
	s := booksState{Hash: hex.EncodeToString(p.hash), Ledger: p.ledger, Prints: p.prints, Paths: p.paths}
	for _, id := range slices.Sorted(maps.Keys(p.accounts)) {
		a := p.accounts[id]
		s.Accounts = append(s.Accounts, accountState{
			a.id, a.parent, a.kind, a.name, a.unit, a.neighbours, a.fingerprint, a.path,
			a.cap.eps, a.spent.eps, a.cap.delta, a.spent.delta, a.closed, a.version,
			a.accounting, a.statementDelta, a.cap.rho, a.spent.rho, a.spent.gaussian, a.charges,
		})
	}
	for k, digest := range p.versions {
		s.Versions = append(s.Versions, versionState{k.account, k.version, digest, p.contents[k]})
	}
	slices.SortFunc(s.Versions, func(a, b versionState) int {
		if a.Account != b.Account {
			return int(a.Account - b.Account)
		}
		return int(a.Version - b.Version)
	})
	return json.Marshal(s)
}

func decodeBooks(seq int64, state []byte) (*books, error) {
	var s booksState
	if err := decodeBody(state, &s); err != nil {
		return nil, err
	}
	p := newBooks()
	p.seq, p.ledger = seq, s.Ledger
	var err error
	if p.hash, err = hex.DecodeString(s.Hash); err != nil {
		return nil, err
	}
	for _, a := range s.Accounts {
		p.accounts[a.ID] = &account{
			id: a.ID, parent: a.Parent, kind: a.Kind, name: a.Name, unit: a.Unit, neighbours: a.Neighbours,
			fingerprint: a.Fingerprint, path: a.Path, cap: amounts{eps: a.CapEps, delta: a.CapDelta, rho: a.CapRho},
			spent: amounts{a.SpentEps, a.SpentDelta, a.SpentRho, a.SpentGaussian}, closed: a.Closed, version: a.Version,
			accounting: a.Accounting, statementDelta: a.StatementDelta, charges: a.Charges,
		}
	}
	for _, v := range s.Versions {
		p.versions[versionKey{v.Account, v.Version}] = v.Digest
		if v.Contents != "" {
			p.contents[versionKey{v.Account, v.Version}] = v.Contents
		}
	}
	maps.Copy(p.prints, s.Prints)
	maps.Copy(p.paths, s.Paths)
	return p, nil
}

// versionRow is a row of the table dataset_version.
type versionRow struct {
	account, number, seq int64
	definition           string
	hash                 []byte
	print, columns, path string
}

// row is the row of the version that b, the body of entry seq, makes.
func (b *grantBody) row(seq int64) (*versionRow, error) {
	hash, err := hex.DecodeString(b.DefinitionHash)
	if err != nil || len(hash) != 32 {
		return nil, noren.Reasonf("has no hash of its definition")
	}
	columns, err := json.Marshal(b.Columns)
	if err != nil {
		return nil, err
	}
	return &versionRow{b.Account, b.Version, seq, b.Definition, hash, b.Fingerprint, string(columns), b.Path}, nil
}

// digest is SHA-256 over all of v, each part of which ends where the next
// begins in one way only.
func (v *versionRow) digest() string {
	h := sha256.New()
	h.Write([]byte("noren.ledger.version/1\x00"))
	for _, n := range []int64{v.account, v.number, v.seq} {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], uint64(n))
		h.Write(b[:])
	}
	for _, s := range []string{v.definition, string(v.hash), v.print, v.columns, v.path} {
		writePart(h, s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func writePart(h hash.Hash, s string) {
	h.Write(binary.AppendUvarint(nil, uint64(len(s))))
	h.Write([]byte(s))
}

// sameHead reports whether the entry at p's place in the chain is p's.
func (p *books) sameHead(hash []byte) bool { return bytes.Equal(p.hash, hash) }
