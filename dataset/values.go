package dataset

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/maphash"
	"slices"
	"strings"
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
// do not enter: without blanks at its ends, in the Unicode form NFKC, in folded case, with
// one of the signs that conversions of Japanese texts exchange ([oneSign]), and a
// number (with separators of thousands and signs of yen or per cent or without) as its digits
// and its power of ten.
// A cell without any of it has no value. The whole column is read once more by
// each date layout, and by the layout of the definition; such a reading replaces the texts
// by seconds since 1970, with their fraction. So it is with a decimal comma. Cells with a
// digit that a reading does not read are its misfits: it takes them as the texts that they
// are, and ends at more than [mostMisfits] different ones. Each reading is hashed with and
// without its misfits, where it reads more than it does not, and
// in three ways: without missing texts, with those that only the definition states, and
// with the usual ones too. Two columns that are copies of each other but for all of this
// share a print.
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

	seed  maphash.Seed
	cache []valueTag
	buf   []byte
	fold  cases.Caser

	seen     []uint64  // tags of the first different values
	base     valueSums // of all cells, as they are
	words    valueSums // of those without a digit, which every reading takes as they are
	readings []reading
	swapped  []byte
}

// What a cell is of, in valueSums: a value, a missing text of the definition alone, or a
// usual one.
const (
	aValue = iota
	saidMissing
	usualMissing
)

// valueSums are the sums of tags, by what the cells are.
type valueSums struct {
	sum [3]sum256
	n   [3]uint64
}

func (s *valueSums) add(tag *sum256, of int, times uint64) {
	s.sum[of].addTimes(tag, times)
	s.n[of] += times
}

// decimalComma stands for the reading of numbers with a comma before their decimals.
const decimalComma table.Layout = ","

// mostMisfits is the number of different misfits at which a reading ends.
const mostMisfits = 16

// reading is the column as dates of a layout, or by [decimalComma].
type reading struct {
	layout   table.Layout
	time     bool
	declared bool      // the definition's: it never ends
	sums     valueSums // of cells with a digit, as far as it reads them, and of missing texts
	misfits  valueSums
	odd      []uint64 // tags of the different misfits
}

// misfit reports whether the reading goes on after a cell that it does not read.
func (r *reading) misfit(c *valueTag) bool {
	if !r.declared && !slices.Contains(r.odd, c.tag[0]) {
		r.odd = append(r.odd, c.tag[0])
	}
	r.misfits.add(&c.tag, aValue, c.times)
	return len(r.odd) <= mostMisfits
}

// valueTag is a cell that was met, with what follows from it, and how often it was met.
type valueTag struct {
	text   []byte
	times  uint64
	tag    sum256
	of     int
	empty  bool
	digit  bool
	number bool
	plain  []byte // the cell for readings: trimmed, in NFKC
	dated  bool   // day is the tag of the instant at
	at     int64
	day    sum256
}

const (
	mostTags    = 1 << 13 // cells of a column that are remembered, at most
	allTags     = 1 << 17 // cells of all columns
	longestText = 64      // of a remembered cell, in bytes
)

func newValueHash(d *Definition, c *Column, k Keys) *valueHash {
	v := &valueHash{
		key: k.Value, final: k.Values, missing: map[string]bool{}, seed: maphash.MakeSeed(),
		cache: make([]valueTag, max(1, min(mostTags, allTags/len(d.Columns)))), fold: cases.Fold(),
	}
	for _, text := range d.Missing {
		v.missing[text] = false
	}
	for _, text := range infer.MissingTexts() {
		v.missing[text] = true
	}
	for text := range v.missing {
		v.lengths |= 1 << min(len(text), 63)
	}
	layouts := append([]table.Layout{decimalComma}, infer.Layouts()...)
	declared := table.Layout("")
	if c.Type == table.Date.String() {
		declared = table.Layout(c.Layout)
		if declared != "" && !slices.Contains(layouts, declared) {
			layouts = append(layouts, declared)
		}
	}
	for _, layout := range layouts {
		v.readings = append(v.readings, reading{layout: layout, time: layout != decimalComma && layout.HasTime(), declared: declared != "" &&
			layout == declared})
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
		one.times = 1
		v.add(&one)
		return
	}
	at := &v.cache[maphash.Bytes(v.seed, text)%uint64(len(v.cache))]
	if !bytes.Equal(at.text, text) { // no cell is empty
		v.add(at)
		v.take(at, text)
		at.times = 0
	}
	at.times++
}

