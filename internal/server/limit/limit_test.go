package limit

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/randtest"
)

// In any time a key gets at most its burst and one event each interval, and the wait
// that it returns is enough.
func TestRateIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		every := time.Duration(rapid.IntRange(1, 1000).Draw(t, "every")) * time.Millisecond
		burst := rapid.IntRange(1, 20).Draw(t, "burst")
		r := NewRate(every, burst)
		now := time.Unix(1e9, 0)
		var allowed []time.Time
		for range rapid.IntRange(1, 200).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "gap")) * time.Millisecond / 10)
			ok, wait := r.Allow("a", now)
			if !ok {
				if wait <= 0 {
					t.Fatalf("refused with a wait of %s", wait)
				}
				later := now.Add(wait)
				if ok, _ := r.Allow("a", later); !ok {
					t.Fatalf("refused after waiting %s", wait)
				}
				now = later
			}
			allowed = append(allowed, now)
			for i, from := range allowed { // every window
				if n, most := len(allowed)-i, burst+int(now.Sub(from)/every); n > most {
					t.Fatalf("%d events in %s, at most %d", n, now.Sub(from), most)
				}
			}
		}
	})
}

// Keys do not affect one another, are forgotten, and their number is bounded.
func TestRateForgets(t *testing.T) {
	r := NewRate(time.Second, 1)
	now := time.Unix(1e9, 0)
	for i := range maxKeys {
		if ok, _ := r.Allow(fmt.Sprint(i), now); !ok {
			t.Fatalf("key %d was refused", i)
		}
	}
	if ok, wait := r.Allow("new", now); ok || wait <= 0 {
		t.Error("more keys than the bound")
	}
	now = now.Add(2 * time.Second)
	if ok, _ := r.Allow("new", now); !ok || len(r.full) != 1 {
		t.Errorf("%d keys are held", len(r.full))
	}
}

// Connections over the limit are shed and counted, and closed ones make place.
func TestListener(t *testing.T) {
	on, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &Listener{Listener: on, Most: 2, Shed: []byte("full")}
	defer l.Close()
	accepted := make(chan net.Conn, 10)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- c
		}
	}()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", on.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	dial()
	dial()
	first, second := <-accepted, <-accepted
	l.State(first, http.StateActive)
	l.State(second, http.StateActive)
	if text, err := io.ReadAll(dial()); err != nil || string(text) != "full" {
		t.Errorf("%q %v", text, err)
	}
	if l.Open() != 2 || l.Refused() != 1 {
		t.Errorf("%d open, %d refused", l.Open(), l.Refused())
	}
	first.Close()
	first.Close() // counted once
	dial()
	<-accepted
	if l.Open() != 2 {
		t.Errorf("%d open", l.Open())
	}
}

// One address has a share. Where a limit is reached, the connection that was idle for
// longest makes place, and the proxies' addresses have no share.
func TestShares(t *testing.T) {
	from := func(address string) net.Conn {
		_, server := net.Pipe()
		return &addressed{Conn: server, from: address}
	}
	l := &Listener{Most: 6, Share: 3, Proxy: func(a netip.Addr) bool { return a.String() == "10.0.0.9" }}
	var held []*conn
	busy := func(address string) *conn {
		c := l.hold(from(address))
		if c != nil {
			l.State(c, http.StateActive)
			held = append(held, c)
		}
		return c
	}
	for range 3 {
		if busy("10.0.0.1:5") == nil {
			t.Fatal("within the share")
		}
	}
	if busy("10.0.0.1:6") != nil || l.Refused() != 1 {
		t.Error("a fourth of one address, and none is idle")
	}
	if busy("10.0.0.2:5") == nil {
		t.Error("another address")
	}
	l.State(held[1], http.StateIdle)
	if busy("[::ffff:10.0.0.1]:7") == nil || l.Open() != 4 {
		t.Error("an idle connection of the address makes place")
	}
	if _, err := held[1].Read(make([]byte, 1)); err == nil {
		t.Error("it is not closed")
	}
	for range 2 {
		if busy("10.0.0.9:5") == nil {
			t.Error("a proxy has no share")
		}
	}
	if l.Open() != 6 || busy("10.0.0.3:5") != nil {
		t.Error("the limit of all")
	}
	l.State(held[3], http.StateIdle)
	l.State(held[0], http.StateIdle)
	if busy("[2001:db8::1]:5") == nil || l.Open() != 6 {
		t.Error("an idle connection of any address makes place")
	}
	if _, err := held[3].Read(make([]byte, 1)); err == nil {
		t.Error("the one that was idle for longest stays")
	}
	if Network(netip.MustParseAddr("2001:db8::1")) != Network(netip.MustParseAddr("2001:db8::ffff:2")) {
		t.Error("two addresses of one network of 64 bits")
	}
	for _, c := range held {
		_ = c.Close()
		_ = c.Close()
	}
	if l.Open() != 0 || len(l.from) != 0 {
		t.Errorf("%d open, %v", l.Open(), l.from)
	}
}

// addressed is a connection from an address.
type addressed struct {
	net.Conn
	from string
}

func (c *addressed) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.from))
}

// A body that comes as fast as it must is read whole, a slower one fails with a timeout,
// and an answer that is not taken ends.
func TestSlowness(t *testing.T) {
	randtest.SkipShort(t)
	s := Slowness{Grace: time.Second, BytesPerSecond: 1000, Write: 200 * time.Millisecond}
	read, wrote := make(chan error, 1), make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/write" {
			out, piece := s.Writer(w), make([]byte, 1<<20)
			for {
				if _, err := out.Write(piece); err != nil {
					wrote <- err
					return
				}
			}
		}
		_, err := io.Copy(io.Discard, s.Body(w, r))
		read <- err
	}))
	defer server.Close()
	send := func(pieces int, gap time.Duration) error {
		in, out := io.Pipe()
		go func() {
			for range pieces {
				time.Sleep(gap)
				_, _ = out.Write([]byte(strings.Repeat("a", 100)))
			}
			out.Close()
		}()
		res, err := http.Post(server.URL, "text/plain", in)
		if err == nil {
			res.Body.Close()
		}
		return <-read
	}
	if err := send(20, 20*time.Millisecond); err != nil {
		t.Errorf("5,000 bytes a second: %v", err)
	}
	var slow SlowError
	if err := send(8, 300*time.Millisecond); !errors.As(err, &slow) || !slow.Timeout() {
		t.Errorf("333 bytes a second: %v", err)
	}
	c, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET /write HTTP/1.1\r\nHost: x\r\n\r\n")
	select {
	case err := <-wrote:
		if err == nil {
			t.Error("no error")
		}
	case <-time.After(10 * time.Second):
		t.Error("an answer that is not taken did not end")
	}
}

// A time that runs back, by hours too, locks no key out for longer than a full burst takes.
func TestRateOfATimeThatRunsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		every, burst := time.Second, rapid.IntRange(1, 5).Draw(t, "burst")
		r, now := NewRate(every, burst), time.Unix(1e9, 0)
		for range rapid.IntRange(1, 30).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{-9 * 3600, -60, 0, 0, 0, 1, 60, 9 * 3600}).Draw(t, "seconds")) * time.Second)
			if ok, wait := r.Allow("a", now); !ok && wait > time.Duration(burst)*every {
				t.Fatalf("refused for %s", wait)
			}
		}
	})
}
