package acceptance

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"
)

// second is another steward of the server.
func (u *user) second(t *testing.T, name string) *user {
	t.Helper()
	id := noren(t, "serve", "principal", "add", "--dir", u.dir, "--name", name, "--role", "steward")
	return &user{served: u.served, id: id, name: name, secret: u.token(t, name)}
}

// Unfinished uploads of one steward refuse further ones of that steward alone, who lists and
// removes them.
func TestUploadsOfOneClient(t *testing.T) {
	short(t)
	u := serve(t).steward(t)
	other := u.second(t, "Mori")
	begin := map[string]any{"name": "a.csv", "size": 10}
	begun := 0
	for ; begun < 200; begun++ {
		if r := u.send(t.Context(), "POST", "/uploads", begin); r.status != 201 {
			if r.status != 429 {
				t.Fatalf("one upload too many: %s", r)
			}
			break
		}
	}
	if begun != 64 {
		t.Errorf("%d uploads were begun", begun)
	}
	other.add(t, "visits.csv", visits(300, 1), nil)
	var own struct{ Items []struct{ ID string } }
	u.must(t, 200, "GET", "/uploads", nil, &own)
	if len(own.Items) != begun {
		t.Fatalf("%d uploads are listed", len(own.Items))
	}
	for _, one := range own.Items {
		if r := other.send(t.Context(), "DELETE", "/uploads/"+one.ID, nil); r.status != 404 {
			t.Fatalf("another steward removes an upload: %s", r)
		}
		u.must(t, 204, "DELETE", "/uploads/"+one.ID, nil, nil)
	}
	u.add(t, "visits.csv", visits(300, 2), nil)
}

// exchange sends bytes over a connection of their own, and returns the first reply and what
// comes after it until the server closes the connection.
func (u *user) exchange(t *testing.T, text string) (status int, rest string) {
	t.Helper()
	at, err := url.Parse(u.base)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", at.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	text = strings.ReplaceAll(text, "\n", "\r\n")
	if _, err := io.WriteString(conn, strings.NewReplacer("HOST", at.Host, "TOKEN", u.secret).Replace(text)); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	after, _ := io.ReadAll(r) // a connection that stays open fails at its deadline, with what came
	return res.StatusCode, string(after)
}

// Requests that two readers understand in two ways are answered once, and the connection ends.
func TestRequestsOfTwoReadings(t *testing.T) {
	short(t)
	u := serve(t).steward(t)
	const head = " /api/v1/session HTTP/1.1\nHost: HOST\n"
	const second = "GET /api/v1/session HTTP/1.1\nHost: HOST\nAuthorization: Bearer TOKEN\nConnection: close\n\n"
	for _, c := range []struct {
		name, text string
		status     int
	}{
		{"two credentials", "GET" + head + "Authorization: Bearer TOKEN\nAuthorization: Bearer other\nConnection: close\n\n", 401},
		{"two equal credentials", "GET" + head + "Authorization: Bearer TOKEN\nAuthorization: Bearer TOKEN\nConnection: close\n\n", 401},
		{"one credential", second, 200},
		{"a malformed chunk", "POST /api/v1/quotes HTTP/1.1\nHost: HOST\nAuthorization: Bearer TOKEN\nContent-Type: " +
			"application/json\nTransfer-Encoding: chunked\n\nzz\n{}\n0\n\n", 400},
		{"a length beside chunks", "POST /api/v1/quotes HTTP/1.1\nHost: HOST\nAuthorization: Bearer TOKEN\nContent-Type: " +
			"application/json\nContent-Length: 4\nTransfer-Encoding: chunked\n\n2\n{}\n0\n\n" + second, 422},
	} {
		status, rest := u.exchange(t, c.text)
		if status != c.status || rest != "" {
			t.Errorf("%s: status %d, want %d, and then %q", c.name, status, c.status, rest)
		}
	}
}

// Idle connections of one address without a sign-in keep no other address out.
func TestIdleConnectionsOfOneClient(t *testing.T) {
	short(t)
	u := serve(t).steward(t)
	at, err := url.Parse(u.base)
	if err != nil {
		t.Fatal(err)
	}
	for range 1100 {
		conn, err := net.Dial("tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
	}
	for _, from := range []string{"127.0.0.2", "127.0.0.1"} {
		if runtime.GOOS != "linux" && from != "127.0.0.1" {
			continue // elsewhere the loopback network has one address
		}
		dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		client := &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}, Timeout: time.Minute}
		req, err := http.NewRequestWithContext(t.Context(), "GET", u.base+"/api/v1/session", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+u.secret)
		res, err := client.Do(req)
		if err != nil {
			t.Errorf("from %s: %v", from, err)
			continue
		}
		_ = res.Body.Close()
		if res.StatusCode != 200 {
			t.Error(fmt.Sprint("from ", from, ": ", res.StatusCode))
		}
	}
}
