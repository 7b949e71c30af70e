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
			Dataset: "adult", Principal: "ana", Hash: [32]byte{1}, Mechanism: json.RawMessage(`{}`), Cost: Cost{Epsilon: 7, Delta: 0}, Unit: "record", Version: 1, Definition: hashOf(definitionOf("age", "sex")),
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
				Dataset: "adult", Principal: "ana", Hash: [32]byte{1}, Mechanism: json.RawMessage(`{}`), Cost: Cost{Epsilon: 7, Delta: 0}, Unit: "record", Version: 1, Definition: hashOf(definitionOf("age", "sex")),
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

// A ledger of 10^6 charges, each answered: 2 * 10^6 links.
func BenchmarkOpenMillion(b *testing.B) {
	f := newFixture(b, Cost{Epsilon: 1 << 60, Delta: 0})
	f.charges(b, 1_000_000)
	start := time.Now()
	f.open(b).Close() // replays the whole chain, once: it was made without checkpoints
	b.Logf("first open: %v", time.Since(start))
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
		seq, prev, err := lastLink(ctx, tx)
		if err != nil {
			return err
		}
		first := seq
		insert, err := tx.PrepareContext(ctx, "INSERT INTO chain (seq, kind, body, prev_hash, hash) VALUES (?, ?, ?, ?, ?)")
		if err != nil {
			return err
		}
		defer insert.Close()
		add := func(kind string, body any) error {
			text, err := json.Marshal(body)
			if err != nil {
				return err
			}
			k := link{Seq: seq + 1, Kind: kind, Body: text, Prev: prev}
			k.Hash = k.digest()
			seq, prev = k.Seq, k.Hash
			_, err = insert.ExecContext(ctx, k.Seq, k.Kind, string(k.Body), k.Prev, k.Hash)
			return err
		}
		hash := strings.Repeat("01", 32)
		for i := range n {
			id := fmt.Sprintf("%032x", i)
			if err := add(kindCharge, chargeBody{id, 1, "ana", id, hash, `{"mechanism":"count"}`, "o", []line{{1, 7, 0}}, now}); err != nil {
				return err
			}
			if err := add(kindRelease, releaseBody{id, hexHash([]byte("x")), hexHash([]byte("y")), "key", now}); err != nil {
				return err
			}
		}
		for _, rows := range []string{
			`INSERT INTO charge SELECT json_extract(body, '$.charge'), seq, 1, 'ana', json_extract(body, '$.charge'), unhex(json_extract(body, '$.request_hash')),
				'{"mechanism":"count"}', 'released', 'o', '', 0, 0, json_extract(body, '$.time'), json_extract(body, '$.time'), '' FROM chain WHERE kind = 'charge' AND seq > ?1`,
			"INSERT INTO charge_line SELECT id, 1, 7, 0 FROM charge WHERE seq > ?1",
			"INSERT INTO release SELECT id, x'78', x'79', 'key' FROM charge WHERE seq > ?1",
			"UPDATE account SET spent_eps_nano = spent_eps_nano + 7 * (SELECT count(*) FROM charge WHERE seq > ?1)",
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
