// Package audit keeps the audit log of a server: who asked for what, and with which
// outcome. It holds no answers, no data and no addresses.
//
// The log is a file of JSON lines. Each line holds the hash of the line before it, and
// the last hash (the head) is also in the server's store: a line that is changed, left
// out, added or moved is found, and so is a log that was cut short. An attacker who can
// write both the log and the store can replace both; a signed export that is kept
// elsewhere reveals that.
package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/server/store"
)

// Entry is one line of the log.
type Entry struct {
	// N is the number of the entry, from 1.
	N int64 `json:"n" doc:"The number of the entry, from 1."`
	// At is when it was written, RFC 3339 in UTC.
	At string `json:"at" doc:"When it was written, RFC 3339 in UTC."`
	// Actor is the id of the principal; "host" for a command on the server's machine,
	// "server" for the server itself, "" for a request without a sign-in.
	Actor string `json:"actor" doc:"The id of the principal; host for a command on the server's machine, server for the server itself, empty for a request without a sign-in."`
	// Role is the role by which the actor was allowed; "" where none was needed.
	Role string `json:"role" doc:"The role by which the actor was allowed; empty where none was needed."`
	// Action names what was asked for, as in table.confirm.
	Action string `json:"action" doc:"What was asked for, as in table.confirm."`
	// Route is the method and the pattern of the address.
	Route string `json:"route" doc:"The method and the pattern of the address."`
	// Object is the id of the object; "" for none.
	Object string `json:"object" doc:"The id of the object; empty for none."`
	// Outcome is "ok" or the code of the error.
	Outcome string `json:"outcome" doc:"ok, or the code of the error."`
	// RequestID is a random id of the request.
	RequestID string `json:"request_id" doc:"The random id of the request."`
	// Detail are public facts of the request: codes, ids, names and amounts, and the beginning of what a refused
	// question asked, in English. No texts with arguments stand beside: an entry is hashed as it is, each version of the
	// program checks that it has this form alone, and what a list shows of it is what its hash is of.
	Detail map[string]string `json:"detail,omitempty" doc:"Public facts of the request, such as its parameters."`
}

// IDs are the ids of what the entry is about: who acted, the object, and those of its details.
func (e *Entry) IDs() (ids []string) {
	for _, text := range append([]string{e.Actor, e.Object}, slices.Sorted(maps.Values(e.Detail))...) {
		if prefix, _, _ := strings.Cut(text, "_"); store.ValidID(prefix, text) {
			ids = append(ids, text)
		}
	}
	return ids
}

// line is an entry as it is written.
type line struct {
	Entry
	Prev string `json:"prev"`
	Hash string `json:"hash"`
}

// Hash is a link of the chain.
type Hash = [sha256.Size]byte

// body is the hash of what an entry says.
func (e *Entry) body() (Hash, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return Hash{}, err
	}
	return sha256.Sum256(append([]byte("noren.audit.entry/1\n"), text...)), nil
}

// next is the hash of a line: of the hash before it, its number and its body.
func next(prev Hash, n int64, body Hash) Hash {
	h := sha256.New()
	fmt.Fprintf(h, "noren.audit.link/1\n%d\n", n)
	h.Write(prev[:])
	h.Write(body[:])
	return Hash(h.Sum(nil))
}

// encode is the line of an entry after prev, with its newline.
func encode(e *Entry, prev Hash) ([]byte, Hash, error) {
	body, err := e.body()
	if err != nil {
		return nil, Hash{}, err
	}
	h := next(prev, e.N, body)
	text, err := json.Marshal(line{*e, hex.EncodeToString(prev[:]), hex.EncodeToString(h[:])})
	return append(text, '\n'), h, err
}

// decode reads a line without its newline, and checks that it is number n after prev.
func decode(text []byte, n int64, prev Hash) (*Entry, Hash, error) {
	bad := func(what noren.Text) (*Entry, Hash, error) {
		return nil, Hash{}, &noren.Error{
			Kind: noren.NotMet, Where: noren.Textf("audit log: entry %d", n), What: what.Format, Args: what.Args,
			Hint: "keep the file as evidence; a signed export shows what it held",
		}
	}
	var l line
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil {
		return bad(noren.Textf("does not have the form of an entry"))
	}
	again, h, err := encode(&l.Entry, prev)
	if err != nil {
		return bad(noren.Textf("does not have the form of an entry"))
	}
	if l.N != n {
		return bad(noren.Textf("expected entry %d, got entry %d", n, l.N))
	}
	if !bytes.Equal(again[:len(again)-1], text) {
		return bad(noren.Textf("was changed, or an entry before it was changed or left out"))
	}
	if _, err := time.Parse(time.RFC3339, l.At); err != nil {
		return bad(noren.Textf("has no time"))
	}
	return &l.Entry, h, nil
}
