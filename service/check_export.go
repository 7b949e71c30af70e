package service

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/ledger"
)

const (
	// maxExportLine bounds a line of an export, of which some five times are held while it is
	// checked. Its first and last line hold no more than maxExportEnd.
	maxExportLine = 48 << 20
	maxExportEnd  = 64 << 10
	// maxExportFaults bounds the list of faults.
	maxExportFaults = 1000
)

// LedgerCheckExport checks an exported ledger from its file alone: the chain, the sums
// and the caps, every certificate's signature and whether it names its entry, charge,
// query and answer, and the signature of the head. It returns what it found and, if there
// are faults, an error of kind NotMet, code unsound. A file that cannot be read is an
// error without a result.
func (s *Service) LedgerCheckExport(ctx context.Context, r *api.LedgerCheckExportRequest) (*api.LedgerExportCheck, error) {
	f, err := os.Open(r.File)
	if err != nil {
		return nil, &noren.Error{
			Kind: noren.Usage, Code: "file-missing", Where: noren.File(r.File), What: "cannot be opened",
			Err: atomicfile.Reason(err), Hint: "does the file exist, and may this user read it?",
		}
	}
	defer func() { _ = f.Close() }()
	keys, err := keyIDs(r.Keys)
	if err != nil {
		return nil, err
	}
	out, err := CheckExport(ctx, f, keys...)
	if err != nil {
		return nil, err
	}
	if !out.Sound {
		return out, &noren.Error{Kind: noren.NotMet, Code: "unsound", Where: noren.File(r.File), What: "%s", Args: []any{out.Faults[0].What}}
	}
	if !out.Trusted {
		s.note(api.Warning, "key-unknown",
			"nothing vouches for the key %s that signed the head: ask the owner of the ledger for its id, and state it", out.KeyID)
	}
	return out, nil
}

// keyIDs are the ids of keys that are stated by their ids, or by files of public keys.
func keyIDs(stated []string) ([]string, error) {
	ids := make([]string, 0, len(stated))
	for _, one := range stated {
		if strings.HasPrefix(one, certificate.KeyIDPrefix) {
			ids = append(ids, one)
			continue
		}
		keys, err := certificate.LoadPublicKeys(one)
		if err != nil {
			return nil, &noren.Error{
				Kind: noren.Usage, Where: "key",
				What: "expected the id of a key, as in ed25519:..., or the file of a public key", Err: err,
			}
		}
		for _, k := range keys {
			ids = append(ids, certificate.KeyID(k))
		}
	}
	return ids, nil
}

// CheckExport is [Service.LedgerCheckExport] of what r reads. keys are the ids of the
// keys that may have signed. An error means that it could not read; faults are in the
// result.
func CheckExport(ctx context.Context, r io.Reader, keys ...string) (*api.LedgerExportCheck, error) {
	c := &exportCheck{
		out:   &api.LedgerExportCheck{Schema: api.LedgerSchema, Faults: []api.ExportFault{}},
		chain: ledger.NewExportChecker(), hash: sha256.New(), keys: keys,
	}
	if err := c.read(ctx, bufio.NewReaderSize(r, 1<<16)); err != nil {
		return nil, err
	}
	c.end()
	c.out.Sound = len(c.out.Faults) == 0
	return c.out, nil
}

// exportCheck is a check of an export in progress.
type exportCheck struct {
	out    *api.LedgerExportCheck
	chain  *ledger.ExportChecker
	hash   hash.Hash // of the lines before the last
	keys   []string
	line   int64
	entry  int64 // the last entry
	first  exportFirst
	last   *exportLast
	sum    string         // of all lines before the last
	signed map[string]int // keys of certificates: how many
}

func (c *exportCheck) fault(entry int64, format noren.Format, args ...any) {
	if len(c.out.Faults) < maxExportFaults {
		c.out.Faults = append(c.out.Faults, api.ExportFault{Entry: entry, Line: c.line, What: noren.Textf(format, args...)})
	}
}

