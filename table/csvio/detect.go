package csvio

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"unicode/utf8"

	"golang.org/x/text/transform"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/meter"
)

// Of a file that is ASCII as far as it was read, detection reads up to
// asciiSample to see how other characters are written.
const (
	sampleSize  = 256 << 10
	asciiSample = 64 << 20
)

// found is what detection says of a file.
type found struct {
	dialect Dialect
	skip    int          // lines above the header
	notes   []noren.Text // how the file is read where that is not the plain form
}

var magics = []struct {
	magic string
	what  noren.Format
}{
	{"PK\x03\x04", "is a zip file or an Excel workbook, expected text"},
	{"\xd0\xcf\x11\xe0", "is an old Excel workbook, expected text"},
	{"PAR1", "is a Parquet file, expected text"},
	{"BZh", "is packed by bzip2, expected text, gzip or zstd"},
	{"\xfd7zXZ", "is packed by xz, expected text, gzip or zstd"},
	{"SQLite format 3", "is an SQLite database, expected text"},
}

func detect(ctx context.Context, f io.ReaderAt, size int64, opts Options) (out found, err error) {
	if opts.Delimiter != 0 {
		if err := validDelimiter(opts.Delimiter); err != nil {
			return found{}, err
		}
	}
	bad := func(what noren.Text, hint noren.Format) (found, error) {
		return found{}, &noren.Error{Kind: noren.BadData, Where: noren.File(opts.Name), What: what.Format, Args: what.Args, Hint: hint}
	}
	d := &out.dialect
	head := make([]byte, 16)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return found{}, &noren.Error{Where: noren.File(opts.Name), What: "cannot be read", Err: atomicfile.Reason(err)}
	}
	switch head = head[:n]; {
	case n == 0:
		return bad(noren.Textf("the file is empty, expected a line with the names of the columns"), "")
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		d.Compression = Gzip
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		d.Compression = Zstd
	}
	// The text as it is in the file, unpacked but not decoded.
	in, err := newInput(opts.Name, io.NewSectionReader(f, 0, size), *d, false, nil, meter.New(opts.Limits, size))
	if err != nil {
		return found{}, err
	}
	defer in.close()
	d.BOM = in.bom
	sample, whole, err := readSample(ctx, in)
	if err != nil {
		return found{}, err
	}
	for _, m := range magics {
		if bytes.HasPrefix(sample, []byte(m.magic)) {
			return bad(noren.Textf(m.what), "save it as CSV in UTF-8")
		}
	}
	if len(sample) == 0 {
		return bad(noren.Textf("the file is empty, expected a line with the names of the columns"), "")
	}
	mark := markOf(sample)
	switch {
	case opts.Encoding == AnyEncoding && !opts.Plain && !d.BOM:
		if mark == AnyEncoding {
			mark = unmarked(sample, whole)
		}
		d.Encoding = mark
	case mark != AnyEncoding && !opts.Encoding.wide():
		return bad(noren.Textf("is UTF-16 text, expected %s", orTitle(opts.Encoding)), "save it as CSV in UTF-8")
	case mark != AnyEncoding && mark != opts.Encoding:
		return bad(noren.Textf("begins with the byte order mark of %s, expected %s", mark.String(), opts.Encoding.String()),
			"leave the encoding out")
	default:
		d.Encoding = opts.Encoding
	}
	if !d.Encoding.wide() && bytes.IndexByte(sample[:min(len(sample), 1024)], 0) >= 0 {
		return bad(noren.Textf("holds NUL bytes, expected text"), "if it is UTF-16 text, save it as UTF-8; if it is no text, export it as CSV")
	}
	if d.Encoding == AnyEncoding {
		var doubt noren.Text
		if d.Encoding, doubt, err = detectEncoding(ctx, sample, whole, in, opts.Plain); err != nil {
			return found{}, err
		}
		if opts.Plain && d.Encoding == EUCJP {
			return bad(noren.Textf("reads as euc-jp text, expected utf-8 or shift_jis"),
				"save the file as UTF-8; if it is shift_jis, give the encoding")
		}
		if !doubt.IsZero() {
			out.notes = append(out.notes, doubt)
		}
	}
	if d.Encoding != UTF8 {
		if d.BOM {
			return bad(noren.Textf("begins with the byte order mark of UTF-8 and is not %s", d.Encoding.title()), "leave the encoding out")
		}
		sample, _, _ = transform.Bytes(d.Encoding.decoder(), sample)
		if d.Encoding.wide() && bytes.HasPrefix(sample, utf8BOM) {
			d.BOM, sample = true, sample[len(utf8BOM):]
		}
	}
	out.form(sample, whole, opts)
	return out, nil
}

