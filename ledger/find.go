package ledger

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// Find returns the data set of this name, else the one whose current path is
// nameOrPath, made absolute with links resolved. Errors are of kind Refused, with
// [ErrNoGrant] and code no-dataset: also for a path that a data set had before.
// A data set without a version ([Book.Version] is 0) is found.
func (l *Ledger) Find(ctx context.Context, nameOrPath string) (*Book, error) {
	books, err := l.Show(ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range books {
		if b.Name == nameOrPath {
			return b, nil
		}
	}
	paths, err := l.spellings(nameOrPath)
	if err != nil {
		return nil, err
	}
	owner, err := l.holder(ctx, "SELECT name FROM dataset_path JOIN account ON account.id = account WHERE dataset_path.path = ?", paths...)
	if err != nil {
		return nil, err
	}
	// Two data sets of an older ledger may be at one path: it belongs to the
	// first.
	for _, b := range books {
		if slices.ContainsFunc(paths, func(p string) bool { return l.place(p) == b.Path }) && b.Name == owner {
			return b, nil
		}
	}
	what := noren.Textf("no data set at this path")
	var hint noren.Format = "the steward grants one first, or name the data set"
	names := make([]string, len(books))
	for i, b := range books {
		names[i] = b.Name
	}
	if best := table.Nearest(nameOrPath, names); best != "" {
		what = noren.Textf("no data set of this name; the nearest one is %s", best)
	}
	if owner != "" {
		what, hint = noren.Textf("belongs to data set %s, which reads another file", owner), "name the data set"
		for _, b := range books {
			if b.Name == owner && slices.ContainsFunc(b.Versions, func(v Version) bool {
				return slices.ContainsFunc(paths, func(p string) bool { return l.place(p) == v.Path })
			}) {
				what, hint = noren.Textf("is a former path of data set %s", owner), "name the data set, or its current path"
			}
		}
	}
	return nil, &noren.Error{
		Kind: noren.Refused, Code: "no-dataset", Where: noren.File(nameOrPath), What: what.Format, Args: what.Args, Err: ErrNoGrant,
		Hint: hint,
	}
}

// Knows returns the name of the data set that has or had this path, "" if none.
func (l *Ledger) Knows(ctx context.Context, path string) (string, error) {
	paths, err := l.spellings(path)
	if err != nil {
		return "", err
	}
	return l.holder(ctx, "SELECT name FROM dataset_path JOIN account ON account.id = account WHERE dataset_path.path = ?", paths...)
}

// KnowsPrint returns the name of the data set that has or had this print, of a table or, of a
// grant from before definitions, of a file's bytes; "" if none.
func (l *Ledger) KnowsPrint(ctx context.Context, print string) (string, error) {
	return l.holder(ctx, "SELECT name FROM dataset_print JOIN account ON account.id = account WHERE print = ?", print)
}

// KnowsFile returns the name of a data set that was read from a file of these bytes
// ([FileHash]), "" if none.
func (l *Ledger) KnowsFile(ctx context.Context, print string) (string, error) {
	if name, err := l.KnowsPrint(ctx, print); err != nil || name != "" {
		return name, err
	}
	return l.holder(ctx, "SELECT name FROM dataset_file JOIN account ON account.id = account WHERE print = ? ORDER BY account LIMIT 1", print)
}

// holder is the first name that query finds for one of keys.
func (l *Ledger) holder(ctx context.Context, query string, keys ...string) (string, error) {
	for _, key := range keys {
		var name string
		err := l.readers.QueryRowContext(ctx, query, key).Scan(&name)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return "", fail(l.path, "cannot be read", err)
		}
		return name, nil
	}
	return "", nil
}

// Seen returns the size and modification time of the data set's file when it
// was last compared with the current version; zeros if it never was, and while that has no
// [Contents]. They decide whether the file is compared before a charge, and nothing else.
func (l *Ledger) Seen(ctx context.Context, name string) (size, mtime int64, err error) {
	err = l.readers.QueryRowContext(ctx, `SELECT size, mtime FROM dataset_seen JOIN account ON account.id = account
		WHERE kind = 'dataset' AND name = ? AND version = (SELECT max(version) FROM dataset_version WHERE dataset_version.account = account.id) AND `+hasContents, name).Scan(&size, &mtime)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fail(l.path, "cannot be read", err)
	}
	return size, mtime, nil
}

// SetSeen notes size and modification time of a file that was found to be the
// given version. It does nothing if that is not the current version any more.
func (l *Ledger) SetSeen(ctx context.Context, name string, version int, size, mtime int64) error {
	return l.write(ctx, "the file's time was not noted", func(ctx context.Context, tx *sql.Tx, _ int64) error {
		a, err := findAccount(ctx, tx, 0, kindDataset, name)
		if err != nil {
			return err
		}
		if a == nil {
			return noDataset(name)
		}
		if a.version == 0 || a.version != int64(version) {
			return nil
		}
		return setSeen(ctx, tx, a.id, size, mtime)
	})
}

// setSeen notes a file as the account's current version.
func setSeen(ctx context.Context, tx *sql.Tx, id, size, mtime int64) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO dataset_seen (account, version, size, mtime)
		SELECT ?1, max(version), ?2, ?3 FROM dataset_version WHERE account = ?1
		ON CONFLICT (account) DO UPDATE SET version = excluded.version, size = excluded.size, mtime = excluded.mtime`, id, size, mtime)
	return err
}

// StoredByQuestion returns the last answer that the data set gave to the request
// of this hash, by any analyst and under any key; nil where there is none.
func (l *Ledger) StoredByQuestion(ctx context.Context, dataset string, hash [32]byte) (*Release, error) {
	tx, err := l.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, fail(l.path, "cannot be read", err)
	}
	defer tx.Rollback()
	var id string
	err = tx.QueryRowContext(ctx, `SELECT id FROM charge INDEXED BY charge_question
		WHERE account = (SELECT id FROM account WHERE kind = 'dataset' AND name = ?) AND request_hash = ? AND state = 'released' ORDER BY seq DESC LIMIT 1`, dataset, hash[:]).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fail(l.path, "cannot be read", err)
	}
	s, err := l.stored(ctx, tx, id)
	if err != nil {
		return nil, fail(l.path, "cannot be read", err)
	}
	return s, nil
}
