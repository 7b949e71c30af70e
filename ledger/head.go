package ledger

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/tempfile"
)

// The head file repeats the chain, one entry a line. It is written under the
// database's write lock, by copying from the database every entry that the file
// lacks, so that
//
//   - a line is written only after its transaction is durable: the file is never
//     ahead of the database, whatever is killed when;
//   - lines are in the order of the chain, whichever process writes them;
//   - a process that died between its transaction and its line is caught up
//     with by the next.
//
// A line cut short by a crash has no newline; it is cut off by the next writer,
// which copies the entry again. Each line bears an HMAC under the ledger's
// secret: what reconcile replays was written by this ledger.

func headPath(path string) string { return path + ".head" }

type headLine struct {
	Seq  int64  `json:"seq"`
	Kind string `json:"kind"`
	Body string `json:"body"`
	Prev string `json:"prev"`
	Hash string `json:"hash"`
	MAC  string `json:"mac"`
}

func (l *Ledger) headMAC(hash []byte) []byte {
	m := hmac.New(sha256.New, l.secret)
	m.Write([]byte("noren.ledger.head/1\x00"))
	m.Write(hash)
	return m.Sum(nil)
}

func (l *Ledger) headLine(k *link) ([]byte, error) {
	text, err := json.Marshal(headLine{
		k.Seq, k.Kind, string(k.Body),
		hex.EncodeToString(k.Prev), hex.EncodeToString(k.Hash), hex.EncodeToString(l.headMAC(k.Hash)),
	})
	return append(text, '\n'), err
}

// parseHeadLine reads a line and checks its hash and MAC.
func (l *Ledger) parseHeadLine(text []byte) (*link, error) {
	var h headLine
	if err := decodeBody(text, &h); err != nil {
		return nil, errors.New("a line is not of its form")
	}
	k := &link{Seq: h.Seq, Kind: h.Kind, Body: []byte(h.Body)}
	var mac []byte
	var err1, err2, err3 error
	k.Prev, err1 = hex.DecodeString(h.Prev)
	k.Hash, err2 = hex.DecodeString(h.Hash)
	mac, err3 = hex.DecodeString(h.MAC)
	if errors.Join(err1, err2, err3) != nil || !bytes.Equal(k.Hash, k.digest()) {
		return nil, errors.New("a line does not agree with its hash")
	}
	if !hmac.Equal(mac, l.headMAC(k.Hash)) {
		return nil, errors.New("a line was not written by this ledger")
	}
	return k, nil
}

// maxLine is the longest line of a head file or anchor, in bytes: several times that of the
// longest definition with the most sources.
const maxLine = 16 << 20

// errLine is the error about a longer line.
var errLine = noren.Reasonf("has a line of more than %s", meter.Size(maxLine))

// tail returns the head file's last whole line, without its newline, and the
// offset after it. An empty file gives nil and 0.
func tail(f *os.File) (last []byte, end int64, err error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, 0, err
	}
	var text []byte // the file from at on
	for at := size; at > 0; {
		n := min(at, max(64<<10, int64(len(text)))) // twice as much each time
		chunk := make([]byte, n)
		if _, err := f.ReadAt(chunk, at-n); err != nil {
			return nil, 0, err
		}
		at -= n
		text = append(chunk, text...)
		if len(text) > 2*maxLine { // what was cut short may follow the last whole line
			return nil, 0, errLine
		}
		stop := bytes.LastIndexByte(text, '\n')
		if stop < 0 {
			continue
		}
		if start := bytes.LastIndexByte(text[:stop], '\n'); start >= 0 || at == 0 {
			return text[start+1 : stop], at + int64(stop) + 1, nil
		}
	}
	return nil, 0, nil
}

// errNoHead says that there is no head file, or nothing whole in it.
var errNoHead = errors.New("its head file is missing")

