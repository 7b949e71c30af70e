// Package limit limits rates of requests (GCRA), connections, and the slowness of bodies.
package limit

import (
	"sync"
	"time"
)

// A Rate limits the events of each key by the generic cell rate algorithm: Burst at once,
// and then one each Every. It forgets keys whose burst is full again. Its methods may be
// called by several goroutines.
type Rate struct {
	every time.Duration
	burst int

	mu    sync.Mutex
	full  map[string]time.Time // when the burst of a key is full again
	swept time.Time
}

// maxKeys is how many keys a Rate holds. Beyond it, keys that are not held are refused:
// memory stays bounded under a flood of addresses.
const maxKeys = 1 << 16

// NewRate makes a Rate of burst events at once and then one each every.
func NewRate(every time.Duration, burst int) *Rate {
	return &Rate{every: every, burst: burst, full: map[string]time.Time{}}
}

// Allow counts an event of key at a time. If there are too many it counts nothing and
// returns how long to wait.
func (r *Rate) Allow(key string, now time.Time) (ok bool, wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep(now)
	full, held := r.full[key]
	if !held && len(r.full) >= maxKeys {
		return false, r.every
	}
	// A time that ran back locks no key out for longer than a full burst takes.
	if most := now.Add(time.Duration(r.burst) * r.every); full.After(most) {
		full = most
	}
	if full.Before(now) {
		full = now
	}
	next := full.Add(r.every)
	if over := next.Sub(now) - time.Duration(r.burst)*r.every; over > 0 {
		return false, over
	}
	r.full[key] = next
	return true, 0
}

// sweep forgets keys whose burst is full again, at most once a second.
func (r *Rate) sweep(now time.Time) {
	if d := now.Sub(r.swept); d >= 0 && d < time.Second {
		return
	}
	r.swept = now
	for key, full := range r.full {
		if full.Before(now) {
			delete(r.full, key)
		}
	}
}
