package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
)

// The forms of the printed steps, as they are read by the person on the machine.
var (
	stepMove      = regexp.MustCompile(`^move (\S+) to another place`)
	stepPut       = regexp.MustCompile(`^put the newest copy of (.+) back$`)
	stepAccept    = regexp.MustCompile(`noren serve accept --dir (\S+)`)
	stepReconcile = regexp.MustCompile(`noren ledger reconcile --ledger (\S+)`)
)

// A follower goes the printed ways back in a folder, with copies of one moment, or without any.
type follower struct {
	cfg    Config
	copies *moment
	log    []string
}

// round starts the server, and follows what it prints where it is sealed. again says that an
// earlier way with the copies did not help.
func (f *follower) round(t *testing.T, again bool) (sealed string) {
	t.Helper()
	s, err := New(t.Context(), f.cfg)
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(f.log, "\n"), err)
	}
	reason, steps := s.Sealed(), s.WayBack()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if reason == "" {
		return ""
	}
	f.log = append(f.log, "sealed: "+string(reason))
	for _, step := range steps {
		f.step(t, s, step.String(), again)
	}
	return string(reason)
}

// step follows one printed step.
func (f *follower) step(t *testing.T, s *Server, step string, again bool) {
	t.Helper()
	f.log = append(f.log, "  "+step)
	if m := stepMove.FindStringSubmatch(step); m != nil {
		if err := os.Remove(m[1]); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return
	}
	if m := stepPut.FindStringSubmatch(step); m != nil {
		for path := range strings.SplitSeq(m[1], ", ") {
			f.put(t, path)
		}
		return
	}
	accept, reconcile := stepAccept.FindStringSubmatch(step), stepReconcile.FindStringSubmatch(step)
	var err error
	switch {
	case accept != nil && (!strings.HasPrefix(step, "where ") || f.copies == nil || again):
		if err = Accept(t.Context(), accept[1]); err != nil {
			f.log = append(f.log, "  failed: "+err.Error())
		}
		// What fails says what comes before it.
		reconcile = stepReconcile.FindStringSubmatch(hint(err))
		if err == nil || reconcile == nil {
			return
		}
		f.log = append(f.log, "  hint: "+hint(err))
		reconciled(t, s)
		if err = Accept(t.Context(), accept[1]); err != nil {
			f.log = append(f.log, "  failed: "+err.Error())
		}
	case reconcile != nil:
		reconciled(t, s)
	}
}

// hint is what an error says to do about it.
func hint(err error) string {
	var e *noren.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Advice().String()
}

