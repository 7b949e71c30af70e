package server

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/server/auth"
)

// A link shows whose it is, signs in once, and a session ends by signing out.
func TestSignIn(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	link, err := r.SetupLink(t.Context())
	if err != nil || link == nil {
		t.Fatal(link, err)
	}
	if !strings.HasPrefix(link.URL, r.base+"/#/sign-in/") {
		t.Errorf("the link is %s", link.URL)
	}
	_, secret, _ := strings.Cut(link.URL, "#/sign-in/")
	body := map[string]string{"link": secret}
	for range 2 { // looking does not use it
		var look lookBody
		a := r.ask(t, "POST", "/api/v1/session/look", "", body, nil)
		if a.decode(t, &look); a.status != 200 || look.Name != "Steward" || look.Role != "steward" {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	a := r.ask(t, "POST", "/api/v1/session", "", body, nil)
	cookie, err := http.ParseSetCookie(a.header.Get("Set-Cookie"))
	if err != nil || a.status != 200 {
		t.Fatalf("%d %s %v", a.status, a.body, err)
	}
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.Name != "noren" || cookie.Secure {
		t.Errorf("the cookie is %v", cookie)
	}
	for _, path := range []string{"/api/v1/session", "/api/v1/session/look"} {
		if a := r.ask(t, "POST", path, "", body, nil); a.status != 404 || a.code() != "link-unusable" {
			t.Errorf("a used link: %d %s", a.status, a.body)
		}
	}
	var s sessionBody
	a = r.ask(t, "GET", "/api/v1/session", "", nil, with(cookie))
	if a.decode(t, &s); a.status != 200 || s.Principal.Name != "Steward" || s.Role != "steward" || !s.Server.SingleSteward ||
		s.Server.LeastK != 5 {
		t.Errorf("%d %s", a.status, a.body)
	}
	a = r.ask(t, "DELETE", "/api/v1/session", "", nil, with(cookie))
	if gone, err := http.ParseSetCookie(a.header.Get("Set-Cookie")); a.status != 204 || err != nil || gone.MaxAge >= 0 || gone.Value != "" {
		t.Errorf("%d %v %v", a.status, gone, err)
	}
	if a := r.ask(t, "GET", "/api/v1/session", "", nil, with(cookie)); a.status != 401 || a.code() != "unauthenticated" {
		t.Errorf("after signing out: %d %s", a.status, a.body)
	}
	if link, err := r.SetupLink(t.Context()); link != nil || err != nil {
		t.Errorf("a second setup link: %v %v", link, err)
	}
}

// Sessions and links end by the store's time, and a clock that is set back revives none.
func TestTimeEndsSessions(t *testing.T) {
	t.Parallel()
	c := &clock{wall: time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)}
	r := start(t, func(cfg *Config) { cfg.Clock = c.clock() })
	if _, err := r.Host().AddPrincipal(t.Context(), "Ito", auth.Steward, auth.Everything); err != nil {
		t.Fatal(err)
	}
	secret := func() string {
		link, err := r.Host().LoginLink(t.Context(), "Ito")
		if err != nil {
			t.Fatal(err)
		}
		_, s, _ := strings.Cut(link.URL, "#/sign-in/")
		return s
	}
	status := func(cookie *http.Cookie) int { return r.ask(t, "GET", "/api/v1/session", "", nil, with(cookie)).status }

	idle, kept := r.signInAs(t, "Ito"), r.signInAs(t, "Ito")
	for range 3 {
		c.pass(20 * time.Minute)
		if got := status(kept); got != 200 {
			t.Fatalf("a session in use: %d", got)
		}
	}
	if got := status(idle); got != 401 {
		t.Errorf("a session without requests for 60 min: %d", got)
	}
	late := secret()
	c.pass(11 * time.Minute)
	if a := r.ask(t, "POST", "/api/v1/session", "", map[string]string{"link": late}, nil); a.code() != "link-unusable" {
		t.Errorf("a link of 11 min: %d %s", a.status, a.body)
	}
	if got := status(kept); got != 200 {
		t.Errorf("a session in use: %d", got)
	}
	c.wall = c.wall.Add(-time.Hour) // set back: nothing comes to life again
	if got := status(idle); got != 401 {
		t.Errorf("an ended session after the clock was set back: %d", got)
	}
	if a := r.ask(t, "POST", "/api/v1/session", "", map[string]string{"link": late}, nil); a.code() != "link-unusable" {
		t.Errorf("an ended link after the clock was set back: %d", a.status)
	}
	if faults := r.notices(); len(faults) != 1 || !strings.Contains(faults[0], "clock: it is 1h0m0s behind") {
		t.Errorf("health says %q", faults)
	}
	for range 32 { // time goes on by what passes, although the clock is behind
		c.pass(20 * time.Minute)
		status(kept)
	}
	if got := status(kept); got != 200 {
		t.Errorf("a session of less than 12 h: %d", got)
	}
	c.pass(time.Hour / 3)
	status(kept)
	c.pass(time.Hour / 3)
	if got := status(kept); got != 401 {
		t.Errorf("a session of more than 12 h: %d", got)
	}
	c.wall = c.wall.Add(2 * time.Hour)
	fresh := r.signInAs(t, "Ito")
	c.wall = c.wall.AddDate(10, 0, 0)
	if got := status(fresh); got != 401 {
		t.Errorf("a session after the clock moved 10 years: %d", got)
	}
	if faults := r.notices(); len(faults) != 1 || !strings.Contains(faults[0], "clock: it moved forward") {
		t.Errorf("health says %q", faults)
	}
}

// The time of a store goes on where it was after a restart with a clock that is behind.
func TestTimeAfterRestart(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	c := &clock{wall: time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)}
	r := start(t, func(to *Config) { cfg.Clock = c.clock(); *to = cfg })
	if _, err := r.Host().AddPrincipal(t.Context(), "Ito", auth.Steward, auth.Everything); err != nil {
		t.Fatal(err)
	}
	cookie := r.signInAs(t, "Ito")
	c.pass(31 * time.Minute)
	if a := r.ask(t, "GET", "/api/v1/session", "", nil, with(cookie)); a.status != 401 {
		t.Fatal(a.status)
	}
	if len(r.faults()) > 0 { // the store notes the time
		t.Fatal(r.faults())
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	c.wall, c.elapsed = c.wall.Add(-20*time.Minute), 0
	r = start(t, func(to *Config) { *to = cfg })
	if a := r.ask(t, "GET", "/api/v1/session", "", nil, with(cookie)); a.status != 401 {
		t.Errorf("an ended session after a restart: %d", a.status)
	}
	if faults := r.notices(); len(faults) != 1 || !strings.Contains(faults[0], "behind") {
		t.Errorf("health says %q", faults)
	}
}

// Tokens are shown once, end, are revoked, and may be bound to networks.
func TestTokens(t *testing.T) {
	t.Parallel()
	c := &clock{wall: time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)}
	r := start(t, func(cfg *Config) { cfg.Clock = c.clock() })
	if _, err := r.Host().AddPrincipal(t.Context(), "Ito", auth.Steward, auth.Everything); err != nil {
		t.Fatal(err)
	}
	cookie := r.signInAs(t, "Ito")
	make := func(body map[string]any) *answer {
		return r.ask(t, "POST", "/api/v1/tokens", "", body, with(cookie))
	}
	var made newTokenBody
	a := make(map[string]any{"name": "import", "days": 2})
	if a.decode(t, &made); a.status != 200 || !strings.HasPrefix(made.Secret, "nrn_") {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a := r.ask(t, "GET", "/api/v1/session", made.Secret, nil, nil); a.status != 200 {
		t.Errorf("a token: %d %s", a.status, a.body)
	}
	if a := r.ask(t, "POST", "/api/v1/tokens", made.Secret, map[string]any{"name": "x", "days": 1}, nil); a.status != 403 {
		t.Errorf("a token made a token: %d", a.status)
	}
	if a := r.ask(t, "GET", "/api/v1/tokens", made.Secret, nil, nil); strings.Contains(a.body, made.Secret) ||
		!strings.Contains(a.body, made.ID) {
		t.Errorf("%s", a.body)
	}
	last := made.Secret[len(made.Secret)-1:]
	other := "a"
	if last == "a" {
		other = "b"
	}
	for name, text := range map[string]string{
		"changed": made.Secret[:len(made.Secret)-1] + other, "short": made.Secret[:len(made.Secret)-1], "long": made.Secret + "a",
		"of another id": "nrn_aaaaaaaaaaaaaaaa" + made.Secret[20:], "empty": "x", "upper": strings.ToUpper(made.Secret),
	} {
		if a := r.ask(t, "GET", "/api/v1/session", text, nil, nil); a.status != 401 {
			t.Errorf("%s: %d", name, a.status)
		}
	}
	for name, body := range map[string]map[string]any{
		"366 days": {"name": "x", "days": 366}, "0 days": {"name": "x", "days": 0}, "no name": {"days": 1},
		"no network": {"name": "x", "days": 1, "networks": []string{"10.0.0"}},
	} {
		if a := make(body); a.status != 422 || a.code() != "invalid" {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	var bound newTokenBody
	make(map[string]any{"name": "office", "days": 1, "networks": []string{"10.0.0.0/8"}}).decode(t, &bound)
	if a := r.ask(t, "GET", "/api/v1/session", bound.Secret, nil, nil); a.status != 401 {
		t.Errorf("a token from another network: %d", a.status)
	}
	if a := r.ask(t, "DELETE", "/api/v1/tokens/"+bound.ID, "", nil, with(cookie)); a.status != 204 {
		t.Errorf("revoking: %d %s", a.status, a.body)
	}
	if a := r.ask(t, "DELETE", "/api/v1/tokens/"+bound.ID, "", nil, with(cookie)); a.status != 404 {
		t.Errorf("revoking twice: %d", a.status)
	}
	stranger := r.token(t, "Mori", auth.Analyst, "tb_aaaaaaaaaaaaaaaa")
	if a := r.ask(t, "DELETE", "/api/v1/tokens/"+made.ID, stranger, nil, nil); a.status != 404 {
		t.Errorf("revoking a stranger's token: %d", a.status)
	}
	c.pass(48*time.Hour + time.Second)
	if a := r.ask(t, "GET", "/api/v1/session", made.Secret, nil, nil); a.status != 401 {
		t.Errorf("a token after its end: %d", a.status)
	}
}

// A principal that was ended is signed out at once.
func TestEndPrincipal(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	token := r.token(t, "Ito", auth.Steward, auth.Everything)
	cookie := r.signInAs(t, "Ito")
	if err := r.Host().EndPrincipal(t.Context(), "Ito"); err != nil {
		t.Fatal(err)
	}
	if a := r.ask(t, "GET", "/api/v1/session", token, nil, nil); a.status != 401 {
		t.Errorf("its token: %d", a.status)
	}
	if a := r.ask(t, "GET", "/api/v1/session", "", nil, with(cookie)); a.status != 401 {
		t.Errorf("its session: %d", a.status)
	}
	if _, err := r.Host().LoginLink(t.Context(), "Ito"); err == nil {
		t.Error("a link of an ended principal was made")
	}
}

// Attempts to sign in are limited.
func TestSignInIsLimited(t *testing.T) {
	t.Parallel()
	c := &clock{wall: time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)}
	r := start(t, func(cfg *Config) { cfg.Clock = c.clock() })
	body := map[string]string{"link": strings.Repeat("a", 52)}
	for i := range 10 {
		if a := r.ask(t, "POST", "/api/v1/session", "", body, nil); a.status != 404 {
			t.Fatalf("attempt %d: %d", i, a.status)
		}
	}
	a := r.ask(t, "POST", "/api/v1/session/look", "", body, nil)
	if a.status != 429 || a.code() != "too-many" || a.header.Get("Retry-After") != "6" {
		t.Errorf("attempt 11: %d %v %s", a.status, a.header, a.body)
	}
	c.pass(6 * time.Second)
	if a := r.ask(t, "POST", "/api/v1/session", "", body, nil); a.status != 404 {
		t.Errorf("after 6 s: %d", a.status)
	}
}
