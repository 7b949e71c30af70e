package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/auth"
)

// Every answer has the headers, errors too.
func TestHeaders(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	for _, path := range []string{
		"/", "/api/v1/server", "/api/v1/session", "/api/v1/none", "/problems/sealed", "/assets/none.js",
		"/openapi.json",
	} {
		a := r.ask(t, "GET", path, "", nil, nil)
		for name, want := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if !anyRequestID.MatchString(a.header.Get("X-Request-Id")) {
			t.Errorf("%s has no id: %v", path, a.header)
		}
		if api := strings.HasPrefix(path, "/api/"); api != (a.header.Get("Cache-Control") == "no-store") {
			t.Errorf("%s: Cache-Control is %q", path, a.header.Get("Cache-Control"))
		}
		if a.header.Get("Strict-Transport-Security") != "" || a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", path, a.header)
		}
	}
	for _, part := range []string{
		"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'",
		"require-trusted-types-for 'script'",
	} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy lacks %s", part)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") || strings.Contains(policy, "http") {
		t.Errorf("the policy is %s", policy)
	}
}

// A name that is not the server's is refused, whatever it resolves to.
func TestHosts(t *testing.T) {
	r := start(t, func(c *Config) { c.Hosts = []string{"noren.example.org"} })
	for host, served := range map[string]bool{
		"127.0.0.1:" + r.port: true, "localhost:" + r.port: true, "[::1]:" + r.port: true,
		"noren.example.org": true, "noren.example.org:8443": true, "NOREN.example.org": true,
		"127.0.0.1": false, "127.0.0.1:1": false, "evil.example:" + r.port: false, "noren.example.org.evil.example": false,
		"localhost.evil.example:" + r.port: false, "127.0.0.1.evil.example:" + r.port: false,
	} {
		a := r.ask(t, "GET", "/api/v1/server", "", nil, func(q *http.Request) { q.Host = host })
		if served && a.status != 200 || !served && (a.status != 421 || a.code() != "host") {
			t.Errorf("%s: %d %s", host, a.status, a.body)
		}
	}
	admin := httpGet(t, "http://"+r.AdminAddress()+"/readyz", "evil.example")
	if admin.status != 421 {
		t.Errorf("health under a foreign name: %d", admin.status)
	}
	if a := httpGet(t, "http://"+r.AdminAddress()+"/readyz", ""); a.status != 200 || a.body != "ok\n" {
		t.Errorf("health: %d %s", a.status, a.body)
	}
}

// httpGet gets an address, under another host name where host is not empty.
func httpGet(t *testing.T, url, host string) *answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return &answer{res.StatusCode, res.Header, string(text)}
}