// knownHead reads the head file's last entry. Callers hold the write lock, or
// have not looked at the database yet: either way the entry they then look for
// in the database must be there.
func (l *Ledger) knownHead() (*link, error) {
	f, err := openPlain(headPath(l.path), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoHead
	}
	if errors.Is(err, errNotPlain) {
		return nil, &SealedError{noren.Textf("its head file is a link or no plain file")}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, _, err := tail(f)
	if errors.Is(err, errLine) {
		return nil, &SealedError{noren.Textf("its head file %s", err)}
	}
	if err != nil {
		return nil, err
	}
	if text == nil {
		return nil, errNoHead
	}
	k, err := l.parseHeadLine(text)
	if err != nil {
		return nil, &SealedError{noren.Textf("its head file is damaged or belongs to another ledger: %s", err)}
	}
	return k, nil
}

// checkSeal fails with a SealedError unless the database contains its known
// head, and the anchor's entry if it had an anchor before: known is its path then.
func (l *Ledger) checkSeal(ctx context.Context, known string) error {
	head, headErr := l.knownHead()
	if err := l.compareHead(ctx, l.db, head, headErr); err != nil {
		return err
	}
	if known == "" && l.anchored() {
		if _, err := l.readAnchor(); errors.Is(err, errNoAnchor) {
			return nil // it is made when the rest has been found sound
		}
	}
	if err := l.compareAnchor(ctx, l.db); err != nil {
		return fail(l.path, "cannot be read", err)
	}
	return nil
}

func (l *Ledger) compareHead(ctx context.Context, tx querier, head *link, headErr error) error {
	last, _, err := lastLink(ctx, tx)
	if err != nil {
		return fail(l.path, "cannot be read", err)
	}
	var sealed *SealedError
	switch {
	case errors.Is(headErr, errNoHead) && last == 1:
		return nil // made, and the machine stopped before the head file was: nothing was granted yet
	case errors.Is(headErr, errNoHead):
		return sealedError(l.path, noren.TextOf(headErr))
	case errors.As(headErr, &sealed):
		return sealedError(l.path, sealed.Reason)
	case headErr != nil:
		return fileError(headPath(l.path), "the head file cannot be read", headErr)
	}
	var hash []byte
	err = tx.QueryRowContext(ctx, "SELECT hash FROM chain WHERE seq = ?", head.Seq).Scan(&hash)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return sealedError(l.path, noren.Textf("the database ends at entry %d and its head file knows entry %d: an older copy was restored", last,
			head.Seq))
	case err != nil:
		return fail(l.path, "cannot be read", err)
	case !bytes.Equal(hash, head.Hash):
		return sealedError(l.path, noren.Textf("entry %d of the database is not the one its head file knows", head.Seq))
	}
	return nil
}

// syncHead makes the head file and the anchor hold entry seq, durably; 0 stands for the
// last entry.
func (l *Ledger) syncHead(ctx context.Context, seq int64) error {
	l.headMu.Lock()
	defer l.headMu.Unlock()
	if seq > 0 && l.headSeq >= seq {
		return nil // another goroutine's sync took this entry along
	}
	// A transaction that changes nothing, for its lock.
	var tx *sql.Tx
	if err := l.retry(ctx, func() (err error) {
		tx, err = l.db.BeginTx(ctx, nil)
		return err
	}); err != nil {
		return fail(l.path, "the head file cannot be written", err)
	}
	defer tx.Rollback()
	head, headErr := l.knownHead()
	if err := l.compareHead(ctx, tx, head, headErr); err != nil {
		return err
	}
	var from int64
	if head != nil {
		from = head.Seq
	}
	var text, hash []byte
	last := from
	if err := eachLink(ctx, tx, from, func(k *link) error {
		line, err := l.headLine(k)
		text, last, hash = append(text, line...), k.Seq, k.Hash
		return err
	}); err != nil {
		return fail(l.path, "the head file cannot be written", err)
	}
	if len(text) > 0 {
		if err := l.appendHead(text); err != nil {
			return fileError(headPath(l.path), "the head file cannot be written", err)
		}
	}
	if l.anchored() {
		if err := l.bringAnchor(ctx, tx, last, hash, head); err != nil {
			return err
		}
	}
	l.headSeq = last
	return nil
}

