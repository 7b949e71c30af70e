package limit

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrShare is the error of a principal who has as many places, or waits for as many, as it may.
var ErrShare = errors.New("limit: the share of one principal is full")

// Places are places for work of which each principal gets its turn: a free place goes to the
// first one who waits among those who hold fewest. Make them with [NewPlaces].
type Places struct {
	most, share int

	mu      sync.Mutex
	held    map[string]int
	taken   int
	waiting []*visitor
}

// visitor waits for a place.
type visitor struct {
	key  string
	come chan struct{} // closed when it has a place
}

// NewPlaces makes places of which most are held at once. Of one principal at most share wait.
func NewPlaces(most, share int) *Places {
	return &Places{most: most, share: share, held: map[string]int{}}
}

// Take waits for a place for a principal until ctx ends, and returns what gives it back.
// The error is [ErrShare], or that of ctx.
func (p *Places) Take(ctx context.Context, key string) (func(), error) {
	p.mu.Lock()
	if p.taken < p.most {
		p.give(key)
		p.mu.Unlock()
		return p.back(key), nil
	}
	own := 0
	for _, v := range p.waiting {
		if v.key == key {
			own++
		}
	}
	if own >= p.share {
		p.mu.Unlock()
		return nil, ErrShare
	}
	v := &visitor{key, make(chan struct{})}
	p.waiting = append(p.waiting, v)
	p.mu.Unlock()
	select {
	case <-v.come:
		return p.back(key), nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	at := slices.Index(p.waiting, v)
	if at >= 0 {
		p.waiting = slices.Delete(p.waiting, at, at+1)
	}
	p.mu.Unlock()
	if at < 0 { // it got a place at the same moment
		p.back(key)()
	}
	return nil, ctx.Err()
}

// give counts a place. p.mu is held.
func (p *Places) give(key string) {
	p.taken++
	p.held[key]++
}

// back gives a place back, and to the next who waits.
func (p *Places) back(key string) func() {
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.taken--
		if p.held[key]--; p.held[key] == 0 {
			delete(p.held, key)
		}
		if len(p.waiting) == 0 {
			return
		}
		next := 0
		for i, v := range p.waiting {
			if p.held[v.key] < p.held[p.waiting[next].key] {
				next = i
			}
		}
		v := p.waiting[next]
		p.waiting = slices.Delete(p.waiting, next, next+1)
		p.give(v.key)
		close(v.come)
	})
}

// Shares count what goes on for each client. Make them with [NewShares].
type Shares struct {
	most int

	mu   sync.Mutex
	held map[string]int
}

// NewShares counts at most most at once for each client.
func NewShares(most int) *Shares { return &Shares{most: most, held: map[string]int{}} }

// Held is how many a client has.
func (s *Shares) Held(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[key]
}

// Take counts one more for a client, and returns what ends it; false where it has as many
// as it may.
func (s *Shares) Take(key string) (end func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[key] >= s.most {
		return nil, false
	}
	s.held[key]++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.held[key]--; s.held[key] == 0 {
			delete(s.held, key)
		}
	}), true
}
