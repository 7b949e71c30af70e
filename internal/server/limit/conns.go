package limit

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Listener accepts at most Most connections at once, and at most Share from one address.
// Where a limit is reached, the connection that has been idle for longest makes place:
// of that address, or of all. Where none is idle, the new one gets Shed, where it is not
// empty, and is closed. It knows which are idle by [Listener.State].
type Listener struct {
	net.Listener
	// Most is the limit of all connections.
	Most int
	// Share is the limit of one address; of IPv6 the network of 64 bits counts. 0 is no limit.
	Share int
	// Proxy reports whether an address is that of a proxy, which has no share: it names
	// its clients. Optional.
	Proxy func(netip.Addr) bool
	// Shed is sent to a connection that is refused. Optional.
	Shed []byte

	mu   sync.Mutex
	open map[*conn]struct{}
	from map[netip.Addr]int
	shed int64
}

// Accept waits for a connection that is within the limits.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if held := l.hold(c); held != nil {
			return held, nil
		}
		if len(l.Shed) > 0 {
			// The buffer of a new connection takes a few bytes: this does not wait.
			_ = c.SetDeadline(time.Now().Add(100 * time.Millisecond))
			_, _ = c.Write(l.Shed)
		}
		_ = c.Close()
	}
}

// hold takes a connection, nil where there is no place for it.
func (l *Listener) hold(c net.Conn) *conn {
	from := l.address(c)
	l.mu.Lock()
	if l.open == nil {
		l.open, l.from = map[*conn]struct{}{}, map[netip.Addr]int{}
	}
	var ended *conn
	if l.Share > 0 && from.IsValid() && l.from[from] >= l.Share {
		ended = l.idlest(func(x *conn) bool { return x.from == from })
		if ended == nil {
			l.shed++
			l.mu.Unlock()
			return nil
		}
	} else if len(l.open) >= l.Most {
		ended = l.idlest(func(*conn) bool { return true })
		if ended == nil {
			l.shed++
			l.mu.Unlock()
			return nil
		}
	}
	if ended != nil {
		l.drop(ended)
	}
	held := &conn{Conn: c, from: from, on: l, idle: time.Now()}
	l.open[held] = struct{}{}
	if from.IsValid() {
		l.from[from]++
	}
	l.mu.Unlock()
	if ended != nil {
		_ = ended.Conn.Close()
	}
	return held
}

// address is the address whose share a connection takes; the zero one for none.
func (l *Listener) address(c net.Conn) netip.Addr {
	at, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	a := at.Addr().WithZone("").Unmap()
	if l.Proxy != nil && l.Proxy(a) {
		return netip.Addr{}
	}
	return Network(a)
}

// Network is the part of an address that counts as one client: of IPv6 the network of 64
// bits.
func Network(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return a
}

// ParseNetwork reads a network such as 10.0.0.0/8. One of IPv4 that is written as one of IPv6,
// such as ::ffff:10.0.0.0/104, is one of IPv4: so are addresses compared.
func ParseNetwork(text string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(text)
	if err == nil && p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p, err
}

// idlest is the connection that has been idle for longest, nil for none. l.mu is held.
func (l *Listener) idlest(of func(*conn) bool) *conn {
	var found *conn
	for c := range l.open {
		if !c.idle.IsZero() && of(c) && (found == nil || c.idle.Before(found.idle)) {
			found = c
		}
	}
	return found
}

// drop stops counting a connection. l.mu is held.
func (l *Listener) drop(c *conn) {
	if _, ok := l.open[c]; !ok {
		return
	}
	delete(l.open, c)
	if !c.from.IsValid() {
		return
	}
	if l.from[c.from]--; l.from[c.from] == 0 {
		delete(l.from, c.from)
	}
}

// State is the ConnState of an [http.Server] that serves the listener. A connection is idle
// from the moment at which it was accepted or its last reply ended.
func (l *Listener) State(c net.Conn, state http.ConnState) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	held, ok := c.(*conn)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch state {
	case http.StateIdle:
		held.idle = time.Now()
	case http.StateActive, http.StateHijacked:
		held.idle = time.Time{}
	}
}

// Open is the number of open connections.
func (l *Listener) Open() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.open))
}

// Refused is the number of connections that were refused.
func (l *Listener) Refused() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shed
}

type conn struct {
	net.Conn
	from netip.Addr
	on   *Listener
	idle time.Time // since when it is idle, zero while it is not; on.mu guards it
}

// Close closes the connection, and counts that once.
func (c *conn) Close() error {
	c.on.mu.Lock()
	c.on.drop(c)
	c.on.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite closes the direction to the client, so that it can read what was sent.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