// bringAnchor makes the anchor say the last entry, which has hash or, where the head
// file knew it before, is head.
func (l *Ledger) bringAnchor(ctx context.Context, tx *sql.Tx, last int64, hash []byte, head *link) error {
	if err := l.compareAnchor(ctx, tx); err != nil {
		return fail(l.path, "the anchor cannot be written", err)
	}
	if hash == nil && head != nil {
		hash = head.Hash
	}
	known, err := l.readAnchor()
	if err == nil && known.Seq >= last {
		return nil
	}
	var before []string
	if err == nil {
		if before, err = hashesBetween(ctx, tx, known.Seq, last); err != nil {
			return fail(l.path, "cannot be read", err)
		}
	}
	return l.putAnchor(ctx, tx, last, hash, before, l.appendAnchor)
}

// hashesBetween are the hashes of the entries between two others, the last maxBefore at most.
func hashesBetween(ctx context.Context, tx *sql.Tx, from, to int64) (out []string, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT lower(hex(hash)) FROM chain WHERE seq > ? AND seq < ? ORDER BY seq", max(from, to-maxBefore-1),
		to)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var hash string
		if err := rows.Scan(&hash); err != nil {
			return nil, err
		}
		out = append(out, hash)
	}
	return out, rows.Err()
}

// headWritable opens the head file and the anchor for writing, where they are there, and
// closes them: what would be committed and could not be noted in them is not begun.
func (l *Ledger) headWritable() error {
	for _, path := range []string{headPath(l.path), l.anchor} {
		if path == "" {
			continue
		}
		f, err := openPlain(path, os.O_WRONLY)
		switch {
		case err == nil:
			err = f.Close()
		case errors.Is(err, fs.ErrNotExist):
			continue // what is missing is judged by the seal
		}
		if err != nil {
			return marked{fileError(path, "cannot be written, and nothing was charged", err), ErrUnwritable}
		}
	}
	return nil
}

func (l *Ledger) appendHead(text []byte) (err error) {
	f, err := openPlain(headPath(l.path), os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.OpenFile(headPath(l.path), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, end, err := tail(f)
	if err != nil {
		return err
	}
	// Text after the last newline was cut short.
	if err := f.Truncate(end); err != nil {
		return err
	}
	l.at("head-open")
	half := len(text) / 2
	if _, err := f.WriteAt(text[:half], end); err != nil {
		return err
	}
	l.at("head-torn")
	if _, err := f.WriteAt(text[half:], end+int64(half)); err != nil {
		return err
	}
	l.at("head-written")
	if err := f.Sync(); err != nil {
		return err
	}
	if end == 0 {
		return syncDir(filepath.Dir(l.path)) // the file may be new
	}
	return nil
}

// rewriteHead puts a head file of the given lines in place of any file that is
// there.
func rewriteHead(path string, text []byte) (err error) {
	f, err := tempfile.CreateNamed(filepath.Dir(path))
	if err != nil {
		return fileError(headPath(path), "the head file cannot be written", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), headPath(path))
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		return fileError(headPath(path), "the head file cannot be written", err)
	}
	return nil
}

// syncDir makes a new name durable. Some systems cannot sync a folder; there
// the name is as durable as they make it.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fileError(dir, "cannot be opened", err)
	}
	defer d.Close()
	_ = d.Sync()
	return nil
}

// eachHeadLine calls do with each whole line of the head file.
func (l *Ledger) eachHeadLine(ctx context.Context, do func(text []byte) error) error {
	f, err := openPlain(headPath(l.path), os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case errors.Is(err, io.EOF):
			return nil // and text without a newline was cut short
		case len(text) > maxLine:
			return meter.TooLarge(headPath(l.path), maxLine)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		}
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := do(text[:len(text)-1]); err != nil {
			return err
		}
		text = nil // do may keep it
	}
}
