package csvio

import (
	"bytes"
	"context"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/transform"

	"noren"
	"noren/internal/atomicfile"
)

// Of a file that is ASCII as far as it was read, detection reads up to
// asciiSample to see how other characters are written.
const (
	sampleSize  = 256 << 10
	asciiSample = 64 << 20
)

// Detect tells how the text table at path is written, see [Open]: the packing,
// a byte order mark and UTF-8 or Shift_JIS by the bytes themselves; the
// delimiter among comma, tab, semicolon and bar as the one that gives all
// records of the first 256 KiB as many fields as the header, the most of them,
// or as the name says where the bytes leave it open (tab for .tsv, else comma);
// the line end by the first line. A file that is no text table (UTF-16, a
// workbook, an empty file) is an error of kind BadData that says what it looks
// like.
func Detect(ctx context.Context, path string) (Dialect, error) {
	f, err := openFile(path, path)
	if err != nil {
		return Dialect{}, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return Dialect{}, &noren.Error{Where: path, What: "cannot be read", Err: atomicfile.Reason(err)}
	}
	return detect(ctx, f, info.Size(), Options{Name: path})
}

var magics = []struct {
	magic string
	what  string
}{
	{"\xff\xfe", "is UTF-16 text, expected UTF-8 or Shift_JIS"},
	{"\xfe\xff", "is UTF-16 text, expected UTF-8 or Shift_JIS"},
	{"PK\x03\x04", "is a zip file or an Excel workbook, expected text"},
	{"\xd0\xcf\x11\xe0", "is an old Excel workbook, expected text"},
	{"PAR1", "is a Parquet file, expected text"},
	{"BZh", "is packed by bzip2, expected text, gzip or zstd"},
	{"\xfd7zXZ", "is packed by xz, expected text, gzip or zstd"},
	{"SQLite format 3", "is an SQLite database, expected text"},
}

func detect(ctx context.Context, f io.ReaderAt, size int64, opts Options) (Dialect, error) {
	if opts.Delimiter != 0 {
		if err := validDelimiter(opts.Delimiter); err != nil {
			return Dialect{}, err
		}
	}
	bad := func(what, hint string) (Dialect, error) {
		return Dialect{}, &noren.Error{Kind: noren.BadData, Where: opts.Name, What: what, Hint: hint}
	}
	var d Dialect
	head := make([]byte, 16)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return Dialect{}, &noren.Error{Where: opts.Name, What: "cannot be read", Err: atomicfile.Reason(err)}
	}
	switch head = head[:n]; {
	case n == 0:
		return bad("the file is empty, expected a line with the names of the columns", "")
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		d.Compression = Gzip
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		d.Compression = Zstd
	}
	// The text as it stands in the file, unpacked but not decoded.
	in, err := newInput(opts.Name, io.NewSectionReader(f, 0, size), d, false)
	if err != nil {
		return Dialect{}, err
	}
	defer in.close()
	d.BOM = in.bom
	sample, whole, err := readSample(ctx, in)
	if err != nil {
		return Dialect{}, err
	}
	for _, m := range magics {
		if bytes.HasPrefix(sample, []byte(m.magic)) {
			return bad(m.what, "save it as CSV in UTF-8")
		}
	}
	if bytes.IndexByte(sample[:min(len(sample), 1024)], 0) >= 0 {
		return bad("holds NUL bytes, expected text", "if it is UTF-16 text, save it as UTF-8; if it is no text, export it as CSV")
	}
	if len(sample) == 0 {
		return bad("the file is empty, expected a line with the names of the columns", "")
	}
	if d.Encoding = opts.Encoding; d.Encoding == AnyEncoding {
		if d.Encoding, err = detectEncoding(ctx, sample, whole, in); err != nil {
			return Dialect{}, err
		}
	}
	if d.Encoding == ShiftJIS {
		if d.BOM {
			return bad("begins with the byte order mark of UTF-8 and is not Shift_JIS", "leave the encoding out")
		}
		sample, _, _ = transform.Bytes(japanese.ShiftJIS.NewDecoder(), sample)
	}
	d.CRLF = detectCRLF(sample)
	if d.Delimiter = opts.Delimiter; d.Delimiter == 0 {
		named, _ := DialectFor(opts.Name)
		d.Delimiter = detectDelimiter(sample, whole, named.Delimiter)
	}
	return d, nil
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
		return nil, false, in.failure(err)
	}
	return sample, false, nil
}

// detectEncoding looks at the sample and, while all is ASCII, at what follows.
func detectEncoding(ctx context.Context, sample []byte, whole bool, in *input) (Encoding, error) {
	more := make([]byte, 0, sampleSize)
	for total := len(sample); ; total += len(more) {
		first := bytes.IndexFunc(sample, func(r rune) bool { return r >= utf8.RuneSelf })
		if first >= 0 {
			sample = sample[first:]
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
			return UTF8, nil
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		more = more[:cap(more)]
		n, err := io.ReadFull(in, more)
		more, whole = more[:n], err != nil
		sample = more
	}
	cut := 0 // bytes at the end that a cut character may have
	if !whole {
		cut = utf8.UTFMax - 1
	}
	if validPrefix(sample, UTF8)+cut >= len(sample) {
		return UTF8, nil
	}
	decoded, _, err := transform.Bytes(japanese.ShiftJIS.NewDecoder(), sample)
	if err == nil && validPrefix(decoded, ShiftJIS)+cut >= len(decoded) {
		return ShiftJIS, nil
	}
	// Neither: reading it as UTF-8 tells the line that is not.
	return UTF8, nil
}

func detectCRLF(sample []byte) bool {
	end := bytes.IndexByte(sample, '\n')
	return end > 0 && sample[end-1] == '\r'
}

// detectDelimiter chooses by the records of the sample.
func detectDelimiter(sample []byte, whole bool, named rune) rune {
	if named != ',' && uniformFields(sample, whole, named) > 1 {
		return named
	}
	best, most := named, 1
	for _, delim := range []rune{named, ',', '\t', ';', '|'} {
		if fields := uniformFields(sample, whole, delim); fields > most {
			best, most = delim, fields
		}
	}
	if most > 1 {
		return best
	}
	// No delimiter makes a table of it. The one that the header has most of
	// lets the reader tell where the records differ.
	header, _, _ := bytes.Cut(sample, []byte{'\n'})
	for _, delim := range []rune{named, ',', '\t', ';', '|'} {
		if fields := 1 + bytes.Count(header, []byte(string(delim))); fields > most {
			best, most = delim, fields
		}
	}
	return best
}

// uniformFields is the number of fields of every record of the sample, or 0
// when they differ or cannot be told apart.
func uniformFields(sample []byte, whole bool, delim rune) int {
	s := newScanner(bytes.NewReader(sample), Dialect{Delimiter: delim})
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
