package certificate

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"os"

	"github.com/noren-privacy/noren"
)

// Signed is a certificate with its signature.
type Signed struct {
	Certificate Certificate `json:"certificate"`
	Signature   Signature   `json:"signature"`
}

// Signature is an Ed25519 signature (RFC 8032) and the key that checks it.
type Signature struct {
	Algorithm string `json:"algorithm"`  // "ed25519"
	KeyID     string `json:"key_id"`     // see [KeyID]
	PublicKey string `json:"public_key"` // 32 bytes in base64
	Value     string `json:"value"`      // 64 bytes in base64
}

func sha256Hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// message is what the signature covers.
func (c *Certificate) message() ([]byte, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, &noren.Error{Kind: noren.BadData, Where: "certificate", What: "cannot be written as JSON"}
	}
	body, err := Canonical(text)
	if err != nil {
		return nil, err
	}
	return append([]byte(c.Format+"\x00"), body...), nil
}

// Sign states c under key. It sets c.Format; anything missing from c, or
// contradicting itself, is an error of kind BadData that lists all of it.
func Sign(key ed25519.PrivateKey, c Certificate) (*Signed, error) {
	if len(key) != ed25519.PrivateKeySize {
		return nil, &noren.Error{Kind: noren.Usage, Where: "certificate", What: "the signing key is not an Ed25519 key"}
	}
	c.Format = Format
	if err := c.validate(); err != nil {
		return nil, err
	}
	message, err := c.message()
	if err != nil {
		return nil, err
	}
	public := key.Public().(ed25519.PublicKey)
	return &Signed{c, Signature{
		Algorithm: "ed25519",
		KeyID:     KeyID(public),
		PublicKey: base64.StdEncoding.EncodeToString(public),
		Value:     base64.StdEncoding.EncodeToString(ed25519.Sign(key, message)),
	}}, nil
}

// Encode writes s as indented JSON with its keys in canonical order and a
// final newline.
func (s *Signed) Encode() ([]byte, error) {
	body, err := s.canonical()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, body, "", "  "); err != nil {
		return nil, &noren.Error{Where: "certificate", What: "cannot be indented"}
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func (s *Signed) canonical() ([]byte, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, &noren.Error{Kind: noren.BadData, Where: "certificate", What: "cannot be written as JSON"}
	}
	return Canonical(text)
}

// Parse reads what [Signed.Encode] wrote, in any layout. Unknown or repeated
// keys, trailing data and statements that [Sign] does not sign are errors of
// kind BadData. A byte order mark before the object, which some editors write, is no part
// of it. Parse does not check the signature: [Check] does.
func Parse(data []byte) (*Signed, error) {
	text := data
	if len(data) <= maxSize {
		text = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	}
	text, err := Canonical(text)
	if err != nil {
		return nil, err
	}
	var s Signed
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return nil, &noren.Error{
			Kind: noren.BadData, Where: "certificate", What: "does not have the form %s or %s", Args: []any{Format, Format1},
			Hint: "a newer program may have written it",
		}
	}
	// Package json matches keys in any letter case and cannot tell a missing
	// field from an empty one. What was read, written again, must be what was
	// there: nothing in the file escapes the reader's eye and the signature.
	again, err := s.canonical()
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(text, again) {
		return nil, &noren.Error{
			Kind: noren.BadData, Where: "certificate",
			What: "holds a field that is misspelt, empty or of another form than its format says",
		}
	}
	if err := s.Certificate.validate(); err != nil {
		return nil, err
	}
	return &s, nil
}

// Result is what [Check] found to hold.
type Result struct {
	KeyID string
	// Trusted says that the key is one of those the caller trusts. Without it
	// the certificate is whole, and anyone may have made it.
	Trusted bool
}

// VerifySignature checks the signature alone. With trusted keys given, the
// signature must be by one of them. Failures are of kind NotMet.
func (s *Signed) VerifySignature(trusted ...ed25519.PublicKey) (Result, error) {
	fail := func(what, hint noren.Text) (Result, error) {
		return Result{}, &noren.Error{
			Kind: noren.NotMet, Where: "certificate", What: what.Format, Args: what.Args, Hint: hint.Format,
			HintArgs: hint.Args,
		}
	}
	public, err := DecodeBase64(s.Signature.PublicKey)
	if err != nil || len(public) != ed25519.PublicKeySize || s.Signature.Algorithm != "ed25519" {
		return fail(noren.Textf("its signature is not an Ed25519 signature with its key"), noren.Text{})
	}
	if weakKey(public) {
		return fail(noren.Textf("its key is of small order: one signature under it fits many certificates"), noren.Text{})
	}
	if s.Signature.KeyID != KeyID(public) {
		return fail(noren.Textf("its key does not have the id it gives"), noren.Textf("the certificate was changed"))
	}
	known := false
	for _, k := range trusted {
		known = known || ed25519.PublicKey(public).Equal(k)
	}
	if len(trusted) > 0 && !known {
		return fail(noren.Textf("it is signed by %s, which is not a trusted key", s.Signature.KeyID),
			noren.Textf("get the signer's public key by a way you trust"))
	}
	value, err := DecodeBase64(s.Signature.Value)
	if err != nil || len(value) != ed25519.SignatureSize {
		return fail(noren.Textf("its signature is not 64 bytes in base64"), noren.Textf("the certificate was changed"))
	}
	if err := s.Certificate.validate(); err != nil {
		return fail(noren.Textf("it does not state a whole release"), noren.TextOf(err))
	}
	message, err := s.Certificate.message()
	if err != nil {
		return fail(noren.Textf("it cannot be brought to the canonical form"), noren.Text{})
	}
	if !ed25519.Verify(public, message, value) {
		return fail(noren.Textf("its signature does not hold"), noren.Textf("the certificate was changed after it was signed"))
	}
	return Result{KeyID: s.Signature.KeyID, Trusted: known}, nil
}