// form finds the line ends, the lines above the header and the delimiter by the
// decoded sample.
func (out *found) form(sample []byte, whole bool, opts Options) {
	d := &out.dialect
	if !opts.Plain && d.Encoding != UTF8 && opts.Encoding == AnyEncoding {
		out.notes = append(out.notes, noren.Textf("read as %s text", d.Encoding))
	}
	d.CR = !opts.Plain && onlyCR(sample, whole)
	if d.CR {
		out.notes = append(out.notes, noren.Textf("lines end with a carriage return alone"))
	}
	d.CRLF = detectCRLF(sample)
	var sep rune
	if !opts.Plain {
		sep = sepLine(sample, d.newline())
		if sep != 0 {
			out.skip = 1
			out.notes = append(out.notes, noren.Textf("the first line names the delimiter and is no record"))
		}
	}
	if opts.HeaderRow > 1 {
		out.skip = opts.HeaderRow - 1
	}
	for range out.skip {
		_, sample, _ = bytes.Cut(sample, []byte{d.newline()})
	}
	switch {
	case opts.Delimiter != 0:
		d.Delimiter = opts.Delimiter
	case sep != 0:
		d.Delimiter = sep
	default:
		named, _ := DialectFor(opts.Name)
		d.Delimiter = detectDelimiter(sample, whole, named.Delimiter, d.CR)
	}
	if opts.Header == HeaderChecked && !opts.Plain && opts.HeaderRow == 0 {
		delimiters := []rune{d.Delimiter}
		if opts.Delimiter == 0 && sep == 0 {
			delimiters = []rune{d.Delimiter, ',', '\t', ';', '|'}
		}
		out.search(sample, whole, delimiters)
	}
}

// orTitle names what a file is expected to be written in.
func orTitle(e Encoding) any {
	if e == AnyEncoding {
		return noren.Phrase("UTF-8 or Shift_JIS")
	}
	return e.title()
}

// markOf is UTF-16 in the order that a byte order mark tells, or AnyEncoding.
func markOf(sample []byte) Encoding {
	switch {
	case bytes.HasPrefix(sample, []byte{0xff, 0xfe}):
		return UTF16LE
	case bytes.HasPrefix(sample, []byte{0xfe, 0xff}):
		return UTF16BE
	}
	return AnyEncoding
}

// unmarked is UTF-16 where the sample, which has no byte order mark, can be
// nothing else: all its NULs are the high bytes of characters, the first
// character has one, and all of it decodes. Text in another encoding holds no
// NUL.
func unmarked(sample []byte, whole bool) Encoding {
	if len(sample) < 2 || whole && len(sample)%2 != 0 {
		return AnyEncoding
	}
	sample = sample[:len(sample)&^1]
	e := UTF16LE
	switch {
	case sample[0] != 0 && sample[1] == 0:
	case sample[0] == 0 && sample[1] != 0:
		e = UTF16BE
	default:
		return AnyEncoding
	}
	decoded, _, err := transform.Bytes(e.decoder(), sample)
	if n := validPrefix(decoded, e); err != nil || bytes.IndexByte(decoded, 0) >= 0 || n < len(decoded) && (whole || n+3 < len(decoded)) {
		return AnyEncoding
	}
	return e
}

// onlyCR reports whether lines end with CR alone: the sample has one, other than
// where it may be cut, and no LF.
func onlyCR(sample []byte, whole bool) bool {
	at := bytes.IndexByte(sample, '\r')
	return at >= 0 && (whole || at+1 < len(sample)) && bytes.IndexByte(sample, '\n') < 0
}

// sepLine is the delimiter that a first line such as "sep=;", which Excel writes
// and reads, names; 0 where the first line is none.
func sepLine(sample []byte, newline byte) rune {
	line, _, ok := bytes.Cut(sample[:min(len(sample), 16)], []byte{newline})
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if n := len(line); n > 1 && line[0] == '"' && line[n-1] == '"' {
		line = line[1 : n-1]
	}
	if !ok || len(line) != len("sep=;") || !bytes.EqualFold(line[:4], []byte("sep=")) || validDelimiter(rune(line[4])) != nil {
		return 0
	}
	return rune(line[4])
}

// readSample reads up to sampleSize bytes; whole tells that there are no more.
func readSample(ctx context.Context, in *input) (sample []byte, whole bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	sample = make([]byte, sampleSize)
	n, err := io.ReadFull(in, sample)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		// ReadFull says the same of a short file as gzip of one cut short.
		if m, again := in.Read(make([]byte, 1)); m == 0 && again == io.EOF {
			return sample[:n], true, nil
		}
	}
	if err != nil {
		return nil, false, in.failure(err, 0, 0)
	}
	return sample, false, nil
}

// doubts are notes by the encoding that is nearly as likely as the one that was taken.
var doubts = map[Encoding]noren.Format{
	UTF8:     "the bytes could be utf-8 too: if the text looks wrong, give the encoding",
	ShiftJIS: "the bytes could be shift_jis too: if the text looks wrong, give the encoding",
	EUCJP:    "the bytes could be euc-jp too: if the text looks wrong, give the encoding",
}

