package ledger

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/tempfile"
)

// The anchor is a file outside the ledger's folder that holds the number and the hash of
// the last entry of the chain, and what each data set had spent then. It is written after
// the head file, in the same order. An older copy of the whole folder, database and head
// file together, does not contain the anchor's entry, and opens sealed.
//
// An anchor of the first format has no amounts. It is read, and made anew in the second
// when the ledger is next opened or changed.
//
// The file has one line for each time it was written, of which the last one counts. A
// line cut short by a crash has no newline; it is cut off by the next writer. Beyond
// maxAnchor bytes the file is replaced by its last line. Each line bears an HMAC under
// the ledger's secret. A line also has the hashes of the entries that were committed with
// its own: they tell which charges the amounts hold, where ledgers parted ([Ledger.Reconcile]).

// maxAnchor is the size from which the file is made anew.
const maxAnchor = 1 << 20

// maxBefore is the largest number of entries that a line names beside its own: those of a
// few groups.
const maxBefore = 4 * maxGroup

// The formats of an anchor: without and with what is spent.
const (
	anchorWithoutSpent = "noren.ledger.anchor/1"
	anchorFormat       = "noren.ledger.anchor/2"
)

type anchorLine struct {
	Format string          `json:"format"`
	Ledger string          `json:"ledger"`
	Seq    int64           `json:"seq"`
	Hash   string          `json:"hash"`
	Before []string        `json:"before,omitempty"` // hashes of the entries before it that came with it
	Spent  json.RawMessage `json:"spent,omitempty"`
	MAC    string          `json:"mac"`
}

func (l *Ledger) anchorMAC(a *anchorLine, hash []byte) []byte {
	m := hmac.New(sha256.New, l.secret)
	m.Write([]byte(a.Format + "\x00"))
	m.Write(binary.BigEndian.AppendUint64(nil, uint64(a.Seq)))
	m.Write(hash)
	m.Write(a.Spent)
	for _, h := range a.Before {
		m.Write([]byte("\x00" + h))
	}
	return m.Sum(nil)
}

// anchorState is what an anchor says.
type anchorState struct {
	Seen
	amounts bool // the anchor states what was spent
}

// anchored reports whether the ledger has an anchor.
func (l *Ledger) anchored() bool { return l.anchor != "" }

// AnchorPath is the path of the anchor; "" without one.
func (l *Ledger) AnchorPath() string { return l.anchor }

// errNoAnchor says that there is no anchor file, or nothing whole in it.
var errNoAnchor = errors.New("its anchor is missing")

