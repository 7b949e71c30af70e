package server

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/internal/server/tables"
	"github.com/noren-privacy/noren/service"
)

// The parts of a folder. A part is a set of files that are copied together.
const (
	partStore  = "server.db"
	partLedger = "ledger"
	partAudit  = "audit log"
	partKey    = "signing key"
	partNoise  = "noise key"
	partFiles  = "files of tables"
	partLock   = "lock"
	partAnchor = "anchor"
)

// partOf is the part that a file of the folder belongs to.
func partOf(name string) string {
	switch {
	case strings.HasPrefix(name, "server.db"):
		return partStore
	case strings.HasPrefix(name, "ledger.db"):
		return partLedger
	case name == "audit.log":
		return partAudit
	case name == "key/key.pem":
		return partKey
	case strings.HasPrefix(name, "key/"):
		return partNoise
	case strings.HasPrefix(name, "lock"):
		return partLock
	case name == "anchor":
		return partAnchor
	}
	return partFiles
}

// A moment is a folder as it was, and what was true then.
type moment struct {
	files map[string][]byte // by the path within the folder; "anchor" is the anchor
	dump  string            // what server.db holds, without times of use
	known *service.Known    // the ledger
	audit int64             // the last entry of the audit log
	ended map[string]bool   // credentials that had ended
	paid  map[string]paidAnswer
	key   string // the id of the key in use
}

type paidAnswer struct {
	body  map[string]any // of the request
	reply string
}

// hour is a folder over which acts of a busy hour run.
type hour struct {
	t       *testing.T
	cfg     Config
	moments []*moment
	ended   map[string]bool
	paid    map[string]paidAnswer
	a       *asker // its server is the one that runs
	tokens  map[string]string
	cookie  *http.Cookie
}

func newHour(t *testing.T) *hour {
	h := &hour{t: t, cfg: config(t), ended: map[string]bool{}, paid: map[string]paidAnswer{}, tokens: map[string]string{}}
	h.cfg.RequestsPerSecond, h.cfg.AnswersPerMinute = -1, -1
	h.cfg.Anchor = filepath.Join(t.TempDir(), "anchor")
	return h
}

// run runs the server for a step and keeps the moment after it. A killed step is copied
// while the server runs.
func (h *hour) run(killed bool, do func(s *steward)) {
	h.t.Helper()
	r := start(h.t, func(c *Config) { *c = h.cfg })
	if reason := r.Sealed(); reason != "" {
		h.t.Fatal(reason)
	}
	s := &steward{r, ""}
	r.principals, r.addresses = unlimited(), unlimited()
	if h.a != nil {
		s.secret = h.tokens["Anna"]
		h.a = &asker{&steward{r, h.a.secret}, h.a.id, h.a.book}
	}
	do(s)
	if killed {
		h.keep(r)
	}
	if err := r.stop(); err != nil {
		h.t.Fatal(err)
	}
	if !killed {
		h.keep(nil)
	}
}

// keep keeps the folder as it is now.
func (h *hour) keep(r *running) {
	h.t.Helper()
	m := &moment{files: map[string][]byte{}, ended: map[string]bool{}, paid: map[string]paidAnswer{}}
	copyAll := func() error {
		return filepath.WalkDir(h.cfg.Dir, func(path string, d fs.DirEntry, err error) error {
			name, _ := filepath.Rel(h.cfg.Dir, path)
			name = filepath.ToSlash(name)
			if err != nil || d.IsDir() || strings.HasPrefix(name, "work/") || strings.HasSuffix(name, "-shm") {
				return err
			}
			m.files[name], err = os.ReadFile(path)
			return err
		})
	}
	var err error
	if r == nil {
		err = copyAll()
	} else { // no process writes server.db meanwhile
		err = r.store.Write(h.t.Context(), func(context.Context, *store.Tx) error { return copyAll() })
	}
	if err != nil {
		h.t.Fatal(err)
	}
	if h.cfg.Anchor != "" {
		if m.files["anchor"], err = os.ReadFile(h.cfg.Anchor); err != nil {
			h.t.Fatal(err)
		}
	}
	for k, v := range h.ended {
		m.ended[k] = v
	}
	for k, v := range h.paid {
		m.paid[k] = v
	}
	h.moments = append(h.moments, m)
	if r != nil {
		h.truth(m, r.Server)
		return
	}
	s, err := New(h.t.Context(), h.cfg)
	if err != nil {
		h.t.Fatal(err)
	}
	h.truth(m, s)
	if err := s.Close(); err != nil {
		h.t.Fatal(err)
	}
}

