package release

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/identity"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/noise"
)

// An answer whose request has a key can be computed again after a crash. At its charge a
// secret of 256 bits is drawn. The ledger stores it with the charge, encrypted under
// [Budget.NoiseKey], and deletes it when the answer is stored. All noise of the answer is
// expanded from the secret and from the identity of what the noise is added to
// ([run.source]), so that a second computation has the same noise for the same answer, and
// none of it for another one.

// streams of an answer.
const (
	answerStream = "answer" // its noise
	jobStream    = "job"    // the key by which tasks split the records of a sharded data set
)

// sealLabel begins the label of the key under which a secret is encrypted.
const sealLabel = "noren.release.secret/1\x00"

// computational is what the guarantee of an answer assumes whose noise is expanded.
const computational = "the noise is expanded from a secret of 256 random bits by HKDF-SHA256 and AES-256: it is assumed that without " +
	"the secret no person can tell it from random bits"

// place is the identity of the one charge that a secret is for.
func (r *run) place() (identity.ID, error) {
	return identity.Of("noren.release.secret/1", struct {
		Ledger    string `json:"ledger"`
		Principal string `json:"principal"`
		Key       string `json:"key"`
		Request   string `json:"request"`
	}{r.q.Dataset.ledger.ID(), r.q.Budget.Principal, r.q.Budget.Key, r.question.hash.String()})
}

// sealing is the cipher for the secret of this request alone: what was encrypted for
// another request, or under another key, cannot be opened.
func (r *run) sealing() (cipher.AEAD, error) {
	at, err := r.place()
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, r.q.Budget.NoiseKey, at[:], sealLabel, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// newSecret draws a secret and returns it encrypted; nil where the request cannot be
// resumed.
func (r *run) newSecret() ([]byte, error) {
	if !r.q.Budget.resumable() {
		return nil, nil
	}
	aead, err := r.sealing()
	if err != nil {
		return nil, &noren.Error{Where: noren.Phrase("release"), What: "the secret of the noise cannot be encrypted", Err: err}
	}
	src, secret := noise.NewSource(), make([]byte, 0, 32)
	for range 4 {
		word, err := src.Uint64()
		if err != nil {
			return nil, err
		}
		secret = binary.BigEndian.AppendUint64(secret, word)
	}
	return aead.Seal(nil, nil, secret, nil), nil
}

// open takes the secret of a reservation, if it has one.
func (r *run) open(reservation *ledger.Reservation) error {
	sealed := reservation.Sealed()
	if sealed == nil {
		return nil
	}
	fail := &noren.Error{
		Kind: noren.Refused, Code: CodeNoiseKey, Where: noren.Phrase("the request"),
		What: "it was charged and its answer is not computed yet: the key to its noise is missing or is another",
		Hint: "put the key back under which the request was charged, and send the request again with the same request key",
	}
	if len(r.q.Budget.NoiseKey) == 0 {
		return fail
	}
	aead, err := r.sealing()
	if err != nil {
		return &noren.Error{Where: noren.Phrase("release"), What: "the secret of the noise cannot be read", Err: err}
	}
	secret, err := aead.Open(nil, nil, sealed, nil)
	if err != nil || len(secret) != 32 {
		return fail
	}
	// What the noise is added to: the version with the prints of its columns, which are
	// compared when the file is read, the request, and the program that computes.
	version, err := r.q.Dataset.version()
	if err != nil {
		return err
	}
	at, err := r.place()
	if err != nil {
		return err
	}
	about, err := identity.Of("noren.release.noise/1", struct {
		Charge  string `json:"charge"`
		Place   string `json:"place"`
		Version string `json:"version"`
		Tool    string `json:"tool"`
		Release string `json:"release"`
	}{reservation.Charge().ID, at.String(), version.String(), r.q.Tool.Name, r.q.Tool.Version})
	if err != nil {
		return err
	}
	r.secret, r.about = (*[32]byte)(secret), about
	return nil
}

// source is a stream of random bits for the answer. Each name is asked for once.
func (r *run) source(stream string) *noise.Source {
	if r.secret == nil {
		return noise.NewSource()
	}
	return noise.Expand(*r.secret, r.about, stream)
}

// end gives a reservation up after a failure. Where the answer can be computed again, the
// charge waits for that, unless the failure is one of the file or of the computation: they
// would fail again.
func (r *run) end(reservation *ledger.Reservation, err error) {
	if r.secret != nil && noren.CodeOf(err) != CodeWithheld {
		_ = reservation.Leave("")
		return
	}
	// What was reserved stays spent; the reason holds nothing of the data.
	_ = reservation.Forfeit(noren.Term(noren.Textf("%s while answering", noren.KindOf(err)).String()))
}
