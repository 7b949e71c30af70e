package dataset

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/noren-privacy/noren/table"
)

// Keys are the secrets of the prints of one ledger, at least 16 bytes each. Prints
// under different keys cannot be compared.
type Keys struct {
	// Row and Table are for table prints, Column is for column prints.
	Row, Table, Column []byte
	// Value is for the tags of values and Values for the prints of the values of columns
	// ([Values]). Without them [Inspect] and [Identify] compute none.
	Value, Values []byte
}

// KeysOf derives the keys by their purposes.
func KeysOf(derive func(purpose string) []byte) Keys {
	return Keys{
		Row: derive("noren.dataset.row/1"), Table: derive("noren.dataset.table/1"), Column: derive("noren.dataset.column/1"),
		Value: derive("noren.dataset.value/1"), Values: derive("noren.dataset.values/1"),
	}
}

// ShardKeys are the secrets of the prints of data sets in several files.
type ShardKeys struct {
	// File is for the column prints of single files. A reading task needs it, so that it
	// is no key of anything that a ledger stores.
	File Keys
	// Column is for the prints of the columns of all files together.
	Column []byte
}

// ShardKeysOf derives the keys by their purposes.
func ShardKeysOf(derive func(purpose string) []byte) ShardKeys {
	return ShardKeys{File: Keys{Column: derive("noren.dataset.shard.file/1")}, Column: derive("noren.dataset.shard.column/1")}
}

// ShardPrints are the column prints of a data set in several files, from the column prints
// of each file under k.File: HMAC-SHA256(k.Column, the name and the sorted prints of the
// files). They depend on the cells of each file in their order, and on neither the names
// of the files nor their order. Every file has the same columns. A column exchanged between
// two files changes none of them: [SameFiles] tells whether files are the same.
func ShardPrints(k ShardKeys, files []map[string]string) map[string]string {
	out := map[string]string{}
	if len(files) == 0 {
		return out
	}
	for name := range files[0] {
		prints := make([]string, len(files))
		for i, of := range files {
			prints[i] = of[name]
		}
		slices.Sort(prints)
		text := binary.AppendUvarint(appendName(nil, name), uint64(len(prints)))
		for _, p := range prints {
			text = appendName(text, p)
		}
		mac := hmac.New(sha256.New, k.Column)
		mac.Write(text)
		out[name] = printOf(mac)
	}
	return out
}

// SameFiles reports whether the files of a data set are those that were granted: as many,
// and in some order of them the columns that were read of each have the prints that they
// have together in one granted file. The columns that were read are those of the first of
// found; without any, nothing is the same.
func SameFiles(granted, found []map[string]string) bool {
	if len(found) == 0 || len(found) != len(granted) || len(found[0]) == 0 {
		return false
	}
	names := slices.Sorted(maps.Keys(found[0]))
	together := func(files []map[string]string) []string {
		out := make([]string, len(files))
		for i, of := range files {
			var text []byte
			for _, name := range names {
				text = appendName(text, of[name])
				if of[name] == "" {
					return nil
				}
			}
			out[i] = string(text)
		}
		slices.Sort(out)
		return out
	}
	have := together(found)
	return have != nil && slices.Equal(have, together(granted))
}

const printPrefix = "hmac-sha256:"

func printOf(mac hash.Hash) string { return printPrefix + hex.EncodeToString(mac.Sum(nil)) }

// appendCell appends 0 for null, or the length plus one and the text: no sequence
// of cells has the bytes of another or of the beginning of another.
func appendCell(dst []byte, null bool, text []byte) []byte {
	if null {
		return append(dst, 0)
	}
	dst = binary.AppendUvarint(dst, uint64(len(text))+1)
	return append(dst, text...)
}

func appendName(dst []byte, name string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(name))), name...)
}

// tape computes a column print: HMAC-SHA256(K_column, name and all cells in file
// order).
type tape struct {
	mac hash.Hash
	buf []byte
}

const tapeSize = 16 << 10

func newTape(key []byte, name string) *tape {
	return &tape{mac: hmac.New(sha256.New, key), buf: appendName(make([]byte, 0, tapeSize+64), name)}
}

func (t *tape) cell(null bool, text []byte) {
	t.buf = appendCell(t.buf, null, text)
	if len(t.buf) >= tapeSize {
		t.flush()
	}
}

// texts is cell for a run of texts.
func (t *tape) texts(texts [][]byte) {
	buf := t.buf[:cap(t.buf)] // at least tapeSize+64 bytes
	at := len(t.buf)
	for _, text := range texts {
		if at >= tapeSize {
			t.mac.Write(buf[:at])
			at = 0
		}
		n := len(text)
		if n > 16 {
			t.buf = appendCell(buf[:at], false, text)
			buf, at = t.buf[:cap(t.buf)], len(t.buf)
			continue
		}
		// Most cells are short: two moves, which may overlap, cost less than a copy.
		buf[at] = byte(n + 1) // the uvarint
		to := buf[at+1 : at+17]
		switch {
		case n >= 8:
			binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(text))
			binary.LittleEndian.PutUint64(to[n-8:], binary.LittleEndian.Uint64(text[n-8:]))
		case n >= 4:
			binary.LittleEndian.PutUint32(to, binary.LittleEndian.Uint32(text))
			binary.LittleEndian.PutUint32(to[n-4:], binary.LittleEndian.Uint32(text[n-4:]))
		case n > 0:
			to[0], to[n/2], to[n-1] = text[0], text[n/2], text[n-1]
		}
		at += 1 + n
	}
	t.buf = buf[:at]
}