// Pages of other sites cannot send changes, and forms cannot send JSON.
func TestCrossSite(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	if _, err := r.Host().AddPrincipal(t.Context(), "Ito", auth.Steward, auth.Everything); err != nil {
		t.Fatal(err)
	}
	cookie := r.signInAs(t, "Ito")
	body := map[string]any{"name": "x", "days": 1}
	for name, c := range map[string]struct {
		header http.Header
		code   string
	}{
		"own page":       {http.Header{"Origin": {r.base}, "Sec-Fetch-Site": {"same-origin"}}, ""},
		"no browser":     {http.Header{}, ""},
		"other site":     {http.Header{"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"}}, "cross-site"},
		"other port":     {http.Header{"Origin": {"http://127.0.0.1:1"}, "Sec-Fetch-Site": {"same-site"}}, "cross-site"},
		"old browser":    {http.Header{"Origin": {"https://evil.example"}}, "cross-site"},
		"hidden origin":  {http.Header{"Origin": {"null"}}, "cross-site"},
		"form":           {http.Header{"Content-Type": {"text/plain"}}, "media-type"},
		"form, encoded":  {http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, "media-type"},
		"form, in parts": {http.Header{"Content-Type": {"multipart/form-data; boundary=x"}}, "media-type"},
		"no type":        {http.Header{"Content-Type": {""}}, "media-type"},
	} {
		a := r.ask(t, "POST", "/api/v1/tokens", "", body, func(q *http.Request) {
			with(cookie)(q)
			for key, values := range c.header {
				q.Header[key] = values
			}
		})
		if a.code() != c.code || c.code == "" && a.status != 200 {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	// A planted second cookie of the name is not chosen from.
	if a := r.ask(t, "GET", "/api/v1/session", "", nil, func(q *http.Request) {
		q.Header.Set("Cookie", cookie.String()+"; noren="+strings.Repeat("a", 52))
	}); a.status != 401 {
		t.Errorf("two cookies: %d", a.status)
	}
}

// Behind a proxy the cookie is for TLS alone, and requests that pass the proxy by are
// refused.
func TestProxy(t *testing.T) {
	t.Parallel()
	networks := func(text string) func(*Config) {
		return func(c *Config) { c.Proxies, c.Hosts = prefixes(t, text), []string{"noren.example.org"} }
	}
	r := start(t, networks("127.0.0.0/8"))
	if _, err := r.Host().AddPrincipal(t.Context(), "Ito", auth.Steward, auth.Everything); err != nil {
		t.Fatal(err)
	}
	cookie := r.signInAs(t, "Ito")
	if cookie.Name != "__Host-noren" || !cookie.Secure || cookie.Path != "/" || cookie.Domain != "" {
		t.Errorf("the cookie is %v", cookie)
	}
	link, err := r.Host().LoginLink(t.Context(), "Ito")
	if err != nil || !strings.HasPrefix(link.URL, "https://noren.example.org/#/sign-in/") {
		t.Errorf("the link is %v %v", link, err)
	}
	if a := r.ask(t, "GET", "/api/v1/session", "", nil, with(cookie)); a.status != 200 || a.header.Get("Strict-Transport-Security") == "" {
		t.Errorf("%d %v", a.status, a.header)
	}
	other := start(t, networks("10.0.0.0/8"))
	if a := other.ask(t, "GET", "/", "", nil, nil); a.status != 421 {
		t.Errorf("past the proxy: %d", a.status)
	}
}

// Too many requests of one principal are refused, and others are not affected.
func TestRates(t *testing.T) {
	t.Parallel()
	c := &clock{wall: time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)}
	r := start(t, func(cfg *Config) { cfg.Clock = c.clock() })
	one, two := r.token(t, "Ito", auth.Steward, auth.Everything), r.token(t, "Mori", auth.Auditor, auth.Everything)
	for i := range 60 {
		if a := r.ask(t, "GET", "/api/v1/session", one, nil, nil); a.status != 200 {
			t.Fatalf("request %d: %d", i, a.status)
		}
	}
	if a := r.ask(t, "GET", "/api/v1/session", one, nil, nil); a.status != 429 || a.header.Get("Retry-After") != "1" {
		t.Errorf("request 61: %d %v", a.status, a.header)
	}
	if a := r.ask(t, "GET", "/api/v1/session", two, nil, nil); a.status != 200 {
		t.Errorf("another principal: %d", a.status)
	}
	for range 30 {
		r.ask(t, "GET", "/api/v1/session", "nrn_wrong", nil, nil)
	}
	if a := r.ask(t, "GET", "/api/v1/session", "nrn_wrong", nil, nil); a.status != 429 {
		t.Errorf("wrong token 31: %d", a.status)
	}
	for i := range 400 {
		if a := r.ask(t, "GET", "/api/v1/server", "", nil, nil); a.status != 200 {
			t.Fatalf("request %d without a sign-in: %d", i, a.status)
		}
	}
	if a := r.ask(t, "GET", "/", "", nil, nil); a.status != 429 {
		t.Errorf("request 401 of an address: %d", a.status)
	}
	if a := r.ask(t, "GET", "/api/v1/session", two, nil, nil); a.status != 200 {
		t.Errorf("a principal at an address with too many requests: %d", a.status)
	}
	c.pass(time.Second)
	if a := r.ask(t, "GET", "/api/v1/session", one, nil, nil); a.status != 200 {
		t.Errorf("after a second: %d", a.status)
	}
}

// Large bodies and headers are refused before they are kept.
func TestSizes(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	r := start(t, nil)
	a := r.ask(t, "POST", "/api/v1/certificates/check", "", map[string]string{"certificate": strings.Repeat("a", jsonLimit)}, nil)
	if a.status != 413 || a.code() != "too-large" {
		t.Errorf("a body over 1 MiB: %d %s", a.status, a.body)
	}
	if a := r.ask(t, "GET", "/api/v1/server", "", nil,
		func(q *http.Request) { q.Header.Set("X-Large", strings.Repeat("a", 2*headerLimit)) }); a.status != 431 {
		t.Errorf("a header over 16 KiB: %d", a.status)
	}
}

