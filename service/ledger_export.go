package service

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"
	"time"
	"unicode/utf8"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/ledger"
)

// The lines of an exported ledger: the first names the form, one follows for each entry
// of the chain and one for each stored answer after its release, and the last states what
// the file holds, under the signature of the ledger's owner.
type (
	exportFirst struct {
		Format string           `json:"format"`
		Ledger string           `json:"ledger"`
		Tool   certificate.Tool `json:"tool"`
	}
	exportEntry struct {
		Entry int64  `json:"entry"`
		Kind  string `json:"kind"`
		Body  string `json:"body"`
		Prev  string `json:"prev"`
		Hash  string `json:"hash"`
		// Paths is there where Body leaves paths of files out: the commitment to them, or
		// pathsUnbound.
		Paths string `json:"paths,omitempty"`
	}
	exportAnswer struct {
		AnswerOf    int64  `json:"answer_of"`
		Charge      string `json:"charge"`
		Payload     string `json:"payload"`
		Certificate string `json:"certificate"`
		KeyID       string `json:"key_id"`
	}
	exportEnd struct {
		Ledger  string `json:"ledger"`
		Entries int64  `json:"entries"`
		Answers int64  `json:"answers"`
		Head    string `json:"head"`
		SHA256  string `json:"sha256"` // of all lines before
		Time    string `json:"time"`
	}
	exportLast struct {
		End       exportEnd             `json:"end"`
		Signature certificate.Signature `json:"signature"`
	}
)

// pathsUnbound marks a grant of an older ledger, whose hash is over its paths too.
const pathsUnbound = "unbound"

// LedgerExport writes the whole ledger in a form that an auditor checks without it:
// every entry of the chain, every stored answer with its certificate, and the head under
// the signature of the service's key. It sees the ledger at one moment, beside writers.
// It holds no path of a file. It is private all the same: it holds names of analysts and
// prints of tables.
func (s *Service) LedgerExport(ctx context.Context, r *api.LedgerExportRequest) (*api.LedgerExported, error) {
	if s.Signer == nil {
		return nil, &noren.Error{What: "the service has no key to sign the export with"}
	}
	if r.To != nil {
		return s.exportTo(ctx, r.To)
	}
	if r.Output == "" {
		return nil, noren.Usagef("output", "say which file to write")
	}
	if err := atomicfile.Apart([]string{s.ledger(), s.ledger() + ".head"}, r.Output); err != nil {
		return nil, err
	}
	f, err := atomicfile.CreatePrivate(r.Output, r.Force)
	if err != nil {
		return nil, err
	}
	defer f.Discard()
	out, err := s.exportTo(ctx, f)
	if err != nil {
		return nil, err
	}
	return out, f.Commit()
}

func (s *Service) exportTo(ctx context.Context, w io.Writer) (out *api.LedgerExported, err error) {
	key, err := s.Signer()
	if err != nil {
		return nil, err
	}
	err = s.withLedger(ctx, func(l *ledger.Ledger) error {
		e := &exporter{w: bufio.NewWriterSize(w, 1<<16), hash: sha256.New()}
		e.line(exportFirst{api.LedgerExportSchema, l.ID(), s.Tool})
		end := exportEnd{Ledger: l.ID(), Time: certificate.Time(time.Now())}
		if err := l.Export(ctx, func(k ledger.ExportEntry) error {
			end.Entries, end.Head = k.Link, hex.EncodeToString(k.Hash[:])
			paths := hex.EncodeToString(k.Paths)
			if k.WithoutPaths && paths == "" {
				paths = pathsUnbound
			}
			return e.line(exportEntry{k.Link, k.Kind, string(k.Body), hex.EncodeToString(k.Prev[:]), end.Head, paths})
		}, func(a ledger.ExportAnswer) error {
			end.Answers++
			if !utf8.Valid(a.Payload) || !utf8.Valid(a.Certificate) {
				return &noren.Error{Where: "ledger", What: "a stored answer is no text", Hint: "verify the ledger"}
			}
			return e.line(exportAnswer{a.Link, a.Charge, string(a.Payload), string(a.Certificate), a.KeyID})
		}); err != nil {
			return err
		}
		end.SHA256 = hex.EncodeToString(e.hash.Sum(nil))
		last := exportLast{End: end}
		if last.Signature, err = certificate.SignStatement(key, api.LedgerExportSchema, end); err != nil {
			return err
		}
		if err := e.line(last); err != nil {
			return err
		}
		if err := e.w.Flush(); err != nil {
			return &noren.Error{What: "the export cannot be written", Err: err}
		}
		out = &api.LedgerExported{
			Schema: api.LedgerSchema, Ledger: l.ID(), Entries: end.Entries, Answers: end.Answers, Head: end.Head, KeyID: last.Signature.KeyID,
		}
		return nil
	})
	return out, err
}

// exporter writes lines and hashes them.
type exporter struct {
	w    *bufio.Writer
	hash hash.Hash
	err  error
}

func (e *exporter) line(v any) error {
	if e.err != nil {
		return e.err
	}
	text, err := json.Marshal(v)
	if err != nil {
		e.err = &noren.Error{What: "the export cannot be written as JSON", Err: err}
		return e.err
	}
	text = append(text, '\n')
	e.hash.Write(text)
	if _, err := e.w.Write(text); err != nil {
		e.err = &noren.Error{What: "the export cannot be written", Err: err}
	}
	return e.err
}
