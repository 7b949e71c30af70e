package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/limit"
)

// behind is a server behind a proxy of the loopback.
func behind(t *testing.T, change func(*Config)) *running {
	return start(t, func(c *Config) {
		c.Proxies, c.Hosts = prefixes(t, "127.0.0.0/8 fe80::/10"), []string{"noren.example.org"}
		if change != nil {
			change(c)
		}
	})
}

// from is the client of a request that a proxy of the loopback passes on.
func (r *running) from(forwarded ...string) (netip.Addr, error) {
	q := &http.Request{RemoteAddr: "127.0.0.1:5", Header: http.Header{}}
	for _, one := range forwarded {
		q.Header.Add("X-Forwarded-For", one)
	}
	return r.client(q)
}

// Every way in which a proxy writes an address names the same client.
func TestForwardedAddress(t *testing.T) {
	t.Parallel()
	r := behind(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		var addr netip.Addr
		if rapid.Bool().Draw(t, "IPv4") {
			addr = netip.AddrFrom4([4]byte(append([]byte{203}, rapid.SliceOfN(rapid.Byte(), 3, 3).Draw(t, "bytes")...)))
		} else {
			addr = netip.AddrFrom16([16]byte(append([]byte{0x20}, rapid.SliceOfN(rapid.Byte(), 15, 15).Draw(t, "bytes")...)))
		}
		port := rapid.IntRange(0, 65535).Draw(t, "port")
		text, hop := addr.String(), ""
		forms := []string{
			text, "[" + text + "]", fmt.Sprintf("[%s]:%d", text, port), `"` + text + `"`, fmt.Sprintf(`"[%s]:%d"`, text, port),
			"[" + text + "]:_hidden",
		}
		if addr.Is4() {
			in6 := "::ffff:" + text
			forms = append(forms, fmt.Sprintf("%s:%d", text, port), text+":", in6, fmt.Sprintf("[%s]:%d", in6, port))
		} else {
			forms = append(forms, text+"%eth0", "["+text+"%eth0]", fmt.Sprintf("[%s%%25eth0]:%d", text, port), strings.ToUpper(text))
		}
		hop = rapid.SampledFrom(forms).Draw(t, "form")
		space := rapid.SampledFrom([]string{"", " ", "\t", "  "})
		before := rapid.SampledFrom([]string{"", "198.51.100.1, ", "spoofed,", "unknown , ", ",,"}).Draw(t, "before")
		after := rapid.SampledFrom([]string{"", ",", ", 127.0.0.2", ",127.0.0.2:80 , ", ", [fe80::1%eth0]:80"}).Draw(t, "after")
		lines := []string{before + space.Draw(t, "space") + hop + space.Draw(t, "space") + after}
		if rapid.Bool().Draw(t, "two lines") {
			lines = []string{before + "198.51.100.2", hop + after}
		}
		if got, err := r.from(lines...); err != nil || got != addr {
			t.Fatalf("%q: %v %v, and not %v", lines, got, err, addr)
		}
	})
}

// What is no address is refused, and without the header the proxy itself is the client. The
// operator reads it once.
func TestForwardedByNoAddress(t *testing.T) {
	t.Parallel()
	var told bytes.Buffer
	r := behind(t, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&told, nil)) })
	for range 2 {
		for _, forwarded := range []string{"", " ", ",", " ,\t, "} {
			if got, err := r.from(forwarded); err != nil || got.String() != "127.0.0.1" {
				t.Errorf("%q: %v %v", forwarded, got, err)
			}
		}
		for _, forwarded := range []string{
			"unknown", "_hidden", "203.0.113.9, spoofed", "203.0.113", "203.0.113.999", "203.0.113.9:80:80", "[203.0.113.9", "2001:db8::1]",
			"for=203.0.113.9",
			"203.0.113.9, unknown, 127.0.0.2", "noren.example.org:80", `"`, "[]", "[]:80", ":80", "%eth0", "203.0.113.9 127.0.0.1",
			"203.0.113.9;127.0.0.1",
		} {
			if got, err := r.from(forwarded); err == nil {
				t.Errorf("%q: %v", forwarded, got)
			}
		}
	}
	if n := strings.Count(told.String(), "\n"); n != 2 || strings.Contains(told.String(), "113") {
		t.Errorf("the log is:\n%s", told.String())
	}
	a := r.ask(t, "GET", "/api/v1/server", "", nil, func(q *http.Request) { q.Header.Set("X-Forwarded-For", "unknown") })
	if a.status != http.StatusMisdirectedRequest || a.code() != "host" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// A zone in the address of the proxy itself names no other address.
func TestProxyWithAZone(t *testing.T) {
	t.Parallel()
	r := behind(t, nil)
	q := &http.Request{RemoteAddr: "[fe80::5%eth0]:5", Header: http.Header{"X-Forwarded-For": {"203.0.113.9"}}}
	if got, err := r.client(q); err != nil || got.String() != "203.0.113.9" {
		t.Errorf("%v %v", got, err)
	}
}

// A client behind a proxy that writes ports uses up its own share of sign-ins, under every
// port, and not that of another; and a token that is bound to a network is used from there.
func TestClientsOfAProxyThatWritesPorts(t *testing.T) {
	t.Parallel()
	r := behind(t, nil)
	look := func(forwarded string) int {
		t.Helper()
		return r.ask(t, "POST", "/api/v1/session/look", "", map[string]string{"link": strings.Repeat("a", 52)}, func(q *http.Request) {
			q.Header.Set("X-Forwarded-For", forwarded)
		}).status
	}
	for _, form := range []string{"192.0.2.1:%d", "[2001:db8::1]:%d"} {
		refused := false
		for n := range 12 {
			refused = look(fmt.Sprintf(form, 5555+n)) == http.StatusTooManyRequests
		}
		if !refused {
			t.Errorf("%s: looks at links of one client have no limit", form)
		}
	}
	for _, other := range []string{"192.0.2.2:5555", "[2001:db8:1::1]:443"} {
		if status := look(other); status != http.StatusNotFound {
			t.Errorf("%s: %d after another client's looks", other, status)
		}
	}
	host := r.Host()
	if _, err := host.AddPrincipal(t.Context(), "Ito", auth.Steward, auth.Everything); err != nil {
		t.Fatal(err)
	}
	for network, inside := range map[string]string{
		"192.0.2.0/24": "192.0.2.9:1", "::ffff:192.0.2.0/120": "192.0.2.9", "2001:db8:7::/48": "[2001:db8:7::5%eth0]:443",
	} {
		token, _, err := host.Token(t.Context(), "Ito", network, 1, []string{network})
		if err != nil {
			t.Fatal(err)
		}
		for forwarded, want := range map[string]int{inside: 200, "198.51.100.7:1": 401, "[2001:db8:8::5]:1": 401, "": 401} {
			a := r.ask(t, "GET", "/api/v1/session", "", nil, func(q *http.Request) {
				q.Header.Set("X-Forwarded-For", forwarded)
				q.Header.Set("Authorization", "Bearer "+token)
			})
			if a.status != want {
				t.Errorf("a token of %s from %q: %d, and not %d", network, forwarded, a.status, want)
			}
		}
	}
}

// Networks of IPv4 that are written as those of IPv6 hold the same addresses.
func TestNetworksOfIPv4InIPv6(t *testing.T) {
	p, err := limit.ParseNetwork("::ffff:10.0.0.0/104")
	if err != nil || !p.Contains(netip.MustParseAddr("10.9.9.9")) || p.Contains(netip.MustParseAddr("11.0.0.1")) {
		t.Errorf("%v %v", p, err)
	}
}
