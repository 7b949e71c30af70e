package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/internal/server/limit"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/questions"
	"github.com/noren-privacy/noren/internal/server/tables"
)

// shown is the book as the asker sees it.
func (a *asker) shown(t *testing.T) *books.Book {
	t.Helper()
	b := &books.Book{}
	a.do(t, 200, "GET", "/books/"+a.book.ID, nil, nil).decode(t, b)
	return b
}

// entries are the newest entries of the book as the asker sees them.
func (a *asker) entries(t *testing.T, query string) []books.BookEntry {
	t.Helper()
	var p page[books.BookEntry]
	a.do(t, 200, "GET", "/books/"+a.book.ID+"/entries"+query, nil, nil).decode(t, &p)
	return p.Items
}

// One key from many clients at once: one charge, and the same bytes to all.
func TestOneKeyOneCharge(t *testing.T) {
	t.Parallel()
	_, a := opened(t, nil)
	q := a.quote(t, "0.01", "age >= 65")
	const clients = 200
	var bodies [clients]string
	var wait sync.WaitGroup
	for i := range clients {
		wait.Go(func() { bodies[i] = a.pay(t, 200, q, "same").body })
	}
	wait.Wait()
	for i := range clients {
		if bodies[i] != bodies[0] {
			t.Fatalf("clients got different bytes:\n%s\n%s", bodies[0], bodies[i])
		}
	}
	if spent := a.shown(t).Spent.Epsilon; spent != "0.01" {
		t.Errorf("spent %s", spent)
	}
	if n := len(a.entries(t, "?state=released")); n != 1 {
		t.Errorf("%d charges", n)
	}
}

// Many clients against a cap: exactly as many are paid as it covers.
func TestManyClientsOneCap(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	_, a := opened(t, nil)
	q := a.quote(t, "0.1", "age >= 65") // the account has 2
	var paid, refused atomic.Int64
	var wait sync.WaitGroup
	for i := range 60 {
		wait.Go(func() {
			b := a.ask(t, "POST", "/api/v1/answers", a.secret, map[string]any{"quote": q.Token, "most": q.Cost}, idempotency(fmt.Sprint("key ", i)))
			for to := b.header.Get("Location"); b.status == 202; { // the machine of the test may be slow
				time.Sleep(200 * time.Millisecond)
				b = a.ask(t, "GET", to, a.secret, nil, nil)
			}
			switch {
			case b.status == 200:
				paid.Add(1)
			case b.status == 409 && b.code() == "budget-refused":
				refused.Add(1)
			default:
				t.Errorf("%d %s", b.status, b.body)
			}
		})
	}
	wait.Wait()
	if paid.Load() != 20 || refused.Load() != 40 {
		t.Errorf("%d paid, %d refused", paid.Load(), refused.Load())
	}
	if b := a.shown(t); b.Spent.Epsilon != "2" || b.Accounts[0].Left.Epsilon != "0" {
		t.Errorf("%+v", b)
	}
	if n := len(a.entries(t, "?limit=500")) - len(a.entries(t, "?state=refused&limit=500")); n < 20 {
		t.Errorf("%d charges", n)
	}
}