// Check checks the signature (see [Signed.VerifySignature]) and that released
// holds exactly the bytes the certificate speaks of. A mismatch is an error of
// kind NotMet; a failing reader's error is returned as Internal.
func Check(ctx context.Context, s *Signed, released io.Reader, trusted ...ed25519.PublicKey) (Result, error) {
	result, err := s.VerifySignature(trusted...)
	if err != nil {
		return Result{}, err
	}
	return result, s.matches(ctx, released)
}

// MatchesTable checks that a table of a database is the one that s states, and not the
// signature. A mismatch is an error of kind NotMet.
func (s *Signed) MatchesTable(found Released) error {
	want := s.Certificate.Released
	if want.Kind != KindTable {
		return &noren.Error{
			Kind: noren.NotMet, Where: "certificate", What: "it is of a file, and not of a table of a database",
			Hint: "name the file",
		}
	}
	if found.SHA256 != want.SHA256 || found.Size != want.Size {
		return &noren.Error{
			Kind: noren.NotMet, Where: "certificate", What: "the table is not the one that was released",
			Hint: "it was changed, or the certificate belongs to another",
		}
	}
	return nil
}

// matches checks that released holds exactly the bytes that s states.
func (s *Signed) matches(ctx context.Context, released io.Reader) error {
	sum, size, err := hashAll(ctx, released)
	if err != nil {
		return err
	}
	want := s.Certificate.Released
	if matching := sum == want.SHA256 && size == want.Size; !matching && want.Kind == KindTable {
		return &noren.Error{
			Kind: noren.NotMet, Where: "certificate", What: "it is of a table of a database, and not of a file",
			Hint: "name the table, as in pg:TABLE",
		}
	} else if !matching && want.Kind == KindAnswer {
		return &noren.Error{
			Kind: noren.NotMet, Code: "other-answer", Where: "certificate", What: "the file is not the one that was released",
			Hint: "it was changed, it shows the answer in another form, or the certificate belongs to another",
		}
	} else if !matching {
		return &noren.Error{
			Kind: noren.NotMet, Where: "certificate", What: "the file is not the one that was released",
			Hint: "it was changed, or the certificate belongs to another",
		}
	}
	return nil
}

// MatchesFile checks that the file at path holds exactly the bytes that s states, and
// not the signature: see [CheckFile]. A mismatch is an error of kind NotMet.
func (s *Signed) MatchesFile(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fileError(path, noren.Textf("cannot be opened"), err)
	}
	defer f.Close()
	return s.matches(ctx, f)
}

// CheckFile is [Check] of the file at path.
func CheckFile(ctx context.Context, s *Signed, path string, trusted ...ed25519.PublicKey) (Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return Result{}, fileError(path, noren.Textf("cannot be opened"), err)
	}
	defer f.Close()
	return Check(ctx, s, f, trusted...)
}

// HashFile describes the file at path as a released file, without its name.
func HashFile(ctx context.Context, path string) (Released, error) {
	f, err := os.Open(path)
	if err != nil {
		return Released{}, fileError(path, noren.Textf("cannot be opened"), err)
	}
	defer f.Close()
	return HashReader(ctx, f)
}

// HashReader describes all that r reads as a released file, without its name.
func HashReader(ctx context.Context, r io.Reader) (Released, error) {
	sum, size, err := hashAll(ctx, r)
	if err != nil {
		return Released{}, err
	}
	return Released{Kind: KindFile, SHA256: sum, Size: size}, nil
}

func hashAll(ctx context.Context, r io.Reader) (sum string, size int64, err error) {
	h := sha256.New()
	if size, err = copyContext(ctx, h, r); err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}

func copyContext(ctx context.Context, h hash.Hash, r io.Reader) (int64, error) {
	buf := make([]byte, 1<<18)
	for size := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return size, &noren.Error{Kind: noren.Interrupted, What: "interrupted while hashing", Err: err}
		}
		n, err := r.Read(buf)
		h.Write(buf[:n])
		size += int64(n)
		if errors.Is(err, io.EOF) {
			return size, nil
		}
		if err != nil {
			return size, &noren.Error{What: "reading failed", Err: reason(err)}
		}
	}
}
