package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/limit"
	"github.com/noren-privacy/noren/internal/server/records"
	"github.com/noren-privacy/noren/internal/server/store"
)

// Behind a proxy, whose connections have no share, the requests of one client that are being
// answered leave places to others. A client is an address, of IPv6 a network of 64 bits.
func TestRequestsOfOneClientBehindAProxy(t *testing.T) {
	t.Parallel()
	r := start(t, func(c *Config) {
		c.Connections, c.Proxies, c.Hosts = 32, prefixes(t, "127.0.0.0/8"), []string{"noren.example.org"}
		c.Slowness = limit.Slowness{Grace: time.Hour, BytesPerSecond: 1, Write: time.Minute}
	})
	address := strings.TrimPrefix(r.base, "http://")
	send := func(from, request string) net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		if _, err := fmt.Fprintf(c, request, from); err != nil {
			t.Fatal(err)
		}
		return c
	}
	const slow = "POST /api/v1/session/look HTTP/1.1\r\nHost: noren.example.org\r\nX-Forwarded-For: %s\r\nContent-Type: " +
		"application/json\r\nContent-Length: 9\r\n\r\n{"
	const whole = "GET /api/v1/server HTTP/1.1\r\nHost: noren.example.org\r\nX-Forwarded-For: %s\r\nConnection: close\r\n\r\n"
	status := func(from string) int {
		t.Helper()
		res, err := http.ReadResponse(bufio.NewReader(send(from, whole)), nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	for i, client := range [][]string{
		{"203.0.113.9", "::ffff:203.0.113.9", "198.51.100.1, 203.0.113.9"},
		{"2001:db8::1", "2001:db8::ffff:2"},
	} {
		for n := range 8 {
			send(client[n%len(client)], slow)
		}
		for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
			if status(client[0]) == http.StatusTooManyRequests {
				break
			}
			if time.Since(begun) > time.Minute {
				t.Fatalf("client %d: no request is refused", i)
			}
		}
		for _, from := range client[1:] {
			if got := status(from); got != http.StatusTooManyRequests {
				t.Errorf("the same client as %s: %d", from, got)
			}
		}
	}
	for _, other := range []string{"203.0.113.10", "2001:db8:0:1::1"} {
		if got := status(other); got != http.StatusOK {
			t.Errorf("%s: %d", other, got)
		}
	}
}

// Slow requests of one principal, and those without a sign-in, leave places to the others at their address.
func TestRequestsOfOnePrincipalAtAnAddress(t *testing.T) {
	t.Parallel()
	r := start(t, func(c *Config) {
		c.Connections, c.Proxies, c.Hosts = 128, prefixes(t, "127.0.0.0/8"), []string{"noren.example.org"}
		c.RequestsPerSecond = -1
		c.Slowness = limit.Slowness{Grace: time.Hour, BytesPerSecond: 1, Write: time.Minute}
	})
	slow, other := r.token(t, "Ito", auth.Analyst, auth.Everything), r.token(t, "Abe", auth.Analyst, auth.Everything)
	send := func(line, token, rest string) net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		if token != "" {
			token = "Authorization: Bearer " + token + "\r\n"
		}
		if _, err := fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: noren.example.org\r\nX-Forwarded-For: 203.0.113.9\r\n%s%s", line, token,
			rest); err != nil {
			t.Fatal(err)
		}
		return c
	}
	status := func(token string) int {
		t.Helper()
		res, err := http.ReadResponse(bufio.NewReader(send("GET /api/v1/server", token, "Connection: close\r\n\r\n")), nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	const body = "Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
	for range 32 { // all that the address may have
		send("POST /api/v1/quotes", slow, body)
		send("POST /api/v1/session/look", "", body)
	}
	for _, token := range []string{slow, ""} {
		for begun := time.Now(); status(token) != http.StatusTooManyRequests; time.Sleep(5 * time.Millisecond) {
			if time.Since(begun) > time.Minute {
				t.Fatal("no request is refused")
			}
		}
	}
	// Refused requests have a place for a moment.
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		got := status(other)
		if got == http.StatusOK {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("another principal at the address: %d", got)
		}
	}
}

// The streams of one principal leave those of another.
func TestStreamsOfOnePrincipal(t *testing.T) {
	t.Parallel()
	s := start(t, nil).steward(t)
	other := &steward{running: s.running, secret: s.token(t, "Abe", auth.Steward, auth.Everything)}
	until := make(chan struct{})
	defer close(until)
	job := s.waitingJob(t, until)
	follow := func(who *steward) int {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), "GET", s.base+"/api/v1/jobs/"+job+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+who.secret)
		res, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		return res.StatusCode
	}
	for range mostStreams {
		if got := follow(s); got != http.StatusOK {
			t.Fatal(got)
		}
	}
	if got := follow(s); got != http.StatusTooManyRequests {
		t.Errorf("one stream too many: %d", got)
	}
	if got := follow(other); got != http.StatusOK {
		t.Errorf("another principal: %d", got)
	}
}

