// Package service has every operation of Noren as one method of [Service].
//
// A front end (the command line, a server) turns its input into a request of package
// api, calls the method and shows the result. The operations know no flags, no
// terminal, no HTTP and no environment variables; what they need of their
// surroundings is in the fields of [Service]. Every decision about privacy is here or
// below.
//
// Errors are of type [*noren.Error]. Where they are about the request, Where is the
// name of its field, as in JSON with hyphens ("max-rows"); a front end may translate it
// to its own form.
package service

import (
	"context"
	"crypto/ed25519"
	"io"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/release/shards"
)

// DefaultLedger is the name of a ledger file where none is stated. An unaccounted
// answer is refused if a ledger of this name beside the file knows the file.
const DefaultLedger = "noren.db"

// Service holds what a front end supplies to operations. The zero Service can run
// those that neither charge a budget nor sign. It may be shared by goroutines if its
// functions may.
type Service struct {
	// Ledger is the path of the budget ledger. It must exist where it is stated.
	// Defaults to the first of Ledgers.
	Ledger string
	// Kept is an open ledger with columns in memory. Where it is set, operations on data sets
	// of a ledger use it and Ledger is not opened. Optional.
	Kept *Kept
	// Ledgers are paths of further ledgers that may know a file. Those that do not exist
	// are passed over. An unaccounted answer is refused if one of them knows the file.
	Ledgers []string
	// Anchor is the path of the ledger's anchor, a file outside its folder. Defaults to
	// the one that the ledger noted.
	Anchor string
	// Beside is what files beside the ledger know of it, for [Service.LedgerReconcile].
	// Optional.
	Beside *Beside
	// Signer returns the key that signs certificates. It is called when one is about to be
	// signed. Required for operations that release an answer.
	Signer func() (ed25519.PrivateKey, error)
	// NoiseKey returns the key under which the ledger keeps the secrets of answers that are
	// not stored yet ([release.Budget.NoiseKey]), nil where there is none. It is called when
	// a request with a request key is about to be charged. Optional: without it a crash
	// forfeits what it interrupts.
	NoiseKey func() ([]byte, error)
	// Trusted returns the keys whose certificates are trusted where a request names none.
	// Optional.
	Trusted func() ([]ed25519.PublicKey, error)
	// Tool is the program, as certificates name it. Required with Signer.
	Tool certificate.Tool
	// Analyst is the default name of the analyst.
	Analyst string
	// Identity says how the analyst's name was established. Defaults to
	// [certificate.Declared].
	Identity certificate.Identity
	// Memory bounds what the reading of one file for a question or its price holds, beside
	// the columns that are kept, where the context states no limits. Without it the limits
	// of the command line hold.
	Memory int64
	// Stdin is read where a request names the file "-". Optional.
	Stdin io.Reader
	// Progress receives the progress of long work. Optional.
	Progress noren.Progress
	// Collect runs the jobs of queries to sharded data sets, on a cluster. Optional; see
	// [release.Request.Collect].
	Collect func(ctx context.Context, p *shards.Plan) (parts [][]byte, err error)
	// Buckets is the number of buckets of these jobs. Optional; see [release.Request.Buckets].
	Buckets int
	// Lang is the language of pages and of comments in specifications. Certificates and all
	// that is signed are in English.
	// Defaults to English.
	Lang lang.Lang
	// Note receives notes and warnings as they occur. Optional.
	Note func(api.Note)
}

// ledger is the path of the ledger that is charged.
func (s *Service) ledger() string {
	if s.Ledger != "" {
		return s.Ledger
	}
	for _, path := range s.Ledgers {
		if path != "" {
			return path
		}
	}
	return DefaultLedger
}

// note passes on a remark.
func (s *Service) note(level api.Level, code string, format noren.Format, args ...any) {
	s.columnNote(level, code, nil, noren.Textf(format, args...))
}

// columnNote passes on a remark about columns.
func (s *Service) columnNote(level api.Level, code string, columns []string, text noren.Text) {
	s.wholeNote(level, code, columns, nil, text)
}

// messageNote passes on a message as a remark.
func (s *Service) messageNote(level api.Level, columns []string, m api.Message) {
	s.wholeNote(level, m.Code, columns, m.Args, m.Whole())
}

// wholeNote passes on a remark that is a text.
func (s *Service) wholeNote(level api.Level, code string, columns []string, args map[string]any, text noren.Text) {
	if s.Note != nil {
		s.Note(api.Note{Code: code, Level: level, Columns: columns, Text: text.String(), Args: args, Whole: text})
	}
}