// readAnchor reads the anchor's last entry. Its faults are errNoAnchor and
// [*SealedError]; other errors are those of the file system.
func (l *Ledger) readAnchor() (*anchorState, error) {
	f, err := openPlain(l.anchor, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoAnchor
	}
	if errors.Is(err, errNotPlain) {
		return nil, &SealedError{noren.Textf("its anchor is a link or no plain file")}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, _, err := tail(f)
	if errors.Is(err, errLine) {
		return nil, &SealedError{noren.Textf("its anchor %s", err)}
	}
	if err != nil {
		return nil, err
	}
	if text == nil {
		return nil, errNoAnchor
	}
	return l.parseAnchor(text)
}

// errForeignAnchor says that the anchor is that of another ledger, which needs it.
var errForeignAnchor = &SealedError{noren.Textf("its anchor is that of another ledger")}

// parseAnchor reads a line of the anchor. Its faults are [*SealedError].
func (l *Ledger) parseAnchor(text []byte) (*anchorState, error) {
	var a anchorLine
	out := &anchorState{}
	if err := decodeBody(text, &a); err != nil || a.Format != anchorFormat &&
		(a.Format != anchorWithoutSpent || a.Spent != nil || a.Before != nil) {
		return nil, &SealedError{noren.Textf("its anchor is damaged")}
	}
	if a.Ledger != l.id {
		return nil, errForeignAnchor
	}
	hash, err1 := hex.DecodeString(a.Hash)
	mac, err2 := hex.DecodeString(a.MAC)
	if errors.Join(err1, err2) != nil || !hmac.Equal(mac, l.anchorMAC(&a, hash)) {
		return nil, &SealedError{noren.Textf("its anchor was not written by this ledger")}
	}
	out.Ledger, out.Seq, out.Hash, out.amounts = a.Ledger, a.Seq, hash, a.Format == anchorFormat
	for i, text := range a.Before {
		before, err := hex.DecodeString(text)
		if err != nil {
			return nil, &SealedError{noren.Textf("its anchor is damaged")}
		}
		out.Entries = append(out.Entries, SeenEntry{a.Seq - int64(len(a.Before)-i), before})
	}
	if out.amounts && json.Unmarshal(a.Spent, &out.Spent) != nil {
		return nil, &SealedError{noren.Textf("its anchor is damaged")}
	}
	return out, nil
}

// compareAnchor fails with a sealed error unless the database contains the anchor's
// entry.
func (l *Ledger) compareAnchor(ctx context.Context, q querier) error {
	if !l.anchored() {
		return nil
	}
	known, err := l.readAnchor()
	var sealed *SealedError
	switch {
	case errors.Is(err, errNoAnchor):
		return sealedError(l.path, noren.TextOf(err))
	case errors.As(err, &sealed):
		return sealedError(l.path, sealed.Reason)
	case err != nil:
		return fileError(l.anchor, "the anchor cannot be read", err)
	}
	return l.sealedUnless(ctx, q, &known.Seen, "its anchor knows")
}

// writeAnchor makes the anchor say the entry seq, the last one in q, and what is spent
// there. Callers hold the write lock.
func (l *Ledger) writeAnchor(ctx context.Context, q querier, seq int64, hash []byte) error {
	return l.putAnchor(ctx, q, seq, hash, nil, l.appendAnchor)
}

// putAnchor is writeAnchor by put, which adds a line to the file or makes the file anew.
// before are hashes of the entries that precede seq and that no line says.
func (l *Ledger) putAnchor(ctx context.Context, q querier, seq int64, hash []byte, before []string, put func(line []byte) error) error {
	spent, err := spentIn(ctx, q)
	if err != nil {
		return fail(l.path, "cannot be read", err)
	}
	line := anchorLine{Format: anchorFormat, Ledger: l.id, Seq: seq, Hash: hex.EncodeToString(hash), Before: before}
	if line.Spent, err = json.Marshal(spent); err == nil {
		line.MAC = hex.EncodeToString(l.anchorMAC(&line, hash))
		var text []byte
		if text, err = json.Marshal(line); err == nil {
			l.at("anchor-begin")
			err = put(append(text, '\n'))
		}
	}
	if err != nil {
		return fileError(l.anchor, "the anchor cannot be written", err)
	}
	l.at("anchor-written")
	return nil
}

func (l *Ledger) appendAnchor(line []byte) (err error) {
	f, err := openPlain(l.anchor, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return l.replaceAnchor(line)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, end, err := tail(f)
	if err != nil {
		return err
	}
	if end+int64(len(line)) > maxAnchor {
		return l.replaceAnchor(line)
	}
	if err := f.Truncate(end); err != nil {
		return err
	}
	if _, err := f.WriteAt(line[:len(line)/2], end); err != nil {
		return err
	}
	l.at("anchor-torn")
	if _, err := f.WriteAt(line[len(line)/2:], end+int64(len(line)/2)); err != nil {
		return err
	}
	return f.Sync()
}

// replaceAnchor makes the file anew with one line.
func (l *Ledger) replaceAnchor(line []byte) error {
	dir := filepath.Dir(l.anchor)
	f, err := tempfile.CreateNamed(dir)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(line)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), l.anchor); err != nil {
		return err
	}
	return syncDir(dir)
}

// findAnchor decides where the anchor is: where the options say, else where it was,
// which is known; "" where the ledger had none.
func (l *Ledger) findAnchor(ctx context.Context) (known string, err error) {
	err = l.db.QueryRowContext(ctx, "SELECT path FROM anchor").Scan(&known)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fail(l.path, "cannot be read", err)
	}
	l.anchor = known
	if l.opts.Anchor == "" {
		return known, nil
	}
	l.anchor, err = anchorPlace(l.path, l.opts.Anchor)
	return known, err
}

// CheckAnchor refuses a place for the anchor of the ledger at path: one in the folder of
// the ledger, or in none. Neither file needs to exist. Error: [noren.Usage].
func CheckAnchor(path, anchor string) error {
	_, err := anchorPlace(path, anchor)
	return err
}