// detectEncoding looks at the sample and, while all is ASCII or the encoding is in doubt, at
// what follows. doubt is a note where two are about as likely. plain knows UTF-8 and
// Shift_JIS alone, by the sample alone: definitions of data sets depend on it. It returns
// EUCJP for what would be read as Shift_JIS and is more likely EUC-JP; that is refused.
func detectEncoding(ctx context.Context, sample []byte, whole bool, in *input, plain bool) (e Encoding, doubt noren.Text, err error) {
	more := make([]byte, 0, sampleSize)
	for total := len(sample); ; total += len(more) {
		first := firstHigh(sample)
		if !plain && isJIS(sample, first) {
			return ISO2022JP, noren.Text{}, nil
		}
		if first >= 0 {
			sample = sample[first:]
			if !plain {
				e, second, err := likely(ctx, sample, whole, in)
				return e, noren.Textf(doubts[second]), err
			}
			if !whole { // it may end within a character
				if len(sample) < 4096 {
					more = more[:cap(more)]
					n, err := io.ReadFull(in, more)
					sample, whole = append(bytes.Clone(sample), more[:n]...), err != nil
				}
			}
			break
		}
		if whole || total >= asciiSample {
			return UTF8, noren.Text{}, nil
		}
		if err := ctx.Err(); err != nil {
			return 0, noren.Text{}, err
		}
		more = more[:cap(more)]
		n, err := io.ReadFull(in, more)
		more, whole = more[:n], err != nil
		sample = more
	}
	fits := func(e Encoding) bool {
		cut := 0 // bytes at the end that a cut character may have
		if !whole {
			cut = utf8.UTFMax - 1
		}
		decoded := sample
		if d := e.decoder(); d != nil {
			if decoded, _, err = transform.Bytes(d, sample); err != nil {
				return false
			}
		}
		return validPrefix(decoded, e)+cut >= len(decoded)
	}
	switch {
	case fits(UTF8):
		return UTF8, noren.Text{}, nil
	case fits(ShiftJIS):
		if e, _, err := likely(ctx, sample, whole, in); err != nil || e == EUCJP {
			return e, noren.Text{}, err
		}
		return ShiftJIS, noren.Text{}, nil
	}
	// None of them: reading it as UTF-8 tells the line that is not.
	return UTF8, noren.Text{}, nil
}

// isJIS reports whether a sample, whose first byte above 7F stands at first (-1
// for none), holds escape sequences of ISO-2022-JP and decodes.
func isJIS(sample []byte, first int) bool {
	at := bytes.IndexByte(sample, 0x1b)
	if at < 0 || first >= 0 {
		return false
	}
	if length, set, _ := escape(sample[at:]); length == 0 || set == ascii {
		return false
	}
	decoded, _, err := transform.Bytes(ISO2022JP.decoder(), sample)
	return err == nil && validPrefix(decoded, ISO2022JP)+3 >= len(decoded)
}

func detectCRLF(sample []byte) bool {
	end := bytes.IndexByte(sample, '\n')
	return end > 0 && sample[end-1] == '\r'
}

// detectDelimiter chooses by the records of the sample.
func detectDelimiter(sample []byte, whole bool, named rune, cr bool) rune {
	if named != ',' && uniformFields(sample, whole, named, cr) > 1 {
		return named
	}
	best, most := named, 1
	for _, delim := range []rune{named, ',', '\t', ';', '|'} {
		if fields := uniformFields(sample, whole, delim, cr); fields > most {
			best, most = delim, fields
		}
	}
	if most > 1 {
		return best
	}
	// No delimiter makes a table of it. The one that the header has most of
	// lets the reader tell where the records differ.
	header, _, _ := bytes.Cut(sample, []byte{Dialect{CR: cr}.newline()})
	for _, delim := range []rune{named, ',', '\t', ';', '|'} {
		if fields := 1 + bytes.Count(header, []byte(string(delim))); fields > most {
			best, most = delim, fields
		}
	}
	return best
}

// uniformFields is the number of fields of every record of the sample, or 0
// when they differ or cannot be told apart.
func uniformFields(sample []byte, whole bool, delim rune, cr bool) int {
	s := newScanner(bytes.NewReader(sample), Dialect{Delimiter: delim, CR: cr}, meter.New(meter.Limits{}, 0))
	fields := 0
	for {
		switch s.scan() {
		case finished:
			return fields
		case partial:
			if s.fill() {
				continue
			}
			return fields
		case faulty:
			if !whole && s.eof {
				return fields // perhaps only for being cut
			}
			return 0
		}
		if !whole && s.eof && s.end == len(s.buf) {
			return fields // the last record may be cut
		}
		switch {
		case fields == 0:
			fields = len(s.spans)
		case len(s.spans) != fields && !s.blank():
			return 0
		}
		s.skip()
	}
}

// firstHigh is the place of the first byte that is not ASCII, -1 where there is none; it
// looks at eight bytes at a time.
func firstHigh(text []byte) int {
	const high = 0x8080808080808080
	at := 0
	for ; at+8 <= len(text); at += 8 {
		if binary.LittleEndian.Uint64(text[at:])&high != 0 {
			break
		}
	}
	for ; at < len(text); at++ {
		if text[at] >= utf8.RuneSelf {
			return at
		}
	}
	return -1
}
