// Package records makes k-anonymous releases of the server's tables: recipes, curves,
// previews, releases and comparisons.
//
// A recipe holds the parameters of a release. It is a noren.yaml: the command line makes
// the same file of it, byte for byte, with the same seed.
//
// A preview makes the file of a release in a working folder, verified, without a
// certificate. A release is exactly that file. It is made only while the gate is open: the
// table is confirmed, k is not below the rule of the house, table and recipe are those of
// the preview, and earlier releases of the same people were compared or acknowledged. The
// verifier then reads the file again, the certificate is signed, and the folder with all
// files of the release appears by one rename. Only after the release is in the store and
// in the audit log can it be downloaded.
//
// Previews are in the working folder and in memory: they are gone when the server stops.
// Everything here is for stewards: curves, previews and comparisons show figures of the
// private table.
package records