// truth notes what a sound server says of the moment.
func (h *hour) truth(m *moment, s *Server) {
	h.t.Helper()
	m.dump = dumpStore(h.t, s.path("server.db"))
	var err error
	if m.known, err = s.kept.Known(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	m.audit, _ = s.audit.Head()
	m.key = s.keyID()
}

// dumpStore is what a store holds, without the times of use and what it has seen.
func dumpStore(t *testing.T, path string) string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var b strings.Builder
	for _, query := range []string{
		"SELECT 'principal', id || name || coalesce(ended, '') FROM principal", "SELECT 'grant', principal || object || role FROM role_grant",
		"SELECT 'token', id || principal || (revoked IS NULL) FROM token", "SELECT 'session', hex(hash) FROM session",
		"SELECT 'link', hex(hash) || (used IS NULL) FROM link",
		"SELECT 'key', id || (until IS NULL) FROM signing_key", "SELECT 'certificate', id FROM certificate",
		"SELECT 'resource', id || kind || version || doc FROM resource WHERE kind <> 'job'",
		"SELECT 'answer', request_key || state || coalesce(hex(body), '') FROM answer",
		"SELECT 'refusal', n || doc FROM refusal", "SELECT 'asking', book || principal FROM asking_ended", "SELECT 'alert', n || book FROM alert",
	} {
		rows, err := db.QueryContext(t.Context(), query+" ORDER BY 2")
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var kind, row string
			if err := rows.Scan(&kind, &row); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&b, kind, row)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// pay pays a count under a key, and keeps the reply.
func (h *hour) pay(key string) {
	h.t.Helper()
	q := h.a.quote(h.t, "0.05", "age >= 65")
	reply := h.a.pay(h.t, 200, q, key)
	h.paid[key] = paidAnswer{map[string]any{"quote": q.Token, "most": q.Cost}, reply.body}
}

// steps are the acts of a busy hour.
func (h *hour) steps() []func(s *steward) {
	t := h.t
	return []func(s *steward){
		func(s *steward) {
			*s = *s.running.steward(t)
			h.tokens["Anna"] = s.secret
			h.a = s.opened(t, smallBook(s.people(t, 60, "hour").ID))
			for _, name := range []string{"Kimura", "Mori"} {
				h.tokens[name] = s.token(t, name, auth.Analyst, h.a.book.Table)
			}
			h.cookie = s.signInAs(t, "Anna")
			h.pay("one")
		},
		func(*steward) { h.pay("two") },
		func(s *steward) { // one entry of the audit log
			var all page[tokenBody]
			second := s.ask(t, "GET", "/api/v1/tokens", h.tokens["Kimura"], nil, nil)
			second.decode(t, &all)
			if a := s.ask(t, "DELETE", "/api/v1/tokens/"+all.Items[0].ID, h.tokens["Kimura"], nil, nil); a.status != 204 {
				t.Fatalf("%d %s", a.status, a.body)
			}
			h.ended["Kimura"] = true
		},
		func(s *steward) {
			s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, "more.csv", people(40, "more"))})
			s.do(t, 201, "POST", "/uploads", map[string]any{"name": "unfinished.csv", "size": 100}, nil)
		},
		func(s *steward) {
			if err := s.Host().EndPrincipal(t.Context(), "Mori"); err != nil {
				t.Fatal(err)
			}
			h.ended["Mori"] = true
		},
		func(*steward) { h.pay("three"); h.pay("four") },
		func(s *steward) {
			recipe := s.recipe(t, h.a.book.Table, nil)
			s.release(t, recipe.ID, s.preview(t, recipe.ID))
		},
		func(s *steward) { // a sign-out
			if a := s.ask(t, "DELETE", "/api/v1/session", "", nil, with(h.cookie)); a.status != 204 {
				t.Fatalf("%d %s", a.status, a.body)
			}
			h.ended["session"] = true
		},
		func(s *steward) {
			s.do(t, 200, "PUT", "/books/"+h.a.book.ID+"/accounts/"+h.a.id, map[string]any{"epsilon": "2.5"}, nil)
		},
		func(*steward) { h.pay("five") },
	}
}

// put makes the folder anew, with each part as from says.
func (h *hour) put(from func(name string) []byte, names []string) {
	h.t.Helper()
	if err := os.RemoveAll(h.cfg.Dir); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Mkdir(h.cfg.Dir, 0o700); err != nil {
		h.t.Fatal(err)
	}
	_ = os.Remove(h.cfg.Anchor)
	for _, name := range names {
		text := from(name)
		if text == nil {
			continue
		}
		path := filepath.Join(h.cfg.Dir, filepath.FromSlash(name))
		if name == "anchor" {
			path = h.cfg.Anchor
		} else if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			h.t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			h.t.Fatal(err)
		}
	}
}

