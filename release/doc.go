// Package release is the one way by which an answer of differential privacy
// leaves. It owns the order of the steps, once for all mechanisms:
//
//	validate -> price -> reserve -> read -> compute, add noise -> sign -> settle -> hand out
//
// A mechanism is what a family (query, outlier, correlated, ratio) offers: it
// states its cost and its guarantee from public parameters alone, names the
// columns that it reads, and answers with noise already added. It knows neither
// files nor ledgers, and fits by its methods ([Mechanism]).
//
//	answer, err := release.Run(ctx, release.Request{
//		Mechanism: mean,
//		File:      "visits.csv",
//		Budget:    release.Budget{Ledger: l, Principal: "mori"},
//		Signer:    key,
//		Tool:      certificate.Tool{Name: "noren", Version: "1.0"},
//	})
//
// # The promise
//
//   - Nothing is computed from private data before its cost is durable in the
//     ledger. The header of the file is read before, for the names of its columns,
//     and all of its bytes for their keyed fingerprint, by which the file's
//     budget is found; nothing that depends on them is told but the budget's.
//   - What was reserved stays spent, whatever happens after.
//   - An answer is handed out only after the ledger holds it.
//   - The file that was answered from is the one that was charged: its
//     fingerprint is taken again from the same open file after it was read.
//   - Errors and panics from reading and computing hold no detail: where a value
//     is that cannot be read would be an answer of its own. That an error occurred
//     at all is one bit that nobody paid for (docs/threat-model.md).
//   - An answer comes with a signed certificate of what it is, how it was made,
//     under which guarantee, and at what charge.
//
// [Budget.Unaccounted] answers without a ledger and stamps the certificate so:
// the guarantee then holds for that answer alone.
package release
