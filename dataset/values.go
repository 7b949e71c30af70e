package dataset

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/maphash"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/infer"
)

// Values recognises a column by its values: under any name, in any order of records, in
// any file format or number of files, and under any definition. It is secret as the values
// are: keyed hashes, which are compared inside the ledger and never leave it.
//
// Two columns hold the same values if a print of one is a print of the other. A column
// has one print for each way in which its cells may be read (see valueHash).
type Values struct {
	// Prints are in hexadecimal, sorted, without repetitions.
	Prints []string
	// Many says that the column has more than [FewValues] different values, so that
	// equality with another column is no coincidence of a small domain.
	Many bool
}

// FewValues is the number of different values up to which equal columns are not
// compared: sexes or wards of other people may well be equal in number.
const FewValues = 10

// valueHash computes the prints of the values of a column: keyed multiset hashes
// (MSet-Add-Hash; Clarke, Devadas, van Dijk, Gassend and Suh 2003).
//
// # What is equal
//
// A cell is brought to one form that its column's type, its definition and its file format
// do not enter: without blanks at its ends, in the Unicode form NFKC, in folded case, and a
// number (with commas between thousands or without) as its digits and its power of ten.
// A cell without any of it has no value. The whole column is read once more by
// each date layout that reads all of its cells with a digit, and by the layout of the
// definition; such a reading replaces the texts by seconds since 1970. So it is with a
// decimal comma, where all cells with a digit are numbers then. Each reading is
// hashed with and without the cells that are a missing text of the definition or a usual
// one. Two columns that are copies of each other but for all of this share a print.
//
// # Collisions
//
// The tag of a form v is h(v) = SHA-256(K_value, length of v, v), and the print of a
// multiset M with multiplicities m(v) is HMAC-SHA256(K_values, |M|, sum of m(v) h(v)
// modulo 2^256). Assume that h is a random function, as SHA-256 keyed by its first 32
// bytes on inputs none of which is the beginning of another is a PRF if its compression
// function is one under either input (Bellare, Canetti and Krawczyk 1996, and the same
// assumption as HMAC's). For two different multisets that were chosen without the key,
// some c = m(v) - m'(v) is not 0, and their sums are equal only if c h(v) = t modulo 2^256
// for a t that does not depend on h(v). That has at most |c| < 2^31 solutions h(v), so the
// probability is below 2^-225; over all pairs of n columns below n^2 2^-226. The key stays
// in the ledger, and who grants files learns of the sums only whether two are equal, so
// that no choice of files helps to find a collision. Files are granted by stewards.
type valueHash struct {
	key, final []byte
	missing    map[string]bool // those that are usual: true
	lengths    uint64          // bit min(n, 63): a missing text has n bytes
	declared   table.Layout    // of a column of dates; "" otherwise

	seed  maphash.Seed
	cache []valueTag
	buf   []byte
	fold  cases.Caser

	base    valueSums
	seen    []uint64 // tags of the first different values
	started bool     // a cell with a digit was met
	dates   []dateSums
	swapped []byte
}

// valueSums are the sums of tags, of the values that are not missing and of missing texts.
type valueSums struct {
	sum [2]sum256
	n   [2]uint64
}

func (s *valueSums) add(tag *sum256, missing int) {
	s.sum[missing].add(tag)
	s.n[missing]++
}

// decimalComma stands for the reading of numbers with a comma before their decimals.
const decimalComma table.Layout = ","

// dateSums are the sums of the column as dates of a layout, or by [decimalComma].
type dateSums struct {
	layout table.Layout
	time   bool
	sums   valueSums
}

// valueTag is a cell that was met, with what follows from it.
type valueTag struct {
	text    []byte
	tag     sum256
	missing int
	usual   bool // a usual missing text
	empty   bool
	digit   bool
	number  bool
	plain   []byte // the cell for date layouts: trimmed, in NFKC
	dated   bool   // day is the tag of the date at
	at      int64
	day     sum256
}

const (
	mostTags    = 1 << 13 // cells of a column that are remembered, at most
	allTags     = 1 << 17 // cells of all columns
	longestText = 64      // of a remembered cell, in bytes
)

func newValueHash(d *Definition, c *Column, k Keys) *valueHash {
	v := &valueHash{key: k.Value, final: k.Values, missing: map[string]bool{}, seed: maphash.MakeSeed(), cache: make([]valueTag, max(1, min(mostTags, allTags/len(d.Columns)))), fold: cases.Fold()}
	for _, text := range d.Missing {
		v.missing[text] = false
	}
	for _, text := range infer.MissingTexts() {
		v.missing[text] = true
	}
	for text := range v.missing {
		v.lengths |= 1 << min(len(text), 63)
	}
	if c.Type == table.Date.String() {
		v.declared = table.Layout(c.Layout)
	}
	return v
}

// cell takes a cell; null is none.
func (v *valueHash) cell(null bool, text []byte) {
	if null || len(text) == 0 {
		return
	}
	if len(text) > longestText {
		var one valueTag
		v.take(&one, text)
		v.add(&one)
		return
	}
	at := &v.cache[maphash.Bytes(v.seed, text)%uint64(len(v.cache))]
	if !bytes.Equal(at.text, text) { // no cell is empty
		v.take(at, text)
	}
	v.add(at)
}

// add adds a cell to all sums.
func (v *valueHash) add(c *valueTag) {
	if c.empty {
		return
	}
	// A definition cannot hide values by stating that they are missing.
	if !c.usual && len(v.seen) <= FewValues && !slices.Contains(v.seen, c.tag[0]) {
		v.seen = append(v.seen, c.tag[0])
	}
	switch {
	case !c.digit || c.missing == 1: // no date in any layout
		for i := range v.dates {
			v.dates[i].sums.add(&c.tag, c.missing)
		}
	case !v.started:
		v.startDates(c)
	default:
		v.addDates(c)
	}
	v.base.add(&c.tag, c.missing)
}