// A principal has so many tokens at most; one that has ended does not count.
func TestTokensOfOnePrincipal(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	id := "Ito"
	r.token(t, id, auth.Analyst, auth.Everything)
	a := auth.New(r.store)
	p, err := r.store.PrincipalByName(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for range auth.MostTokens - 1 {
		if _, _, err := a.NewToken(t.Context(), p.ID, "x", 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	cookie := r.signInAs(t, id)
	make := func() *answer {
		return r.ask(t, "POST", "/api/v1/tokens", "", map[string]any{"name": "x", "days": 1}, with(cookie))
	}
	if got := make(); got.status != http.StatusTooManyRequests || got.code() != "too-many" {
		t.Errorf("one token too many: %d %s", got.status, got.body)
	}
	all, err := r.store.Tokens(t.Context(), p.ID, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.ask(t, "DELETE", "/api/v1/tokens/"+all[0].ID, "", nil, with(cookie)); got.status != http.StatusNoContent {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := make(); got.status != http.StatusOK {
		t.Errorf("after one ended: %d %s", got.status, got.body)
	}
}

// The jobs that are known after a restart are so many of each principal: one who began many
// since leaves those of the others. What is no longer known is not in the store either.
func TestJobsAfterRestart(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	r := start(t, func(to *Config) { *to = cfg })
	s := r.steward(t)
	ids := map[string][]string{}
	write := func(by string, n int) {
		t.Helper()
		if err := r.store.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
			for range n {
				job := jobs.Job{ID: store.NewID("jb"), Kind: "read", Table: auth.Everything, State: jobs.Done, By: by}
				doc, err := json.Marshal(job)
				if err != nil {
					return err
				}
				ids[by] = append(ids[by], job.ID)
				if err := tx.PutResource(ctx, &store.Resource{ID: job.ID, Kind: store.KindJob, Parent: job.Table, Doc: doc}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	write("pr_mori", 3)
	write("pr_hostile", keptJobs+20)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	again := start(t, func(to *Config) { *to = cfg })
	s = &steward{again, s.secret}
	for _, id := range append(ids["pr_mori"], ids["pr_hostile"][20:]...) {
		if _, ok := again.jobs.Get(id); !ok {
			t.Fatal("a job is forgotten")
		}
	}
	rows, err := again.store.Resources(t.Context(), store.KindJob, "", 0, 1<<20)
	if err != nil || len(rows) != keptJobs+3 {
		t.Errorf("%d jobs are stored; %v", len(rows), err)
	}
	// In the running server too, the store forgets with the list.
	for range 3 {
		job, err := again.jobs.Submit(jobs.Task{
			Kind: "read", Table: auth.Everything, By: "pr_hostile",
			Run: func(context.Context, *jobs.Run) (any, error) { return nil, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		s.wait(t, job.ID)
	}
	if rows, err = again.store.Resources(t.Context(), store.KindJob, "", 0, 1<<20); err != nil || len(rows) > keptJobs+4 {
		t.Errorf("%d jobs are stored after three more; %v", len(rows), err)
	}
}

// One steward's recipes of a table leave those of another, also where that one changed them.
func TestRecipesOfOnePrincipal(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *Config) { c.RequestsPerSecond = -1 }).steward(t)
	other := &steward{s.running, s.token(t, "Mori", auth.Steward, auth.Everything)}
	table := s.people(t, 20, "x")
	var first records.Recipe
	for i := range 100 {
		a := s.do(t, 201, "POST", "/tables/"+table.ID+"/recipes", nil, nil)
		if i == 0 {
			a.decode(t, &first)
		}
	}
	if a := s.do(t, 409, "POST", "/tables/"+table.ID+"/recipes", nil, nil); !strings.Contains(a.body, "You have 100 recipes") {
		t.Errorf("%s", a.body)
	}
	first.Parameters.K = 7
	other.do(t, 200, "PUT", "/recipes/"+first.ID, map[string]any{"parameters": first.Parameters}, match(etag(first.Version)))
	s.do(t, 409, "POST", "/tables/"+table.ID+"/recipes", nil, nil)
	other.do(t, 201, "POST", "/tables/"+table.ID+"/recipes", nil, nil)
}
