package release_test

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
)

// edited closes the ledger, lets somebody who can write its file change it, and opens it again.
func (d *desk) edited(t *testing.T, statements ...string) {
	t.Helper()
	if err := d.ledger.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", d.book)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range statements {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	d.reopen(t)
}

func (d *desk) reopen(t *testing.T) {
	t.Helper()
	l, err := ledger.Open(t.Context(), d.book, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	d.ledger = l
}

// moment is the closed ledger as it is now.
func (d *desk) moment(t *testing.T) map[string][]byte {
	t.Helper()
	if err := d.ledger.Close(); err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, path := range []string{d.book, d.book + ".head"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(path)] = text
	}
	d.reopen(t)
	return out
}

// copied is a desk over a copy of the ledger, as it was at a moment, and the same file.
func (d *desk) copied(t *testing.T, from map[string][]byte) *desk {
	t.Helper()
	out := &desk{dir: t.TempDir(), file: d.file, key: d.key}
	out.book = filepath.Join(out.dir, "noren.db")
	for name, text := range from {
		if err := os.WriteFile(filepath.Join(out.dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out.reopen(t)
	return out
}

// another is another question than ask.
func another() *fake {
	out := ask(50)
	out.parameters = map[string]any{"of": "another"}
	return out
}

// A secret opens for its own charge alone: exchanged between two charges, or under a charge
// whose request was exchanged, it makes no answer.
func TestSecretsOfOtherCharges(t *testing.T) {
	randtest.SkipShort(t)
	key := bytes.Repeat([]byte{7}, 32)
	d := open(t, 1000, ledger.Options{})
	lost := map[string][]byte{"monday": interrupted(t, d, "monday", key), "tuesday": interrupted(t, d, "tuesday", key)}
	swap := []string{
		"CREATE TABLE swapped AS SELECT charge, sealed FROM noise_secret", "DELETE FROM noise_secret",
		"INSERT INTO noise_secret (charge, sealed) SELECT a.charge, b.sealed FROM swapped AS a JOIN swapped AS b ON a.charge <> b.charge",
		"DROP TABLE swapped",
	}
	d.edited(t, swap...)
	for name := range lost {
		if a, err := again(t, d, name, key); noren.CodeOf(err) != release.CodeNoiseKey {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	d.spent(t, 600, "reserved", "reserved")
	d.edited(t, swap...)
	for name, want := range lost {
		a, err := again(t, d, name, key)
		if err != nil || !bytes.Equal(a.Payload, want) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	// The charge of one request is made one of another, whose answer would have its noise.
	interrupted(t, d, "friday", key)
	q := d.request(t, another())
	q.Budget.Key, q.Budget.NoiseKey, q.Budget.Expanded = "sunday", key, true
	if _, err := release.Run(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	d.edited(t, "DROP TRIGGER IF EXISTS charge_fixed", "DROP TRIGGER IF EXISTS charge_update",
		"UPDATE charge SET request_hash = (SELECT request_hash FROM charge WHERE idempotency_key = 'sunday') WHERE idempotency_key = 'friday'")
	q = d.request(t, another())
	q.Budget.Key, q.Budget.NoiseKey, q.Budget.Expanded = "friday", key, true
	if a, err := release.Run(t.Context(), q); noren.CodeOf(err) != release.CodeNoiseKey {
		t.Errorf("got %+v, %v", a, err)
	}
}

// Copies of a ledger that go on apart. With a charge that was pending, both give its bytes and
// no others; of another file, definition or program neither has the noise. What is charged in
// each has a secret of its own, also under one key.
func TestSecretsOfCopies(t *testing.T) {
	randtest.SkipShort(t)
	key := bytes.Repeat([]byte{7}, 32)
	d := open(t, 1000, ledger.Options{})
	early := d.moment(t)
	lost := interrupted(t, d, "monday", key)
	late := d.moment(t)
	restored := d.copied(t, early)
	if other := interrupted(t, restored, "monday", key); bytes.Equal(other, lost) {
		t.Error("a restored copy draws the same secret")
	}
	a, err := again(t, d.copied(t, late), "monday", key)
	if err != nil || !bytes.Equal(a.Payload, lost) {
		t.Errorf("a copy: %+v, %v", a, err)
	}
	// Another program.
	other := d.copied(t, late)
	q := other.request(t, ask(300))
	q.Tool.Version = "2"
	q.Budget.Key, q.Budget.NoiseKey, q.Budget.Expanded = "monday", key, true
	if a, err := release.Run(t.Context(), q); err != nil || bytes.Equal(a.Payload, lost) {
		t.Errorf("another program: %+v, %v", a, err)
	}
	// Another question under the same key.
	other = d.copied(t, late)
	q = other.request(t, another())
	q.Budget.Key, q.Budget.NoiseKey, q.Budget.Expanded = "monday", key, true
	if a, err := release.Run(t.Context(), q); noren.CodeOf(err) != "conflict" {
		t.Errorf("another question: %+v, %v", a, err)
	}
	// Another version, of a changed file or of the same one.
	for text, like := range map[string]dataset.Definition{people: {AtMost: 1000}, people + "60,Kobe\n": {}} {
		other = d.copied(t, late)
		d.write(t, text)
		like.Columns = []dataset.Column{{Name: "age", Type: "integer"}, {Name: "city"}}
		def, err := like.Complete()
		if err != nil {
			t.Fatal(err)
		}
		reviewed, err := release.ReviewGrant(t.Context(), other.ledger, release.Candidate{Path: d.file, Definition: def})
		if err == nil {
			_, err = release.ConfirmGrant(t.Context(), other.ledger, release.Grant{
				Name: "people", Cap: account.Cost{Epsilon: 1000 * milli},
				OtherPeople: true, Changed: true,
			}, reviewed)
		}
		if err != nil {
			t.Fatal(err)
		}
		if a, err := again(t, other, "monday", key); noren.CodeOf(err) != "conflict" {
			t.Errorf("another version: %+v, %v", a, err)
		}
	}
	// The records in another order, and cells exchanged between them.
	for _, text := range []string{
		"age,city\n47,Kobe\n31," + secret + "\n52,Nara\n", "age,city\n31," + secret + "\n52,Kobe\n47,Nara\n",
		"city,age\n" + secret + ",31\nKobe,47\nNara,52\nNara,52\n",
	} {
		d.write(t, text)
		if a, err := again(t, d.copied(t, late), "monday", key); noren.CodeOf(err) != release.CodeWithheld {
			t.Errorf("%q: %+v, %v", text, a, err)
		}
	}
	d.write(t, people)
	if a, err = again(t, d, "monday", key); err != nil || !bytes.Equal(a.Payload, lost) {
		t.Errorf("the ledger itself: %+v, %v", a, err)
	}
}
