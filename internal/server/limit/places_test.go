package limit

import (
	"context"
	"errors"
	"testing"
	"time"
)

// waiters waits until as many wait.
func (p *Places) waiters(t *testing.T, n int) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		p.mu.Lock()
		have := len(p.waiting)
		p.mu.Unlock()
		if have == n {
			return
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("%d wait, want %d", have, n)
		}
	}
}

// A principal who holds all places and waits for more is behind another who comes later.
func TestPlaces(t *testing.T) {
	p := NewPlaces(2, 3)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var held []func()
	for range 2 {
		back, err := p.Take(ctx, "anna")
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, back)
	}
	came := make(chan string, 8)
	backs := make(chan func(), 8)
	ask := func(ctx context.Context, key string) {
		back, err := p.Take(ctx, key)
		if err != nil {
			came <- err.Error()
			return
		}
		backs <- back
		came <- key
	}
	for i := range 3 {
		go ask(ctx, "anna")
		p.waiters(t, i+1)
	}
	if _, err := p.Take(ctx, "anna"); !errors.Is(err, ErrShare) {
		t.Errorf("beyond the share: %v", err)
	}
	gone, leave := context.WithCancel(ctx)
	go ask(gone, "mori")
	p.waiters(t, 4)
	leave()
	if got := <-came; got != context.Canceled.Error() {
		t.Errorf("one who left got %s", got)
	}
	go ask(ctx, "mori")
	p.waiters(t, 4)
	held[0]()
	held[0]() // once
	if got := <-came; got != "mori" {
		t.Errorf("%s is next", got)
	}
	held[1]()
	for range 3 {
		<-came
		(<-backs)()
	}
	for range 1 {
		(<-backs)()
	}
	p.waiters(t, 0)
	if p.taken != 0 || len(p.held) != 0 {
		t.Errorf("%d places are taken, %v", p.taken, p.held)
	}
}

func TestSharesOfClients(t *testing.T) {
	s := NewShares(2)
	first, ok := s.Take("a")
	_, ok2 := s.Take("a")
	if _, over := s.Take("a"); !ok || !ok2 || over {
		t.Error("expected two of one client")
	}
	if _, ok := s.Take("b"); !ok {
		t.Error("expected another client to have its own")
	}
	first()
	first()
	if _, ok := s.Take("a"); !ok {
		t.Error("expected what ended to be counted no more")
	}
	if _, over := s.Take("a"); over {
		t.Error("what ended is counted off twice")
	}
}
