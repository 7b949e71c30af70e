package limit

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Listener accepts at most Most connections at once. Further ones get Shed, where it is
// not empty, and are closed.
type Listener struct {
	net.Listener
	Most int
	Shed []byte

	open atomic.Int64
	shed atomic.Int64
}

// Accept waits for a connection that is within the limit.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= int64(l.Most) {
			return &conn{Conn: c, closed: sync.OnceFunc(func() { l.open.Add(-1) })}, nil
		}
		l.open.Add(-1)
		l.shed.Add(1)
		if len(l.Shed) > 0 {
			// The buffer of a new connection takes a few bytes: this does not wait.
			_ = c.SetDeadline(time.Now().Add(100 * time.Millisecond))
			_, _ = c.Write(l.Shed)
		}
		_ = c.Close()
	}
}

// Open is the number of open connections.
func (l *Listener) Open() int64 { return l.open.Load() }

// Refused is the number of connections that were over the limit.
func (l *Listener) Refused() int64 { return l.shed.Load() }

type conn struct {
	net.Conn
	closed func()
}

// Close closes the connection, and counts that once.
func (c *conn) Close() error {
	c.closed()
	return c.Conn.Close()
}

// CloseWrite closes the direction to the client, so that it can read what was sent.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
