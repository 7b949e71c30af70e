package parquetio

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/meter/bombs"
)

// onePage are rows of one page that many row groups share, made from few bytes.
func onePage(rows, groups int) *bombs.Parquet {
	return &bombs.Parquet{
		Kind: format.Int32, Dictionary: make([]byte, 4), Terms: 1, Data: append([]byte{0}, bombs.Run(rows)...), Values: int32(rows),
		Encoding: format.RLEDictionary, Rows: int64(rows), Groups: groups,
	}
}

// nothing is a file of nulls alone, of a type that has no others: it states how many there are.
func nothing(rows int64) *bombs.Parquet {
	return &bombs.Parquet{
		Kind: format.Int32, Data: bombs.Run(1), Values: 1, Rows: rows,
		Schema: []format.SchemaElement{
			{Name: "root", NumChildren: thrift.New(int32(1))},
			{
				Name: "a", Type: thrift.New(format.Int32), RepetitionType: thrift.New(format.Optional),
				LogicalType: format.LogicalType{Value: &format.NullType{}},
			},
		},
		Footer: func(m *format.FileMetaData) {
			for i := range m.RowGroups {
				m.RowGroups[i].Columns[0].MetaData.Statistics.NullCount = rows
			}
		},
	}
}

// nulls are rows of one run of a level.
func nulls(rows, groups int) *bombs.Parquet {
	b := onePage(rows, groups)
	level := bombs.Run(rows)
	b.Data = append(binary.LittleEndian.AppendUint32(nil, uint32(len(level))), level...)
	b.Data = append(b.Data, 0)
	b.Schema = []format.SchemaElement{
		{Name: "root", NumChildren: thrift.New(int32(1))},
		{Name: "a", Type: thrift.New(format.Int32), RepetitionType: thrift.New(format.Optional)},
	}
	return b
}

// Values that take no bytes are work too: a file may make no more of them than it may unpack to
// bytes. The limit is met by all of these, of 200 to 2,000 bytes, long before their ends.
func TestWorkIsBounded(t *testing.T) {
	const most = 4 << 20
	for name, b := range map[string]*bombs.Parquet{
		"run of indices": onePage(1_000_000, 20), "nulls": nulls(1_000_000, 20), "shared text": bombs.SharedText(1<<10, 100_000),
		"a column of nulls": nothing(1 << 40),
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := through(write(t, b), meter.Limits{Unpacked: most})
			if rows > most+chunkRows || noren.CodeOf(err) != meter.Code {
				t.Errorf("%d records are read; %v", rows, err)
			}
			t.Logf("%d records, %v", rows, err)
		})
	}
	// Pages without values.
	b := onePage(1, 2000)
	text, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", len(text))
	if rows, err := through(write(t, onePage(1, 2000)), meter.Limits{Unpacked: 1000 * pageWork}); rows > 1000 ||
		noren.CodeOf(err) != meter.Code {
		t.Errorf("%d row groups are read; %v", rows, err)
	}
}

// What a file needs is no work beyond it: a table of as many bytes as the limit is read.
func TestWorkOfAnOrdinaryFile(t *testing.T) {
	b := &bombs.Parquet{Kind: format.Int64, Data: make([]byte, 8*100_000), Values: 100_000, Encoding: format.Plain, Rows: 100_000, Groups: 4}
	rows, err := through(write(t, b), meter.Limits{Unpacked: 4*8*100_000 + 4*1024})
	if rows != 400_000 || err != nil {
		t.Errorf("%d records; %v", rows, err)
	}
}

// Reading ends with its context also between pages.
func TestPagesEndWithTheContext(t *testing.T) {
	src, err := Open(write(t, onePage(10_000, 2)), Options{Name: "in.parquet"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	ctx, stop := context.WithCancel(t.Context())
	r, err := src.Open(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	stop()
	if _, err := r.Next(); !errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
	p := r.(*reader).pagesOf(0, 0)
	if err := p.next(); !errors.Is(err, context.Canceled) {
		t.Errorf("a page: %v", err)
	}
}