// put puts the copy of a file back, where there is one.
func (f *follower) put(t *testing.T, path string) {
	t.Helper()
	if f.copies == nil {
		return
	}
	name, err := filepath.Rel(f.cfg.Dir, path)
	if err != nil {
		t.Fatal(err)
	}
	for _, with := range []string{"", "-wal"} { // a copy holds the files beside a database
		if text, has := f.copies.files[filepath.ToSlash(name)+with]; has {
			if err := os.WriteFile(path+with, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// waysOf are the moments from which the parts of a folder come, and the copies that the person has.
type waysOf struct{ store, ledger, audit, copies int }

func (w waysOf) String() string {
	return fmt.Sprintf("store %d ledger %d audit %d copies %d", w.store, w.ledger, w.audit, w.copies)
}

// waysHour is an hour of three moments with payments between them.
func waysHour(t *testing.T, anchor bool) *hour {
	h := newHour(t)
	if !anchor {
		h.cfg.Anchor = ""
	}
	steps := h.steps()
	h.run(false, func(s *steward) { steps[0](s); steps[3](s) })
	h.run(true, func(s *steward) { h.pay("two"); steps[2](s); steps[8](s) })
	h.run(false, func(s *steward) { h.pay("three"); h.pay("four"); steps[4](s) })
	return h
}

const hourCost = 50_000_000 // of each answer, in 1e-9 of epsilon

// follow makes a folder of parts of several moments, follows what its server prints, and checks
// that it changes again, and that what was answered, then and afterwards, is spent.
func (h *hour) follow(t *testing.T, w waysOf) {
	cfg := h.cfg
	cfg.Dir = filepath.Join(t.TempDir(), "server")
	latest := max(w.store, w.ledger, w.audit)
	of := map[string]int{partStore: w.store, partLedger: w.ledger, partAudit: w.audit}
	for at, m := range h.moments {
		for name, text := range m.files {
			from, main := of[partOf(name)]
			if name == "anchor" || main && from != at || !main && at != latest {
				continue
			}
			path := filepath.Join(cfg.Dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if cfg.Anchor != "" {
		if err := os.WriteFile(cfg.Anchor, h.moments[latest].files["anchor"], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := &follower{cfg: cfg}
	if w.copies >= 0 {
		f.copies = h.moments[w.copies]
	}
	for rounds := 0; f.round(t, rounds > 0) != ""; rounds++ {
		if rounds == 5 {
			t.Fatalf("stays sealed:\n%s", strings.Join(f.log, "\n"))
		}
	}
	h.given(t, cfg, latest, strings.Join(f.log, "\n"))
}

// given checks a server that changes again.
func (h *hour) given(t *testing.T, cfg Config, latest int, log string) {
	t.Helper()
	r := start(t, func(c *Config) { *c = cfg; c.Listen, c.Admin = "127.0.0.1:0", "127.0.0.1:0" })
	r.principals, r.addresses = unlimited(), unlimited()
	if reason := r.Sealed(); reason != "" {
		t.Fatal(reason)
	}
	given := map[string]bool{}
	for _, p := range h.moments[latest].paid {
		given[payloadOf(t, p.reply)] = true
	}
	check := func(when string) {
		t.Helper()
		if spent := spentOf(t, r.Server); spent < int64(len(given))*hourCost {
			t.Errorf("%s: %d answers were given, and %d is spent:\n%s", when, len(given), spent, log)
		}
	}
	check("after the way")
	secret, _, err := r.Host().Token(t.Context(), h.a.id, "after", 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for key, p := range h.moments[latest].paid {
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
			b := r.ask(t, "POST", "/api/v1/answers", secret, p.body, idempotency(key))
			if b.status == 202 && time.Now().Before(deadline) {
				continue
			}
			if b.status == 200 {
				given[payloadOf(t, b.body)] = true
			}
			break
		}
		check("answer " + key)
	}
}

func payloadOf(t *testing.T, reply string) string {
	t.Helper()
	var got struct{ Payload string }
	if err := json.Unmarshal([]byte(reply), &got); err != nil || got.Payload == "" {
		t.Fatalf("%v: %s", err, reply)
	}
	return got.Payload
}

// spentOf is what the ledger of a server says of all its data sets.
func spentOf(t *testing.T, s *Server) (spent int64) {
	t.Helper()
	known, err := s.kept.Known(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Epsilon int64 `json:"epsilon_nano"`
	}
	if err := json.Unmarshal(known.Spent, &all); err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		spent += one.Epsilon
	}
	return spent
}

// TestPrintedWays is the small form of [TestLongPrintedWays].
func TestPrintedWays(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	h := waysHour(t, false)
	for _, w := range []waysOf{
		{0, 0, 2, -1}, {0, 1, 2, 0}, {1, 1, 2, 0}, {0, 2, 0, 1}, // server.db is older
		{2, 0, 0, -1}, {2, 2, 1, 0}, // the audit log is
		{2, 1, 2, -1},
	} {
		t.Run(w.String(), func(t *testing.T) { h.follow(t, w) })
	}
}

// TestLongPrintedWays follows the printed way of each mixture of three moments, with copies of
// each moment and without any, with an anchor and without.
func TestLongPrintedWays(t *testing.T) {
	randtest.Long(t)
	for _, anchor := range []bool{false, true} {
		h := waysHour(t, anchor)
		for i := range 27 {
			w := waysOf{store: i / 9, ledger: i / 3 % 3, audit: i % 3}
			if w.store == w.ledger && w.ledger == w.audit {
				continue
			}
			for w.copies = -1; w.copies < 3; w.copies++ {
				t.Run(fmt.Sprintf("anchor %t %s", anchor, w), func(t *testing.T) { h.follow(t, w) })
			}
		}
	}
}