func (c *exportCheck) read(ctx context.Context, r *bufio.Reader) error {
	for {
		if err := ctx.Err(); err != nil {
			return &noren.Error{Kind: noren.Interrupted, What: "the export was not checked", Err: err}
		}
		text, err := readLine(r)
		if errors.Is(err, io.EOF) && len(text) == 0 {
			return nil
		}
		c.line++
		switch {
		case errors.Is(err, io.EOF):
			c.fault(0, "line %d is cut short: the end of the file is missing", c.line)
			return nil
		case errors.Is(err, bufio.ErrTooLong):
			c.fault(0, "line %d is longer than %d bytes", c.line, maxExportLine)
			return nil
		case err != nil:
			return &noren.Error{What: "the export cannot be read", Err: err}
		}
		c.take(text)
		if len(c.out.Faults) == maxExportFaults {
			return nil // what follows makes it no sounder
		}
		c.hash.Write(text)
		c.hash.Write([]byte{'\n'})
	}
}

// readLine returns the next line without its newline; with [io.EOF] what is left
// without one.
func readLine(r *bufio.Reader) (text []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && len(text) > maxExportLine:
			return nil, bufio.ErrTooLong
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return text, err
		}
		return text[:len(text)-1], nil
	}
}

// take checks one line. Its fields say of which kind it is.
func (c *exportCheck) take(text []byte) {
	if c.last != nil {
		c.fault(0, "line %d follows the signed end", c.line)
		return
	}
	if c.line == 1 {
		if len(text) > maxExportEnd || !strict(text, &c.first) || c.first.Format != api.LedgerExportSchema &&
			c.first.Format != api.LedgerExportSchema1 {
			c.fault(0, "the first line does not have the form %s", api.LedgerExportSchema)
		}
		return
	}
	var entry exportEntry
	var answer exportAnswer
	var last exportLast
	switch {
	case bytes.HasPrefix(text, []byte(`{"entry":`)) && strict(text, &entry):
		c.takeEntry(&entry)
	case bytes.HasPrefix(text, []byte(`{"answer_of":`)) && strict(text, &answer):
		c.takeAnswer(&answer)
	case len(text) <= maxExportEnd && strict(text, &last):
		c.last, c.sum = &last, hex.EncodeToString(c.hash.Sum(nil))
	default:
		c.fault(c.entry+1, "line %d does not have the form %s", c.line, api.LedgerExportSchema)
	}
}

// strict reads text as exactly the JSON that v is written as: a field that v does not have, another
// order or a space would be written otherwise.
func strict(text []byte, v any) bool {
	// What is written as an escape of six bytes may not stand there as one.
	if !utf8.Valid(text) || bytes.ContainsAny(text, "<>&\u2028\u2029") || json.Unmarshal(text, v) != nil {
		return false
	}
	same := sameAs{rest: text}
	return json.NewEncoder(&same).Encode(v) == nil && string(same.rest) == "" && !same.differs
}

// sameAs compares what is written to it, but for the line end of an encoder, with a text.
type sameAs struct {
	rest    []byte
	differs bool
}

// Write implements [io.Writer].
func (s *sameAs) Write(p []byte) (int, error) {
	text := bytes.TrimSuffix(p, []byte("\n"))
	n := min(len(text), len(s.rest))
	s.differs = s.differs || n < len(text) || !bytes.Equal(text, s.rest[:n])
	s.rest = s.rest[n:]
	return len(p), nil
}

