// Package questions answers paid questions about the tables of a server: quotes,
// rehearsals and answers.
//
// A quote is made from public facts alone: it reads no data and writes nothing. All that
// it states is in its token, which the client brings back to pay: the token is bound to
// the principal, to the schema of the data set and to a time, and signed by the server.
//
// An answer is charged before data is read, by package service. Its request key in the
// ledger is a hash of the principal and of the client's Idempotency-Key: the same key
// gives the stored answer as long as the ledger exists, and never a second charge. The
// reply leaves at a boundary of its time class (package quantum), whatever the data is;
// replies have one of a few lengths that follow from public parameters. Refusals of a
// budget read nothing and leave at once.
package questions