// A body of a byte now and then is refused after the grace, and meanwhile others are
// answered. Connections over the limit are shed.
func TestSlowClients(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	r := start(t, func(c *Config) {
		c.Connections = 96 // 24 for one address
		c.Slowness.Grace = 3 * time.Second
	})
	address := strings.TrimPrefix(r.base, "http://")
	dial := func() net.Conn {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	var slow []net.Conn
	for range 20 {
		c := dial()
		fmt.Fprintf(c, "POST /api/v1/session/look HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 60\r\n\r\n", address)
		slow = append(slow, c)
	}
	// The answer comes while the slow ones are held, and not after their grace.
	if a := r.ask(t, "GET", "/api/v1/server", "", nil, nil); a.status != 200 || r.listeners.counted.Open() < 20 {
		t.Errorf("beside slow clients: %d, and %d connections are open", a.status, r.listeners.counted.Open())
	}
	// Connections over the share of the address make place for new ones while they are idle.
	var idle []net.Conn
	for range 8 {
		idle = append(idle, dial())
	}
	fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if res, err := fresh.Get(r.base + "/api/v1/server"); err != nil || res.StatusCode != 200 {
		t.Errorf("beside idle clients: %v %v", res, err)
	} else {
		res.Body.Close()
	}
	if open := r.listeners.counted.Open(); open > 24 {
		t.Errorf("%d connections of one address", open)
	}
	// Where none is idle, a new one is shed, by 503 where the address has no place for a connection,
	// and by 429 where the last places are for other principals.
	var busy []net.Conn
	for range 8 {
		c := dial()
		fmt.Fprintf(c, "POST /api/v1/session/look HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 60\r\n\r\n", address)
		busy = append(busy, c)
		time.Sleep(50 * time.Millisecond) // until its request is read
	}
	shed := 0
	for _, c := range busy {
		_ = c.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			continue
		}
		if shed++; res.StatusCode != 503 && res.StatusCode != 429 || res.Header.Get("Retry-After") == "" {
			t.Errorf("a shed connection: %v", res.Status)
		}
	}
	if shed < 3 {
		t.Errorf("%d of 8 connections over the limit were shed", shed)
	}
	idle = append(idle, busy...)
	for _, c := range slow {
		_, _ = c.Write([]byte("{"))
		_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || res.StatusCode != 408 {
			t.Fatalf("a slow body: %v %v", res, err)
		}
		c.Close()
	}
	for _, c := range idle {
		c.Close()
	}
	for begun := time.Now(); r.listeners.counted.Open() > 2; time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > 30*time.Second {
			t.Fatalf("%d connections are still counted", r.listeners.counted.Open())
		}
	}
}

// A refused request whose body never comes does not keep its connection.
func TestUnreadBody(t *testing.T) {
	t.Parallel()
	r := start(t, func(c *Config) { c.Slowness.Grace = 200 * time.Millisecond })
	c, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /api/v1/none HTTP/1.1\r\nHost: localhost:%s\r\nContent-Length: 1000\r\n\r\n", r.port)
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	text, err := io.ReadAll(c)
	if err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 404") {
		t.Errorf("%v: %s", err, text)
	}
}

// A fault of the program is an answer, and the log names functions and no values.
func TestPanic(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	r := start(t, func(c *Config) { c.Log = textLog(&log) })
	mux := http.NewServeMux()
	mux.HandleFunc("GET /fault", func(http.ResponseWriter, *http.Request) { panic("canary 4711") })
	r.listeners.main.Addr() // the server answers
	w := newRecorder()
	q, _ := http.NewRequest("GET", r.base+"/fault", nil)
	q.RemoteAddr = "127.0.0.1:5"
	r.guard(mux).ServeHTTP(w, q)
	if w.status != 500 || !strings.Contains(w.body.String(), `"code":"internal"`) {
		t.Errorf("%d %s", w.status, w.body.String())
	}
	if strings.Contains(log.String()+w.body.String(), "4711") || !strings.Contains(log.String(), "TestPanic") {
		t.Errorf("the log says %s", log.String())
	}
}