// A charged question without an answer: the reply leaves at the boundary with the length of
// an answer, is the same for each request with its key, and the charge stays.
func TestWithheld(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	var fail atomic.Bool
	_, a := opened(t, func(c *Config) {
		c.Fault = func(step string) error {
			if step == "noise" && fail.Load() {
				return errors.New("the random source fails: secret-canary")
			}
			return nil
		}
	})
	q := a.quote(t, "0.1", "age >= 65")
	good := a.pay(t, 200, q, "good")
	fail.Store(true)
	begun := time.Now()
	bad := a.pay(t, 422, q, "bad")
	if took := time.Since(begun); took < 500*time.Millisecond {
		t.Errorf("the failure left after %s", took)
	}
	if bad.code() != "withheld" || len(bad.body) != len(good.body) || strings.Contains(bad.body, "canary") {
		t.Errorf("%d bytes, an answer has %d: %s", len(bad.body), len(good.body), strings.TrimSpace(bad.body))
	}
	fail.Store(false)
	if again := a.pay(t, 422, q, "bad"); again.body != bad.body {
		t.Errorf("the same key: %s", again.body)
	}
	var p problem.Problem
	bad.decode(t, &p)
	if got := a.do(t, 422, "GET", "/answers/"+p.RequestID, nil, nil); got.body != bad.body {
		t.Errorf("fetched: %s", got.body)
	}
	if b := a.shown(t); b.Spent.Epsilon != "0.2" {
		t.Errorf("spent %s", b.Spent.Epsilon)
	}
	if e := a.entries(t, ""); e[0].State != "forfeited" || e[0].Answer != "" || e[1].Answer == "" {
		t.Errorf("%+v", e)
	}
	var lines page[questions.AnswerLine]
	if a.do(t, 200, "GET", "/answers?book="+a.book.ID, nil, nil).decode(t, &lines); len(lines.Items) != 1 {
		t.Errorf("%+v", lines)
	}
}

// An answer that misses its class: a notice at the boundary, nothing to be seen of it until
// four times the class, and the answer then.
func TestMissed(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	var slow atomic.Bool
	_, a := opened(t, func(c *Config) {
		c.Fault = func(step string) error {
			if step == "computed" && slow.Load() {
				time.Sleep(700 * time.Millisecond)
			}
			return nil
		}
	})
	q := a.quote(t, "0.1", "age >= 65")
	slow.Store(true)
	begun := time.Now()
	notice := a.pay(t, 202, q, "slow")
	var n waitBody
	if notice.decode(t, &n); n.Seconds < 1 || n.Seconds > 2 || notice.header.Get("Location") != n.Location ||
		notice.header.Get("Retry-After") == "" || time.Since(begun) < 500*time.Millisecond {
		t.Errorf("%s %v after %s", notice.body, notice.header, time.Since(begun))
	}
	for time.Since(begun) < 1400*time.Millisecond { // by the end of it the work is done
		if e := a.entries(t, ""); time.Since(begun) < 1900*time.Millisecond && e[0].State != "reserved" {
			t.Errorf("after %s the entry says %s", time.Since(begun), e[0].State)
		}
		if b := a.do(t, 202, "GET", "/answers/"+n.ID, nil, nil); b.header.Get("Retry-After") == "" {
			t.Errorf("%v", b.header)
		}
		if b := a.pay(t, 202, q, "slow"); b.header.Get("Location") != n.Location {
			t.Errorf("%v", b.header)
		}
		if quoted := a.quote(t, "0.1", "age >= 65"); quoted.Stored != nil {
			t.Error("a quote tells of the answer")
		}
		time.Sleep(100 * time.Millisecond)
	}
	a.pay(t, 200, q, "slow")
	if took := time.Since(begun); took < 2*time.Second {
		t.Errorf("the answer left after %s", took)
	}
	var out questions.Answer
	if a.do(t, 200, "GET", "/answers/"+n.ID, nil, nil).decode(t, &out); out.Cost.Epsilon != "0.1" || len(out.Questions) != 1 {
		t.Errorf("%+v", out)
	}
	if a.shown(t).Spent.Epsilon != "0.1" || a.desk.Counts().Missed != 1 {
		t.Errorf("spent %s, %+v", a.shown(t).Spent.Epsilon, a.desk.Counts())
	}
}

