// Package certificate writes and checks release certificates: signed statements
// of what was released, by which mechanism with which public parameters, under
// which guarantee and at what charge.
//
// # Use
//
//	key, err := certificate.LoadOrCreateKey(path)        // Ed25519, mode 0600
//	released, err := certificate.HashFile(ctx, "out.csv") // SHA-256 and size
//	signed, err := certificate.Sign(key, certificate.Certificate{...})
//	text, err := signed.Encode()
//
//	signed, err := certificate.Parse(text)
//	result, err := certificate.CheckFile(ctx, signed, "out.csv", trusted...)
//
// # The guarantee
//
// [Check] succeeds only if the signature holds over exactly what the certificate
// states, and the file is, byte for byte, the one that it states. A table of a database is stated
// by its canonical form (SumRecords of package table), which [Signed.MatchesTable] compares. Any change of either
// is an error of kind NotMet. A signature identifies the signer's key and does not
// make the signer trustworthy: without a trusted key [Check] names the key and sets
// [Result.Trusted] to false.
//
// A certificate holds nothing that was computed from private data and is not
// itself released. The released file or answer is named by its plain SHA-256,
// which every reader of it can compute anyway; a private file is named only by a
// fingerprint keyed with the ledger's secret, so that a guess of the data cannot be
// tested against the certificate. Releases of tables that were certified until
// 2026-11-23 state the number of suppressed records and the method that was used, which
// could depend on the private table; they are still checked. The tests of package service
// list every field with its origin, and compare certificates of different private tables.
//
// # The form
//
// The signature covers the certificate's format ("noren.certificate/2"), a zero
// byte, and the certificate object in canonical JSON. Form 2 states, in addition to
// form 1, the version and the definition of the data set, how the columns were read,
// the analyst, and the hash of the whole query. Certificates of form
// 1 are still checked; they state no schema.
//
// Canonical JSON is RFC 8785 (JSON Canonicalization Scheme) on a narrower language, so
// that all readers read the same:
//
//   - UTF-8 without a byte order mark; no value after the first; objects nested
//     at most 32 deep; at most 1 MiB.
//   - No key twice in an object, and no key this package does not know, not even
//     in other letter case, outside of the mechanism's parameters.
//   - No number lies beyond +-(2^53 - 1): larger ones are strings. An integer
//     literal is that integer, any other number the nearest double.
//   - No text holds U+FFFD, the replacement for invalid text.
//   - Keys are sorted by their UTF-16 code units, there is no white space, and
//     numbers and strings are written as ECMAScript writes them.
//
// A file may hold the same object with other white space, key order or number
// spelling, and a byte order mark before it: it is brought to the canonical form before
// the signature is checked.
//
// Three checkers read certificates: this package, the Python client and the page of the
// server. testdata/fields.json lists the fields with their types and testdata/checkers.json has
// over 600 pairs of a certificate and a file; all three read both lists in their tests.
package certificate