// add adds a cell to all sums, as often as it was met.
func (v *valueHash) add(c *valueTag) {
	if c.empty || c.times == 0 {
		return
	}
	// A definition cannot hide values by stating that they are missing.
	if c.of != usualMissing && len(v.seen) <= FewValues && !slices.Contains(v.seen, c.tag[0]) {
		v.seen = append(v.seen, c.tag[0])
	}
	v.base.add(&c.tag, c.of, c.times)
	if !c.digit {
		v.words.add(&c.tag, c.of, c.times)
		return
	}
	var at moment
	kept := v.readings[:0]
	for _, r := range v.readings {
		tag, reads := v.read(&r, c, &at)
		switch {
		case reads:
			r.sums.add(tag, c.of, c.times)
		case c.of != aValue: // missing, and no date
			r.sums.add(&c.tag, c.of, c.times)
		case !r.misfit(c):
			continue
		}
		kept = append(kept, r)
	}
	v.readings = kept
}

// read is the tag of a cell in a reading, where that reads it.
func (v *valueHash) read(r *reading, c *valueTag, m *moment) (*sum256, bool) {
	if r.layout == decimalComma {
		tag, ok := v.comma(c)
		return &tag, ok
	}
	at, ok := r.layout.Match(c.plain)
	var fraction []byte
	if !ok && r.time {
		at, ok = m.match(r.layout, c.plain)
		if ok {
			fraction = m.fraction
		}
	}
	switch {
	case !ok:
		return nil, false
	case !r.time:
		at *= 24 * 60 * 60
	}
	if len(fraction) > 0 {
		v.buf = append(binary.BigEndian.AppendUint64(append(v.buf[:0], 'd'), uint64(at)), fraction...)
		tag := v.hash(v.buf)
		return &tag, true
	}
	if !c.dated || at != c.at {
		v.buf = binary.BigEndian.AppendUint64(append(v.buf[:0], 'd'), uint64(at))
		c.dated, c.at, c.day = true, at, v.hash(v.buf)
	}
	return &c.day, true
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
	v.buf, number = appendNumber(append(v.buf[:0], 'n'), v.swapped)
	if !number {
		return sum256{}, false
	}
	return v.hash(v.buf), true
}

// oneSign makes one of each pair of signs that conversions from the Japanese encodings of
// text exchange: one program reads a byte pair as the one, another as the other.
var oneSign = strings.NewReplacer("\u2212", "-", "\u301c", "~", "\u2016", "\u2225", "\u2014", "\u2015")

// take brings a cell to its form and hashes it.
func (v *valueHash) take(out *valueTag, text []byte) {
	out.text = append(out.text[:0], text...)
	out.of, out.dated = aValue, false
	if v.lengths&(1<<min(len(text), 63)) != 0 {
		if usual, missing := v.missing[string(text)]; usual {
			out.of = usualMissing
		} else if missing {
			out.of = saidMissing
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
		if one := oneSign.Replace(string(plain)); len(one) != len(plain) || one != string(plain) {
			plain = []byte(one)
		}
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
	for i := range v.cache {
		v.add(&v.cache[i])
		v.cache[i].times = 0
	}
	out := Values{Many: len(v.seen) > FewValues}
	add := func(parts ...*valueSums) {
		var sum sum256
		n := uint64(0)
		for of := range parts[0].sum {
			for _, s := range parts {
				sum.add(&s.sum[of])
				n += s.n[of]
			}
			if n == 0 {
				continue
			}
			text := binary.BigEndian.AppendUint64(nil, n)
			for _, word := range slices.Backward(sum[:]) {
				text = binary.BigEndian.AppendUint64(text, word)
			}
			mac := hmac.New(sha256.New, v.final)
			mac.Write(text)
			out.Prints = append(out.Prints, hex.EncodeToString(mac.Sum(nil)))
		}
	}
	add(&v.base)
	for i := range v.readings {
		r := &v.readings[i]
		misfits := r.misfits.n[aValue]
		if r.sums.n[aValue] > misfits {
			add(&v.words, &r.sums)
		}
		if misfits > 0 && (r.declared || r.sums.n[aValue] > misfits) {
			add(&v.words, &r.sums, &r.misfits)
		}
	}
	slices.Sort(out.Prints)
	out.Prints = slices.Compact(out.Prints)
	return out
}
