package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/server/limit"
)

// A body that does not go on ends on every route that changes something, with or without a
// credential, with a length or in chunks, before the client has sent it. Others are answered
// meanwhile.
func TestSlowBodiesOnEachRoute(t *testing.T) {
	t.Parallel()
	r := start(t, func(c *Config) {
		c.Slowness = limit.Slowness{Grace: 200 * time.Millisecond, BytesPerSecond: 1 << 20, Write: time.Minute}
	})
	s := r.steward(t)
	address := strings.TrimPrefix(r.base, "http://")
	send := func(m mounted, credential, framing string) error {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		path := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(m.path, "x")
		_, err = fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nIf-Match: \"1\"\r\nIdempotency-Key: slow\r\n"+
			"Content-Range: bytes 0-99999/100000\r\n%s%s\r\n", m.method, path, address, credential, framing)
		if err != nil {
			return err
		}
		// The rest never comes: the server ends the connection, whatever it answers.
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		in := bufio.NewReader(c)
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			return err
		}
		_ = res.Body.Close()
		if res.StatusCode < 400 {
			return fmt.Errorf("it is answered with %d", res.StatusCode)
		}
		if _, err := in.ReadByte(); err == nil {
			return errors.New("more than one answer")
		} else if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
			return errors.New("the connection stays open")
		}
		return nil
	}
	var all sync.WaitGroup
	n := 0
	for _, m := range r.routes {
		if m.method == http.MethodGet || m.method == http.MethodHead {
			continue
		}
		for _, credential := range []string{"", "Authorization: Bearer " + s.secret + "\r\n"} {
			for _, framing := range []string{"Content-Length: 100000\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{"} {
				n++
				all.Go(func() {
					if err := send(m, credential, framing); err != nil {
						t.Errorf("%s %s: %v", m.method, m.path, err)
					}
				})
			}
		}
	}
	if n < 100 {
		t.Errorf("%d requests: expected those of every route", n)
	}
	for range 10 {
		if a := r.ask(t, "GET", "/api/v1/tables", s.secret, nil, nil); a.status != 200 {
			t.Errorf("another request: %d %s", a.status, a.body)
		}
	}
	all.Wait()
	if a := r.ask(t, "GET", "/api/v1/tables", s.secret, nil, nil); a.status != 200 {
		t.Errorf("after them: %d %s", a.status, a.body)
	}
}