// Refusals leave at once, read nothing, and are entries of the book.
func TestRefused(t *testing.T) {
	t.Parallel()
	s, a := opened(t, nil)
	reads := s.kept.Reads()
	dear := a.quote(t, "2.5", "age >= 65")
	p := &problem.Problem{}
	a.pay(t, 409, dear, "dear").decode(t, p)
	if c := a.desk.Counts(); c.Released != 0 {
		t.Errorf("the refusal waited for a boundary: %+v", c)
	}
	if p.Code != "budget-refused" || p.Account != "Sato" || p.Asked.Epsilon != "2.5" || p.Left.Epsilon != "2" || p.Short.Epsilon != "0.5" {
		t.Errorf("%+v", p)
	}
	if s.kept.Reads() != reads || a.shown(t).Spent.Epsilon != "0" {
		t.Errorf("%d reads, spent %s", s.kept.Reads(), a.shown(t).Spent.Epsilon)
	}
	q := a.quote(t, "0.1", "age >= 65")
	for name, c := range map[string]struct {
		status int
		code   string
		body   map[string]any
		key    string
	}{
		"no key":         {422, "invalid", map[string]any{"quote": q.Token, "most": q.Cost}, ""},
		"a token of air": {422, "invalid", map[string]any{"quote": "e30.e30", "most": q.Cost}, "k"},
		"less than cost": {422, "invalid", map[string]any{"quote": q.Token, "most": map[string]string{"epsilon": "0.09"}}, "k"},
		"another field":  {422, "invalid", map[string]any{"quote": q.Token, "most": q.Cost, "x": 1}, "k"},
	} {
		if b := a.ask(t, "POST", "/api/v1/answers", a.secret, c.body, idempotency(c.key)); b.status != c.status || b.code() != c.code {
			t.Errorf("%s: %d %s", name, b.status, b.body)
		}
	}
	// Of another principal, even of a steward.
	if b := s.ask(t, "POST", "/api/v1/answers", s.secret, map[string]any{"quote": q.Token, "most": q.Cost},
		idempotency("k")); b.status != 422 {
		t.Errorf("%d %s", b.status, b.body)
	}
	e := a.entries(t, "")
	if len(e) == 0 || e[0].Kind != "refused" || e[0].State != "refused" || e[0].Refused.Short.Epsilon != "0.5" || e[0].N != 0 {
		t.Errorf("%+v", e)
	}
	s.do(t, 200, "DELETE", "/books/"+a.book.ID+"/accounts/"+a.id, nil, nil)
	if b := a.pay(t, 409, q, "closed"); b.code() != "closed" {
		t.Errorf("%s", b.body)
	}
}

// A quote expires, and is refused once the schema of the book is another.
func TestQuotesEnd(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	var ahead atomic.Int64
	s, a := opened(t, func(c *Config) {
		c.defaults()
		wall := c.Clock.Wall
		c.Clock.Wall = func() time.Time { return wall().Add(time.Duration(ahead.Load())) }
	})
	q := a.quote(t, "0.1", "age >= 65")
	a.pay(t, 200, q, "before")
	table := s.table(t, a.book.Table)
	s.confirm(t, table, func(b *tables.Stated) {
		for i := range b.Columns {
			if b.Columns[i].Name == "age" {
				b.Columns[i].Bounds = []string{"0", "120"}
			}
		}
	})
	if b := s.books0(t); !b.Outdated {
		t.Errorf("%+v", b)
	}
	s.finish(t, s.do(t, 202, "POST", "/books/"+a.book.ID+"/version", map[string]any{"confirm": true}, nil))
	if b := s.books0(t); b.Version != 2 || !slices.ContainsFunc(b.Columns,
		func(c books.DefinedColumn) bool { return c.Name == "city" && len(c.Keys) == 2 }) || b.Outdated || b.Spent.Epsilon != "0.1" {
		t.Errorf("%+v", b)
	}
	if b := a.pay(t, 409, q, "after"); b.code() != "quote-outdated" {
		t.Errorf("%s", b.body)
	}
	if b := a.pay(t, 200, q, "before"); b.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("%s", b.body)
	}
	q = a.quote(t, "0.1", "age >= 65")
	ahead.Store(int64(16 * time.Minute))
	if b := a.pay(t, 410, q, "late"); b.code() != "quote-expired" {
		t.Errorf("%s", b.body)
	}
	if b := s.books0(t); b.Spent.Epsilon != "0.1" {
		t.Errorf("spent %s", b.Spent.Epsilon)
	}
}