// names are the files of any of the moments.
func namesOf(all ...*moment) []string {
	var out []string
	for _, m := range all {
		for name := range m.files {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// mix makes a folder of two moments: the parts in early are of the earlier one.
func (h *hour) mix(early, late *moment, parts map[string]bool) {
	h.put(func(name string) []byte {
		if parts[partOf(name)] {
			return early.files[name]
		}
		return late.files[name]
	}, namesOf(early, late))
}

// try opens the folder, and checks what it does against the later moment. wrong are the parts
// that a seal may name.
func (h *hour) try(what string, late *moment, wrong map[string]bool) (sealed string) {
	t := h.t
	t.Helper()
	s, err := New(t.Context(), h.cfg)
	if err != nil {
		if noren.KindOf(err) == noren.Internal || s != nil || !namesPart(err.Error(), wrong) {
			t.Errorf("%s: %v", what, err)
		}
		return err.Error()
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}()
	s.calibration.Store(&api.Calibration{})
	s.loopback, s.principals, s.addresses, s.failures = true, unlimited(), unlimited(), unlimited()
	reason := string(s.Sealed())
	ask := func(method, path, secret string, body any, change func(*http.Request)) *httptest.ResponseRecorder {
		t.Helper()
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		if body == nil {
			text = nil
		}
		req := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1/api/v1"+path, bytes.NewReader(text))
		if body != nil {
			req.Header.Set("Content-Type", "application/json")
		}
		if secret != "" {
			req.Header.Set("Authorization", "Bearer "+secret)
		}
		if change != nil {
			change(req)
		}
		out := httptest.NewRecorder()
		s.handler.ServeHTTP(out, req)
		return out
	}
	for name := range late.ended {
		a := ask("GET", "/tokens", h.tokens[name], nil, nil)
		if name == "session" {
			a = ask("GET", "/tokens", "", nil, with(h.cookie))
		}
		if a.Code == 200 {
			t.Errorf("%s: what had ended of %s is taken; sealed: %q", what, name, reason)
		}
	}
	before, err := s.kept.Known(t.Context())
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return reason
	}
	for key, p := range late.paid {
		a := ask("POST", "/answers", h.a.secret, p.body, idempotency(key))
		if reason == "" && (a.Code != 200 || a.Body.String() != p.reply) {
			t.Errorf("%s: answer %s again: %d %s", what, key, a.Code, a.Body)
		}
		if reason != "" && a.Code == 200 && a.Body.String() != p.reply {
			t.Errorf("%s: answer %s of a sealed server has other bytes", what, key)
		}
	}
	after, err := s.kept.Known(t.Context())
	if err != nil || after.Seq != before.Seq {
		t.Errorf("%s: what was paid is paid again: %v; sealed: %q", what, err, reason)
	}
	if reason != "" {
		if !namesPart(reason, wrong) {
			t.Errorf("%s: the reason is %q", what, reason)
		}
		if _, err := s.signer(); err == nil && wrong[partKey] && s.keyID() != late.key {
			t.Errorf("%s: another key signs", what)
		}
		return reason
	}
	if dump := dumpStore(t, s.path("server.db")); dump != late.dump && !wrong["content of server.db"] {
		t.Errorf("%s: not complete and not sealed:\n%s", what, difference(late.dump, dump))
	}
	if err := s.kept.Compare(t.Context(), late.known, "the test knows"); err != nil {
		t.Errorf("%s: not sealed, and %v", what, err)
	}
	// An act is noted after it was done: a kill between the two leaves a ledger without the entry.
	if n, _ := s.audit.Head(); n < late.audit-1 {
		t.Errorf("%s: %d entries of the audit log, want %d", what, n, late.audit)
	}
	if s.keyID() != late.key {
		t.Errorf("%s: another key signs", what)
	}
	return reason
}

// namesPart reports whether a reason names one of the parts.
func namesPart(reason string, parts map[string]bool) bool {
	for part, words := range map[string][]string{
		partStore: {"server.db is", "server.db:", "store"}, partLedger: {"ledger is"}, partAnchor: {"ledger is", "anchor"}, partAudit: {
			"audit log is",
		}, partKey: {"signing key is", "key.pem"},
	} {
		if parts[part] && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(reason), w) }) {
			return true
		}
	}
	return false
}

// difference is the first line in which two texts differ.
func difference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("want %.200s\ngot  %.200s", a[i], strings.Join(b[min(i, len(b)-1):min(i+1, len(b))], ""))
		}
	}
	return "more lines"
}

