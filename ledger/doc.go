// Package ledger stores the privacy budgets of data sets, with all that was
// charged to them. It is a SQLite file with a head file beside it. Several processes may
// use it at once.
//
// # A query
//
//	book, err := l.Find(ctx, "visits")             // by name, or by the path of its file
//	r, stored, err := l.Reserve(ctx, Request{...}) // charged from here on
//	if stored != nil { ... }                       // asked before: the same bytes, free
//	defer r.Forfeit("...")                         // does nothing after Settle
//	... read the data, compute, add noise, sign (r.Context ends when the lease is lost) ...
//	err = r.Settle(ctx, payload, signature, keyID)
//	... and only now print payload ...
//
// # Data sets and versions
//
// A data set is a name, a cap, and versions 1, 2, ... A version is a definition
// (the schema: public text, which package dataset reads and the ledger does not),
// the keyed print of the table, the keyed prints of its columns, and a path.
// [Ledger.Grant] makes a version:
//
//   - A path or a print belongs to one data set permanently. A grant to another
//     is refused (code same-table).
//   - Tables that share at least half of the names of columns of the smaller one, or
//     a column with the same, many different values under any name ([Contents]), need
//     a declaration that no person is in both (code other-people). The chain holds it,
//     and it holds for both data sets from then on. Near copies cannot be found in any
//     other way.
//   - A new table or definition of the same people is the next version
//     ([Grant.Changed]): one cap, and all that was spent stays.
//   - While nothing is spent or reserved, a grant can be corrected
//     ([Grant.Replace]): relation, unit, schema and a lower cap. Both versions
//     stay on the chain. Once something is spent, relation, unit and model are
//     fixed (code fixed), because epsilons of different relations do not add up.
//   - Caps otherwise only rise.
//
// [Ledger.Reserve] refuses, in the transaction that charges, a request that was
// made for another version or definition than the current one (code changed).
//
// A data set of a ledger that was made before data sets had schemas has no
// version. It answers nothing (code no-schema) until the steward grants a
// definition for the file of its last grant, or for a changed one. Its charges
// stay; [Book.BeforeSchema] counts them, because their guarantee holds only for
// the column types that their requests declared. If it has caps for blocks of its
// records, every charge counts against each of them, as it did for requests that
// named no block; new ones cannot be granted.
//
// An analyst with a cap of its own is charged with the data set.
// [Ledger.CloseAnalyst] ends the grant without a refund.
//
// # Guarantees
//
//  1. A cost depends on public parameters only: [Request] holds no data, and is
//     priced before the data is read.
//  2. The reservation is durable before data is read: when [Ledger.Reserve]
//     returns, the charge is synced to the database and to the head file.
//  3. What is spent never falls. An error, a crash, a time-out or an
//     interruption refunds nothing; triggers in the database forbid it.
//  4. Data set and analyst are charged in one transaction, or neither is.
//  5. The same idempotency key with the same request returns the stored bytes,
//     free; with another request it is [ErrConflict].
//  6. The cap is a filter: a request that does not fit is refused before
//     anything is read (kind Refused, a [*Refusal] in the chain of errors).
//
// A budget adds up epsilons and deltas ([Basic]), or rhos ([ZCDP]). Both are sound for
// requests that are chosen after seeing earlier answers (adaptive composition filters:
// Rogers, Roth, Ullman and Vadhan 2016). They bound the loss of a person over all
// versions of a data set: see docs/differential-privacy.md, section 3. A budget in zCDP
// keeps the parts of its loss ([Account.Loss]), from which its statement follows.
//
// # Leases
//
// A reservation is owned by the process that made it, and its lease is renewed
// while it works. The next process that opens the ledger forfeits reservations
// whose lease has run out. The owner detects this no later than in the
// transaction of [Reservation.Settle]: an answer whose charge it no longer owns is not
// released. A lease that ran out while no process took it still holds, so a
// suspended machine loses nothing.
//
// Between processes of one boot of one machine, time is the clock since boot, which
// neither jumps nor runs back. Otherwise it is the latest wall-clock time that was
// ever written to the ledger. Setting the clock back therefore neither renews a lease
// that has expired nor ends one that holds; time in the ledger does not advance until
// the clock has caught up.
//
// # The chain, the head file and checkpoints
//
// Every grant, charge and end of a charge is an entry of a hash chain. The tables of
// accounts, versions, prints and paths are a function of it: replaying the chain
// gives their rows.
//
// The head file, NAME.head beside the database NAME, repeats the chain entry by
// entry; it is written after the transaction is durable and before data is read,
// in the order of the transactions, so that it may lag behind the database by
// the transactions in flight and is never ahead of it. A database that does not
// contain the last entry of its head file is an older copy that was restored,
// which would refund budget: it opens sealed ([Ledger.Sealed]). It also opens
// sealed when the head file is missing or broken.
//
// A checkpoint is the state of the accounts and data sets at one entry, with an
// HMAC under the ledger's secret. The transaction that appends an entry whose
// number is a multiple of 1024 writes it, from the last checkpoint and the entries
// after it, never from the rows. [Open] replays the at most 1023 entries after the
// checkpoint and compares every account, version, print and path; the cost does
// not grow with the number of charges. A difference is a change from outside: the
// ledger opens sealed. Single charges and stored answers are compared by
// [Ledger.Verify] alone.
//
// A sealed ledger can be shown and answers nothing until [Ledger.Reconcile]
// has rolled it forward from the head file and from certificates, and has made
// the rows anew from the chain. What is spent can only rise by it: if a row says
// that more was spent than the chain, the difference is charged.
//
// An older copy of both files, restored together, is detected by certificates and by
// the anchor, a file in another folder ([Options.Anchor]) with the number and the hash
// of the last entry. It is written after the head file in the same order, also when an
// answer is stored. A ledger that does not contain its anchor's entry opens sealed, as
// does one whose anchor is missing or of another ledger. Keep certificates elsewhere
// too: they say what was charged, which the anchor does not.
//
// # Goroutines, readers and exports
//
// Goroutines that share a ledger commit in groups: one transaction and one write of
// the head file for all that wait, each in a savepoint. None returns before its own
// entries are durable. Reading goes through other connections and sees one moment:
// [Ledger.Verify], [Ledger.Passbook] and [Ledger.Export] do not keep writers waiting.
//
// Beside the chain stand what each account had spent and had left after each charge, and
// a row for each grant; [Ledger.Verify] compares them with the chain. They make a page
// of entries cost the same however many there are. An [ExportChecker] replays an
// exported chain without a ledger.
//
// A person who can write both files can forge both. [Ledger.Verify] finds changes
// by hand that do not rewrite the chain from there on; the entries that were
// printed in certificates bind that as well.
//
// # What is kept
//
// The ledger holds the names, the file paths, the definitions and the requests as
// they were given, the released bytes, and of the private file only keyed hashes
// (HMAC-SHA256): the prints of package dataset, under keys derived by
// [Ledger.Key], of which those of the values of columns are on the chain by an HMAC alone,
// and the byte fingerprints of older grants ([FileHash]). The size
// and the modification time of the file are kept to decide whether it is compared
// before a charge. All files have mode 0600.
package ledger
