package csvio

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/noren-privacy/noren"
)

// Encoding is how characters are written as bytes.
type Encoding uint8

const (
	// AnyEncoding stands for "detect it" when reading and for UTF-8 when
	// writing.
	AnyEncoding Encoding = iota
	// UTF8 is Unicode in UTF-8.
	UTF8
	// ShiftJIS is Shift_JIS as Windows writes it (code page 932).
	ShiftJIS
	// UTF16LE and UTF16BE are Unicode in UTF-16, the low or the high byte first,
	// with a byte order mark or without.
	UTF16LE
	UTF16BE
	// EUCJP is EUC-JP.
	EUCJP
	// ISO2022JP is ISO-2022-JP ("JIS"), as mail programs write it.
	ISO2022JP
	// Latin1 is ISO 8859-1.
	Latin1
	// Windows1252 is the code page of Western European Windows.
	Windows1252
	endOfEncodings
)

// Encodings are the names of all encodings, for messages and lists.
const Encodings = "utf-8, shift_jis, utf-16le, utf-16be, euc-jp, iso-2022-jp, latin-1, windows-1252"

var encodingNames = [...]string{
	AnyEncoding: "", UTF8: "utf-8", ShiftJIS: "shift_jis", UTF16LE: "utf-16le", UTF16BE: "utf-16be",
	EUCJP: "euc-jp", ISO2022JP: "iso-2022-jp", Latin1: "latin-1", Windows1252: "windows-1252",
}

// String names e as a specification does: "utf-8", "shift_jis", or "" for
// [AnyEncoding].
func (e Encoding) String() string {
	if e < endOfEncodings {
		return encodingNames[e]
	}
	return ""
}

// title names e in messages.
func (e Encoding) title() string {
	switch e {
	case UTF16LE, UTF16BE:
		return "UTF-16"
	case ShiftJIS:
		return "Shift_JIS"
	case Latin1:
		return "Latin-1"
	case Windows1252:
		return "Windows-1252"
	}
	return strings.ToUpper(e.String())
}

// ParseEncoding is the inverse of [Encoding.String]; the usual other names
// (utf8, sjis, cp932, iso-8859-1, cp1252) are understood too. The name utf-16
// means utf-16le.
func ParseEncoding(s string) (Encoding, error) {
	switch strings.ToLower(s) {
	case "":
		return AnyEncoding, nil
	case "utf-8", "utf8":
		return UTF8, nil
	case "shift_jis", "shift-jis", "shiftjis", "sjis", "cp932", "windows-31j":
		return ShiftJIS, nil
	case "utf-16le", "utf16le", "utf-16", "utf16":
		return UTF16LE, nil
	case "utf-16be", "utf16be":
		return UTF16BE, nil
	case "euc-jp", "eucjp", "euc_jp":
		return EUCJP, nil
	case "iso-2022-jp", "iso2022jp", "jis":
		return ISO2022JP, nil
	case "latin-1", "latin1", "iso-8859-1", "iso8859-1":
		return Latin1, nil
	case "windows-1252", "cp1252":
		return Windows1252, nil
	}
	return 0, &noren.Error{Kind: noren.Usage, What: "unknown encoding %q", Args: []any{s}, Hint: "one of %s", HintArgs: []any{Encodings}}
}

// unicode reports whether e holds all characters.
func (e Encoding) unicode() bool { return e == UTF8 || e == UTF16LE || e == UTF16BE }

// wide reports whether e is UTF-16, in which also ASCII has two bytes.
func (e Encoding) wide() bool { return e == UTF16LE || e == UTF16BE }

// decoder turns text of e into UTF-8, with U+FFFD for what it cannot decode; nil
// for UTF-8.
func (e Encoding) decoder() transform.Transformer {
	if e == ISO2022JP {
		return transform.Chain(&fromJIS{}, japanese.EUCJP.NewDecoder())
	}
	if c := e.codec(); c != nil {
		return c.NewDecoder()
	}
	return nil
}

// encoder is the inverse of decoder. It fails for a character that e lacks.
func (e Encoding) encoder() transform.Transformer {
	if c := e.codec(); c != nil {
		return c.NewEncoder().Transformer
	}
	return nil
}

func (e Encoding) codec() encoding.Encoding {
	switch e {
	case ShiftJIS:
		return japanese.ShiftJIS
	case UTF16LE:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case UTF16BE:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case EUCJP:
		return japanese.EUCJP
	case ISO2022JP:
		return japanese.ISO2022JP
	case Latin1:
		return charmap.ISO8859_1
	case Windows1252:
		return charmap.Windows1252
	}
	return nil
}

