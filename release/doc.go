// Package release runs differentially private queries: it prices, reserves
// budget, reads, computes, signs and settles, in that order.
//
//	validate -> price -> reserve -> read -> compute, add noise -> sign -> settle -> release
//
// The steward grants a data set once ([ReviewGrant], [ConfirmGrant]): its budget
// and its definition, which says how the file is read. Analysts ask afterwards,
// by the data set's name or path ([Find]), and cannot change how it is read.
//
// A [Mechanism] is a query of one of the families (query, outlier, correlated,
// ratio). It states its cost and its guarantee from public parameters alone, names
// the columns that it reads, and answers with noise already added. It knows
// neither files nor ledgers.
//
//	data, err := release.Find(ctx, l, "visits")
//	...
//	answer, err := release.Run(ctx, release.Request{
//		Mechanism: mean,
//		Dataset:   data,
//		Budget:    release.Budget{Principal: "mori"},
//		Signer:    key,
//		Tool:      certificate.Tool{Name: "noren", Version: "1.0"},
//	})
//
// # Guarantee
//
// The answers that are charged to a data set are together differentially private
// at its cap, for neighbouring tables of the form that its definition describes
// (docs/differential-privacy.md, sections 1 and 5), because
//
//   - nothing is computed from private data before its cost is durable in the
//     ledger; [Price] opens no file;
//   - the charge is never refunded;
//   - reading is a total function of each record (package dataset), and every
//     mechanism answers every table of the form: whether a charged query succeeds
//     does not depend on the records;
//   - the table that was read is the one that was granted: the prints of the columns
//     that were read are compared with those of the grant, and the answer is
//     withheld if they differ;
//   - every failure after the charge is one error with one text;
//   - an answer is released only after the ledger holds it, with a signed certificate
//     of what it is, how the table was read, under which guarantee, and at what
//     charge.
//
// In a data set that was granted under a model of dependent records every answer is
// priced under that model, or refused (docs/correlated-privacy.md, section 12).
//
// [Unaccounted] answers from a file that no ledger knows, without a charge. The
// guarantee then covers that answer only, and its certificate says so.
package release
