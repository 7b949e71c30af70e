package ledger

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/noren-privacy/noren"
)

// The anchor is a file outside the ledger's folder that holds the number and the hash of
// the last entry of the chain. It is written after the head file, in the same order. An
// older copy of the whole folder, database and head file together, does not contain the
// anchor's entry, and opens sealed.
//
// The file has one line for each time it was written, of which the last one counts. A
// line cut short by a crash has no newline; it is cut off by the next writer. Beyond
// maxAnchor bytes the file is replaced by its last line. Each line bears an HMAC under
// the ledger's secret.

// maxAnchor is the size from which the file is made anew.
const maxAnchor = 1 << 20

const anchorFormat = "noren.ledger.anchor/1"

type anchorLine struct {
	Format string `json:"format"`
	Ledger string `json:"ledger"`
	Seq    int64  `json:"seq"`
	Hash   string `json:"hash"`
	MAC    string `json:"mac"`
}

func (l *Ledger) anchorMAC(seq int64, hash []byte) []byte {
	m := hmac.New(sha256.New, l.secret)
	m.Write([]byte(anchorFormat + "\x00"))
	m.Write(binary.BigEndian.AppendUint64(nil, uint64(seq)))
	m.Write(hash)
	return m.Sum(nil)
}

// anchored reports whether the ledger has an anchor.
func (l *Ledger) anchored() bool { return l.anchor != "" }

// AnchorPath is the path of the anchor; "" without one.
func (l *Ledger) AnchorPath() string { return l.anchor }

// errNoAnchor says that there is no anchor file, or nothing whole in it.
var errNoAnchor = errors.New("its anchor is missing")

// readAnchor reads the anchor's last entry. Its faults are errNoAnchor and
// [*SealedError]; other errors are those of the file system.
func (l *Ledger) readAnchor() (seq int64, hash []byte, err error) {
	f, err := os.Open(l.anchor)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, errNoAnchor
	}
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	text, _, err := tail(f)
	if err != nil {
		return 0, nil, err
	}
	if text == nil {
		return 0, nil, errNoAnchor
	}
	var a anchorLine
	if err := decodeBody(text, &a); err != nil || a.Format != anchorFormat {
		return 0, nil, &SealedError{"its anchor is damaged"}
	}
	hash, err1 := hex.DecodeString(a.Hash)
	mac, err2 := hex.DecodeString(a.MAC)
	if a.Ledger != l.id || errors.Join(err1, err2) != nil || !hmac.Equal(mac, l.anchorMAC(a.Seq, hash)) {
		return 0, nil, &SealedError{"its anchor was not written by this ledger"}
	}
	return a.Seq, hash, nil
}

// compareAnchor fails with a sealed error unless the database contains the anchor's
// entry.
func (l *Ledger) compareAnchor(ctx context.Context, q querier) error {
	if !l.anchored() {
		return nil
	}
	seq, hash, err := l.readAnchor()
	var sealed *SealedError
	switch {
	case errors.Is(err, errNoAnchor):
		return sealedError(l.path, err.Error())
	case errors.As(err, &sealed):
		return sealedError(l.path, sealed.Reason)
	case err != nil:
		return fileError(l.anchor, "the anchor cannot be read", err)
	}
	last, _, err := lastLink(ctx, q)
	if err != nil {
		return err
	}
	var own []byte
	err = q.QueryRowContext(ctx, "SELECT hash FROM chain WHERE seq = ?", seq).Scan(&own)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return sealedError(l.path, fmt.Sprintf("the ledger ends at entry %d and its anchor knows entry %d: an older copy was restored", last, seq))
	case err != nil:
		return err
	case !bytes.Equal(own, hash):
		return sealedError(l.path, fmt.Sprintf("entry %d of the ledger is not the one its anchor knows", seq))
	}
	return nil
}

// writeAnchor makes the anchor say the entry seq. Callers hold the write lock.
func (l *Ledger) writeAnchor(seq int64, hash []byte) error {
	text, err := json.Marshal(anchorLine{anchorFormat, l.id, seq, hex.EncodeToString(hash), hex.EncodeToString(l.anchorMAC(seq, hash))})
	if err == nil {
		l.at("anchor-begin")
		err = l.appendAnchor(append(text, '\n'))
	}
	if err != nil {
		return fileError(l.anchor, "the anchor cannot be written", err)
	}
	l.at("anchor-written")
	return nil
}

func (l *Ledger) appendAnchor(line []byte) (err error) {
	f, err := os.OpenFile(l.anchor, os.O_RDWR, 0o600)
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
	f, err := os.CreateTemp(dir, ".noren-anchor-*") // mode 0600
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
	if l.anchor = known; l.opts.Anchor == "" {
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
		return "", noren.Usagef(anchor, "the anchor is in the folder of the ledger").Hinted("keep it elsewhere: a copy of that folder would hold both")
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
	if _, _, err := l.readAnchor(); errors.Is(err, errNoAnchor) && !known {
		return nil
	}
	return l.compareAnchor(ctx, q)
}

// reconcileAnchor refuses, at the end of a reconciliation, an anchor that the ledger
// still does not contain, unless it is given up. lost is the number of entries that the
// anchor knows and that nothing brought back, as far as it tells.
func (l *Ledger) reconcileAnchor(ctx context.Context, tx *sql.Tx, without bool, before int64) (lost int64, err error) {
	err = l.anchorServes(ctx, tx)
	var sealed *SealedError
	switch {
	case err == nil && without && !l.anchored():
		return 0, noren.Usagef(l.path, "it has no anchor").Hinted("reconcile with what it has")
	case err == nil && without:
		return 0, noren.Usagef(l.anchor, "the anchor serves").Hinted("reconcile with it")
	case err == nil:
		return 0, nil
	case !errors.As(err, &sealed):
		return 0, err
	case !without:
		return 0, &noren.Error{
			Kind: noren.Usage, Where: l.anchor, What: "the anchor does not serve", Err: sealed,
			Hint: "put a newer copy of the ledger or the right anchor back, or reconcile without it, with the certificates of all releases",
		}
	}
	if seq, _, err := l.readAnchor(); err == nil {
		lost = max(0, seq-before)
	}
	return lost, nil
}

// renewAnchor notes the anchor and, where it was given up, makes it anew from the chain.
func (l *Ledger) renewAnchor(ctx context.Context, anew bool) error {
	if !l.anchored() {
		return nil
	}
	return l.write(ctx, "the anchor cannot be written", func(ctx context.Context, tx *sql.Tx, _ int64) error {
		if anew {
			if err := os.Remove(l.anchor); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fileError(l.anchor, "the anchor cannot be written", err)
			}
			seq, hash, err := lastLink(ctx, tx)
			if err != nil {
				return err
			}
			if err := l.writeAnchor(seq, hash); err != nil {
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
		return nil
	}
	if known == "" {
		// Made first, noted second: an anchor that is noted was there.
		if _, _, err := l.readAnchor(); errors.Is(err, errNoAnchor) {
			seq, hash, err := lastLink(ctx, tx)
			if err != nil {
				return err
			}
			if err := l.writeAnchor(seq, hash); err != nil {
				return err
			}
		}
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO anchor (one, path) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET path = excluded.path", l.anchor)
	return err
}
