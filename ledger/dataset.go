package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/noren-privacy/noren"
)

// maxDefinition is the longest definition of a data set, in bytes.
const maxDefinition = 1 << 20

// maxSources is the largest number of source files of a data set.
const maxSources = 10_000

// versions returns the rows of dataset_version that where selects, by account
// and number.
func versions(ctx context.Context, q querier, where string, args ...any) ([]versionRow, error) {
	rows, err := q.QueryContext(ctx, `SELECT account, version, seq, definition, definition_hash, print, columns, path
		FROM dataset_version WHERE `+where+` ORDER BY account, version`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []versionRow
	for rows.Next() {
		var v versionRow
		if err := rows.Scan(&v.account, &v.number, &v.seq, &v.definition, &v.hash, &v.print, &v.columns, &v.path); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// currentVersion is the last version of a data set, nil where it has none.
func currentVersion(ctx context.Context, q querier, a *account) (*versionRow, error) {
	if a.version == 0 {
		return nil, nil
	}
	all, err := versions(ctx, q, "account = ? AND version = ?", a.id, a.version)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

func (v *versionRow) prints() (map[string]string, error) {
	all := map[string]string{}
	return all, json.Unmarshal([]byte(v.columns), &all)
}

// applyDataset writes what b, the body of entry seq, says of a data set's print,
// path and version.
func applyDataset(ctx context.Context, tx *sql.Tx, seq int64, b *grantBody) error {
	if b.Kind != kindDataset {
		return nil
	}
	// The first holder of a print or a path keeps it.
	if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO dataset_print (print, account) VALUES (?, ?)", b.Fingerprint,
		b.Account); err != nil {
		return err
	}
	for _, path := range append([]string{b.Path}, b.Sources...) {
		if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO dataset_path (path, account) VALUES (?, ?)", path, b.Account); err != nil {
			return err
		}
	}
	if b.Definition == "" {
		return nil
	}
	v, err := b.row(seq)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO dataset_version (account, version, seq, definition, definition_hash, print, columns, path)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, v.account, v.number, v.seq, v.definition, v.hash, v.print, v.columns, v.path)
	return err
}

// checkVersion lists what is wrong with the part of g that makes a version.
func (g *Grant) checkVersion() error {
	where := noren.Textf("data set %s", g.Name)
	switch {
	case len(g.Definition) > maxDefinition:
		return noren.Usagef(where, "its definition is longer than %d bytes", maxDefinition)
	case !utf8.Valid(g.Definition) || !json.Valid(g.Definition) || !strings.HasPrefix(string(g.Definition), "{"):
		return noren.Usagef(where, "its definition is not a JSON object")
	case g.DefinitionHash == [32]byte{}:
		return noren.Usagef(where, "the hash of its definition is missing")
	case g.Path == "":
		return noren.Usagef(where, "its path is missing")
	case len(g.Sources) > maxSources:
		return noren.Usagef(where, "expected at most %d source files, got %d", maxSources, len(g.Sources)).Hinted("join them to fewer files")
	case g.OldFingerprint != "" && checkName("", g.OldFingerprint) != nil:
		return noren.Usagef(where, "its byte fingerprint is not one")
	}
	if err := checkName(noren.Textf("the print of %s", where), g.Print); err != nil {
		return err
	}
	for name, print := range g.Prints {
		if !utf8.ValidString(name) || checkName("", print) != nil {
			return noren.Usagef(where, "the print of a column is not one")
		}
	}
	if len(g.Prints) == 0 {
		return noren.Usagef(where, "the prints of its columns are missing")
	}
	return g.checkContents()
}

// model is the part of a definition that fixes the model of dependence, as it
// is written; "" where there is none.
func model(definition string) string {
	var d struct {
		Model json.RawMessage `json:"model"`
	}
	if definition == "" || json.Unmarshal([]byte(definition), &d) != nil {
		return ""
	}
	return string(d.Model)
}

// checkHeld refuses a path, a print or a byte fingerprint that another data set
// has or had.
func (g *Grant) checkHeld(ctx context.Context, q querier, own int64, paths []string) error {
	held := func(query, key string) (int64, string, error) {
		var id int64
		var name string
		err := q.QueryRowContext(ctx, query, key, own).Scan(&id, &name)
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return id, name, err
	}
	for _, p := range paths {
		switch id, name,
			err := held("SELECT account, name FROM dataset_path JOIN account ON account.id = account WHERE dataset_path.path = ? AND account <> ?",
			p); {
		case err != nil:
			return err
		case id != 0:
			return sameTable(g.Path, noren.Textf("is a path of data set %s", name))
		}
	}
	for _, print := range []string{g.Print, g.OldFingerprint} {
		if print == "" {
			continue
		}
		id, name, err := held("SELECT account, name FROM dataset_print JOIN account ON account.id = account WHERE print = ? AND account <> ?",
			print)
		if err != nil {
			return err
		}
		if id == 0 {
			continue
		}
		of, err := versions(ctx, q, "account = ? AND print = ?", id, print)
		if err != nil {
			return err
		}
		what := noren.Textf("is the table of data set %s", name)
		if len(of) > 0 {
			what = noren.Textf("is the table of data set %s, version %d", name, of[len(of)-1].number)
		}
		return sameTable(g.Path, what)
	}
	return nil
}

func sameTable(where any, what noren.Text) error {
	return &noren.Error{
		Kind: noren.Usage, Code: "same-table", Where: where, What: what.Format, Args: what.Args,
		Hint: "two budgets for the same people would add up: grant that data set a higher cap instead",
	}
}

// declarations are the data sets that each account's grants declared to hold
// other people.
func declarations(ctx context.Context, q querier) (map[int64][]string, error) {
	rows, err := q.QueryContext(ctx, `SELECT account, json_extract(body, '$.other_people') FROM dataset_version JOIN chain USING (seq)
		WHERE json_extract(body, '$.other_people') IS NOT NULL ORDER BY seq`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[int64][]string{}
	for rows.Next() {
		var id int64
		var text string
		var names []string
		if err := rows.Scan(&id, &text); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(text), &names); err != nil {
			return nil, err
		}
		for _, name := range names {
			if !slices.Contains(all[id], name) {
				all[id] = append(all[id], name)
			}
		}
	}
	return all, rows.Err()
}

// spellings are the absolute forms of path: with all links resolved, and, where
// it differs, as written, which is what grants without a version kept. What
// does not exist is resolved as far as it does.
func spellings(path string) ([]string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fileError(path, "cannot be found", err)
	}
	rest := ""
	for at := abs; ; {
		resolved, err := filepath.EvalSymlinks(at)
		if err == nil {
			resolved = filepath.Join(resolved, rest)
			if resolved != abs {
				return []string{resolved, abs}, nil
			}
			return []string{abs}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fileError(path, "cannot be found", err)
		}
		up := filepath.Dir(at)
		if up == at {
			return []string{abs}, nil
		}
		rest, at = filepath.Join(filepath.Base(at), rest), up
	}
}