// The page is served compressed, by hash for good, and without its parts' names.
func TestPage(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	encoded := func(value string) func(*http.Request) {
		return func(q *http.Request) { q.Header.Set("Accept-Encoding", value) }
	}
	for accepts, want := range map[string]string{"br, gzip": "brotli", "gzip;q=1": "gzip", "br;q=0": "'plain'", "identity": "'plain'"} {
		a := r.ask(t, "GET", "/assets/main-1a2b.js", "", nil, encoded(accepts))
		if a.body != want || a.header.Get("Content-Type") != "text/javascript; charset=utf-8" ||
			!strings.Contains(a.header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %q %v", accepts, a.body, a.header)
		}
	}
	a := r.ask(t, "GET", "/", "", nil, nil)
	if a.status != 200 || a.header.Get("Content-Type") != "text/html; charset=utf-8" || a.header.Get("Cache-Control") != "no-cache" {
		t.Errorf("%d %v", a.status, a.header)
	}
	if a := r.ask(t, "GET", "/check.html", "", nil, nil); a.status != 200 ||
		a.header.Get("Content-Disposition") != `attachment; filename="noren-check.html"` {
		t.Errorf("%d %v", a.status, a.header)
	}
	if again := r.ask(t, "GET", "/", "", nil, func(q *http.Request) {
		q.Header.Set("If-None-Match", a.header.Get("ETag"))
	}); again.status != 304 || again.body != "" {
		t.Errorf("again: %d", again.status)
	}
	for _, path := range []string{
		"/assets", "/assets/", "/assets/main-1a2b.js.br", "/none.html", "/tables", "/..%2f..%2fetc/passwd",
		"/%2e%2e/server.db", "/assets//main-1a2b.js",
	} {
		if a := r.ask(t, "GET", path, "", nil, nil); a.status != 404 && a.status != 301 && a.status != 307 {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	if a := r.ask(t, "POST", "/", "", nil, nil); a.status != 405 || a.header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d", a.status)
	}
	if a := r.ask(t, "GET", "/problems/sealed", "", nil, nil); a.status != 200 || !strings.Contains(a.body, "The server is sealed") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := r.ask(t, "GET", "/problems/column-missing", "", nil, nil); a.status != 200 || !strings.Contains(a.body, "HTTP status 422") {
		t.Errorf("%d %s", a.status, a.body)
	}
	for code, want := range map[string]string{"too-large": "読むのに必要なメモリが許される上限を超えています。", "unfit": "データが"} {
		a := r.ask(t, "GET", "/problems/"+code, "", nil, func(r *http.Request) { r.Header.Set("Accept-Language", "ja") })
		if a.status != 200 || !strings.Contains(a.body, `<html lang="ja">`) || !strings.Contains(a.body, want) ||
			!strings.Contains(a.body, "HTTP ステータス 4") {
			t.Errorf("%s: %s", code, a.body)
		}
	}
	for language, want := range map[string]string{"en": "The prosecutor risk of a record is", "ja": "SSE/SST"} {
		a := r.ask(t, "GET", "/terms", "", nil, func(r *http.Request) { r.Header.Set("Accept-Language", language) })
		if a.status != 200 || !strings.Contains(a.body, want) || !strings.Contains(a.body, `"id":"prosecutor risk"`) ||
			a.header.Get("Content-Type") != "application/json" {
			t.Errorf("terms in %s: %d %.200s", language, a.status, a.body)
		}
	}
	if a := r.ask(t, "GET", "/problems/none", "", nil, nil); a.status != 404 {
		t.Errorf("%d", a.status)
	}
}

// A key of a request is used once: a repeated request gets the first answer.
func TestOnce(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	token := r.token(t, "Ito", auth.Steward, auth.Everything)
	actor, err := r.auth.ByToken(t.Context(), token, prefixes(t, "127.0.0.1/32")[0].Addr())
	if err != nil {
		t.Fatal(err)
	}
	c := &call{actor: actor, route: "POST /api/v1/releases"}
	type result struct{ N int }
	runs := 0
	do := func() (*result, error) { runs++; return &result{runs}, nil }
	for i, want := range []struct {
		key, body string
		n         int
		replayed  bool
		fails     bool
	}{
		{"a", "x", 1, false, false},
		{"a", "x", 1, true, false},
		{"a", "y", 0, false, true},
		{"b", "x", 2, false, false},
		{"", "x", 0, false, true},
	} {
		out, replayed, err := once(t.Context(), r.Server, c, want.key, want.body, do)
		if (err != nil) != want.fails || err == nil && (out.N != want.n || replayed != want.replayed) {
			t.Errorf("%d: %v %v %v", i, out, replayed, err)
		}
	}
	_, _, err = once(t.Context(), r.Server, c, "c", "x", func() (*result, error) {
		_, _, err := once(t.Context(), r.Server, c, "c", "x", do)
		return nil, err
	})
	if err == nil || !strings.Contains(err.Error(), "conflict") {
		t.Errorf("a request while the first is being answered: %v", err)
	}
	if out, _, err := once(t.Context(), r.Server, c, "c", "x", do); err != nil || out.N != 3 {
		t.Errorf("after a failure: %v %v", out, err)
	}
}