// anchorPlace is the absolute path of an anchor, with the links of its folder resolved.
func anchorPlace(ledger, anchor string) (string, error) {
	resolved := func(path string) (string, error) {
		abs, err := filepath.Abs(path)
		if err != nil {
			return "", err
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
		return filepath.Join(dir, filepath.Base(abs)), err
	}
	path, err := resolved(anchor)
	if err != nil {
		return "", noren.Usagef(anchor, "the folder of the anchor cannot be found").Hinted("make the folder first")
	}
	own, err := resolved(ledger)
	if err != nil {
		return "", noren.Usagef(ledger, "the folder of the ledger cannot be found").Hinted("make the folder first")
	}
	inside, err := filepath.Rel(filepath.Dir(own), path)
	if err == nil && inside != ".." && !strings.HasPrefix(inside, ".."+string(filepath.Separator)) {
		return "", noren.Usagef(anchor, "the anchor is in the folder of the ledger").
			Hinted("keep it elsewhere: a copy of that folder would hold both")
	}
	return path, nil
}

// anchorServes reports whether the anchor can be kept up from the state in q: its entry
// is there, or it was never made. Its fault is a sealed error.
func (l *Ledger) anchorServes(ctx context.Context, q querier) error {
	if !l.anchored() {
		return nil
	}
	var known bool
	if err := q.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM anchor)").Scan(&known); err != nil {
		return err
	}
	if _, err := l.readAnchor(); errors.Is(err, errNoAnchor) && !known {
		return nil
	}
	return l.compareAnchor(ctx, q)
}

// reconcileAnchor refuses, at the end of a reconciliation, an anchor that the ledger
// still does not contain and that does not state what was spent, unless it is given up.
// anew says that the anchor is to be made anew. missing are the entries that the anchor
// knows and that nothing explains, after those up to before.
func (l *Ledger) reconcileAnchor(ctx context.Context, tx *sql.Tx, without bool, before int64, evidence []Evidence) (missing []int64,
	anew bool, err error,
) {
	err = l.anchorServes(ctx, tx)
	var sealed *SealedError
	switch {
	case err == nil && without && !l.anchored():
		return nil, false, noren.Usagef(noren.File(l.path), "it has no anchor").Hinted("reconcile with what it has")
	case err == nil && without:
		return nil, false, noren.Usagef(noren.File(l.anchor), "the anchor serves").Hinted("reconcile with it")
	case err == nil:
		return nil, false, nil
	case !errors.As(err, &sealed):
		return nil, false, err
	}
	known, readErr := l.readAnchor()
	if errors.Is(readErr, errForeignAnchor) {
		return nil, false, &noren.Error{
			Kind: noren.Usage, Where: noren.File(l.anchor), What: "the anchor does not serve", Err: sealed,
			Hint: "put it back to its ledger, and the anchor of this ledger in its place",
		}
	}
	if readErr == nil {
		missing = unexplained(before, known.Seq, evidence)
	}
	if !without && (readErr != nil || !known.amounts) {
		what := noren.Textf("the anchor does not serve")
		if len(missing) > 0 {
			what = noren.Textf("the anchor does not serve: it knows %s, which nothing explains", Entries(missing))
		}
		return nil, false, &noren.Error{
			Kind: noren.Usage, Where: noren.File(l.anchor), What: what.Format, Args: what.Args, Err: sealed,
			Hint: "put a newer copy of the ledger or the right anchor back, or reconcile without it, with the certificates of all releases",
		}
	}
	return missing, true, nil
}

// renewAnchor notes the anchor and, where it was given up, makes it anew from the chain.
func (l *Ledger) renewAnchor(ctx context.Context, anew bool) error {
	if !l.anchored() {
		return nil
	}
	return l.write(ctx, "the anchor cannot be written", func(ctx context.Context, tx *sql.Tx, _ int64) error {
		if anew {
			seq, hash, err := lastLink(ctx, tx)
			if err != nil {
				return err
			}
			if err := l.putAnchor(ctx, tx, seq, hash, nil, l.replaceAnchor); err != nil {
				return err
			}
		}
		var known string
		if err := tx.QueryRowContext(ctx, "SELECT path FROM anchor").Scan(&known); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		return l.keepAnchor(ctx, tx, known)
	})
}

// keepAnchor makes the anchor of a ledger that had none, and notes where it is. Callers
// hold the write lock, have compared the anchor if there is one, and have appended no
// entry in tx: the anchor is never ahead of the database.
func (l *Ledger) keepAnchor(ctx context.Context, tx *sql.Tx, known string) error {
	if l.anchor == known {
		if !l.anchored() {
			return nil
		}
		if has, err := l.readAnchor(); err != nil || has.amounts {
			return nil // faults were found when it was compared
		}
		seq, hash, err := lastLink(ctx, tx)
		if err != nil {
			return err
		}
		return l.writeAnchor(ctx, tx, seq, hash)
	}
	if known == "" {
		// Made first, noted second: an anchor that is noted was there.
		if _, err := l.readAnchor(); errors.Is(err, errNoAnchor) {
			seq, hash, err := lastLink(ctx, tx)
			if err != nil {
				return err
			}
			if err := l.writeAnchor(ctx, tx, seq, hash); err != nil {
				return err
			}
		}
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO anchor (one, path) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET path = excluded.path",
		l.anchor)
	return err
}