// startDates keeps the layouts that read the first cell with a digit. Cells before it are
// in their sums as they are.
func (v *valueHash) startDates(c *valueTag) {
	v.started = true
	if _, ok := v.comma(c); ok {
		v.dates = append(v.dates, dateSums{layout: decimalComma, sums: v.base})
	}
	for _, layout := range append([]table.Layout{v.declared}, infer.Layouts()...) {
		if layout == "" || slices.ContainsFunc(v.dates, func(d dateSums) bool { return d.layout == layout }) {
			continue
		}
		if _, ok := layout.Match(c.plain); ok || layout == v.declared {
			v.dates = append(v.dates, dateSums{layout: layout, time: layout.HasTime(), sums: v.base})
		}
	}
	v.addDates(c)
}

// addDates drops the layouts that do not read the cell, but the definition's, which takes
// it as it is.
func (v *valueHash) addDates(c *valueTag) {
	kept := v.dates[:0]
	for _, d := range v.dates {
		if d.layout == decimalComma {
			if tag, ok := v.comma(c); ok {
				d.sums.add(&tag, 0)
				kept = append(kept, d)
			}
			continue
		}
		at, ok := d.layout.Match(c.plain)
		switch {
		case ok:
			if !d.time {
				at *= 24 * 60 * 60
			}
			if !c.dated || at != c.at {
				v.buf = binary.BigEndian.AppendUint64(append(v.buf[:0], 'd'), uint64(at))
				c.dated, c.at, c.day = true, at, v.hash(v.buf)
			}
			d.sums.add(&c.day, 0)
		case d.layout == v.declared:
			d.sums.add(&c.tag, 0)
		default:
			continue
		}
		kept = append(kept, d)
	}
	v.dates = kept
}

// comma is the tag of a number with a comma before its decimals.
func (v *valueHash) comma(c *valueTag) (sum256, bool) {
	switch {
	case len(c.plain) > longestNumber:
		return sum256{}, false
	case !bytes.ContainsAny(c.plain, ",."):
		return c.tag, c.number
	}
	v.swapped = append(v.swapped[:0], c.plain...)
	for i, b := range v.swapped {
		switch b {
		case ',':
			v.swapped[i] = '.'
		case '.':
			v.swapped[i] = ','
		}
	}
	number := false
	if v.buf, number = appendNumber(append(v.buf[:0], 'n'), v.swapped); !number {
		return sum256{}, false
	}
	return v.hash(v.buf), true
}

// take brings a cell to its form and hashes it.
func (v *valueHash) take(out *valueTag, text []byte) {
	out.text = append(out.text[:0], text...)
	out.missing, out.usual, out.dated = 0, false, false
	if v.lengths&(1<<min(len(text), 63)) != 0 {
		var missing bool
		if out.usual, missing = v.missing[string(text)]; missing {
			out.missing = 1
		}
	}
	plain, ascii := out.text, true
	out.digit = false
	for _, c := range plain {
		ascii = ascii && c < utf8.RuneSelf
		out.digit = out.digit || '0' <= c && c <= '9'
	}
	if !ascii {
		plain = norm.NFKC.Bytes(plain)
		out.digit = bytes.ContainsAny(plain, "0123456789元") // as eras write their first year
	}
	plain = bytes.TrimSpace(plain)
	out.plain, out.empty = plain, len(plain) == 0
	out.number = false
	if out.digit {
		v.buf, out.number = appendNumber(append(v.buf[:0], 'n'), plain)
	}
	switch {
	case out.number:
	case ascii:
		v.buf = append(append(v.buf[:0], 't'), plain...)
		for i, c := range v.buf[1:] {
			if 'A' <= c && c <= 'Z' {
				v.buf[1+i] = c + 'a' - 'A'
			}
		}
	default:
		v.buf = append(append(v.buf[:0], 't'), norm.NFKC.Bytes(v.fold.Bytes(plain))...)
	}
	out.tag = v.hash(v.buf)
}

// hash is the tag of a form.
func (v *valueHash) hash(form []byte) sum256 {
	var short [128]byte
	in := append(binary.AppendUvarint(append(short[:0], v.key...), uint64(len(form))), form...)
	sum := sha256.Sum256(in)
	return sum256{
		binary.BigEndian.Uint64(sum[24:]), binary.BigEndian.Uint64(sum[16:]),
		binary.BigEndian.Uint64(sum[8:]), binary.BigEndian.Uint64(sum[:]),
	}
}

// values are the prints of all that was taken.
func (v *valueHash) values() Values {
	out := Values{Many: len(v.seen) > FewValues}
	add := func(s *valueSums) {
		all := s.sum[0]
		all.add(&s.sum[1])
		for _, one := range []struct {
			sum *sum256
			n   uint64
		}{{&s.sum[0], s.n[0]}, {&all, s.n[0] + s.n[1]}} {
			text := binary.BigEndian.AppendUint64(nil, one.n)
			for _, word := range slices.Backward(one.sum[:]) {
				text = binary.BigEndian.AppendUint64(text, word)
			}
			mac := hmac.New(sha256.New, v.final)
			mac.Write(text)
			if one.n > 0 {
				out.Prints = append(out.Prints, hex.EncodeToString(mac.Sum(nil)))
			}
		}
	}
	add(&v.base)
	for i := range v.dates {
		add(&v.dates[i].sums)
	}
	slices.Sort(out.Prints)
	out.Prints = slices.Compact(out.Prints)
	return out
}