// books0 is the only book, as the steward sees it.
func (s *steward) books0(t *testing.T) *books.Book {
	t.Helper()
	var p page[books.Book]
	if s.do(t, 200, "GET", "/books", nil, nil).decode(t, &p); len(p.Items) != 1 {
		t.Fatalf("%d books", len(p.Items))
	}
	return &p.Items[0]
}

// After its table is deleted a book can be read and not asked.
func TestBookOfDeletedTable(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	s, a := opened(t, nil)
	q := a.quote(t, "0.1", "age >= 65")
	var out questions.Answer
	a.pay(t, 200, q, "one").decode(t, &out)
	s.do(t, 204, "DELETE", "/tables/"+a.book.Table, nil, match(etag(s.table(t, a.book.Table).Version)))
	if b := s.books0(t); !b.Deleted || b.Spent.Epsilon != "0.1" {
		t.Errorf("%+v", b)
	}
	if n := count(t, s.path("books")); n != 0 {
		t.Errorf("%d copies stay", n)
	}
	if b := a.pay(t, 409, q, "two"); b.code() != "conflict" {
		t.Errorf("%s", b.body)
	}
	a.do(t, 200, "GET", "/answers/"+out.ID, nil, nil)
	a.do(t, 200, "GET", "/answers/"+out.ID+"/certificate", nil, nil)
	if e := a.entries(t, ""); len(e) == 0 {
		t.Error("no entries")
	}
}

// A server whose ledger was put back from a copy starts sealed: it pays nothing, says so,
// and reads go on.
func TestSealedLedger(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	cfg := config(t)
	cfg.RequestsPerSecond, cfg.AnswersPerMinute = -1, -1
	r := start(t, func(to *Config) { *to = cfg })
	s := r.steward(t)
	a := s.opened(t, smallBook(s.people(t, 60, "x").ID))
	a.pay(t, 200, a.quote(t, "0.1", "age >= 65"), "one")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(filepath.Join(cfg.Dir, "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	again := func() *asker {
		r = start(t, func(to *Config) { *to = cfg })
		return &asker{&steward{r, a.secret}, a.id, a.book}
	}
	a = again()
	q := a.quote(t, "0.1", "age >= 65")
	a.pay(t, 200, q, "two")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"-wal", "-shm"} {
		_ = os.Remove(filepath.Join(cfg.Dir, "ledger.db"+end))
	}
	if err := os.WriteFile(filepath.Join(cfg.Dir, "ledger.db"), old, 0o600); err != nil {
		t.Fatal(err)
	}
	a = again()
	if b := a.pay(t, 503, q, "three"); b.code() != "sealed" {
		t.Errorf("%s", b.body)
	}
	var session sessionBody
	if a.do(t, 200, "GET", "/session", nil, nil).decode(t, &session); !session.Server.Sealed || session.Server.SealedReason == "" {
		t.Errorf("%+v", session)
	}
	if b := a.shown(t); !b.Sealed || b.SealedReason == nil {
		t.Errorf("%+v", b)
	}
	var p page[questions.AnswerLine]
	if a.do(t, 200, "GET", "/answers", nil, nil).decode(t, &p); len(p.Items) != 2 {
		t.Errorf("%d answers", len(p.Items))
	}
	a.do(t, 200, "GET", "/answers/"+p.Items[0].ID, nil, nil)
	if b := a.ask(t, "POST", "/api/v1/quotes", a.secret,
		map[string]any{"book": a.book.ID, "questions": []any{map[string]any{"kind": "count", "pay": map[string]string{"epsilon": "0.1"}}}},
		nil); b.status != 503 {
		t.Errorf("%d %s", b.status, b.body)
	}
}

