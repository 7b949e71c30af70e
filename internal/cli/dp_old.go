package cli

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/release"
	words "github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/spec"
)

// What follows serves commands that do not call package service yet.

// openData is an open data set; its ledger is nil when unaccounted.
type openData struct {
	*release.Dataset
	ledger *ledger.Ledger
	reach  []*ledger.Ledger // those that may know a file
}

func (a *openData) close() {
	for _, l := range a.reach {
		_ = l.Close()
	}
}

// rowsKey is the secret by which the records of one person are picked.
func (a *openData) rowsKey() ([]byte, error) {
	if a.ledger != nil {
		return a.ledger.Key("noren.query.rows"), nil
	}
	src := noise.NewSource()
	var key []byte
	for range 4 {
		word, err := src.Uint64()
		if err != nil {
			return nil, &noren.Error{What: "cannot read random bytes", Err: err}
		}
		key = binary.BigEndian.AppendUint64(key, word)
	}
	return key, nil
}

// open finds the data set of that name or file, or makes one of a file that no ledger
// knows. No file of a data set is opened, and what could say how it is read is
// refused: the grant fixed that.
func (f *dpFlags) open(ctx context.Context, c *cobra.Command, nameOrPath string) (*openData, error) {
	if err := checkTargets(f.force, f.output, f.certificate); err != nil {
		return nil, err
	}
	if nameOrPath == "" {
		return nil, &noren.Error{Kind: noren.Usage, Where: "DATASET", What: "expected the name of a data set or the path of its file, got an empty text"}
	}
	if f.unaccounted {
		return f.openUnaccounted(ctx, nameOrPath)
	}
	l, err := ledger.Open(ctx, f.file(), ledger.Options{})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &noren.Error{
			Kind: noren.Refused, Code: "no-ledger", Where: nameOrPath, What: "there is no ledger " + f.file() + ", and so no budget",
			Hint: fmt.Sprintf("the steward creates one with: noren ledger create --ledger %s && noren ledger grant NAME --ledger %s --file %s --epsilon E --yes", f.file(), f.file(), nameOrPath),
		}
	}
	if err != nil {
		return nil, err
	}
	a := &openData{ledger: l, reach: []*ledger.Ledger{l}}
	if a.Dataset, err = release.Find(ctx, l, nameOrPath); err == nil {
		err = f.pinned(c, a)
	}
	if err == nil { // not even --force replaces the private file or the ledger
		err = atomicfile.Apart([]string{a.Path, f.file(), f.file() + ".head"}, f.output, f.certificate)
	}
	if err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// pinned refuses every flag that would change how the data set is read.
func (f *dpFlags) pinned(c *cobra.Command, a *openData) error {
	for _, name := range []string{"spec", "type", "order", "format", "missing", "delimiter", "encoding", "neighbours"} {
		if c.Flags().Changed(name) {
			return &noren.Error{
				Kind: noren.Usage, Code: "schema-pinned", Where: "--" + name, What: fmt.Sprintf("the schema of data set %s is fixed by its grant; nothing was read or charged", a.Name),
				Hint: "leave it out; noren ledger show " + a.Name + " --schema prints the schema",
			}
		}
	}
	if err := unitNamed(f.unit, a.Definition); err != nil {
		return err
	}
	if f.unit != "" && f.unit != a.Definition.Unit {
		return &noren.Error{Kind: noren.Usage, Code: "schema-pinned", Where: "--unit", What: fmt.Sprintf("the budget of %s is for one %s, not one %s", a.Name, a.Definition.Unit, f.unit), Hint: "the unit is fixed by the grant"}
	}
	return nil
}

// unitNamed refuses the unit record, where it was stated, for a file with a column of
// that name: a definition would take it for one record, and the steward may mean the
// column.
func unitNamed(stated string, d *dataset.Definition) error {
	if stated != account.Record || d.Column(account.Record) == nil {
		return nil
	}
	return &noren.Error{Kind: noren.Usage, Code: "unit-name", Where: "--unit record", What: "the file has a column named record", Hint: "rename it, or omit --unit for one record as the unit"}
}

// openUnaccounted makes a data set of a file that no reachable ledger knows.
func (f *dpFlags) openUnaccounted(ctx context.Context, path string) (_ *openData, err error) {
	for name, said := range map[string]bool{"request-key": f.key != "", "reuse": f.reuse} {
		if said {
			return nil, &noren.Error{Kind: noren.Usage, Where: "--" + name, What: "an unaccounted answer is stored in no ledger, and cannot be asked again", Hint: "leave it out"}
		}
	}
	a := &openData{}
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	if a.reach, err = f.reachable(ctx, path); err != nil {
		return nil, err
	}
	if err := a.public(ctx, f.columns.spec); err != nil {
		return nil, err
	}
	s, err := f.columns.merged()
	if err != nil {
		return nil, err
	}
	o := spec.DatasetOptions{Unit: f.unit}
	if f.neighbours != "" {
		if o.Neighbours, err = account.ParseNeighbours(f.neighbours); err != nil {
			return nil, at("--neighbours", err)
		}
	}
	// First of all: the header of a private file under the asker's own form, and
	// whether it can be read so, would tell of it.
	if err := release.Unknown(ctx, path, dataset.File{Delimiter: s.Input.Delimiter, Encoding: s.Input.Encoding}, a.reach); err != nil {
		return nil, err
	}
	d, err := declaredDataset(ctx, path, s, o)
	if err == nil {
		err = unitNamed(f.unit, d)
	}
	if err != nil {
		return nil, err
	}
	if a.Dataset, err = release.Unaccounted(ctx, path, d, a.reach); err != nil {
		return nil, err
	}
	return a, nil
}

