//go:build unix

package server

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/cputime"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/auth"
)

// pendings are answers that were charged, and whose server was killed.
type pendings struct {
	here    func(*Config)
	dir     string
	s       *steward
	a       *asker
	tried   map[string]string // the tokens of the quotes, by the Idempotency-Key
	charged []string          // the keys of those that are pending
}

// pending kills a server between the charges of some requests and their answers.
func pending(t *testing.T) *pendings {
	t.Helper()
	p := &pendings{dir: filepath.Join(t.TempDir(), "server")}
	p.here = func(c *Config) { c.Dir, c.RequestsPerSecond, c.AnswersPerMinute = p.dir, -1, -1 }
	r := start(t, p.here)
	p.s = r.steward(t)
	p.a = p.s.opened(t, smallBook(p.s.people(t, 60, "pending").ID))
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestAnswersThatAreKilled$", "-test.timeout", "60s")
	c.Env = append(os.Environ(), killedAnswers+"="+strings.Join([]string{p.dir, p.a.secret, p.a.book.ID, "0"}, " "),
		killedStep+"=computed 1", "TMPDIR="+t.TempDir())
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the process was not killed: %v\n%s", err, out)
	}
	p.tried = pairs(t, p.dir+"-tried")
	return p
}

// restart starts the server again.
func (p *pendings) restart(t *testing.T) *running {
	t.Helper()
	r := start(t, p.here)
	p.s, p.a = &steward{r, p.s.secret}, &asker{&steward{r, p.a.secret}, p.a.id, p.a.book}
	return r
}

// send sends the request with a key again.
func (p *pendings) send(t *testing.T, key string) *answer {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(300 * time.Millisecond) {
		b := p.a.ask(t, "POST", "/api/v1/answers", p.a.secret,
			map[string]any{"quote": p.tried[key], "most": map[string]string{"epsilon": "0.0001", "delta": "0"}}, idempotency(key))
		if b.status != 202 || time.Now().After(deadline) {
			return b
		}
	}
}

// states are those of the questions that were stored, by the ids of their answers.
func (p *pendings) states(t *testing.T, r *running) map[string]string {
	t.Helper()
	out := map[string]string{}
	p.charged = nil
	for key := range p.tried {
		if kept, err := r.store.QuestionByKey(t.Context(), keyOf(p.a.id, key)); err == nil {
			out[kept.ID] = string(kept.State)
			p.charged = append(p.charged, key)
		}
	}
	return out
}

// stored waits until all answers that were pending are stored.
func (p *pendings) stored(t *testing.T, r *running) map[string]string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		states, open := p.states(t, r), 0
		for _, s := range states {
			if s != "answered" {
				open++
			}
		}
		if open == 0 && len(states) > 0 {
			return states
		}
		if time.Now().After(deadline) {
			t.Fatalf("the answers are %v", states)
		}
	}
}

// spentIs compares what the book has spent with that number of answers.
func (p *pendings) spentIs(t *testing.T, answers int) {
	t.Helper()
	v, err := strconv.ParseFloat((&asker{steward: p.s, book: p.a.book}).shown(t).Spent.Epsilon, 64)
	if want := 0.0001 * float64(answers); err != nil || v < want-1e-9 || v > want+1e-9 {
		t.Errorf("spent %g, %v; %d answers were charged", v, err, answers)
	}
}

