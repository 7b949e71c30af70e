package parquetio

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
)

// peak is the most heap that f takes, beside what there is before.
func peak(t *testing.T, f func()) int64 {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // garbage is little of what is measured
	runtime.GC()
	now := func() int64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(s)
		return int64(s[0].Value.Uint64())
	}
	before := now()
	var most atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			most.Store(max(most.Load(), now()))
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return max(most.Load(), now()) - before
}

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

// bomb is a file of one page that is made by hand, after a dictionary where one is given.
type bomb struct {
	schema           []format.SchemaElement
	kind             format.Type
	codec            format.CompressionCodec
	dictionary, data []byte
	terms, values    int32
	encoding         format.Encoding
	rows             int64
	groups           int
	footer           func(meta *format.FileMetaData)
}

func (b *bomb) write(t *testing.T) string {
	t.Helper()
	out := []byte("PAR1")
	marshal := func(v any) []byte {
		m, err := thrift.Marshal(&thrift.CompactProtocol{}, v)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	pack := func(data []byte) []byte {
		if b.codec == format.Uncompressed {
			return data
		}
		p, err := parquet.LookupCompressionCodec(b.codec).Encode(nil, data)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	from := int64(len(out))
	if b.dictionary != nil {
		p := pack(b.dictionary)
		h := &format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: int32(len(b.dictionary)), CompressedPageSize: int32(len(p))}
		h.DictionaryPageHeader = thrift.New(format.DictionaryPageHeader{NumValues: b.terms, Encoding: format.Plain})
		out = append(append(out, marshal(h)...), p...)
	}
	data := int64(len(out))
	p := pack(b.data)
	h := &format.PageHeader{Type: format.DataPage, UncompressedPageSize: int32(len(b.data)), CompressedPageSize: int32(len(p))}
	h.DataPageHeader = thrift.New(format.DataPageHeader{NumValues: b.values, Encoding: b.encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})
	out = append(append(out, marshal(h)...), p...)
	meta := &format.FileMetaData{Version: 1, NumRows: b.rows * int64(max(1, b.groups)), Schema: b.schema}
	if meta.Schema == nil {
		meta.Schema = []format.SchemaElement{
			{Name: "root", NumChildren: thrift.New(int32(1))},
			{Name: "a", Type: thrift.New(b.kind), RepetitionType: thrift.New(format.Required)},
		}
	}
	for range max(1, b.groups) {
		c := format.ColumnChunk{MetaData: format.ColumnMetaData{
			Type: b.kind, Encoding: []format.Encoding{b.encoding}, PathInSchema: []string{"a"}, Codec: b.codec, NumValues: b.rows,
			TotalUncompressedSize: int64(len(out)) - from, TotalCompressedSize: int64(len(out)) - from, DataPageOffset: data,
		}}
		if b.dictionary != nil {
			c.MetaData.DictionaryPageOffset = from
		}
		meta.RowGroups = append(meta.RowGroups, format.RowGroup{Columns: []format.ColumnChunk{c}, NumRows: b.rows, TotalByteSize: int64(len(out)) - from})
	}
	if b.footer != nil {
		b.footer(meta)
	}
	m := marshal(meta)
	out = append(out, m...)
	out = append(binary.LittleEndian.AppendUint32(out, uint32(len(m))), "PAR1"...)
	path := filepath.Join(t.TempDir(), "in.parquet")
	if err := os.WriteFile(path, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// text is a text of n bytes as PLAIN stores it.
func text(n int) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(n)), make([]byte, n)...)
}

// run is a run of n equal values of one bit or byte.
func run(n int) []byte { return append(binary.AppendUvarint(nil, uint64(n)<<1), 0) }

// Small files that unpack to much: each is read, or refused with the code, within 256 MiB.
// Most of these took gigabytes.
func TestBombs(t *testing.T) {
	shared := func(size, rows int) *bomb {
		return &bomb{
			kind: format.ByteArray, codec: format.Zstd, dictionary: text(size), terms: 1,
			data: append([]byte{1}, run(rows)...), values: int32(rows), encoding: format.RLEDictionary, rows: int64(rows),
		}
	}
	header := func(block, parts, total int) []byte {
		b := binary.AppendUvarint(nil, uint64(block))
		b = binary.AppendUvarint(b, uint64(parts))
		return binary.AppendVarint(binary.AppendUvarint(b, uint64(total)), 0)
	}
	var many []format.SchemaElement
	for range 300_000 {
		many = append(many, format.SchemaElement{Name: "a", Type: thrift.New(format.Int32), RepetitionType: thrift.New(format.Required)})
	}
	const far = 300_000_000
	for _, c := range []struct {
		name    string
		bomb    *bomb
		rows    int64  // 0: refused
		refusal string // where it is refused
	}{
		{"shared text", shared(1<<20, 1000), 1000, ""},
		{"shared text, more in all than the limit", shared(8<<20, 100_000), 0, "in.parquet: record"},
		{"shared text larger than the limit", shared(300<<20, 2), 0, "in.parquet: record 1"},
		{"run of indices", &bomb{kind: format.Int32, dictionary: make([]byte, 4), terms: 1, data: append([]byte{0}, run(far)...), values: 10, encoding: format.RLEDictionary, rows: 10}, 0, "in.parquet: record 1"},
		{"packed indices of no bits", &bomb{kind: format.Int32, dictionary: make([]byte, 4), terms: 1, data: append([]byte{0}, binary.AppendUvarint(nil, far/8<<1|1)...), values: 10, encoding: format.RLEDictionary, rows: 10}, 0, "in.parquet: record 1"},
		{"stated values", &bomb{kind: format.ByteArray, data: text(1), values: far, encoding: format.Plain, rows: 10}, 0, "in.parquet: record 1"},
		{"differences", &bomb{kind: format.Int64, data: header(128, 4, far), values: 10, encoding: format.DeltaBinaryPacked, rows: 10}, 0, "in.parquet: record 1"},
		{"zeros, gzip", &bomb{kind: format.ByteArray, codec: format.Gzip, data: text(300 << 20), values: 1, encoding: format.Plain, rows: 1}, 0, "in.parquet: record 1"},
		{"zeros, zstd", &bomb{kind: format.ByteArray, codec: format.Zstd, data: text(300 << 20), values: 1, encoding: format.Plain, rows: 1}, 0, "in.parquet: record 1"},
		{"columns", &bomb{kind: format.Int32, data: make([]byte, 4), values: 1, rows: 1, footer: func(m *format.FileMetaData) { m.Schema = append(m.Schema, many...) }}, 0, "in.parquet: needs"},
		{"row groups", &bomb{kind: format.Int32, data: make([]byte, 4), values: 1, rows: 1, groups: 5000}, 5000, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := c.bomb.write(t)
			c.bomb = nil
			var rows int64
			var err error
			most := peak(t, func() { rows, err = through(path, meter.Limits{Unpacked: 2 << 30}) })
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