func (t *tape) flush() {
	t.mac.Write(t.buf)
	t.buf = t.buf[:0]
}

func (t *tape) print() string {
	t.flush()
	return printOf(t.mac)
}

// sum256 is a sum of row tags modulo 2^256, lowest word first.
type sum256 [4]uint64

func (s *sum256) add(o *sum256) {
	var carry uint64
	for i := range s {
		s[i], carry = bits.Add64(s[i], o[i], carry)
	}
}

// addTimes adds a tag n times.
func (s *sum256) addTimes(o *sum256, n uint64) {
	if n == 1 {
		s.add(o)
		return
	}
	var product sum256
	var high uint64
	for i := range o {
		up, low := bits.Mul64(o[i], n)
		var carry uint64
		product[i], carry = bits.Add64(low, high, 0)
		high = up + carry // below 2^64: up is at most 2^64 - 2
	}
	s.add(&product)
}

// rowHash computes table prints under several keys: a keyed multiset hash of the
// records (MSet-Add-Hash; Clarke, Devadas, van Dijk, Gassend and Suh 2003). The
// tag of a record is HMAC-SHA256(K_row, its cells by the bytes of the column
// names), and the print HMAC-SHA256(K_table, names, number of records, sum of the
// tags modulo 2^256). It depends on neither order of the records nor of the
// columns, and on nothing of the file's form.
type rowHash struct {
	keys   []Keys
	names  []string // sorted
	order  []int    // positions in a chunk, by name
	stored []table.StoredColumn
	rows   uint64
	sums   []sum256
}

func newRowHash(stored []table.StoredColumn, keys []Keys) *rowHash {
	h := &rowHash{keys: keys, stored: stored, sums: make([]sum256, len(keys))}
	for i := range stored {
		h.order = append(h.order, i)
	}
	slices.SortFunc(h.order, func(a, b int) int { return strings.Compare(stored[a].Name, stored[b].Name) })
	for _, at := range h.order {
		h.names = append(h.names, stored[at].Name)
	}
	return h
}

// take adds the records of a chunk of all columns.
func (h *rowHash) take(c *table.Chunk) error {
	const part = 512
	parts := (c.Rows + part - 1) / part
	sums := make([][]sum256, parts)
	err := parallel(parts, func(p int) error {
		sums[p] = h.part(c, p*part, min((p+1)*part, c.Rows))
		return nil
	})
	if err != nil {
		return err
	}
	for _, of := range sums {
		for k := range of {
			h.sums[k].add(&of[k])
		}
	}
	h.rows += uint64(c.Rows)
	return nil
}

func (h *rowHash) part(c *table.Chunk, from, to int) []sum256 {
	macs, sums := make([]hash.Hash, len(h.keys)), make([]sum256, len(h.keys))
	for k := range macs {
		macs[k] = hmac.New(sha256.New, h.keys[k].Row)
	}
	var row, cell []byte
	var tag [sha256.Size]byte
	for i := from; i < to; i++ {
		row = row[:0]
		for _, at := range h.order {
			v := &c.Cols[at]
			null := v.IsNull(i)
			if !null {
				cell = table.AppendText(cell[:0], &h.stored[at], v, i)
			}
			row = appendCell(row, null, cell)
		}
		for k, mac := range macs {
			mac.Reset()
			mac.Write(row)
			mac.Sum(tag[:0])
			word := sum256{
				binary.BigEndian.Uint64(tag[24:]), binary.BigEndian.Uint64(tag[16:]),
				binary.BigEndian.Uint64(tag[8:]), binary.BigEndian.Uint64(tag[:]),
			}
			sums[k].add(&word)
		}
	}
	return sums
}

// prints are the table prints, one for each of the keys.
func (h *rowHash) prints() []string {
	text := binary.AppendUvarint(nil, uint64(len(h.names)))
	for _, name := range h.names {
		text = appendName(text, name)
	}
	text = binary.BigEndian.AppendUint64(text, h.rows)
	out := make([]string, len(h.keys))
	for k := range h.keys {
		mac := hmac.New(sha256.New, h.keys[k].Table)
		mac.Write(text)
		for i := len(h.sums[k]) - 1; i >= 0; i-- {
			mac.Write(binary.BigEndian.AppendUint64(nil, h.sums[k][i]))
		}
		out[k] = printOf(mac)
	}
	return out
}
