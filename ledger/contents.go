package ledger

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
)

// Values recognise a column by its values, under any name and in any order of records.
// Package dataset computes them under keys of the ledger; they never leave it.
type Values struct {
	// Prints are keyed hashes. Two columns hold the same values if they share one.
	Prints []string
	// Many says that the column has enough different values to be compared.
	Many bool
}

// Contents are what the columns of a version are recognised by, beside their names and
// [Grant.Prints].
type Contents struct {
	// Values are those of the columns, by name.
	Values map[string]Values
	// Files are the prints of the columns in each file of a sharded version, by name, in
	// any order of files. A query compares those of its columns together for each file.
	Files []map[string]string
}

// contentsRow is a row of the table dataset_contents.
type contentsRow struct {
	account, version int64
	values           string
	files            []byte
}

// filePrint is how the print of a column in a file begins; the rest is fileBytes bytes in
// hexadecimal.
const (
	filePrint = "hmac-sha256:"
	fileBytes = 32
)

// row is the row of c for a version.
func (c *Contents) row(account, version int64) (*contentsRow, error) {
	prints := map[string][]string{}
	for name, v := range c.Values {
		prints[name] = append([]string{}, v.Prints...)
	}
	text, err := json.Marshal(prints)
	if err != nil {
		return nil, err
	}
	out := &contentsRow{account: account, version: version, values: string(text), files: []byte{}}
	for _, of := range c.Files {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			digits, ok := strings.CutPrefix(of[name], filePrint)
			print, err := hex.DecodeString(digits)
			if !ok || err != nil || len(print) != fileBytes {
				return nil, noren.Bug("the print of a column in a file is not one")
			}
			out.files = append(out.files, print...)
		}
	}
	return out, nil
}

// prints are the prints of the values of the columns.
func (r *contentsRow) prints() (map[string][]string, error) {
	all := map[string][]string{}
	return all, json.Unmarshal([]byte(r.values), &all)
}

// perFile are the prints of the columns of each file, of a version with these columns.
func (r *contentsRow) perFile(columns []string) ([]map[string]string, error) {
	columns = slices.Sorted(slices.Values(columns))
	size := fileBytes * len(columns)
	if size == 0 || len(r.files)%size != 0 {
		return nil, errors.New("the prints of files are not those of the columns")
	}
	var all []map[string]string
	for file := range slices.Chunk(r.files, size) {
		of := map[string]string{}
		for i, name := range columns {
			of[name] = filePrint + hex.EncodeToString(file[i*fileBytes:(i+1)*fileBytes])
		}
		all = append(all, of)
	}
	return all, nil
}

// contentsMAC is the HMAC of a row, which the chain holds. It is of the account and the
// version too, so that those of two versions with the same columns are not the same, and
// an export of the chain does not tell that they are.
func (l *Ledger) contentsMAC(r *contentsRow) string {
	mac := hmac.New(sha256.New, l.Key("noren.ledger.contents/1"))
	mac.Write(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(r.account)), uint64(r.version)))
	writePart(mac, r.values)
	writePart(mac, string(r.files))
	return hex.EncodeToString(mac.Sum(nil))
}

func (r *contentsRow) insert(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO dataset_contents (account, version, column_values, files) VALUES (?, ?, ?, ?)", r.account,
		r.version, r.values, r.files)
	return err
}

