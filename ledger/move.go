package ledger

import (
	"context"
	"database/sql"
)

// Move makes the path the one of a data set's file, which was moved or copied there with
// the folder that holds it. Nothing else of the data set changes: the file is compared with
// the prints of the current version when it is read. Where the ledger keeps the path already,
// nothing changes. A link within the folder of the ledger, where paths are kept relative to
// it, is not resolved: it is refused when the file is read. Errors are those of [Ledger.Grant].
func (l *Ledger) Move(ctx context.Context, dataset, path string) error {
	paths := []string{l.kept(path)}
	if paths[0] == path {
		var err error
		if paths, err = l.spellings(path); err != nil {
			return err
		}
	}
	if a, err := findAccount(ctx, l.readers, 0, kindDataset, dataset); err != nil || a != nil && a.path == paths[0] {
		return err
	}
	return l.grant(ctx, func(tx *sql.Tx) (*grantBody, error) {
		a, err := findAccount(ctx, tx, 0, kindDataset, dataset)
		if err != nil {
			return nil, err
		}
		if a == nil {
			return nil, noDataset(dataset)
		}
		g := &Grant{Name: dataset, Path: path}
		if err := g.checkHeld(ctx, tx, a.id, paths); err != nil {
			return nil, err
		}
		b := a.body()
		b.Path = paths[0]
		return b, nil
	}, func(*sql.Tx, *grantBody) error { return nil })
}
