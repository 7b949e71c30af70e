package csvio

import (
	"strings"
	"unicode/utf8"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table/formula"
)

// Compression is how a file is packed.
type Compression uint8

const (
	None Compression = iota
	Gzip
	Zstd
)

// String is the ending that a packed file's name has: "", "gz" or "zst".
func (c Compression) String() string {
	switch c {
	case Gzip:
		return "gz"
	case Zstd:
		return "zst"
	}
	return ""
}

// Dialect is how a text file is written. The zero value is plain CSV: commas,
// UTF-8 without a byte order mark, LF.
type Dialect struct {
	// Delimiter stands between fields. Defaults to a comma.
	Delimiter rune
	// Encoding defaults to UTF-8.
	Encoding Encoding
	// BOM tells that a file in UTF-8 or UTF-16 begins with a byte order mark.
	BOM bool
	// CRLF tells that records end with CR LF and not LF alone.
	CRLF bool
	// CR tells that the records of a file that is read end with CR alone. A
	// [Sink] ends them with LF.
	CR bool
	// Compression is how the whole is packed.
	Compression Compression
	// Formulas says what becomes of texts that spreadsheets take for formulas. A
	// [Source] has none: see [Options].
	Formulas formula.Choice `json:",omitempty"`
}

// newline is the byte that ends a record.
func (d Dialect) newline() byte {
	if d.CR {
		return '\r'
	}
	return '\n'
}

// withDefaults fills in what is left out.
func (d Dialect) withDefaults() Dialect {
	if d.Delimiter == 0 {
		d.Delimiter = ','
	}
	if d.Encoding == AnyEncoding {
		d.Encoding = UTF8
	}
	if !d.Encoding.unicode() {
		d.BOM = false
	}
	return d
}

// Validate reports whether d can be written and read back.
func (d Dialect) Validate() error {
	d = d.withDefaults()
	if err := validDelimiter(d.Delimiter); err != nil {
		return err
	}
	if d.Encoding >= endOfEncodings {
		return &noren.Error{Kind: noren.Usage, What: "unknown encoding %d", Args: []any{d.Encoding}}
	}
	if d.Compression > Zstd {
		return &noren.Error{Kind: noren.Usage, What: "unknown compression %d", Args: []any{d.Compression}}
	}
	return nil
}

// validDelimiter refuses what could be part of a number or of the format.
func validDelimiter(r rune) error {
	switch {
	case r <= 0 || r >= utf8.RuneSelf:
		return &noren.Error{Kind: noren.Usage, What: "a delimiter must be one ASCII character"}
	case r == '"' || r == '\n' || r == '\r':
		return &noren.Error{Kind: noren.Usage, What: "quotes and line ends cannot be delimiters", Hint: `write one of , ; | or tab`}
	case r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("+-.", r):
		return &noren.Error{
			Kind: noren.Usage, What: "%q cannot be a delimiter, as numbers and words contain it", Args: []any{r},
			Hint: `write one of , ; | or tab`,
		}
	}
	return nil
}

// ParseDelimiter reads a delimiter as a specification names it: the character
// itself, or "tab", "comma", "semicolon", "pipe", "space", "\t". The empty text
// is 0, which stands for "detect it".
func ParseDelimiter(s string) (rune, error) {
	switch strings.ToLower(s) {
	case "":
		return 0, nil
	case "tab", `\t`:
		return '\t', nil
	case "comma":
		return ',', nil
	case "semicolon":
		return ';', nil
	case "pipe":
		return '|', nil
	case "space":
		return ' ', nil
	}
	r, size := utf8.DecodeRuneInString(s)
	if size != len(s) {
		return 0, &noren.Error{Kind: noren.Usage, What: "%q is not one character", Args: []any{s}, Hint: `write one of , ; | or tab`}
	}
	return r, validDelimiter(r)
}

// DialectFor is the dialect that a file's name asks for: tabs for .tsv and
// .tab, packed for a final .gz or .zst. ok is false when the name is not one
// of a text table (.csv, .tsv, .tab, .txt before the packing).
func DialectFor(name string) (d Dialect, ok bool) {
	name = strings.ToLower(name)
	switch {
	case strings.HasSuffix(name, ".gz"):
		d.Compression, name = Gzip, strings.TrimSuffix(name, ".gz")
	case strings.HasSuffix(name, ".zst"):
		d.Compression, name = Zstd, strings.TrimSuffix(name, ".zst")
	}
	d = d.withDefaults()
	switch {
	case strings.HasSuffix(name, ".csv"), strings.HasSuffix(name, ".txt"):
		return d, true
	case strings.HasSuffix(name, ".tsv"), strings.HasSuffix(name, ".tab"):
		d.Delimiter = '\t'
		return d, true
	}
	return d, false
}
