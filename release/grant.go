package release

import (
	"bytes"
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/table/csvio"
)

// Reviewed is a file that was read in whole under a definition. It is private,
// for the steward alone.
type Reviewed struct {
	*dataset.Review
	files       []map[string]string // the column prints of each file of a sharded data set
	bytes       []string            // the prints of the bytes of the files that were read
	definition  *dataset.Definition
	path        string
	size, mtime int64
}

// Candidate is a file that is to be granted, and its definition.
type Candidate struct {
	// Path of the file. Required.
	Path string
	// Definition says how the file is read. Required.
	Definition *dataset.Definition
	// Copied are the private files of which Path is a copy, as they were before [Copy] read them:
	// their bytes belong to the data set too. Optional.
	Copied *Files
	// Progress receives the progress of reading, which the steward alone may see.
	// Optional.
	Progress noren.Progress
}

// ReviewGrant reads the whole file under its definition and returns how it fits.
// Nothing is granted. A file that is not of the form of the definition is an error
// of kind BadData, code structure, and so is one that changes before it was read to its end, without a code.
func ReviewGrant(ctx context.Context, l *ledger.Ledger, c Candidate) (*Reviewed, error) {
	read, err := FilesAt(ctx, c.Path)
	if err != nil {
		return nil, err
	}
	var out *Reviewed
	if c.Definition.File.Sharded {
		out, err = reviewShards(ctx, l, c)
	} else {
		out, err = reviewFile(ctx, l, c)
	}
	if err != nil {
		return nil, err
	}
	for _, files := range []*Files{read, c.Copied} {
		prints, err := files.prints(ctx, l)
		if err != nil {
			return nil, err
		}
		out.bytes = append(out.bytes, prints...)
	}
	return out, nil
}

func reviewFile(ctx context.Context, l *ledger.Ledger, c Candidate) (*Reviewed, error) {
	path, d := c.Path, c.Definition
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, &noren.Error{Where: noren.File(path), What: "cannot be read", Err: err}
	}
	// The size and the time are those from before reading: what changes the file
	// afterwards is noticed by the first query.
	out := &Reviewed{definition: d, path: path, size: info.Size(), mtime: info.ModTime().UnixNano()}
	src, err := dataset.Open(ctx, f, path, d)
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }()
	out.Review, err = dataset.Inspect(ctx, src, d, dataset.InspectOptions{Keys: dataset.KeysOf(l.Key), Progress: c.Progress})
	return out, err
}

// Grant is the budget of a data set that was reviewed.
type Grant struct {
	// Name of the data set. Required.
	Name string
	// Cap is the total that may ever be spent. Required.
	Cap account.Cost
	// Accounting is how losses add up, and StatementDelta the delta of the statements of
	// a budget in zCDP, in units of 1e-18. Both default to those granted before, else to
	// epsilon and delta.
	Accounting     account.Accounting
	StatementDelta int64
	// Sources are the private files that [Copy] read, whose paths then belong to the
	// data set. Optional.
	Sources []string
	// Changed says that the file or the definition is a new version of the same
	// data set; Replace exchanges everything while nothing is spent.
	Changed, Replace bool
	// OtherPeople declares that no person of the data set is in a data set with
	// similar columns. Certificates state it as an assumption.
	OtherPeople bool
}

// ConfirmGrant pins the definition and the content that were reviewed, and grants
// the budget. Errors are those of [ledger.Ledger.Grant].
func ConfirmGrant(ctx context.Context, l *ledger.Ledger, g Grant, r *Reviewed) (*ledger.Book, error) {
	text, err := r.definition.Canonical()
	if err != nil {
		return nil, err
	}
	hash, err := r.definition.Hash()
	if err != nil {
		return nil, err
	}
	if m := r.definition.Model; m != nil {
		if err := readable(ctx, l, m); err != nil {
			return nil, err
		}
		// A model that cannot be read would refuse every query.
		if _, err := newDataset(r.path, r.definition); err != nil {
			return nil, err
		}
	}
	old, err := oldFingerprint(ctx, l, r.path)
	if err != nil {
		return nil, err
	}
	return l.Grant(ctx, ledger.Grant{
		Name: g.Name, Path: r.path, Sources: g.Sources, Cap: g.Cap, Accounting: g.Accounting, StatementDelta: g.StatementDelta,
		Neighbours: r.definition.Relation(), Unit: r.definition.Unit,
		Definition: text, DefinitionHash: hash, Print: r.Print, Prints: r.Prints, Contents: contentsOf(&r.Identity, r.files), Files: r.bytes,
		Size: r.size, Mtime: r.mtime,
		FixedOnceSpent: r.definition.Model != nil, Changed: g.Changed, Replace: g.Replace, OtherPeople: g.OtherPeople, OldFingerprint: old,
	})
}

// readable refuses a model that is longer than one may be now, except where the ledger holds it
// already: a cap can be raised, and a new version granted, under the model of an earlier version.
func readable(ctx context.Context, l *ledger.Ledger, m *dataset.Model) error {
	_, err := correlated.ParseModel(bytes.NewReader(m.Distribution), "model")
	if err == nil {
		return nil
	}
	books, e := l.Show(ctx)
	if e != nil {
		return e
	}
	for _, b := range books {
		if b.Version == 0 {
			continue
		}
		d, e := dataset.Parse(b.Definition)
		if e == nil && d.Model != nil && bytes.Equal(d.Model.Distribution, m.Distribution) {
			return nil
		}
	}
	return err
}

// contentsOf are the contents of a version in the ledger.
func contentsOf(id *dataset.Identity, files []map[string]string) *ledger.Contents {
	out := &ledger.Contents{Values: map[string]ledger.Values{}, Files: files}
	for name, v := range id.Values {
		out.Values[name] = ledger.Values{Prints: v.Prints, Many: v.Many}
	}
	return out
}

// oldFingerprint is the fingerprint of the file's bytes where the ledger has data
// sets from before definitions, which it knows by their bytes; "" otherwise.
func oldFingerprint(ctx context.Context, l *ledger.Ledger, path string) (string, error) {
	books, err := l.Show(ctx)
	if err != nil {
		return "", err
	}
	for _, b := range books {
		if b.Version == 0 {
			return fileHash(l, path, func() (csvio.File, error) { return openFile(path) })
		}
	}
	return "", nil
}

func noSchema(name string) error {
	return &noren.Error{
		Kind: noren.Refused, Code: CodeNoSchema, Where: noren.Textf("data set %s", name), What: "has no schema yet",
		Hint: "the steward grants one: how the file is read decides what an answer reveals",
	}
}
