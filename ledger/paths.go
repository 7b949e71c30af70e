package ledger

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
)

// A grant names files of this machine, which are not needed to check an exported chain. Its
// entry is therefore hashed over the grant without its paths and over a commitment to
// them: SHA-256 of a secret salt and the paths. An export has the grant without paths and
// salt, and the commitment: the hash of the entry follows from these, and no path does,
// nor can a guess be confirmed.
//
// Entries of older ledgers have no salt, and their hash is over the whole body. An export
// leaves their paths out too; their hash then cannot be computed from it.

// saltKey is in a body with a salt and in no other: it is looked for before a body is decoded.
var saltKey = []byte(`"path_salt":`)

// hidden is an entry without its paths.
type hidden struct {
	body  []byte
	paths []byte // the commitment; nil for an entry without a salt
}

// errBody says that a grant is not written as this program writes it.
var errBody = errors.New("malformed")

// newSalt is a salt of 128 bits.
func newSalt() string {
	var salt [16]byte
	_, _ = rand.Read(salt[:]) // never fails
	return hex.EncodeToString(salt[:])
}

// hide removes the paths of a grant; nil where it has none. With a salt, the body must be
// exactly what this program writes, since the hash is over what it says and not over its
// bytes.
func hide(kind string, body []byte) (*hidden, error) {
	if kind != kindGrant {
		return nil, nil
	}
	var b grantBody
	if err := decodeBody(body, &b); err != nil {
		return nil, err
	}
	if b.Path == "" && len(b.Sources) == 0 && b.PathSalt == "" {
		return nil, nil
	}
	out := &hidden{}
	if b.PathSalt != "" {
		if again, err := json.Marshal(&b); err != nil || !bytes.Equal(again, body) {
			return nil, errBody
		}
		text, err := json.Marshal(struct {
			Salt    string   `json:"salt"`
			Path    string   `json:"path"`
			Sources []string `json:"sources"`
		}{b.PathSalt, b.Path, b.Sources})
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(append([]byte("noren.ledger.paths/1\x00"), text...))
		out.paths = sum[:]
	}
	b.Path, b.Sources, b.PathSalt = "", nil, ""
	var err error
	out.body, err = json.Marshal(&b)
	return out, err
}

// withoutPaths reports whether an exported body is a grant that has no paths: no other entry
// is excused from having its hash.
func withoutPaths(k *link) bool {
	var b grantBody
	return k.Kind == kindGrant && decodeBody(k.Body, &b) == nil && b.Path == "" && len(b.Sources) == 0 && b.PathSalt == ""
}