func (c *exportCheck) takeEntry(e *exportEntry) {
	k := ledger.ExportEntry{Link: e.Entry, Kind: e.Kind, Body: []byte(e.Body), WithoutPaths: e.Paths != ""}
	if k.WithoutPaths && e.Paths != pathsUnbound {
		var err error
		if k.Paths, err = hex.DecodeString(e.Paths); err != nil || len(k.Paths) != 32 || c.first.Format != api.LedgerExportSchema {
			c.fault(e.Entry, "line %d does not have the form %s", c.line, c.first.Format)
			k.Paths = make([]byte, 32)
		}
	}
	if k.WithoutPaths && k.Paths == nil {
		c.out.Unbound++
	}
	c.entry = e.Entry
	if meter.Document(k.Body, nil) != nil {
		c.fault(e.Entry, "entry %d: its body is larger than one can be", e.Entry)
		return
	}
	prev, err1 := hex.DecodeString(e.Prev)
	own, err2 := hex.DecodeString(e.Hash)
	if errors.Join(err1, err2) != nil || len(prev) != 32 || len(own) != 32 {
		c.fault(e.Entry, "entry %d has no hash of 64 hexadecimal digits", e.Entry)
		return
	}
	copy(k.Prev[:], prev)
	copy(k.Hash[:], own)
	for _, what := range c.chain.Entry(k) {
		c.fault(e.Entry, "entry %d: %s", e.Entry, what)
	}
}

func (c *exportCheck) takeAnswer(a *exportAnswer) {
	c.out.Answers++
	charge, faults := c.chain.Answer(ledger.ExportAnswer{
		Link: a.AnswerOf, Charge: a.Charge, Payload: []byte(a.Payload),
		Certificate: []byte(a.Certificate), KeyID: a.KeyID,
	})
	for _, what := range faults {
		c.fault(a.AnswerOf, "entry %d: %s", a.AnswerOf, what)
	}
	if charge == nil {
		return
	}
	signed, err := certificate.Parse([]byte(a.Certificate))
	if err != nil {
		c.fault(a.AnswerOf, "entry %d: its certificate does not have the form of one", a.AnswerOf)
		return
	}
	if _, err := signed.VerifySignature(); err != nil {
		c.fault(a.AnswerOf, "entry %d: the signature of its certificate does not hold", a.AnswerOf)
	}
	if signed.Signature.KeyID != a.KeyID {
		c.fault(a.AnswerOf, "entry %d: its certificate is signed by another key than the entry says", a.AnswerOf)
	}
	if c.signed == nil {
		c.signed = map[string]int{}
	}
	if c.signed[a.KeyID]++; len(c.keys) > 0 && !slices.Contains(c.keys, a.KeyID) && c.signed[a.KeyID] == 1 {
		c.fault(a.AnswerOf, "entry %d: its certificate is signed by %s, which is not one of the stated keys", a.AnswerOf, a.KeyID)
	}
	for _, what := range disagreements(&signed.Certificate, charge, []byte(a.Payload)) {
		c.fault(a.AnswerOf, "entry %d: %s", a.AnswerOf, what)
	}
}

