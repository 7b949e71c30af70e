package ledger

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"slices"
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

// entryAt is the hash of an entry that s knows, and nil where it does not know the entry.
func (s *Seen) entryAt(seq int64) []byte {
	if seq == s.Seq {
		return s.Hash
	}
	for i := range s.Entries {
		if s.Entries[i].Seq == seq {
			return s.Entries[i].Hash
		}
	}
	return nil
}

// contradicts reports whether two files know an entry of the same number with different hashes.
func (s *Seen) contradicts(o *Seen) bool {
	other := map[int64][]byte{o.Seq: o.Hash}
	for _, e := range o.Entries {
		other[e.Seq] = e.Hash
	}
	for _, e := range append([]SeenEntry{{s.Seq, s.Hash}}, s.Entries...) {
		if hash, known := other[e.Seq]; known && !bytes.Equal(hash, e.Hash) {
			return true
		}
	}
	return false
}

// A ledger that was restored more than once has several histories, which we call ways: each
// file knows the amounts of one, and a certificate is of one. What the files know of the same way is one
// amount, the larger; what they know of different ways adds up.

// partWays leaves of open one for each way, as far as that is known, and reports whether
// there is more than one, this ledger's among them. A file whose last entry another one has is
// of that one's way.
func partWays(open []unheld, evidence []Evidence) (ways []unheld, forked bool) {
	for i := range open {
		forked = forked || open[i].own != nil
		for j := range evidence {
			hash := open[i].entryAt(evidence[j].Charge.Link)
			forked = forked || hash != nil && !bytes.Equal(hash, evidence[j].Charge.Head[:])
		}
		for j := range open[:i] {
			forked = forked || open[i].contradicts(&open[j].Seen)
		}
	}
	ways = slices.Clone(open)
	slices.SortStableFunc(ways, func(a, b unheld) int { return cmp.Compare(b.Seq, a.Seq) })
	for i := 0; i < len(ways); i++ {
		for j := i + 1; j < len(ways); j++ {
			if bytes.Equal(ways[i].entryAt(ways[j].Seq), ways[j].Hash) {
				ways[i].Entries = slices.Concat(ways[i].Entries, ways[j].Entries)
				ways = slices.Delete(ways, j, j+1)
				j--
			}
		}
	}
	return ways, forked
}

// counts reports whether the amounts of s hold a charge that was brought back: the charge is
// not after the entry that s knows, and s has its entry, or does not know the entry and
// there is one way alone.
func (s *Seen) counts(b *broughtBack, forked bool) bool {
	if b.link > s.Seq {
		return false
	}
	hash := s.entryAt(b.link)
	return hash == nil && !forked || bytes.Equal(hash, b.hash)
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
			out = append(append(out, a.Entries...), SeenEntry{a.Seq, a.Hash})
		}
	}
	return out, nil
}
