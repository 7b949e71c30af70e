package parquetio

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/meter/bombs"
	"github.com/noren-privacy/noren/internal/meter/metertest"
)

// through reads a file whole within limits and keeps nothing.
func through(path string, limits meter.Limits) (rows int64, err error) {
	src, err := Open(path, Options{Name: "in.parquet", Limits: limits})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	r, err := src.Open(context.Background(), nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		c, err := r.Next()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows += int64(c.Rows)
	}
}

// write writes a bomb and returns its path.
func write(t *testing.T, b *bombs.Parquet) string {
	t.Helper()
	out, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "in.parquet")
	if err := os.WriteFile(path, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Small files that unpack to much: each is read, or refused with the code, within 256 MiB.
// Most of these took gigabytes.
func TestBombs(t *testing.T) {
	const far = 300_000_000
	for _, c := range []struct {
		name    string
		bomb    *bombs.Parquet
		rows    int64  // 0: refused
		refusal string // where it is refused
	}{
		{"shared text", bombs.SharedText(1<<20, 1000), 1000, ""},
		{"shared text, more in all than the limit", bombs.SharedText(8<<20, 100_000), 0, "in.parquet: record"},
		{"shared text larger than the limit", bombs.SharedText(300<<20, 2), 0, "in.parquet: record 1"},
		{"run of indices", &bombs.Parquet{
			Kind: format.Int32, Dictionary: make([]byte, 4), Terms: 1, Data: append([]byte{0}, bombs.Run(far)...),
			Values: 10, Encoding: format.RLEDictionary, Rows: 10,
		}, 0, "in.parquet: record 1"},
		{"packed indices of no bits", &bombs.Parquet{
			Kind: format.Int32, Dictionary: make([]byte, 4), Terms: 1,
			Data: append([]byte{0}, binary.AppendUvarint(nil, far/8<<1|1)...), Values: 10, Encoding: format.RLEDictionary, Rows: 10,
		}, 0, "in.parquet: record 1"},
		{
			"stated values", &bombs.Parquet{Kind: format.ByteArray, Data: bombs.Text(1), Values: far, Encoding: format.Plain, Rows: 10}, 0,
			"in.parquet: record 1",
		},
		{"differences", &bombs.Parquet{
			Kind: format.Int64, Data: bombs.Differences(128, 4, far), Values: 10, Encoding: format.DeltaBinaryPacked,
			Rows: 10,
		}, 0, "in.parquet: record 1"},
		{"zeros, gzip", &bombs.Parquet{
			Kind: format.ByteArray, Codec: format.Gzip, Data: bombs.Text(300 << 20), Values: 1, Encoding: format.Plain,
			Rows: 1,
		}, 0, "in.parquet: record 1"},
		{"zeros, zstd", &bombs.Parquet{
			Kind: format.ByteArray, Codec: format.Zstd, Data: bombs.Text(300 << 20), Values: 1, Encoding: format.Plain,
			Rows: 1,
		}, 0, "in.parquet: record 1"},
		{"columns", &bombs.Parquet{
			Kind: format.Int32, Data: make([]byte, 4), Values: 1, Rows: 1,
			Footer: func(m *format.FileMetaData) { m.Schema = append(m.Schema, bombs.Columns(300_000)...) },
		}, 0, "in.parquet: needs"},
		{"row groups", &bombs.Parquet{Kind: format.Int32, Data: make([]byte, 4), Values: 1, Rows: 1, Groups: 5000}, 5000, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, c.bomb)
			c.bomb = nil
			var rows int64
			var err error
			most := metertest.Peak(t, func() { rows, err = through(path, meter.Limits{Unpacked: 2 << 30}) })
			t.Logf("%d MiB, %v", most>>20, err)
			if most > 256<<20 {
				t.Errorf("it takes %d MiB", most>>20)
			}
			switch {
			case c.rows > 0 && (err != nil || rows != c.rows):
				t.Errorf("%d records, %v", rows, err)
			case c.rows == 0 && (noren.CodeOf(err) != meter.Code || !strings.HasPrefix(err.Error(), c.refusal)):
				t.Errorf("got %v, want the code %s at %s", err, meter.Code, c.refusal)
			}
		})
	}
}
