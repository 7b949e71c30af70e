package pg_test

import (
	"context"
	"encoding/binary"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/table/pg"
)

// hostile serves PostgreSQL's protocol on the loopback as far as answer says, and returns the
// settings of a connection. answer is called for each request of the client, "startup" first.
func hostile(t *testing.T, answer func(request string, b *pgproto3.Backend, conn net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer context.AfterFunc(t.Context(), func() { _ = conn.Close() })()
				defer conn.Close()
				converse(conn, answer)
			})
		}
	})
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return "host=127.0.0.1 user=u database=d sslmode=disable port=" + port
}

// converse answers the requests of one client until it leaves. Those that cancel another are
// passed over.
func converse(conn net.Conn, answer func(string, *pgproto3.Backend, net.Conn)) {
	b := pgproto3.NewBackend(conn, conn)
	m, err := b.ReceiveStartupMessage()
	if _, ok := m.(*pgproto3.StartupMessage); !ok || err != nil {
		return
	}
	answer("startup", b, conn)
	for {
		m, err := b.Receive()
		if err != nil {
			return
		}
		switch m := m.(type) {
		case *pgproto3.Query:
			answer(m.String, b, conn)
		case *pgproto3.Parse:
			answer(m.Query, b, conn)
		}
	}
}

// huge sends messages of a kind until the client leaves, each with a body of size bytes of
// which the first are head.
func huge(conn net.Conn, kind byte, size int, head string) {
	message := binary.BigEndian.AppendUint32([]byte{kind}, uint32(size+4))
	message = append(message, head...)
	rest := make([]byte, 1<<20)
	for {
		if _, err := conn.Write(message); err != nil {
			return
		}
		for left := size - len(head); left > 0; left -= len(rest) {
			if _, err := conn.Write(rest[:min(left, len(rest))]); err != nil {
				return
			}
		}
	}
}

// greeted answers the startup and the statements that a reading begins with, and leaves the
// rest to others.
func greeted(others func(request string, b *pgproto3.Backend, conn net.Conn)) func(string, *pgproto3.Backend, net.Conn) {
	return func(request string, b *pgproto3.Backend, conn net.Conn) {
		switch {
		case request == "startup":
			b.Send(&pgproto3.AuthenticationOk{})
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		case strings.HasPrefix(request, "BEGIN"):
			b.Send(&pgproto3.CommandComplete{CommandTag: []byte("BEGIN")})
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'T'})
		default:
			others(request, b, conn)
			return
		}
		_ = b.Flush()
	}
}

// rows sends n records of so many fields of a size, in answer to a query with parameters.
func rows(b *pgproto3.Backend, n, fields, size int) {
	b.Send(&pgproto3.ParseComplete{})
	b.Send(&pgproto3.ParameterDescription{})
	description := &pgproto3.RowDescription{}
	row := &pgproto3.DataRow{}
	for range fields {
		description.Fields = append(description.Fields, pgproto3.FieldDescription{
			Name: []byte("a"), DataTypeOID: pgtype.TextOID,
			DataTypeSize: -1,
		})
		row.Values = append(row.Values, make([]byte, size))
	}
	b.Send(&pgproto3.BindComplete{})
	b.Send(description)
	for range n {
		b.Send(row)
		if b.Flush() != nil {
			return
		}
	}
	b.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT")})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	_ = b.Flush()
}

// A server that sends more than a client may hold, or other than it was asked for, gets an
// error, and little memory.
func TestHostileServers(t *testing.T) {
	type backend = *pgproto3.Backend
	for name, c := range map[string]struct {
		answer func(string, backend, net.Conn)
		code   string
		want   string
	}{
		"a message of 1 GB at the start": {
			func(_ string, _ backend, conn net.Conn) { huge(conn, 'R', 1e9, "") }, meter.Code,
			"a record or another message of the server is larger than 32 MiB",
		},
		"settings without end": {
			func(_ string, _ backend, conn net.Conn) { huge(conn, 'S', 1<<18, "name\x00") }, meter.Code,
			"the server sends settings of more than 1 MiB",
		},
		"a record of 1 GB": {greeted(func(_ string, _ backend, conn net.Conn) {
			huge(conn, 'D', 1e9, "")
		}), meter.Code, "is larger than 32 MiB"},
		"a list without end": {
			greeted(func(_ string, b backend, _ net.Conn) { rows(b, 1e9, 3, 10) }), "",
			"more records than it was asked for",
		},
		"a list of long texts": {
			greeted(func(_ string, b backend, _ net.Conn) { rows(b, 1e9, 3, 1<<20) }), "",
			"more records than it was asked for",
		},
		"a list of records too short": {greeted(func(_ string, b backend, _ net.Conn) { rows(b, 2, 1, 10) }), "", "answers with other fields"},
	} {
		t.Run(name, func(t *testing.T) {
			o := pg.Options{Connection: hostile(t, c.answer)}
			most := metertest.Peak(t, func() {
				_, err := pg.List(t.Context(), o)
				if noren.KindOf(err) != noren.BadData || noren.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) ||
					strings.Contains(err.Error(), "127.0.0.1") {
					t.Errorf("%v", err)
				}
			})
			if most > 150e6 {
				t.Errorf("took %d MB", most/1e6)
			}
		})
	}
}
