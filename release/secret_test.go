package release_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
)

// interrupted is a request that is charged and computed, and whose answer is not stored. It
// returns the answer's bytes, which left no process.
func interrupted(t *testing.T, d *desk, key string, noiseKey []byte) (lost []byte) {
	t.Helper()
	q := d.request(t, ask(300))
	q.Budget.Key, q.Budget.NoiseKey, q.Budget.Expanded = key, noiseKey, true
	q.Publish = func(_ context.Context, payload []byte) (certificate.Released, error) {
		lost = bytes.Clone(payload)
		return certificate.Released{}, errors.New("interrupted")
	}
	if _, err := release.Run(t.Context(), q); err == nil || len(lost) == 0 {
		t.Fatalf("%v after %q", err, lost)
	}
	return lost
}

// again sends it again.
func again(t *testing.T, d *desk, key string, noiseKey []byte) (*release.Answer, error) {
	t.Helper()
	q := d.request(t, ask(300))
	q.Budget.Key, q.Budget.NoiseKey, q.Budget.Expanded = key, noiseKey, true
	return release.Run(t.Context(), q)
}

// An answer that was interrupted has the same bytes when it is computed again, costs
// nothing more, and leaves no secret behind.
func TestInterruptedAnswerIsComputedAgain(t *testing.T) {
	randtest.SkipShort(t)
	d := open(t, 1000, ledger.Options{})
	key := bytes.Repeat([]byte{7}, 32)
	lost := interrupted(t, d, "monday", key)
	d.spent(t, 300, "reserved")
	if waits, err := d.ledger.Pending(t.Context(), d.request(t, ask(300)).Budget.Principal, "monday"); err != nil || !waits {
		t.Fatalf("%v, %v", waits, err)
	}
	a, err := again(t, d, "monday", key)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Payload, lost) || a.Repeated {
		t.Errorf("got %s, want %s", a.Payload, lost)
	}
	d.spent(t, 300, "released")
	stored, err := again(t, d, "monday", key)
	if err != nil || !stored.Repeated || !bytes.Equal(stored.Payload, lost) {
		t.Errorf("%+v, %v", stored, err)
	}
	if waits, err := d.ledger.Pending(t.Context(), d.request(t, ask(300)).Budget.Principal, "monday"); err != nil || waits {
		t.Errorf("%v, %v", waits, err)
	}
	said := false
	for _, one := range a.Certificate.Certificate.Guarantee.Assumptions {
		said = said || strings.Contains(one.String(), "AES-256")
	}
	if !said {
		t.Error("the guarantee does not say that it is computational")
	}
	// Another key of a request has other noise.
	if other := interrupted(t, d, "tuesday", key); bytes.Equal(other, lost) {
		t.Error("two requests have the same noise")
	}
}

// Without the key to the noise, or with another, an answer waits: nothing is forfeited, and
// the right key gives it still. The signing key may be another by then.
func TestNoOtherAnswerKey(t *testing.T) {
	randtest.SkipShort(t)
	d := open(t, 1000, ledger.Options{})
	key := bytes.Repeat([]byte{7}, 32)
	lost := interrupted(t, d, "monday", key)
	for _, other := range [][]byte{nil, bytes.Repeat([]byte{8}, 32)} {
		if _, err := again(t, d, "monday", other); noren.CodeOf(err) != release.CodeNoiseKey {
			t.Errorf("another key: %v", err)
		}
		d.spent(t, 300, "reserved")
	}
	_, signer, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	d.key = signer
	a, err := again(t, d, "monday", key)
	if err != nil || !bytes.Equal(a.Payload, lost) {
		t.Errorf("%v: %+v", err, a)
	}
}

// A file that is another by then is not answered from: the charge stays, and the error says
// so.
func TestInterruptedAnswerOfAChangedFile(t *testing.T) {
	randtest.SkipShort(t)
	d := open(t, 1000, ledger.Options{})
	key := bytes.Repeat([]byte{7}, 32)
	interrupted(t, d, "monday", key)
	d.write(t, people+"60,Kobe\n")
	_, err := again(t, d, "monday", key)
	quiet(t, err, noren.BadData)
	if noren.CodeOf(err) != release.CodeWithheld {
		t.Error(err)
	}
	d.spent(t, 300, "forfeited")
	d.write(t, people)
	if _, err = again(t, d, "monday", key); !errors.Is(err, ledger.ErrForfeited) {
		t.Error(err)
	}
}

// A request without a key is forfeited, as is one without a key to the noise.
func TestInterruptedAnswerWithoutASecret(t *testing.T) {
	randtest.SkipShort(t)
	d := open(t, 1000, ledger.Options{})
	interrupted(t, d, "", bytes.Repeat([]byte{7}, 32))
	d.spent(t, 300, "forfeited")
	interrupted(t, d, "monday", nil)
	d.spent(t, 600, "forfeited", "forfeited")
}