// reachable opens every ledger that could hold the file: the one named, the
// environment's, and noren.db in the working folder and beside the file.
func (f *dpFlags) reachable(ctx context.Context, path string) (ledgers []*ledger.Ledger, err error) {
	seen := map[string]bool{}
	for _, candidate := range []string{f.path, os.Getenv("NOREN_LEDGER"), defaultLedger, filepath.Join(filepath.Dir(path), defaultLedger)} {
		if candidate == "" {
			continue
		}
		real, err := filepath.EvalSymlinks(candidate)
		if errors.Is(err, fs.ErrNotExist) && candidate != f.path {
			continue
		}
		if err == nil {
			real, err = filepath.Abs(real)
		}
		if err == nil && seen[real] {
			continue
		}
		l, err := ledger.Open(ctx, candidate, ledger.Options{})
		if err != nil {
			return ledgers, &noren.Error{
				Kind: noren.Refused, Code: "known", Where: path, What: "an unaccounted answer is refused: ledger " + candidate + " cannot be opened to see whether it knows the file", Err: err,
				Hint: "noren ledger verify tells what is wrong with it; --ledger names another",
			}
		}
		seen[real] = true
		ledgers = append(ledgers, l)
	}
	return ledgers, nil
}

// public refuses inputs, called public, that are private files of a ledger. Texts
// that name no file pass.
func (a *openData) public(ctx context.Context, paths ...string) error {
	for _, path := range paths {
		for _, l := range a.reach {
			if err := release.Public(ctx, path, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// request is the query as package release wants it.
func (f *dpFlags) request(a *openData, m release.Mechanism) release.Request {
	q := release.Request{Mechanism: m, Dataset: a.Dataset, Tool: tool()}
	q.Budget = release.Budget{Principal: f.who(), Key: f.key, Reuse: f.reuse}
	return q
}

// run asks, writes what is to be written, and returns the answer.
func (f *dpFlags) run(ctx context.Context, t *terminal, q release.Request) (*release.Answer, error) {
	key, err := signingKey()
	if err != nil {
		return nil, err
	}
	q.Signer = key
	answer, err := release.Run(ctx, q)
	if err != nil {
		if noren.KindOf(err) == noren.Interrupted && !f.unaccounted {
			t.note("charges made so far stay: noren ledger history lists them")
		}
		return nil, err
	}
	if f.output != "" {
		if err := writeFile(f.output, f.force, t.stdout, bytesWriter(answer.Payload)); err != nil {
			return nil, f.unwritten(answer.Charge != nil, err)
		}
	}
	if f.certificate != "" {
		text, err := answer.Certificate.Encode()
		if err == nil {
			err = writeFile(f.certificate, f.force, t.stdout, bytesWriter(text))
		}
		if err != nil {
			return nil, f.unwritten(answer.Charge != nil, err)
		}
	}
	if answer.Repeated {
		t.note("this was asked before: the stored answer, free of charge")
	}
	if f.unaccounted {
		t.warn("not charged to any ledger: the guarantee covers this answer only and does not compose with others")
	}
	return answer, nil
}

// askOld is run, and decodes what was answered.
func askOld[T any](ctx context.Context, t *terminal, f *dpFlags, q release.Request) (*T, *release.Answer, error) {
	answer, err := f.run(ctx, t, q)
	if err != nil {
		return nil, nil, err
	}
	out := new(T)
	if err := json.Unmarshal(answer.Payload, out); err != nil {
		return nil, nil, &noren.Error{What: "the stored answer cannot be read", Err: err}
	}
	return out, answer, nil
}

// options are those of a query, with defaults of the definition.
func (f *queryFlags) options(_ *cobra.Command, d *dataset.Definition, cost account.Cost) (*query.Options, error) {
	o := &query.Options{
		Kind: f.kind, Fields: d.Fields(), Column: f.column, Cost: cost, Neighbours: d.Relation(), Unit: d.Unit, MaxRows: f.maxRows, Level: f.level,
	}
	var texts query.Texts
	if f.bounds != "" {
		texts.Bounds = splitList(f.bounds)
	}
	err := o.Read(texts, func(name string) query.Described { return query.Described{Bounds: d.Column(name).Bounds} })
	return o, err
}

func accuracyWords(a *query.Accuracy) string { return words.Accuracy(words.English, a) }
