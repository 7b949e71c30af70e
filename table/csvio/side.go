package csvio

import (
	"bytes"
	"context"
	"unicode/utf8"

	"golang.org/x/text/transform"

	"github.com/noren-privacy/noren"
)

// Decode returns a small file's text in UTF-8 without a byte order mark, and the
// encoding that it was written in: see [OpenFile] for how that is found. name stands
// for the file in errors. Text that is in none of the encodings that can be found
// is an error of kind BadData that names the first line that is not UTF-8.
func Decode(name string, data []byte) ([]byte, Encoding, error) {
	if text, ok := bytes.CutPrefix(data, utf8BOM); ok {
		data = text
	} else if e := markOf(data); e != AnyEncoding {
		return decodeAs(name, data, e)
	} else if e := unmarked(data, true); e != AnyEncoding {
		return decodeAs(name, data, e)
	}
	in := &input{Reader: bytes.NewReader(nil), name: name, file: &counter{}}
	e, _, err := detectEncoding(context.Background(), data, true, in, false)
	if err != nil {
		return nil, 0, err
	}
	return decodeAs(name, data, e)
}

func decodeAs(name string, data []byte, e Encoding) ([]byte, Encoding, error) {
	text := data
	if d := e.decoder(); d != nil {
		var err error
		if text, _, err = transform.Bytes(d, data); err != nil {
			return nil, 0, &noren.Error{Kind: noren.BadData, Where: noren.File(name), What: "expected text in %s", Args: []any{e.title()}, Err: err}
		}
		text = bytes.TrimPrefix(text, utf8BOM)
	}
	if n := validPrefix(text, e); n < len(text) {
		line := 1 + bytes.Count(text[:n], []byte{'\n'})
		return nil, 0, &noren.Error{
			Kind: noren.BadData, Where: noren.Position{File: name, Line: int64(line)}, What: "bytes that are not %s",
			Args: []any{e.title()}, Hint: "save the file as UTF-8",
		}
	}
	return text, e, nil
}

// Form finds how a small table in UTF-8 is written: its delimiter, by a first
// line such as "sep=;" or by the records, and how many lines stand before the
// first record. Lines that end with CR alone end with LF in what it returns.
func Form(text []byte) (plain []byte, delimiter rune, skip int) {
	if onlyCR(text, true) {
		text = bytes.ReplaceAll(text, []byte{'\r'}, []byte{'\n'})
	}
	if sep := sepLine(text, '\n'); sep != 0 {
		return text, sep, 1
	}
	sample := text[:min(len(text), sampleSize)]
	for len(sample) > 0 && !utf8.Valid(sample) { // cut within a character
		sample = sample[:len(sample)-1]
	}
	return text, detectDelimiter(sample, len(sample) == len(text), ',', false), 0
}
