package ledger

import (
	"context"
	"encoding/json"
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
