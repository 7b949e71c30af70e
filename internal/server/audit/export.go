package audit

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/plainfile"
)

// The forms of an export: that of one without names, and that of one with them.
const (
	exportPlain = "noren.audit.export/1"
	exportNamed = "noren.audit.export/2"
)

// mostNames is how many names an export has at most, and longestName how long one is, in bytes.
const (
	mostNames   = 1 << 18
	longestName = 1000
)

// NamesOf finds the names of objects by their ids. One without a name is left out.
type NamesOf func(ctx context.Context, ids []string) (map[string]string, error)

// named is a line with the name of an object, after the entries.
type named struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

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
	// Names is the SHA-256 of the lines with names.
	Names  string `json:"names,omitempty"`
	KeyID  string `json:"key_id"`
	Public string `json:"public_key"`
	// Signature is of the line without it.
	Signature string `json:"signature,omitempty"`
}

func (s *Signed) message() ([]byte, error) {
	plain := *s
	plain.Signature = ""
	text, err := json.Marshal(plain)
	return append([]byte(s.Schema+"\n"), text...), err
}

// Export writes the entries that the filter selects as JSON lines, the oldest first, for
// each other entry a line with its number and hash, the names of what the selected ones are about as far as
// names knows them, and a last line with the head, signed by key. See [Verify].
func (l *Log) Export(ctx context.Context, w io.Writer, f *Filter, key ed25519.PrivateKey, names NamesOf) error {
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
	ids := map[string]bool{}
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
		} else {
			for _, id := range item.IDs() {
				ids[id] = true
			}
		}
		if _, err := out.Write(text); err != nil {
			return &noren.Error{Where: noren.Phrase("audit log"), What: "the export cannot be written", Err: err}
		}
	}
	schema, sum, err := writeNames(ctx, out, slices.Sorted(maps.Keys(ids)), names)
	if err != nil {
		return err
	}
	public := key.Public().(ed25519.PublicKey)
	s := Signed{
		Schema: schema, Names: sum, At: l.store.Now().Format(time.RFC3339), Entries: n, Head: hex.EncodeToString(head[:]),
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

// writeNames writes a line for each object that has a name. Without one the export has the form
// without names.
func writeNames(ctx context.Context, out io.Writer, ids []string, names NamesOf) (schema, sum string, err error) {
	hash := sha256.New()
	schema = exportPlain
	for some := range slices.Chunk(ids[:min(len(ids), mostNames)], 1000) {
		found, err := names(ctx, some)
		if err != nil {
			return "", "", err
		}
		for _, id := range some {
			if found[id] == "" || len(found[id]) > longestName {
				continue
			}
			text, err := json.Marshal(named{id, found[id]})
			if err != nil {
				return "", "", err
			}
			text = append(text, '\n')
			_, _ = hash.Write(text) // a hash never fails
			schema = exportNamed
			if _, err := out.Write(text); err != nil {
				return "", "", &noren.Error{Where: noren.Phrase("audit log"), What: "the export cannot be written", Err: err}
			}
		}
	}
	if schema == exportNamed {
		sum = hex.EncodeToString(hash.Sum(nil))
	}
	return schema, sum, nil
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
	// Names are those that the export has, by id: as the signer states them, which is no part of the chain.
	Names map[string]string
}

// Verify checks an export: that each line continues the chain from its first entry, and
// that the last line states that chain's head and is signed. With trusted keys, one of
// them must have signed it. Failures are of kind NotMet. A sound export proves that the
// signer stated these entries, and not that the signer left no other log. show gets each entry that the
// export shows, before it is known whether the export is sound; it may be nil.
func Verify(ctx context.Context, r io.Reader, show func(*Entry), trusted ...ed25519.PublicKey) (*Report, error) {
	in := bufio.NewReaderSize(r, longest)
	out := Report{Names: map[string]string{}}
	var head Hash
	names, last := sha256.New(), ""
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
			sum := ""
			if len(out.Names) > 0 {
				sum = hex.EncodeToString(names.Sum(nil))
			}
			return &out, out.signed(text, n-1-int64(len(out.Names)), head, sum, trusted)
		}
		if bytes.HasPrefix(text, []byte(`{"id":`)) {
			name, err := nameIn(text, last)
			if err != nil {
				return nil, err
			}
			if len(out.Names) == mostNames {
				return nil, unsound("expected at most %d names", mostNames)
			}
			out.Names[name.ID], last = name.Name, name.ID
			_, _ = names.Write(append(text, '\n'))
			continue
		}
		if last != "" {
			return nil, unsound("an entry follows the names")
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
		var e *Entry
		if e, head, err = decode(text, n, head); err != nil {
			return nil, err
		}
		out.Shown++
		if show != nil {
			show(e)
		}
	}
}

// nameIn is the line of a name, which follows that of the id last.
func nameIn(text []byte, last string) (*named, error) {
	var n named
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&n); err != nil {
		return nil, unsound("a name does not have its form")
	}
	if again, err := json.Marshal(n); err != nil || !bytes.Equal(again, text) || n.ID <= last || n.Name == "" ||
		len(n.Name) > longestName {
		return nil, unsound("a name does not have its form")
	}
	return &n, nil
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
func (r *Report) signed(text []byte, n int64, head Hash, names string, trusted []ed25519.PublicKey) error {
	var s Signed
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return unsound("its last line does not have its form")
	}
	if again, err := json.Marshal(s); err != nil || !bytes.Equal(again, text) ||
		s.Schema != exportPlain && s.Schema != exportNamed || (s.Schema == exportNamed) != (s.Names != "") {
		return unsound("its last line does not have its form")
	}
	if s.Names != names {
		return unsound("its last line states other names than its lines have")
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
