package server

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/limit"
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
	const slow = "POST /api/v1/session/look HTTP/1.1\r\nHost: noren.example.org\r\nX-Forwarded-For: %s\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
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
	for i, client := range [][]string{{"203.0.113.9", "::ffff:203.0.113.9", "198.51.100.1, 203.0.113.9"}, {"2001:db8::1", "2001:db8::ffff:2"}} {
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
