// Package ledger keeps privacy budgets: what each data set may lose, what it
// has lost, to whom and for what. It is a SQLite file with a head file beside
// it, which several processes may use at once.
//
// # The way of a release
//
//	book, err := l.FindByFile(ctx, path)          // which data set is this file
//	r, stored, err := l.Reserve(ctx, Request{...}) // the cost is gone from here on
//	if stored != nil { ... }                       // asked before: the same bytes, free
//	defer r.Forfeit("...")                         // does nothing after Settle
//	... read the data, compute, add noise, sign (r.Context ends when the lease is lost) ...
//	err = r.Settle(ctx, payload, signature, keyID)
//	... and only now print payload ...
//
// # The promise
//
// The invariants (design note, section 3):
//
//  1. A cost depends on public parameters only: [Request] holds no data, and is
//     priced before the data is read.
//  2. The reservation is durable before data is read: when [Ledger.Reserve]
//     returns, the charge is synced to the database and to the head file.
//  3. What is spent never falls. An error, a crash, a time-out or an
//     interruption gives nothing back; triggers in the database forbid it.
//  4. Data set, analyst and every touched block are charged in one transaction,
//     or none is.
//  5. The same idempotency key with the same request returns the stored bytes,
//     free; with another request it is [ErrConflict].
//  6. The cap is a filter: a request that does not fit is refused before
//     anything is read (kind Refused, a [*Refusal] in the chain).
//
// Sums of epsilon and of delta are sound for requests that are chosen after
// seeing earlier answers (adaptive composition filters: Rogers, Roth, Ullman
// and Vadhan 2016). A book has one relation of neighbours and one unit, fixed
// at its grant, because epsilons of different relations do not add up.
//
// # Leases
//
// A reservation is owned by the process that made it, and its lease is renewed
// while it works. Whoever opens the ledger turns into forfeited those
// reservations whose lease has run out, which its owner learns in the
// transaction of [Reservation.Settle] at the latest: an answer whose charge is
// no longer its own is not given. A lease that ran out while nobody took it
// still holds, so a suspended machine loses nothing.
//
// Time is judged so. Between processes of one boot of one machine the clock
// since boot decides, which neither jumps nor runs back. Otherwise the wall
// clock decides, as the ledger has seen it: the latest time ever written. A
// clock that is set back therefore makes nothing that has run out hold again
// and nothing that holds run out; time in the ledger stands still until the
// clock has caught up.
//
// # The chain and the head
//
// All that bears on a budget (grants, charges, ends) is a link of a hash chain.
// The head file, NAME.head beside the database NAME, repeats the chain link by
// link; it is written after the transaction is durable and before data is read,
// in the order of the transactions, so that it may lag behind the database by
// the transactions in flight and is never ahead of it. A database that does not
// contain the last link of its head file is an older copy that was put back,
// which would refill the budget: it opens sealed ([Ledger.Sealed]), and so it
// does when the head file is missing or broken. A sealed ledger can be looked
// at and answers nothing until [Ledger.Reconcile] has rolled it forward from the
// head file and from certificates, by which what is spent can only rise.
//
// A copy of both files, put back together, is found out by certificates alone:
// keep them elsewhere.
//
// Who can write both files can forge both. [Ledger.Verify] finds changes made
// by hand that do not rewrite the chain from there on; the links that were
// printed in certificates bind that as well.
//
// # What is kept
//
// The ledger holds the names, the file path and the requests as they were
// given, the released bytes, and of the private file only an HMAC-SHA256 under
// the ledger's secret. All files have mode 0600.
package ledger
