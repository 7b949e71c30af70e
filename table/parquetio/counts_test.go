package parquetio

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/bitpacked"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/meter/bombs"
	"github.com/noren-privacy/noren/internal/meter/metertest"
)

// optional makes the column of a page optional, with the levels before its data.
func optional(b *bombs.Parquet, levels []byte) *bombs.Parquet {
	b.Schema = []format.SchemaElement{
		{Name: "root", NumChildren: thrift.New(int32(1))},
		{Name: "a", Type: thrift.New(b.Kind), RepetitionType: thrift.New(format.Optional)},
	}
	b.Data = slices.Concat(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels, b.Data)
	return b
}

// second makes the page one of the second version, which states how many of its values are nulls.
func second(b *bombs.Parquet, levels []byte, nulls int32) *bombs.Parquet {
	b = optional(b, levels)
	b.Data = b.Data[4:]
	b.Header = func(h *format.PageHeader) {
		h.Type = format.DataPageV2
		h.DataPageHeaderV2 = thrift.New(format.DataPageHeaderV2{
			NumValues: b.Values, NumNulls: nulls, NumRows: int32(b.Rows),
			Encoding: b.Encoding, DefinitionLevelsByteLength: int32(len(levels)),
		})
		h.DataPageHeader = thrift.Null[format.DataPageHeader]{}
	}
	return b
}

// emptyTexts are n empty texts as PLAIN stores them.
func emptyTexts(n int) []byte { return bytes.Repeat(bombs.Text(0), n) }

// A page that has other values than it states is an error. Pages with fewer texts, and those with
// more, were read in part, and the library wrote their numbers to the standard error.
func TestCountsOfPages(t *testing.T) {
	three := func(data []byte, e format.Encoding) *bombs.Parquet {
		return &bombs.Parquet{Kind: format.ByteArray, Data: data, Values: 3, Encoding: e, Rows: 3}
	}
	lengths := func(n int) []byte { return parquetLengths(t, n) }
	ones, half := []byte{3 << 1, 1}, []byte{1<<1 | 1, 0b101}
	for _, c := range []struct {
		name string
		file *bombs.Parquet
		good bool
	}{
		{"as stated", three(emptyTexts(3), format.Plain), true},
		{"fewer", three(emptyTexts(2), format.Plain), false},
		{"none", three(nil, format.Plain), false},
		{"more", three(emptyTexts(4), format.Plain), false},
		{"lengths", three(lengths(3), format.DeltaLengthByteArray), true},
		{"fewer lengths", three(lengths(2), format.DeltaLengthByteArray), false},
		{"more lengths", three(lengths(4), format.DeltaLengthByteArray), false},
		{"prefixes", three(slices.Concat(lengths(3), lengths(3)), format.DeltaByteArray), true},
		{"fewer prefixes", three(slices.Concat(lengths(2), lengths(2)), format.DeltaByteArray), false},
		{"more prefixes", three(slices.Concat(lengths(4), lengths(4)), format.DeltaByteArray), false},
		{"levels", optional(three(emptyTexts(3), format.Plain), ones), true},
		{"levels of more", optional(three(emptyTexts(2), format.Plain), ones), false},
		{"levels of two", optional(three(emptyTexts(2), format.Plain), half), true},
		{"levels of less", optional(three(emptyTexts(3), format.Plain), half), false},
		{"no levels", optional(three(emptyTexts(3), format.Plain), nil), false},
		{"second", second(three(emptyTexts(2), format.Plain), half, 1), true},
		{"second, nulls not stated", second(three(emptyTexts(2), format.Plain), half, 0), true},
		{"second, too many nulls stated", second(three(emptyTexts(2), format.Plain), half, 3), true},
		{"second, fewer", second(three(emptyTexts(1), format.Plain), half, 1), false},
		{"second, no levels", second(three(emptyTexts(2), format.Plain), nil, 1), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, err := through(write(t, c.file), meter.Limits{})
			if c.good != (err == nil) || c.good && rows != 3 {
				t.Errorf("%d records, %v", rows, err)
			}
			if err != nil && (strings.Contains(err.Error(), "checksum") || !strings.Contains(err.Error(), "damaged")) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// parquetLengths are the lengths of n empty texts as DELTA_BINARY_PACKED stores them.
func parquetLengths(t *testing.T, n int) []byte {
	t.Helper()
	b, err := parquet.DeltaBinaryPacked.EncodeInt32(nil, make([]int32, n))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What is counted of levels is what the library decodes.
func TestEqualLevels(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		most := 1 + rng.IntN(7)
		levels := make([]byte, 1+rng.IntN(60))
		for i := range levels {
			levels[i] = byte(rng.IntN(most + 1))
			if i > 0 && rng.IntN(3) > 0 {
				levels[i] = levels[i-1]
			}
		}
		width := map[bool]int{true: 1, false: 2}[most == 1]
		if most > 3 {
			width = 3
		}
		want := int64(bytes.Count(levels, []byte{byte(most)}))
		packed, err := (&rle.Encoding{BitWidth: width}).EncodeLevels(nil, levels)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := equal(packed, format.RLE, most, int64(len(levels))); err != nil || got != want {
			t.Fatalf("%v of %d: %d, %v", levels, most, got, err)
		}
		if packed, err = (&bitpacked.Encoding{BitWidth: width}).EncodeLevels(nil, levels); err != nil {
			t.Fatal(err)
		}
		if got, err := equal(packed, format.BitPacked, most, int64(len(levels))); err != nil || got != want {
			t.Fatalf("%v of %d, packed: %d, %v", levels, most, got, err)
		}
		// Whatever the bytes are: no panic, and where both read them, the same number.
		damaged := bytes.Clone(packed)
		for i := range damaged {
			if rng.IntN(3) == 0 {
				damaged[i] = byte(rng.IntN(256))
			}
		}
		got, err := equal(damaged, format.RLE, most, int64(len(levels)))
		decoded, failed := (&rle.Encoding{BitWidth: width}).DecodeLevels(nil, damaged)
		if err == nil && failed == nil && len(decoded) >= len(levels) {
			if want := int64(bytes.Count(decoded[:len(levels)], []byte{byte(most)})); got != want {
				t.Fatalf("%x: %d levels of %d, want %d", damaged, got, most, want)
			}
		}
	}
}

// Reading hostile and damaged files writes nothing.
func TestReadingIsSilent(t *testing.T) {
	metertest.Silent(t, "TestCountsOfPages|TestBombs|TestDamaged|TestWorkIsBounded|Fuzz.*")
}
