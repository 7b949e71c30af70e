package pg

import (
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
)

// What a server may send: the client holds a message as a whole, and the settings of the
// session (messages of ParameterStatus) as long as it is connected.
const (
	mostMessage  = 32 << 20
	mostSettings = 1 << 20
)

// bounded makes connections of c refuse more than that.
func bounded(c *pgconn.Config, where any) {
	c.MaxProtocolMessageBodyLen = mostMessage
	c.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		return pgproto3.NewFrontend(&settings{in: r, where: where}, w)
	}
}

// tooLong is the error about a message that is longer than [mostMessage], or settings of more
// than [mostSettings] bytes, where err is one; else nil.
func tooLong(err error, where any) error {
	var long *pgproto3.ExceededMaxBodyLenErr
	if errors.As(err, &long) {
		return &noren.Error{
			Kind: noren.BadData, Code: meter.Code, Where: where,
			What: "a record or another message of the server is larger than %s", Args: []any{meter.Size(mostMessage)},
			Hint: "select fewer or shorter columns",
		}
	}
	return nil
}

// settings passes on the messages of a server, and counts the bytes of its settings.
type settings struct {
	in    io.Reader
	where any
	head  [5]byte // kind and length of the message, as far as it is read
	n     int
	left  int64 // bytes of the body that are still to come
	held  int64
}

// Read implements io.Reader.
func (s *settings) Read(p []byte) (int, error) {
	n, err := s.in.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		if s.left > 0 {
			some := min(s.left, int64(len(rest)))
			s.left -= some
			rest = rest[some:]
			continue
		}
		some := copy(s.head[s.n:], rest)
		s.n += some
		rest = rest[some:]
		if s.n < len(s.head) {
			break
		}
		s.n, s.left = 0, max(0, int64(binary.BigEndian.Uint32(s.head[1:]))-4)
		if s.head[0] == 'S' {
			s.held += int64(len(s.head)) + s.left
		}
		if s.held > mostSettings {
			return 0, &noren.Error{
				Kind: noren.BadData, Code: meter.Code, Where: s.where, What: "the server sends settings of more than %s",
				Args: []any{meter.Size(mostSettings)},
			}
		}
	}
	return n, err
}

// readFew reads a result of at most that many records of so many fields; another result is
// an error. The connection is of no more use after an error.
func readFew(ctx context.Context, r *pgconn.ResultReader, most, fields int, where any) ([][][]byte, error) {
	var rows [][][]byte
	held := 0
	for r.NextRow() {
		row := make([][]byte, len(r.Values()))
		for i, v := range r.Values() {
			row[i] = append([]byte(nil), v...)
			held += len(v)
		}
		rows = append(rows, row)
		if len(row) != fields || len(rows) > most || held > mostMessage {
			return nil, unasked(where)
		}
	}
	if _, err := r.Close(); err != nil {
		return nil, failed(ctx, where, err, lost)
	}
	return rows, nil
}

// unasked is the error about a server that does not answer what it is asked.
func unasked(where any) error {
	return &noren.Error{
		Kind: noren.BadData, Where: where, What: "the server answers with other fields or more records than it was asked for",
		Hint: "is it a PostgreSQL server?",
	}
}
