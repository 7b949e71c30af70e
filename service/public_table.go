package service

import (
	"context"
	"errors"
	"io"

	"github.com/noren-privacy/noren/internal/identity"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// publicTable says which public table is at path, by the SHA-256 of all bytes of its files
// (of all cells, where it is of a database).
func publicTable(ctx context.Context, path string, src file.Source) (out ratio.PublicTable, err error) {
	if file.IsDatabase(path) {
		out.Records, err = recordsIdentity(ctx, src)
		return out, err
	}
	sums, err := file.Digests(ctx, path)
	switch {
	case err != nil:
		return out, err
	case file.IsParts(path):
		out.Files = sums
	default:
		out.SHA256 = sums[0]
	}
	return out, nil
}

// recordsIdentity is the SHA-256 of the columns and records of a table, in their order.
func recordsIdentity(ctx context.Context, src table.Source) (string, error) {
	columns := src.Columns()
	d := identity.NewData("noren.records/1")
	d.Int(len(columns))
	for i := range columns {
		d.Text(columns[i].Name)
	}
	r, err := src.Open(ctx, nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }()
	var cell []byte
	for {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			return d.ID().String(), nil
		}
		if err != nil {
			return "", err
		}
		for i := range c.Rows {
			for j := range c.Cols {
				if v := &c.Cols[j]; v.IsNull(i) {
					d.Int(-1)
				} else {
					cell = table.AppendText(cell[:0], &columns[j], v, i)
					d.Text(string(cell))
				}
			}
		}
	}
}