// disagreements lists where a certificate and the chain say different things of a
// charge.
func disagreements(c *certificate.Certificate, charge *ledger.ExportedCharge, payload []byte) (faults noren.Texts) {
	fault := func(bad bool, what noren.Format, args ...any) {
		if bad {
			faults = append(faults, noren.Textf(what, args...))
		}
	}
	ch := c.Charge
	if c.Accounting != certificate.Charged || ch == nil {
		return noren.Sentences("its certificate states no charge")
	}
	fault(ch.Ledger != charge.Ledger || ch.ID != charge.ID, "its certificate is of another charge")
	fault(ch.Link != charge.Link, "its certificate names entry %d, the charge is entry %d", ch.Link, charge.Link)
	fault(ch.Head != hex.EncodeToString(charge.Head[:]), "its certificate names another hash of its entry")
	own := slices.Clone(ch.Accounts)
	slices.Sort(own)
	fault(!slices.Equal(own, charge.Accounts), "its certificate names other accounts")
	cost, loss := account.Cost{Epsilon: ch.EpsilonNano, Delta: ch.DeltaAtto}, account.Loss{}
	if ch.Accounting == account.ZCDP {
		loss = account.Loss{Rho: ch.RhoFemto, Pure: ch.EpsilonNano, Gaussian: ch.GaussianFemto}
		cost = account.Cost{Rho: ch.RhoFemto}
	}
	fault(cost != charge.Cost || loss != charge.Loss, "its certificate says that %s was charged, the chain says %s", cost, charge.Cost)
	answer := certificate.Answer(payload)
	fault(c.Released.Kind == answer.Kind && (c.Released.SHA256 != answer.SHA256 || c.Released.Size != answer.Size),
		"its certificate is of another answer")
	fault(c.Source == nil || c.Source.Dataset != charge.Dataset, "its certificate names another data set")
	if c.Format == certificate.Format1 {
		return faults // which states no analyst, no query and no version
	}
	fault(c.Analyst == nil || c.Analyst.Name != charge.Principal, "its certificate names another analyst")
	fault(c.RequestSHA256 != charge.RequestHash, "its certificate is of another query")
	if want, err := mechanismText(c.Mechanism); err == nil {
		fault(!bytes.Equal(want, charge.Mechanism), "its certificate states another mechanism or parameters")
	}
	known := slices.ContainsFunc(charge.Versions, func(v ledger.Version) bool {
		return c.Source != nil && int64(v.Number) == c.Source.Version && hex.EncodeToString(v.DefinitionHash[:]) == c.Source.DefinitionSHA256 &&
			v.Print == c.Source.Fingerprint
	})
	fault(!known, "its certificate names a version of the data set that was not granted")
	return faults
}

// mechanismText is a mechanism as the chain keeps it.
func mechanismText(m certificate.Mechanism) ([]byte, error) {
	text, err := json.Marshal(struct {
		Mechanism certificate.Mechanism `json:"mechanism"`
	}{m})
	if err != nil {
		return nil, err
	}
	return certificate.Canonical(text)
}

// end compares the signed end with what was read.
func (c *exportCheck) end() {
	r, missing := c.chain.End()
	c.out.Ledger, c.out.Entries, c.out.Charges, c.out.Head = c.chain.Ledger(), r.Links, int64(r.Charges), hex.EncodeToString(r.Head[:])
	for _, entry := range missing {
		c.fault(entry, "entry %d: its answer is missing", entry)
	}
	c.line = 0
	if c.first.Ledger != c.chain.Ledger() {
		c.fault(0, "the chain is of another ledger than the first line says")
	}
	if c.last == nil {
		c.fault(0, "the signed end is missing: the file is cut short")
		return
	}
	e := &c.last.End
	if err := certificate.CheckStatement(c.last.Signature, c.first.Format, *e); err != nil {
		c.fault(0, "the signature of the head does not hold")
	}
	c.out.KeyID = c.last.Signature.KeyID
	c.out.Trusted = slices.Contains(c.keys, c.out.KeyID)
	if len(c.keys) > 0 && !c.out.Trusted {
		c.fault(0, "the head is signed by %s, which is not one of the stated keys", c.out.KeyID)
	}
	if len(c.keys) == 0 {
		for key := range c.signed {
			if key != c.out.KeyID {
				c.fault(0, "certificates are signed by %s, the head by %s", key, c.out.KeyID)
			}
		}
	}
	switch {
	case e.Ledger != c.out.Ledger:
		c.fault(0, "the signed head is of another ledger")
	case e.Entries != c.out.Entries || e.Head != c.out.Head:
		c.fault(0, "the signed head is entry %d, the chain ends at entry %d", e.Entries, c.out.Entries)
	case e.Answers != c.out.Answers:
		c.fault(0, "the signed end states %d {answer|answers}, the file holds %d", e.Answers, c.out.Answers)
	case e.SHA256 != c.sum:
		c.fault(0, "the file is not the one that was signed")
	}
}
