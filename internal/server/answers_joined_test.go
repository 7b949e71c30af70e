//go:build unix

package server

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/questions"
)

// Clients that wait for one answer that a killed server had charged get the same bytes at one
// charge: two that ask again at the restart, one that comes while the answer is computed, one that
// fetches it by its id, and one that comes when it is stored. Another principal of the book under
// the same key has a request of its own, with its own charge, and reads the answer that is shared.
func TestJoinedPendingAnswer(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	p := pending(t)
	here := p.here
	computing, goOn := make(chan struct{}, 16), make(chan struct{})
	p.here = func(c *Config) {
		here(c)
		c.Fault = func(step string) error {
			if step == "read" {
				computing <- struct{}{}
				<-goOn
			}
			return nil
		}
	}
	r := p.restart(t)
	states := p.states(t, r)
	ids := slices.Sorted(maps.Keys(states))
	if len(p.charged) == 0 {
		t.Fatal("no answer is pending")
	}
	other := p.a.second(t, p.s, "Kimura")
	key := p.charged[0]
	kept, err := r.store.QuestionByKey(t.Context(), keyOf(p.a.id, key))
	if err != nil {
		t.Fatal(err)
	}
	replies, first := make(chan *answer, 8), make(chan *answer, 8)
	var group sync.WaitGroup
	join := func() {
		group.Go(func() {
			first <- p.a.ask(t, "POST", "/api/v1/answers", p.a.secret,
				map[string]any{"quote": p.tried[key], "most": map[string]string{"epsilon": "0.0001", "delta": "0"}}, idempotency(key))
			replies <- p.send(t, key)
		})
	}
	join()
	join()
	<-computing
	join()
	// Another request under the key of one that is pending.
	if b := p.a.ask(t, "POST", "/api/v1/answers", p.a.secret,
		map[string]any{"quote": p.tried[key], "most": map[string]string{"epsilon": "0.0002", "delta": "0"}},
		idempotency(key)); b.code() != "conflict" {
		t.Errorf("another request under the key: %d %s", b.status, b.body)
	}
	if b := p.a.ask(t, "GET", "/api/v1/answers/"+kept.ID, p.a.secret, nil, nil); b.status != 202 && b.code() != "conflict" {
		t.Errorf("fetched while it is computed: %d %s", b.status, b.body)
	}
	time.Sleep(100 * time.Millisecond)
	close(goOn)
	group.Wait()
	close(first)
	for b := range first {
		if b.status != 200 && b.status != 202 {
			t.Errorf("joined: %d %s", b.status, b.body)
		}
	}
	close(replies)
	whole := p.send(t, key)
	if whole.status != 200 {
		t.Fatalf("%d %s", whole.status, whole.body)
	}
	for b := range replies {
		if b.status != 200 || b.body != whole.body {
			t.Errorf("%d, and other bytes: %s", b.status, b.body)
		}
	}
	if all := p.stored(t, r); !slices.Equal(slices.Sorted(maps.Keys(all)), ids) {
		t.Errorf("answers %v, before %v", all, ids)
	}
	p.spentIs(t, len(ids))
	// The other principal.
	var own, read, shared questions.Answer
	whole.decode(t, &own)
	other.do(t, 200, "GET", "/answers/"+own.ID, nil, nil).decode(t, &read)
	if read.Payload != own.Payload || string(read.Certificate) != string(own.Certificate) {
		t.Errorf("the shared answer is another: %s, %s", read.Payload, own.Payload)
	}
	other.pay(t, 200, other.quote(t, "0.0001", "age >= 30"), key).decode(t, &shared)
	if shared.ID == own.ID || shared.N == own.N || string(shared.Certificate) == string(own.Certificate) {
		t.Errorf("another principal under the key has entry %d of answer %s, as the first one: %d", shared.N, shared.ID, own.N)
	}
	p.spentIs(t, len(ids)+1)
	for _, other := range ids {
		if other != own.ID && strings.Contains(whole.body, other) {
			t.Errorf("the answer names another one: %s", other)
		}
	}
}
