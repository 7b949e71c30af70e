package ledger

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// An entry without its paths has the hash of the entry with them, under a commitment that
// a guess of the paths does not give; another body does not.
func TestGrantsWithoutPaths(t *testing.T) {
	grant := func(change func(*grantBody)) *link {
		b := &grantBody{
			Account: 1, Kind: kindDataset, Name: "d", Unit: "record", Neighbours: "add-remove", Path: "/home/ann/d.csv",
			Sources: []string{"/home/ann/e.csv"}, CapEps: 5, PathSalt: newSalt(),
		}
		change(b)
		text, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		k := &link{Seq: 2, Kind: kindGrant, Body: text, Prev: make([]byte, 32)}
		k.Hash = k.digest()
		return k
	}
	k := grant(func(*grantBody) {})
	h, err := hide(k.Kind, k.Body)
	if err != nil || h == nil || h.paths == nil {
		t.Fatalf("%+v, %v", h, err)
	}
	if strings.Contains(string(h.body), "/home") || strings.Contains(string(h.body), "path_salt") {
		t.Errorf("%s", h.body)
	}
	if got := (&link{Seq: 2, Kind: kindGrant, Body: h.body, Prev: k.Prev}).digestWith(h.paths); !bytes.Equal(got, k.Hash) {
		t.Error("the hash does not follow from what is exported")
	}
	again, err := hide(kindGrant, grant(func(*grantBody) {}).Body)
	if err != nil || bytes.Equal(again.paths, h.paths) {
		t.Error("two grants of one path have one commitment: guesses can be confirmed")
	}
	// Every field of a grant is under the hash, its paths too.
	for name, change := range map[string]func(*grantBody){
		"path": func(b *grantBody) { b.Path += "x" }, "source": func(b *grantBody) { b.Sources[0] += "x" },
		"cap": func(b *grantBody) { b.CapEps++ }, "name": func(b *grantBody) { b.Name += "x" }, "salt": func(b *grantBody) { b.PathSalt += "0" },
	} {
		var b grantBody
		if err := decodeBody(k.Body, &b); err != nil {
			t.Fatal(err)
		}
		change(&b)
		if text, err := json.Marshal(&b); err != nil || bytes.Equal((&link{Seq: 2, Kind: kindGrant, Body: text, Prev: k.Prev}).digest(), k.Hash) {
			t.Errorf("%s: another grant has the same hash, %v", name, err)
		}
	}
	if other := bytes.Replace(k.Body, []byte(`,"name"`), []byte(`, "name"`),
		1); bytes.Equal((&link{Seq: 2, Kind: kindGrant, Body: other, Prev: k.Prev}).digest(), k.Hash) {
		t.Error("other bytes have the same hash")
	}
	// One of an older ledger is hashed as it was, and leaves its paths out alike.
	old := grant(func(b *grantBody) { b.PathSalt = "" })
	if !bytes.Equal(old.Hash, old.digestWith(nil)) {
		t.Error("the hash of an older entry has changed")
	}
	if h, err = hide(old.Kind, old.Body); err != nil || h == nil || h.paths != nil || strings.Contains(string(h.body), "/home") {
		t.Errorf("%+v, %v", h, err)
	}
	// The checker takes it without its hash, and no other entry.
	c := NewExportChecker()
	create := &link{Seq: 1, Kind: kindCreate, Body: []byte(`{"ledger":"l","time":1}`), Prev: make([]byte, 32)}
	create.Hash = create.digest()
	bad := ExportEntry{Link: 1, Kind: kindCreate, Body: create.Body, Hash: [32]byte{1}, WithoutPaths: true}
	if faults := c.Entry(bad); len(faults) != 1 || !strings.Contains(faults[0].String(), "no grant") {
		t.Errorf("%q", faults)
	}
	c = NewExportChecker()
	if faults := c.Entry(ExportEntry{Link: 1, Kind: kindCreate, Body: create.Body, Hash: [32]byte(create.Hash)}); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
	e := ExportEntry{Link: 2, Kind: kindGrant, Body: h.body, Prev: [32]byte(create.Hash), Hash: [32]byte(old.Hash), WithoutPaths: true}
	if faults := c.Entry(e); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
}
