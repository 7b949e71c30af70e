// Package api defines the requests and the results of every operation of Noren.
//
// Its types are the JSON contract: the command line prints them with --json, and a
// server sends them. A result names its form and version in its field schema, for
// instance "noren.query/1"; [Documents] lists all forms. docs/cli.md and docs/schemas
// are generated from the types and their comments (go run ./api/generate).
//
// The package holds data only. Package service has the operations.
package api
