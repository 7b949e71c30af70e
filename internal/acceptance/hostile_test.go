package acceptance

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
)

// A hostile client is a steward and an analyst in one, from one address. It does at once all
// that stopped others once.
type hostile struct {
	steward, analyst *user
	book             string
	address          string
	scale            int // how much of each, in percent of the long form
}

func (h *hostile) many(n int) int { return max(2, n*h.scale/100) }

// connections opens connections that are idle, and requests of each route that takes a body,
// whose bodies come one byte a second.
func (h *hostile) connections(ctx context.Context) {
	dial := func(text string) net.Conn {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", h.address)
		if err != nil {
			return nil
		}
		context.AfterFunc(ctx, func() { _ = c.Close() })
		_, _ = io.WriteString(c, text)
		return c
	}
	for range h.many(1100) {
		dial("")
	}
	slow := []net.Conn{}
	for _, route := range []string{
		"POST /quotes", "POST /answers", "POST /rehearsals", "POST /tables", "POST /uploads", "POST /books",
		"POST /releases", "POST /certificates/check", "POST /session/look",
	} {
		for range h.many(20) {
			method, path, _ := strings.Cut(route, " ")
			slow = append(slow, dial(fmt.Sprintf("%s /api/v1%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: "+
				"application/json\r\nIdempotency-Key: slow\r\nContent-Length: 900\r\n\r\n{", method, path, h.address, h.analyst.secret)))
		}
	}
	// A reader that reads nothing of large replies.
	for range h.many(20) {
		dial(strings.Repeat(fmt.Sprintf("GET /api/v1/openapi.json HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", h.address,
			h.analyst.secret), 50))
	}
	for ctx.Err() == nil {
		for _, c := range slow {
			if c != nil {
				_, _ = io.WriteString(c, " ")
			}
		}
		wait(ctx, time.Second)
	}
}