// undecoded is the offset in decoded text of the first mark of bytes that are
// not of the encoding, or len(b). Every decoder puts U+FFFD for them. The decoder
// of Shift_JIS passes the byte 80, which is no character, as U+0080. The control
// characters U+0080 to U+009F are undefined in Windows-1252, and in a file said
// to be Latin-1 they are characters of Windows-1252.
func (e Encoding) undecoded(b []byte) int {
	n := len(b)
	if e == UTF8 || e == AnyEncoding {
		return n
	}
	for _, mark := range []string{"\ufffd", "\u0080"} {
		if at := bytes.Index(b[:n], []byte(mark)); at >= 0 {
			n = at
			if mark == "\u0080" && e.unicode() {
				n = len(b)
			}
		}
	}
	if e == Latin1 || e == Windows1252 {
		for at := 0; at+1 < n; at++ {
			next := bytes.IndexByte(b[at:n], 0xc2)
			if next < 0 {
				break
			}
			at += next
			if at+1 < n && b[at+1] < 0xa0 {
				return at
			}
		}
	}
	return n
}

// encode appends text, which is valid UTF-8, in e. ok is false where e lacks a
// character of it, or where reading it back gives another.
func (e Encoding) encode(dst, text []byte, enc transform.Transformer) (_ []byte, ok bool) {
	if e.undecoded(text) < len(text) {
		return dst, false
	}
	enc.Reset()
	out, _, err := transform.Bytes(enc, text)
	if err != nil || e == ISO2022JP && bytes.Contains(out, []byte("\x1b(I")) {
		return dst, false // half-width katakana are no part of ISO-2022-JP (RFC 1468)
	}
	if back, _, err := transform.Bytes(e.decoder(), out); err != nil || !bytes.Equal(back, text) {
		return dst, false
	}
	return append(dst, out...), true
}

// Holds returns a function that reports whether e has all characters of a text.
func (e Encoding) Holds() func(text []byte) bool {
	enc := e.encoder()
	var buf []byte
	return func(text []byte) bool {
		if !utf8.Valid(text) {
			return false
		}
		if enc == nil {
			return true
		}
		var ok bool
		buf, ok = e.encode(buf[:0], text, enc)
		return ok
	}
}

// fromJIS turns ISO-2022-JP into EUC-JP byte by byte. Bytes that are not of the
// encoding become FF, which no text in EUC-JP has. (The decoder of x/text takes
// some bytes outside of the code table for characters of another row.)
type fromJIS struct{ set byte }

// The sets of characters that an escape sequence chooses.
const (
	ascii byte = iota
	kana
	jis0208
	jis0212
)

var escapes = []struct {
	text string
	set  byte
}{{"\x1b$B", jis0208}, {"\x1b$@", jis0208}, {"\x1b(B", ascii}, {"\x1b(J", ascii}, {"\x1b(I", kana}, {"\x1b$(D", jis0212}}

// Reset implements [transform.Transformer].
func (t *fromJIS) Reset() { t.set = ascii }

// Transform implements [transform.Transformer].
func (t *fromJIS) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	var out [3]byte
	for nSrc < len(src) {
		set, code, used := t.set, out[:0], 1
		rest := src[nSrc:]
		switch c := rest[0]; {
		case c == 0x1b:
			length, chosen, short := escape(rest)
			switch {
			case length > 0:
				used, set = length, chosen
			case short && !atEOF:
				return nDst, nSrc, transform.ErrShortSrc
			default:
				code = append(code, 0xff)
			}
		case c == '\n': // a line begins in ASCII
			set, code = ascii, append(code, c)
		case c >= 0x80:
			code = append(code, 0xff)
		case set == ascii:
			code = append(code, c)
		case set == kana && c > 0x20 && c < 0x60:
			code = append(code, 0x8e, c|0x80)
		case set == kana || c <= 0x20 || c == 0x7f:
			code = append(code, 0xff)
		case len(rest) < 2 && !atEOF:
			return nDst, nSrc, transform.ErrShortSrc
		case len(rest) < 2 || rest[1] <= 0x20 || rest[1] >= 0x7f:
			code = append(code, 0xff)
		case set == jis0208:
			used, code = 2, append(code, c|0x80, rest[1]|0x80)
		default:
			used, code = 2, append(code, 0x8f, c|0x80, rest[1]|0x80)
		}
		if nDst+len(code) > len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		t.set, nDst, nSrc = set, nDst+copy(dst[nDst:], code), nSrc+used
	}
	return nDst, nSrc, nil
}

// escape is the escape sequence at the start of text. short tells that text may
// end within one.
func escape(text []byte) (length int, set byte, short bool) {
	for _, e := range escapes {
		if bytes.HasPrefix(text, []byte(e.text)) {
			return len(e.text), e.set, false
		}
		short = short || len(text) < len(e.text) && strings.HasPrefix(e.text, string(text))
	}
	return 0, 0, short
}