// Alerts come at 50, 80 and 100 percent of a cap, once each, and are in the audit log.
func TestAlerts(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	s, a := opened(t, nil)
	for i, epsilon := range []string{"1", "0.5", "0.2", "0.3"} {
		a.pay(t, 200, a.quote(t, epsilon, "age >= 65"), fmt.Sprint(i))
	}
	var got []string
	for _, b := range s.books0(t).Alerts {
		account := "book"
		if b.Account == a.id {
			account = "own"
		}
		got = append(got, fmt.Sprint(account, " ", b.Level))
	}
	if text := strings.Join(got, ", "); text != "own 100, own 80, book 50, own 50" && text != "own 100, book 50, own 80, own 50" {
		t.Errorf("%s", text)
	}
	log := s.do(t, 200, "GET", "/audit?action=book.alert", nil, nil)
	if n := strings.Count(log.body, `"book.alert"`); n != 4 {
		t.Errorf("%d entries: %s", n, log.body)
	}
	if a.shown(t).Alerts != nil {
		t.Error("an analyst sees alerts")
	}
}

// An analyst sees nothing of another analyst, or of private facts of a table.
func TestAnalystsApart(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	s, a := opened(t, nil)
	var out questions.Answer
	a.pay(t, 200, a.quote(t, "0.1", "age >= 65"), "one").decode(t, &out)
	second := &asker{steward: &steward{s.running, s.token(t, "Kimura", auth.Analyst, "tb_aaaaaaaaaaaaaaaa")}, book: a.book}
	second.id = s.principal(t, "Kimura")
	missing := func(path string) {
		t.Helper()
		theirs := second.ask(t, "GET", "/api/v1"+path, second.secret, nil, nil)
		none := second.ask(t, "GET", "/api/v1"+path[:strings.Index(path, "_")+1]+"cccccccccccccccc"+path[strings.Index(path, "_")+17:],
			second.secret, nil, nil)
		if theirs.status != 404 || none.status != 404 || unnamed(theirs.body) != unnamed(none.body) || len(theirs.body) != len(none.body) {
			t.Errorf("%s: %d %s, an unknown id %d %s", path, theirs.status, theirs.body, none.status, none.body)
		}
	}
	for _, path := range []string{
		"/books/" + a.book.ID, "/books/" + a.book.ID + "/entries", "/books/" + a.book.ID + "/spend",
		"/answers/" + out.ID, "/answers/" + out.ID + "/certificate", "/answers/" + out.ID + "/file",
	} {
		missing(path)
	}
	quote := func(book string) *answer {
		return second.ask(t, "POST", "/api/v1/quotes", second.secret,
			map[string]any{"book": book, "questions": []any{map[string]any{"kind": "count", "pay": map[string]string{"epsilon": "0.1"}}}}, nil)
	}
	if x, y := quote(a.book.ID), quote("bk_cccccccccccccccc"); x.status != 404 || unnamed(x.body) != unnamed(y.body) {
		t.Errorf("%d %s, an unknown book %d %s", x.status, x.body, y.status, y.body)
	}
	// With an account: the book, nothing of the first analyst but shared answers.
	s.do(t, 200, "PUT", "/books/"+a.book.ID+"/accounts/"+second.id, map[string]any{"epsilon": "1"}, nil)
	if b := second.shown(t); len(b.Accounts) != 1 || b.Accounts[0].Principal != second.id || b.Entries != nil || b.Forfeited != nil {
		t.Errorf("%+v", b)
	}
	if e := second.entries(t, ""); len(e) != 1 || e[0].Kind != "account" && e[0].Kind != "charge" {
		for _, one := range e {
			if one.Account == nil || one.Account.ID != second.id {
				t.Errorf("%+v", one)
			}
		}
	}
	if e := second.entries(t, "?account="+a.id); len(e) != 0 {
		t.Errorf("%+v", e)
	}
	var read questions.Answer
	if second.do(t, 200, "GET", "/answers/"+out.ID, nil, nil).decode(t, &read); read.Left != nil || read.By != "Sato" {
		t.Errorf("%+v", read)
	}
	text := second.do(t, 200, "GET", "/tables/"+a.book.Table, nil, nil).body + second.do(t, 200, "GET", "/tables", nil, nil).body +
		second.do(t, 200, "GET", "/books", nil, nil).body
	for _, private := range []string{`"rows"`, `"persons"`, `"missing":1`, `"distinct":1`} {
		if strings.Contains(text, private) {
			t.Errorf("an analyst sees %s: %s", private, text)
		}
	}
}