// uploads begins uploads that are never finished, sends damaged parts, and makes tables of files
// that are no tables.
func (h *hostile) uploads(ctx context.Context) {
	damaged := []byte("PK\x03\x04 no workbook")
	sum := sha256.Sum256(damaged)
	for i := 0; ctx.Err() == nil; i++ {
		var up struct{ ID string }
		r := h.steward.send(ctx, "POST", "/uploads", map[string]any{"name": fmt.Sprintf("a%d.xlsx", i), "size": len(damaged) + i%2})
		if r.status != 201 || json.Unmarshal(r.body, &up) != nil {
			wait(ctx, 200*time.Millisecond)
			continue
		}
		h.steward.raw(ctx, "PUT", "/uploads/"+up.ID, damaged, "Content-Type", "application/octet-stream",
			"Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(damaged)-1, len(damaged)+i%2), "Content-Digest",
			"sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":")
		h.steward.send(ctx, "POST", "/tables", map[string]any{"name": "damaged", "source": map[string]any{"kind": "upload", "upload": up.ID}})
	}
}

// curves asks for curves and previews of a recipe of its own, and deletes tables while they run.
func (h *hostile) curves(ctx context.Context, recipe, table string) {
	for i := 0; ctx.Err() == nil; i++ {
		if i < h.many(104) {
			h.steward.send(ctx, "POST", "/recipes/"+recipe+"/curve", map[string]any{})
			continue
		}
		if i == h.many(104) {
			tag := h.steward.send(ctx, "GET", "/tables/"+table, nil).header.Get("ETag")
			h.steward.send(ctx, "POST", "/recipes/"+recipe+"/preview", nil)
			h.steward.send(ctx, "DELETE", "/tables/"+table, nil, "If-Match", tag)
		}
		wait(ctx, 200*time.Millisecond)
	}
}

// payments pays 400 quotes at once, each of the longest questions.
func (h *hostile) payments(ctx context.Context, q *quote) {
	var all sync.WaitGroup
	for i := range h.many(400) {
		all.Go(func() { h.analyst.payOnce(ctx, q, fmt.Sprint("hostile", i)) })
	}
	all.Wait()
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// testHostile runs one hostile client beside an honest steward and an honest analyst, whose
// replies all succeed, and returns the times of the analyst's answers before and beside it, and
// the longer of the two time classes.
func testHostile(t *testing.T, scale, answers int) (before, beside []float64, class float64) {
	t.Helper()
	s := serve(t, "--requests-per-second", "50")
	s.fromManyAddresses()
	honest := s.steward(t)
	evil := honest.second(t, "Mori")
	good := honest.add(t, "visits.csv", visits(900, 1), nil)
	other := evil.add(t, "others.csv", visits(900, 2), setting{"name": "others", "other_people": true})
	analyst := honest.analyst(t, "Abe", good.book, setting{"epsilon": "50"})
	bought := evil.analyst(t, "Sato", other.book, setting{"epsilon": "50"})
	at, err := url.Parse(s.base)
	if err != nil {
		t.Fatal(err)
	}
	h := &hostile{steward: evil, analyst: bought, book: other.book, address: at.Host, scale: scale}
	long := make([]question, 10)
	for i := range long {
		long[i] = question{"kind": "quantile", "column": "cost", "rank": "0.5", "where": "age >= 0"}
	}
	hostileQuote := bought.quote(t, quoting(other.book, "0.000001", long...))
	var table struct {
		Table struct{ ID string }
		Job   job
	}
	evil.must(t, 202, "POST", "/tables", map[string]any{
		"name":   "gone.csv",
		"source": map[string]any{"kind": "upload", "upload": evil.upload(t, "gone.csv", []byte(visits(900, 3)))},
	}, &table)
	evil.wait(t, table.Job.ID)
	tag := evil.must(t, 200, "GET", "/tables/"+table.Table.ID, nil, nil).header.Get("ETag")
	column := func(name, kind, role string) map[string]any {
		return map[string]any{"name": name, "type": kind, "role": role}
	}
	evil.must(t, 200, "PUT", "/tables/"+table.Table.ID+"/columns", map[string]any{"missing": []string{}, "confirm": true, "columns": []any{
		column("person", "category", "identifier"), column("age", "integer", "quasi-identifier"), column("ward", "category", "quasi-identifier"),
		column("cost", "integer", "sensitive"),
	}}, nil, "If-Match", tag)
	var recipe struct{ ID string }
	evil.must(t, 201, "POST", "/tables/"+table.Table.ID+"/recipes", map[string]any{}, &recipe)

	q := analyst.quote(t, quoting(good.book, "0.001", question{"kind": "count", "where": "age >= 65"}))
	ask := func(name string) (took []float64) {
		t.Helper()
		for i := range answers {
			begun := time.Now()
			r := analyst.pay(t.Context(), q, fmt.Sprint(name, i))
			if r.err != nil || r.status != 200 {
				t.Fatalf("%s: an answer of the honest analyst: %s", name, r)
			}
			took = append(took, time.Since(begun).Seconds())
		}
		return took
	}
	before = ask("before")
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, act := range []func(){
		func() { h.connections(ctx) }, func() { h.uploads(ctx) }, func() { h.curves(ctx, recipe.ID, table.Table.ID) }, func() {
			h.payments(ctx, hostileQuote)
		},
	} {
		all.Go(act)
	}
	wait(ctx, time.Second)
	beside = ask("beside")
	// The steward reads, adds a table, and makes a recipe and a preview of it.
	for _, path := range []string{"/tables", "/books", "/jobs", "/releases", "/uploads", "/answers", "/session"} {
		honest.must(t, 200, "GET", path, nil, nil)
	}
	honest.must(t, 201, "POST", "/tables/"+good.id+"/recipes", map[string]any{}, &recipe)
	var begun job
	honest.must(t, 202, "POST", "/recipes/"+recipe.ID+"/preview", nil, &begun)
	honest.wait(t, begun.ID)
	var added struct {
		Table struct{ ID string }
		Job   job
	}
	honest.must(t, 202, "POST", "/tables", map[string]any{
		"name":   "more.csv",
		"source": map[string]any{"kind": "upload", "upload": honest.upload(t, "more.csv", []byte(visits(60, 4)))},
	}, &added)
	honest.wait(t, added.Job.ID)
	cancel()
	all.Wait()
	if r := honest.send(t.Context(), "GET", "/session", nil); r.status != http.StatusOK {
		t.Errorf("afterwards: %s", r)
	}
	return before, beside, max(q.Class, hostileQuote.Class)
}

// A hostile client leaves an honest steward and an honest analyst their replies: all succeed.
// By how much an answer is delayed, package quantum tests with a clock of its own; here the
// machine may be busy with other tests.
func TestHostileClient(t *testing.T) {
	short(t)
	testHostile(t, 5, 2)
}

// The long form: 1,100 idle connections, 104 curves, 400 payments. The middle one of an honest
// analyst's answers is delayed by at most one class, and by a third of one that the machine
// itself may be slower by.
func TestLongServedHostileClient(t *testing.T) {
	randtest.Long(t)
	before, beside, class := testHostile(t, 100, 21)
	slices.Sort(before)
	slices.Sort(beside)
	t.Logf("answers before %.2f, beside %.2f s; class %g s", before, beside, class)
	if middle := len(before) / 2; beside[middle] > before[middle]+class*4/3 {
		t.Errorf("an answer takes %.2f s beside a hostile client, %.2f s before; class %g s", beside[middle], before[middle], class)
	}
}
