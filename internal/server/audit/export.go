package audit

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/plainfile"
)

// ExportSchema names the form of an export.
const ExportSchema = "noren.audit.export/1"

// left is the line of an entry that a filter leaves out: its number and the hash of what
// it says, so that the chain can be checked without it.
type left struct {
	N    int64  `json:"n"`
	Body string `json:"body"`
}

// Signed is the last line of an export.
type Signed struct {
	Schema  string `json:"schema"`
	At      string `json:"at"`
	Entries int64  `json:"entries"`
	Head    string `json:"head"`
	KeyID   string `json:"key_id"`
	Public  string `json:"public_key"`
	// Signature is of the line without it.
	Signature string `json:"signature,omitempty"`
}

func (s *Signed) message() ([]byte, error) {
	plain := *s
	plain.Signature = ""
	text, err := json.Marshal(plain)
	return append([]byte(ExportSchema+"\n"), text...), err
}

// Export writes the entries that the filter selects as JSON lines, the oldest first, for
// each other entry a line with its number and hash, and a last line with the head, signed
// by key. See [Verify].
func (l *Log) Export(ctx context.Context, w io.Writer, f *Filter, key ed25519.PrivateKey) error {
	l.Flush(ctx)
	if _, err := l.catchUp(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	n, head, size, damage := l.n, l.head, l.size, l.Damage()
	l.mu.Unlock()
	if damage != nil {
		return damage
	}
	file, err := plainfile.OpenPath(l.path)
	if err != nil {
		return &noren.Error{Where: noren.Phrase("audit log"), What: "cannot be opened", Err: reason(err)}
	}
	defer func() { _ = file.Close() }()
	in, out := bufio.NewReaderSize(io.LimitReader(file, size), longest), bufio.NewWriter(w)
	for i := range n {
		if i&0xff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		text, err := in.ReadSlice('\n')
		if err != nil {
			return &noren.Error{Where: noren.Phrase("audit log"), What: "cannot be read", Err: reason(err)}
		}
		item, err := parse(text[:len(text)-1])
		if err != nil {
			return err
		}
		if !f.matches(&item.Entry) {
			body, err := item.body()
			if err != nil {
				return err
			}
			if text, err = json.Marshal(left{item.N, hex.EncodeToString(body[:])}); err != nil {
				return err
			}
			text = append(text, '\n')
		}
		if _, err := out.Write(text); err != nil {
			return &noren.Error{Where: noren.Phrase("audit log"), What: "the export cannot be written", Err: err}
		}
	}
	public := key.Public().(ed25519.PublicKey)
	s := Signed{
		Schema: ExportSchema, At: l.store.Now().Format(time.RFC3339), Entries: n, Head: hex.EncodeToString(head[:]),
		KeyID: certificate.KeyID(public), Public: base64.StdEncoding.EncodeToString(public),
	}
	message, err := s.message()
	if err != nil {
		return err
	}
	s.Signature = base64.StdEncoding.EncodeToString(ed25519.Sign(key, message))
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if _, err := out.Write(append(text, '\n')); err != nil {
		return &noren.Error{Where: noren.Phrase("audit log"), What: "the export cannot be written", Err: err}
	}
	return out.Flush()
}

// parse reads a line of the log that was checked before.
func parse(text []byte) (*Item, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, damaged("an entry does not have its form any more")
	}
	return &Item{l.Entry, l.Hash}, nil
}

// Report is what [Verify] found in an export.
type Report struct {
	// Entries are all entries of the chain; Shown those that the export shows.
	Entries, Shown int64
	Head           string
	At             string
	KeyID          string
	// Trusted says that one of the trusted keys signed the export.
	Trusted bool
}

// Verify checks an export: that each line continues the chain from its first entry, and
// that the last line states that chain's head and is signed. With trusted keys, one of
// them must have signed it. Failures are of kind NotMet. A sound export proves that the
// signer stated these entries, and not that the signer left no other log.
func Verify(ctx context.Context, r io.Reader, trusted ...ed25519.PublicKey) (*Report, error) {
	in := bufio.NewReaderSize(r, longest)
	var out Report
	var head Hash
	for n := int64(1); ; n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		text, err := in.ReadSlice('\n')
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, bufio.ErrBufferFull) {
				return nil, unsound("line %d is incomplete, or the signed last line is missing", n)
			}
			return nil, &noren.Error{Where: noren.Phrase("audit export"), What: "cannot be read", Err: reason(err)}
		}
		text = text[:len(text)-1]
		if bytes.HasPrefix(text, []byte(`{"schema":`)) {
			if _, err := in.Peek(1); !errors.Is(err, io.EOF) {
				return nil, unsound("lines follow the signed line")
			}
			return &out, out.signed(text, n-1, head, trusted)
		}
		if l := leftOut(text); l != nil {
			if l.N != n {
				return nil, unsound("expected entry %d, got entry %d", n, l.N)
			}
			body, err := hex.DecodeString(l.Body)
			if err != nil || len(body) != len(head) {
				return nil, unsound("entry %d has no hash", n)
			}
			head = next(head, n, Hash(body))
			continue
		}
		if _, head, err = decode(text, n, head); err != nil {
			return nil, err
		}
		out.Shown++
	}
}

// leftOut is the line of an entry that was left out; nil for another line.
func leftOut(text []byte) *left {
	var l left
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if dec.Decode(&l) != nil || l.Body == "" {
		return nil
	}
	again, err := json.Marshal(l)
	if err != nil || !bytes.Equal(again, text) {
		return nil
	}
	return &l
}

// signed checks the last line.
func (r *Report) signed(text []byte, n int64, head Hash, trusted []ed25519.PublicKey) error {
	var s Signed
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return unsound("its last line does not have its form")
	}
	if again, err := json.Marshal(s); err != nil || !bytes.Equal(again, text) || s.Schema != ExportSchema {
		return unsound("its last line does not have its form")
	}
	if s.Entries != n || s.Head != hex.EncodeToString(head[:]) {
		return unsound("its last line states another head than its entries have")
	}
	public, err := certificate.DecodeBase64(s.Public)
	if err != nil || len(public) != ed25519.PublicKeySize || s.KeyID != certificate.KeyID(public) {
		return unsound("its last line has no key, or one of another id")
	}
	signature, err := certificate.DecodeBase64(s.Signature)
	if err != nil {
		return unsound("its last line has no signature")
	}
	message, err := s.message()
	if err != nil || !ed25519.Verify(public, message, signature) {
		return unsound("its signature does not hold")
	}
	for _, k := range trusted {
		r.Trusted = r.Trusted || k.Equal(ed25519.PublicKey(public))
	}
	if len(trusted) > 0 && !r.Trusted {
		return &noren.Error{
			Kind: noren.NotMet, Code: "untrusted", Where: noren.Phrase("audit export"),
			What: "it is signed by a key that is none of those trusted (%s)", Args: []any{s.KeyID},
		}
	}
	r.Entries, r.Head, r.At, r.KeyID = n, s.Head, s.At, s.KeyID
	return nil
}

func unsound(format noren.Format, args ...any) error {
	return &noren.Error{Kind: noren.NotMet, Where: noren.Phrase("audit export"), What: format, Args: args}
}
