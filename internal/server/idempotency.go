package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
)

// inFlight are the requests with an Idempotency-Key that are being answered.
type inFlight struct {
	mu   sync.Mutex
	keys map[[3]string]bool
}

func (f *inFlight) begin(key [3]string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keys[key] {
		return false
	}
	if f.keys == nil {
		f.keys = map[[3]string]bool{}
	}
	f.keys[key] = true
	return true
}

func (f *inFlight) end(key [3]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.keys, key)
}

// longestKey is the length of the longest Idempotency-Key, in bytes.
const longestKey = 200

// once answers a request with an Idempotency-Key: of several with one key and one body do
// runs for the first alone, and the others get the same answer. With another body the
// error is a conflict, and so is a request that comes while the first is being answered.
// Errors are not kept: a request that failed may be sent again. body is the request's
// body as it was decoded.
func once[O any](ctx context.Context, s *Server, c *call, key string, body any, do func() (*O, error)) (out *O, replayed bool, err error) {
	if key == "" || len(key) > longestKey {
		p := problem.New("invalid", "expected a header Idempotency-Key of 1 to 200 bytes")
		return nil, false, p.Hinted("send a new random text with each new request, and the same one when you repeat it")
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, false, err
	}
	hash := sha256.Sum256(text)
	name := [3]string{c.actor.ID, c.route, key}
	if !s.inFlight.begin(name) {
		p := problem.New("conflict", "A request with this key is being answered.")
		p.RetryAfter = 1
		return nil, false, p
	}
	defer s.inFlight.end(name)
	kept, err := s.store.FindAnswer(ctx, name[0], name[1], name[2])
	switch {
	case err == nil && !bytes.Equal(kept.BodyHash, hash[:]):
		return nil, false, problem.New("conflict", "A request with this key and another body was answered.").
			Hinted("use a new key for a new request")
	case err == nil:
		out = new(O)
		return out, true, json.Unmarshal(kept.Body, out)
	case !errors.Is(err, store.ErrNotFound):
		return nil, false, err
	}
	if out, err = do(); err != nil {
		return nil, false, err
	}
	if text, err = json.Marshal(out); err != nil {
		return nil, false, err
	}
	// The answer is kept even if the client has gone: it will ask again.
	err = s.store.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx *store.Tx) error {
		return tx.KeepAnswer(ctx, name[0], name[1], name[2], &store.Answer{BodyHash: hash[:], Status: http.StatusOK, Body: text})
	})
	return out, false, err
}