// same reports whether a part says the same at two moments.
func (h *hour) same(early, late *moment, part string) bool {
	switch part {
	case partLedger:
		return early.known.Seq == late.known.Seq
	case partAudit:
		return early.audit == late.audit
	case partStore:
		return early.dump == late.dump
	}
	return false
}

// mainParts are those of which one of the later moment is enough.
var mainParts = []string{partStore, partLedger, partAudit}

// mixPair mixes the parts of two moments. beside are parts that are mixed too.
func (h *hour) mixPair(i, j int, beside []string) {
	early, late := h.moments[i], h.moments[j]
	all := append(slices.Clone(mainParts), beside...)
	for set := 1; set < 1<<len(all); set++ {
		parts := map[string]bool{}
		var names []string
		for k, part := range all {
			if set&(1<<k) != 0 {
				parts[part] = true
				names = append(names, part)
			}
		}
		// What is the same at both moments is not of the later one.
		older := func(part string) bool { return parts[part] || h.same(early, late, part) }
		if older(partStore) && older(partLedger) && older(partAudit) {
			continue
		}
		h.mix(early, late, parts)
		h.try(fmt.Sprintf("moments %d and %d, earlier: %s", i+1, j+1, strings.Join(names, ", ")), late, parts)
	}
	// All three of the earlier moment are a restored copy: the anchor tells it, where
	// the ledger has another entry.
	if early.known.Seq == late.known.Seq {
		return
	}
	h.mix(early, late, map[string]bool{partStore: true, partLedger: true, partAudit: true})
	if sealed := h.try(fmt.Sprintf("moments %d and %d, all three earlier", i+1, j+1), early, map[string]bool{partLedger: true}); sealed == "" {
		h.t.Errorf("moments %d and %d: a restored copy is taken, although the anchor is newer", i+1, j+1)
	}
}

// damages are ways in which a part of a folder is not what it was.
func damages() map[string]func(text []byte) [][]byte {
	return map[string]func(text []byte) [][]byte{
		"deleted": func([]byte) [][]byte { return [][]byte{nil} },
		"emptied": func([]byte) [][]byte { return [][]byte{{}} },
		"cut": func(text []byte) [][]byte {
			return [][]byte{text[:len(text)/2], text[:len(text)-min(1, len(text))], text[:len(text)*9/10]}
		},
		"flipped": func(text []byte) (out [][]byte) {
			for _, at := range []int{0, len(text) / 3, len(text) / 2, len(text) - 2} {
				if at >= 0 && at < len(text) {
					f := bytes.Clone(text)
					f[at] ^= 0x41
					out = append(out, f)
				}
			}
			return out
		},
	}
}

// damage damages each part of a moment, each way in most versions.
func (h *hour) damage(m *moment, most int) {
	for _, part := range []string{partStore, partLedger, partAudit, partKey, partNoise, partFiles, partLock, partAnchor} {
		for how, damaged := range damages() {
			versions := 0
			for _, name := range namesOf(m) {
				if partOf(name) == part {
					versions = max(versions, len(damaged(m.files[name])))
				}
			}
			for v := range min(versions, most) {
				h.put(func(name string) []byte {
					text := m.files[name]
					if all := damaged(text); partOf(name) == part && len(text) > 0 {
						return all[min(v, len(all)-1)]
					}
					return text
				}, namesOf(m))
				h.try(fmt.Sprintf("%s %s (%d)", part, how, v), m, map[string]bool{part: true, "content of server.db": part == partStore &&
					how == "flipped"})
			}
		}
	}
}

// TestFolderOfMixedMoments is the small form of [TestLongMixedFolders].
func TestFolderOfMixedMoments(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	h := newHour(t)
	steps := h.steps()
	h.run(false, func(s *steward) { steps[0](s); steps[3](s) })
	h.run(false, func(s *steward) { steps[2](s); steps[7](s); steps[8](s) })
	h.run(true, steps[1])
	h.mixPair(0, 1, nil)
	h.mixPair(1, 2, nil)
	h.damage(h.moments[2], 1)
}

// The parts of a folder at ten moments of a busy hour are mixed, and each of them is deleted,
// emptied, cut and flipped. Where one of server.db, ledger and audit log is of the later
// moment, the server starts with all that was, or sealed with a reason that names an older
// part. It pays nothing twice, takes no credential that had ended, and signs with no other key.
func TestLongMixedFolders(t *testing.T) {
	randtest.Long(t)
	h := newHour(t)
	for i, step := range h.steps() {
		h.run(i%3 != 1, step)
	}
	for j := range h.moments {
		for i := range j {
			h.mixPair(i, j, []string{partKey, partFiles})
		}
	}
	for _, m := range []*moment{h.moments[0], h.moments[5], h.moments[9]} {
		h.damage(m, 8)
	}
}
