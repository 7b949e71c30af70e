package bombs

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Parquet is a file of one column and one page that is made by hand, after a dictionary where
// one is given.
type Parquet struct {
	// Schema defaults to one required column a of the type Kind.
	Schema           []format.SchemaElement
	Kind             format.Type
	Codec            format.CompressionCodec
	Dictionary, Data []byte
	// Terms is how many texts the dictionary states, Values how many values the page.
	Terms, Values int32
	Encoding      format.Encoding
	// Rows is how many records each row group states; Groups how many row groups share the
	// page.
	Rows   int64
	Groups int
	// Header and Footer change what is stated otherwise. Optional.
	Header func(page *format.PageHeader)
	Footer func(meta *format.FileMetaData)
}

// Bytes are those of the file.
func (b *Parquet) Bytes() ([]byte, error) {
	out := []byte("PAR1")
	from := int64(len(out))
	var err error
	if b.Dictionary != nil {
		h := &format.PageHeader{Type: format.DictionaryPage}
		h.DictionaryPageHeader = thrift.New(format.DictionaryPageHeader{NumValues: b.Terms, Encoding: format.Plain})
		if out, err = b.page(out, h, b.Dictionary); err != nil {
			return nil, err
		}
	}
	data := int64(len(out))
	h := &format.PageHeader{Type: format.DataPage}
	h.DataPageHeader = thrift.New(format.DataPageHeader{
		NumValues: b.Values, Encoding: b.Encoding, DefinitionLevelEncoding: format.RLE,
		RepetitionLevelEncoding: format.RLE,
	})
	if out, err = b.page(out, h, b.Data); err != nil {
		return nil, err
	}
	groups := max(1, b.Groups)
	meta := &format.FileMetaData{Version: 1, NumRows: b.Rows * int64(groups), Schema: b.Schema}
	if meta.Schema == nil {
		meta.Schema = []format.SchemaElement{
			{Name: "root", NumChildren: thrift.New(int32(1))},
			{Name: "a", Type: thrift.New(b.Kind), RepetitionType: thrift.New(format.Required)},
		}
	}
	for range groups {
		c := format.ColumnChunk{MetaData: format.ColumnMetaData{
			Type: b.Kind, Encoding: []format.Encoding{b.Encoding}, PathInSchema: []string{"a"}, Codec: b.Codec, NumValues: b.Rows,
			TotalUncompressedSize: int64(len(out)) - from, TotalCompressedSize: int64(len(out)) - from, DataPageOffset: data,
		}}
		if b.Dictionary != nil {
			c.MetaData.DictionaryPageOffset = from
		}
		meta.RowGroups = append(meta.RowGroups, format.RowGroup{
			Columns: []format.ColumnChunk{c}, NumRows: b.Rows,
			TotalByteSize: int64(len(out)) - from,
		})
	}
	if b.Footer != nil {
		b.Footer(meta)
	}
	m, err := thrift.Marshal(&thrift.CompactProtocol{}, meta)
	if err != nil {
		return nil, err
	}
	out = append(out, m...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(m))), "PAR1"...), nil
}

// page appends a page with its header.
func (b *Parquet) page(out []byte, h *format.PageHeader, data []byte) ([]byte, error) {
	packed := data
	var err error
	if b.Codec != format.Uncompressed {
		if packed, err = parquet.LookupCompressionCodec(b.Codec).Encode(nil, data); err != nil {
			return nil, err
		}
	}
	h.UncompressedPageSize, h.CompressedPageSize = int32(len(data)), int32(len(packed))
	if b.Header != nil {
		b.Header(h)
	}
	header, err := thrift.Marshal(&thrift.CompactProtocol{}, h)
	if err != nil {
		return nil, err
	}
	return append(append(out, header...), packed...), nil
}

// Text is a text of n bytes as PLAIN stores it.
func Text(n int) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(n)), make([]byte, n)...)
}

// Run is a run of n equal values of one bit or byte.
func Run(n int) []byte { return append(binary.AppendUvarint(nil, uint64(n)<<1), 0) }

// SharedText is a file whose rows are all the same text of a dictionary.
func SharedText(size, rows int) *Parquet {
	return &Parquet{
		Kind: format.ByteArray, Codec: format.Zstd, Dictionary: Text(size), Terms: 1,
		Data: append([]byte{1}, Run(rows)...), Values: int32(rows), Encoding: format.RLEDictionary, Rows: int64(rows),
	}
}

// Differences are the header of DELTA_BINARY_PACKED that states total values in blocks.
func Differences(block, parts, total int) []byte {
	b := binary.AppendUvarint(nil, uint64(block))
	b = binary.AppendUvarint(b, uint64(parts))
	return binary.AppendVarint(binary.AppendUvarint(b, uint64(total)), 0)
}

// Columns are that many schema elements of one type.
func Columns(n int) []format.SchemaElement {
	out := make([]format.SchemaElement, n)
	for i := range out {
		out[i] = format.SchemaElement{Name: "a", Type: thrift.New(format.Int32), RepetitionType: thrift.New(format.Required)}
	}
	return out
}