// contentsRows are the rows that where selects.
func contentsRows(ctx context.Context, q querier, where string, args ...any) ([]contentsRow, error) {
	rows, err := q.QueryContext(ctx, "SELECT account, version, column_values, files FROM dataset_contents WHERE "+where+
		" ORDER BY account, version", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []contentsRow
	for rows.Next() {
		var r contentsRow
		if err := rows.Scan(&r.account, &r.version, &r.values, &r.files); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// contentsOf is the row of a version, nil where there is none.
func contentsOf(ctx context.Context, q querier, account, version int64) (*contentsRow, error) {
	all, err := contentsRows(ctx, q, "account = ? AND version = ?", account, version)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// hasContents says in SQL whether the current version of the account has a row.
const hasContents = `(SELECT count(*) FROM dataset_contents AS c WHERE c.account = account.id
	AND c.version = (SELECT max(version) FROM dataset_version AS v WHERE v.account = account.id)) > 0`

// HasContents reports whether the current version of the data set has its [Contents]. One
// that was granted before they were kept has none until [Ledger.SetContents], nor has one
// whose grant was rolled forward from the head file.
func (l *Ledger) HasContents(ctx context.Context, name string) (has bool, err error) {
	err = l.readers.QueryRowContext(ctx, "SELECT "+hasContents+" FROM account WHERE kind = 'dataset' AND name = ?", name).Scan(&has)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fail(l.path, "cannot be read", err)
	}
	return has, nil
}

// Files are the [Contents.Files] of a version; none where it has no contents.
func (l *Ledger) Files(ctx context.Context, name string, version int) ([]map[string]string, error) {
	fault := func(err error) ([]map[string]string, error) {
		if err == nil {
			return nil, nil
		}
		return nil, fail(l.path, "cannot be read", err)
	}
	tx, err := l.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return fault(err)
	}
	defer tx.Rollback()
	a, err := findAccount(ctx, tx, 0, kindDataset, name)
	if err != nil {
		return fault(err)
	}
	if a == nil {
		return nil, noDataset(name)
	}
	of, err := versions(ctx, tx, "account = ? AND version = ?", a.id, version)
	if err != nil || len(of) == 0 {
		return fault(err)
	}
	r, err := contentsOf(ctx, tx, a.id, int64(version))
	if err != nil || r == nil || len(r.files) == 0 {
		return fault(err)
	}
	prints, err := of[0].prints()
	if err != nil {
		return fault(err)
	}
	out, err := r.perFile(slices.Collect(maps.Keys(prints)))
	if err != nil {
		return fault(err)
	}
	return out, nil
}

// SetContents keeps the contents of a version that has none, which the caller has read
// from the file of that version: its table print and its column prints were compared. It
// does nothing if that is not the current version any more, or has contents. Size and
// mtime are as in [Ledger.SetSeen].
func (l *Ledger) SetContents(ctx context.Context, name string, version int, c *Contents, size, mtime int64) error {
	seq := int64(0)
	err := l.write(ctx, "the prints of the file were not noted", func(ctx context.Context, tx *sql.Tx, now int64) error {
		if err := l.unsealed(ctx, tx); err != nil {
			return err
		}
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
		if seq, err = l.addContents(ctx, tx, a.id, a.version, c, now); err != nil {
			return err
		}
		return setSeen(ctx, tx, a.id, size, mtime)
	})
	if err != nil || seq == 0 {
		return err
	}
	return l.syncHead(ctx, seq)
}

// addContents gives a version that has none its contents, with an entry in the chain; seq
// is 0 where it has.
func (l *Ledger) addContents(ctx context.Context, tx *sql.Tx, account, version int64, c *Contents, now int64) (seq int64, err error) {
	has, err := contentsOf(ctx, tx, account, version)
	if err != nil || has != nil {
		return 0, err
	}
	r, err := c.row(account, version)
	if err != nil {
		return 0, err
	}
	k, err := l.appendLink(ctx, tx, kindContents, contentsBody{account, version, l.contentsMAC(r), now})
	if err != nil {
		return 0, err
	}
	return k.Seq, r.insert(ctx, tx)
}

// keepContents keeps the contents of the version that b made, or of the current one where
// it has none and b made none.
func (l *Ledger) keepContents(ctx context.Context, tx *sql.Tx, g *Grant, b *grantBody) error {
	if g.Contents == nil {
		return nil
	}
	if b.Version != 0 {
		r, err := g.Contents.row(b.Account, b.Version)
		if err != nil {
			return err
		}
		return r.insert(ctx, tx)
	}
	a, err := accountByID(ctx, tx, b.Account)
	if err != nil || a == nil || a.version == 0 {
		return err
	}
	_, err = l.addContents(ctx, tx, a.id, a.version, g.Contents, b.Time)
	return err
}

// compareContents tells fault of each row of contents that the chain does not have so. A
// row that is missing is none: its version is compared by names and read once more.
func (l *Ledger) compareContents(ctx context.Context, q querier, p *books, fault func(format noren.Format, args ...any)) error {
	rows, err := contentsRows(ctx, q, "TRUE")
	if err != nil {
		return err
	}
	for i := range rows {
		if r := &rows[i]; !l.granted(p, r) {
			fault("the prints of version %d of account %d are not as they were granted", r.version, r.account)
		}
	}
	return nil
}

// granted reports whether the chain has the row.
func (l *Ledger) granted(p *books, r *contentsRow) bool {
	want, ok := p.contents[versionKey{r.account, r.version}]
	return ok && hmac.Equal([]byte(want), []byte(l.contentsMAC(r)))
}

// dropContents deletes the rows that the chain does not have so.
func (l *Ledger) dropContents(ctx context.Context, tx *sql.Tx, p *books) error {
	rows, err := contentsRows(ctx, tx, "TRUE")
	if err != nil {
		return err
	}
	for i := range rows {
		if r := &rows[i]; !l.granted(p, r) {
			if _, err := tx.ExecContext(ctx, "DELETE FROM dataset_contents WHERE account = ? AND version = ?", r.account, r.version); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeContents takes the entry that gives a version its contents.
func (p *books) takeContents(b *contentsBody) error {
	key := versionKey{b.Account, b.Version}
	if _, ok := p.versions[key]; !ok || b.Contents == "" {
		return noren.Reasonf("gives prints to version %d of account %d, which was never granted", b.Version, b.Account)
	}
	p.contents[key] = b.Contents
	return nil
}

// sameFiles reports whether the prints of files are those of a row, in any order of files.
func (r *contentsRow) sameFiles(c *Contents) (bool, error) {
	other, err := c.row(r.account, r.version)
	if err != nil || len(other.files) != len(r.files) {
		return false, err
	}
	if len(c.Files) == 0 {
		return true, nil
	}
	size := len(other.files) / len(c.Files)
	if size == 0 || len(other.files)%size != 0 {
		return false, nil
	}
	sorted := func(files []byte) [][]byte {
		return slices.SortedFunc(slices.Chunk(files, size), bytes.Compare)
	}
	return slices.EqualFunc(sorted(r.files), sorted(other.files), bytes.Equal), nil
}