func TestAnswersPerMinute(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	_, a := opened(t, func(c *Config) { c.AnswersPerMinute = 2 })
	q := a.quote(t, "0.01", "age >= 65")
	for _, key := range []string{"one", "two"} { // a busy machine may miss the class
		if b := a.ask(t, "POST", "/api/v1/answers", a.secret, map[string]any{"quote": q.Token, "most": q.Cost},
			idempotency(key)); b.status != http.StatusOK && b.status != http.StatusAccepted {
			t.Fatalf("%s: %d %s", key, b.status, b.body)
		}
	}
	if b := a.ask(t, "POST", "/api/v1/answers", a.secret, map[string]any{"quote": q.Token, "most": q.Cost},
		idempotency("three")); b.status != http.StatusTooManyRequests || b.header.Get("Retry-After") == "" {
		t.Errorf("%d %v", b.status, b.header)
	}
	// What was accepted is fetched and repeated as often as requests may be sent: that is no
	// new answer.
	for _, key := range []string{"one", "two", "one", "two"} {
		b := a.ask(t, "POST", "/api/v1/answers", a.secret, map[string]any{"quote": q.Token, "most": q.Cost}, idempotency(key))
		if b.status != http.StatusOK && b.status != http.StatusAccepted {
			t.Errorf("%s again: %d %s", key, b.status, b.body)
		}
		var at struct{ ID string }
		b.decode(t, &at)
		if g := a.ask(t, "GET", "/api/v1/answers/"+at.ID, a.secret, nil, nil); g.status != http.StatusOK && g.status != http.StatusAccepted {
			t.Errorf("%s is fetched: %d %s", key, g.status, g.body)
		}
	}
	if b := a.ask(t, "POST", "/api/v1/answers", a.secret, map[string]any{"quote": q.Token, "most": q.Cost},
		idempotency("four")); b.status != http.StatusTooManyRequests {
		t.Errorf("a new answer: %d", b.status)
	}
	// Repeating has a bound of its own.
	a.principals = limit.NewRate(time.Minute, 3)
	got := 0
	for range 6 {
		if b := a.ask(t, "POST", "/api/v1/answers", a.secret, map[string]any{"quote": q.Token, "most": q.Cost},
			idempotency("one")); b.status == http.StatusTooManyRequests {
			got++
		}
	}
	if got == 0 {
		t.Error("repeating has no bound")
	}
}

// A quote reads no data and writes nothing.
func TestQuotesAreFree(t *testing.T) {
	t.Parallel()
	s, a := opened(t, nil)
	a.quote(t, "0.1", "age >= 65")
	reads := s.kept.Reads()
	state := func() string {
		text := ""
		for _, name := range []string{"server.db", "server.db-wal", "ledger.db", "ledger.db-wal", "audit.log", "ledger.db.head"} {
			if info, err := os.Stat(s.path(name)); err == nil {
				text += fmt.Sprint(name, info.Size(), info.ModTime(), "\n")
			}
		}
		return text
	}
	// The files may be brought in order meanwhile, once: a quote that writes does so each time.
	before, after := state(), ""
	for range 3 {
		for range 20 {
			a.quote(t, "0.1", "age >= 65", "age < 20")
		}
		after = state()
		if after == before {
			break
		}
		before, after = after, before
	}
	if after != before || s.kept.Reads() != reads {
		t.Errorf("%d reads; files before and after:\n%s\n%s", s.kept.Reads(), before, after)
	}
	var raw json.RawMessage
	a.do(t, 200, "POST", "/quotes", map[string]any{
		"book": a.book.ID, "questions": []any{map[string]any{"kind": "count"}},
		"margin": []any{map[string]any{"within": 30}},
	}, nil).decode(t, &raw)
}
