package ledger

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"io"
	"os"
)

// A ledger that was restored and then charged has entries that another file, which knows
// the entries of before the restoration, does not know. Both were spent: what the file
// knows, and the charges of this ledger after the last entry that is the same in both.

// parted is the last entry that the chain and s are known to have in common, where an entry
// that s knows contradicts the chain after it, and -1 where none does: the ledger is then a
// part of what s knows.
func (s *Seen) parted(ctx context.Context, q querier) (int64, error) {
	common, against := int64(0), int64(0)
	for _, e := range append([]SeenEntry{{s.Seq, s.Hash}}, s.Entries...) {
		switch has, other, err := chainHas(ctx, q, e.Seq, e.Hash); {
		case err != nil:
			return 0, err
		case has:
			common = max(common, e.Seq)
		case other:
			against = max(against, e.Seq)
		}
	}
	if against <= common {
		return -1, nil
	}
	return common, nil
}

// unheld is what a file knows that the ledger does not have.
type unheld struct {
	Seen
	after int64          // what it knows after this entry is not in the ledger
	own   map[int64]line // what was charged to each account since they parted; nil where they did not
}

// findUnheld returns those of known whose entry the chain does not have, and which no earlier
// reconciliation has charged. last is the chain's last entry.
func findUnheld(ctx context.Context, q querier, known []Seen, last int64) (out []unheld, err error) {
	charged := map[knownEntry]bool{}
	rows, err := q.QueryContext(ctx, "SELECT body FROM chain WHERE kind = ?", kindReconcile)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var body []byte
		var b reconcileBody
		if err := rows.Scan(&body); err != nil {
			return nil, err
		}
		if err := decodeBody(body, &b); err != nil {
			return nil, err
		}
		for _, e := range b.Known {
			charged[e] = true
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	for i := range known {
		has, _, err := chainHas(ctx, q, known[i].Seq, known[i].Hash)
		if err != nil {
			return nil, err
		}
		if has || charged[known[i].entry()] {
			continue
		}
		u := unheld{Seen: known[i], after: last}
		switch common, err := u.parted(ctx, q); {
		case err != nil:
			return nil, err
		case common >= 0:
			u.after, u.own = common, map[int64]line{}
			all, err := accounts(ctx, q, "TRUE")
			if err != nil {
				return nil, err
			}
			for i := range all {
				if u.own[all[i].id], err = chargedAfter(ctx, q, all[i].id, common); err != nil {
					return nil, err
				}
			}
		}
		out = append(out, u)
	}
	return out, nil
}

func (s *Seen) entry() knownEntry { return knownEntry{s.Seq, hex.EncodeToString(s.Hash)} }

// chainHas reports whether the chain has the entry seq with a hash, and whether it has any
// entry of that number.
func chainHas(ctx context.Context, q querier, seq int64, hash []byte) (has, any bool, err error) {
	var own []byte
	err = q.QueryRowContext(ctx, "SELECT hash FROM chain WHERE seq = ?", seq).Scan(&own)
	if errors.Is(err, sql.ErrNoRows) {
		return false, false, nil
	}
	return bytes.Equal(own, hash), true, err
}

// chargedAfter is what was charged to an account after an entry.
func chargedAfter(ctx context.Context, q querier, account, seq int64) (n line, err error) {
	err = q.QueryRowContext(ctx, `SELECT coalesce(sum(n.eps), 0), coalesce(sum(n.delta), 0), coalesce(sum(n.rho), 0), coalesce(sum(n.gaussian), 0)
		FROM charge_line AS n JOIN charge AS c ON c.id = n.charge WHERE n.account = ? AND c.seq > ?`, account, seq).
		Scan(&n.Eps, &n.Delta, &n.Rho, &n.Gaussian)
	return n, err
}

// anchorEntries are the entries that the lines of the anchor know. A line that this ledger
// did not write counts for nothing.
func (l *Ledger) anchorEntries() (out []SeenEntry, err error) {
	f, err := openPlain(l.anchor, os.O_RDONLY)
	if err != nil {
		return nil, fileError(l.anchor, "the anchor cannot be read", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, maxAnchor+maxLine))
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if a, err := l.parseAnchor(lines.Bytes()); err == nil {
			out = append(out, SeenEntry{a.Seq, a.Hash})
		}
	}
	return out, nil
}