// Answers that were pending at a restart, and whose principal lost its token, its role on the
// table or its place meanwhile: they are computed and stored for those who may read them, cost
// nothing more, and are not given to that principal until it may read them again.
func TestPendingAnswerOfAnEndedTokenOrRole(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	for name, of := range lapses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pending(t)
			h, err := OpenHost(t.Context(), p.dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := of.lapse(h, p.a); err != nil {
				t.Fatal(err)
			}
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			r := p.restart(t)
			states := p.stored(t, r)
			p.spentIs(t, len(states))
			for id := range states {
				for path := "/api/v1/answers/" + id; ; time.Sleep(200 * time.Millisecond) {
					b := p.s.ask(t, "GET", path, p.s.secret, nil, nil)
					if b.status == 200 {
						break
					}
					if b.status != 202 { // before the boundary of its reply
						t.Fatalf("%d %s", b.status, b.body)
					}
				}
				p.a.do(t, of.status, "GET", "/answers/"+id, nil, nil)
				p.a.do(t, of.status, "GET", "/answers/"+id+"/certificate", nil, nil)
			}
			for key := range p.tried {
				if b := p.send(t, key); b.status != of.status || strings.Contains(b.body, "certificate") {
					t.Errorf("%d %s", b.status, strings.TrimSpace(b.body))
				}
			}
			p.spentIs(t, len(states))
			switch of.status {
			case 404:
				if err := r.Host().Grant(t.Context(), p.a.id, auth.Analyst, p.a.book.Table, false); err != nil {
					t.Fatal(err)
				}
			case 401:
				secret, _, err := r.Host().Token(t.Context(), p.a.id, "new", 1, nil)
				if err != nil {
					return // the principal has ended
				}
				p.a.secret = secret
			}
			for _, key := range p.charged {
				if b := p.send(t, key); b.status != 200 {
					t.Errorf("%d %s", b.status, strings.TrimSpace(b.body))
				}
			}
			p.spentIs(t, len(states))
		})
	}
}

// Answers that are pending wait while the signing key or the key to the noise is missing, is
// another, or cannot be read. Nothing is forfeited, and the key put back gives them.
func TestPendingAnswersWithoutTheKeys(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	away := func(path string) error { return os.Rename(path, path+".away") }
	for name, of := range map[string]struct {
		key    string
		change func(path string) error
		sealed bool
	}{
		"the signing key is missing":       {"key.pem", away, true},
		"the key to the noise is missing":  {"noise.pem", away, false},
		"the key to the noise is a folder": {"noise.pem", func(path string) error { return firstOf(away(path), os.Mkdir(path, 0o700)) }, false},
		"the key to the noise is a link": {
			"noise.pem", func(path string) error { return firstOf(away(path), os.Symlink(path+".away", path)) },
			false,
		},
		"the key to the noise is damaged": {
			"noise.pem",
			func(path string) error { return firstOf(away(path), os.WriteFile(path, []byte("x"), 0o600)) }, false,
		},
		"the key to the noise is forbidden": {
			"noise.pem",
			func(path string) error { return firstOf(away(path), os.WriteFile(path, []byte("x"), 0)) }, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pending(t)
			path := filepath.Join(p.dir, "key", of.key)
			if err := of.change(path); err != nil {
				t.Fatal(err)
			}
			r := p.restart(t)
			if sealed := r.Sealed(); (sealed != "") != of.sealed {
				t.Errorf("sealed: %s", sealed)
			}
			time.Sleep(1500 * time.Millisecond) // a class, in which they would be answered
			states := p.states(t, r)
			for _, key := range p.charged {
				if b := p.send(t, key); b.status < 400 || strings.Contains(b.body, "forfeited") {
					t.Errorf("%d %s", b.status, strings.TrimSpace(b.body))
				}
			}
			if fmt.Sprint(p.states(t, r)) != fmt.Sprint(states) || len(states) == 0 || strings.Contains(fmt.Sprint(states), "withheld") ||
				strings.Contains(fmt.Sprint(states), "answered") {
				t.Errorf("before %v, after %v", states, p.states(t, r))
			}
			if err := r.stop(); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(path+".away", path); err != nil {
				t.Fatal(err)
			}
			r = p.restart(t)
			states = p.stored(t, r) // a sealed server keeps those too that were killed before their charge
			for _, key := range p.charged {
				if b := p.send(t, key); b.status != 200 {
					t.Errorf("%d %s", b.status, strings.TrimSpace(b.body))
				}
			}
			p.spentIs(t, len(states))
		})
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// What reading the file of an answer takes is not in the bound of its computation, also where the
// answer is computed after a restart: columns are not in memory then.
func TestPendingAnswerOfALongFile(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	p := pending(t)
	here := p.here
	var read atomic.Int64
	p.here = func(c *Config) {
		here(c)
		c.Fault = func(step string) error {
			if step == "reserved" {
				m := cputime.Start()
				m.Spend(700*time.Millisecond, nil)
				m.Stop()
				read.Add(1)
			}
			return nil
		}
	}
	r := p.restart(t)
	states := p.stored(t, r)
	if passed := r.desk.Counts().Passed; passed != 0 || read.Load() == 0 {
		t.Errorf("%d answers, %d read: %d used more than their bounds", len(states), read.Load(), passed)
	}
}
