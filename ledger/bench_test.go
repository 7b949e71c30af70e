package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func BenchmarkReserveSettle(b *testing.B) {
	f := newFixture(b, Cost{Epsilon: 1 << 60, Delta: 0})
	l := f.open(b)
	n := 0
	for b.Loop() {
		n++
		if _, err := ask(context.Background(), l, Request{
			Dataset: "adult", Principal: "ana", Hash: [32]byte{1}, Mechanism: json.RawMessage(`{}`), Cost: Cost{Epsilon: 7, Delta: 0},
			Unit: "record", Version: 1, Definition: hashOf(definitionOf("age", "sex")),
		}, answer(n)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "releases/s")
}

func BenchmarkReserveSettle16(b *testing.B) {
	f := newFixture(b, Cost{Epsilon: 1 << 60, Delta: 0})
	l := f.open(b)
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := ask(context.Background(), l, Request{
				Dataset: "adult", Principal: "ana", Hash: [32]byte{1}, Mechanism: json.RawMessage(`{}`), Cost: Cost{Epsilon: 7, Delta: 0},
				Unit: "record", Version: 1, Definition: hashOf(definitionOf("age", "sex")),
			}, []byte("x")); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "releases/s")
}

func BenchmarkOpen(b *testing.B) {
	f := newFixture(b, Cost{Epsilon: 1 << 60, Delta: 0})
	for b.Loop() {
		l, err := Open(context.Background(), f.path, Options{Lease: time.Second})
		if err != nil {
			b.Fatal(err)
		}
		l.Close()
	}
}

// A ledger of 10^6 charges, each answered: 2 * 10^6 entries, of which 1023 follow
// the checkpoint, the most there can be.
func BenchmarkOpenMillion(b *testing.B) {
	if testing.Short() {
		b.Skip("a million charges take minutes to make")
	}
	f := newFixture(b, Cost{Epsilon: 1 << 60, Delta: 0})
	f.charges(b, 1_000_000)
	f.open(b).Close() // the system writes out what was just made
	for b.Loop() {
		l, err := Open(context.Background(), f.path, Options{})
		if err != nil || l.Sealed() != nil {
			b.Fatal(err, l.Sealed())
		}
		l.Close()
	}
}

// charges adds n charges with their answers to the database, without the
// protocol: a row at a time would take an hour.
func (f *fixture) charges(tb testing.TB, n int) {
	tb.Helper()
	l := f.open(tb)
	if err := l.write(tb.Context(), "filling", func(ctx context.Context, tx *sql.Tx, now int64) error {
		p := newBooks()
		if err := p.catchUp(ctx, tx); err != nil {
			return err
		}
		first, seq, prev := p.seq, p.seq, p.hash
		insert, err := tx.PrepareContext(ctx, "INSERT INTO chain (seq, kind, body, prev_hash, hash) VALUES (?, ?, ?, ?, ?)")
		if err != nil {
			return err
		}
		defer insert.Close()
		last := first + 2*int64(n)
		add := func(kind, body string) error {
			k := link{Seq: seq + 1, Kind: kind, Body: []byte(body), Prev: prev}
			k.Hash = k.digest()
			seq, prev = k.Seq, k.Hash
			if _, err := insert.ExecContext(ctx, k.Seq, k.Kind, body, k.Prev, k.Hash); err != nil || seq != last-checkpointEvery+1 {
				return err
			}
			p.seq, p.hash, p.accounts[1].spent.eps, p.accounts[1].charges = seq, k.Hash, 7*((seq-first+1)/2), (seq-first+1)/2
			return l.writeCheckpoint(ctx, tx, p)
		}
		hash := strings.Repeat("01", 32)
		for i := range n {
			id := fmt.Sprintf("%032x", i)
			if err := add(kindCharge,
				fmt.Sprintf(
					`{"charge":%q,"account":1,"principal":"ana","key":%q,"request_hash":%q,"mechanism":"{}","owner":"o","lines":[{"account":1,"eps":7,"delta":0}],"time":%d}`, id, id, hash, now)); err != nil {
				return err
			}
			if err := add(kindRelease, fmt.Sprintf(`{"charge":%q,"payload_sha256":%q,"signature_sha256":%q,"key_id":"key","time":%d}`, id,
				hexHash([]byte("x")), hexHash([]byte("y")), now)); err != nil {
				return err
			}
		}
		for _, rows := range []string{
			`INSERT INTO charge SELECT json_extract(body, '$.charge'), seq, 1, 'ana', json_extract(body, '$.charge'), unhex(json_extract(body, '$.request_hash')),
				'{}', 'released', 'o', '', 0, 0, json_extract(body, '$.time'), json_extract(body, '$.time'), '' FROM chain WHERE kind = 'charge' AND seq > ?1`,
			`INSERT INTO charge_line SELECT id, 1, 7, 0, 0, 0, seq, row_number() OVER (ORDER BY seq), 7 * row_number() OVER (ORDER BY seq), 0, 0,
				(SELECT cap_eps_nano FROM account WHERE id = 1) - 7 * row_number() OVER (ORDER BY seq), 0, 0 FROM charge WHERE seq > ?1`,
			"INSERT INTO release SELECT id, x'78', x'79', 'key' FROM charge WHERE seq > ?1",
			"UPDATE account SET spent_eps_nano = spent_eps_nano + 7 * (SELECT count(*) FROM charge WHERE seq > ?1), charges = charges + (SELECT " +
				"count(*) FROM charge WHERE seq > ?1)",
		} {
			if _, err := tx.ExecContext(ctx, rows, first); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		tb.Fatal(err)
	}
	if err := l.Close(); err != nil {
		tb.Fatal(err)
	}
}
