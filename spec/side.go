package spec

import (
	"bytes"
	"encoding/csv"
	"errors"
	"os"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/table/csvio"
)

// maxSide bounds a side file, which is held in memory. Of one that is a table, a line takes
// sideLine and a cell sideCell beside their texts, in what is made of them; while the longest
// line is read, each of its cells takes sideField more.
const (
	maxSide   = 64 << 20
	sideLine  = 100
	sideCell  = 32
	sideField = 72
)

// ReadSide reads a file beside the data (a hierarchy, keys, a specification, a
// model) and converts it to UTF-8. It also returns the encoding of the file. Errors
// are of kind Usage; what names the file in them, and hint follows.
func ReadSide(path string, what noren.Phrase, hint noren.Format) ([]byte, csvio.Encoding, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, &noren.Error{Kind: noren.Usage, Where: noren.File(path), What: "%s cannot be read", Args: []any{what}, Hint: hint}
	}
	defer func() { _ = f.Close() }()
	data, err := meter.ReadAll(f, maxSide, noren.File(path))
	switch {
	case meter.Refused(err) != nil:
		return nil, 0, err
	case err != nil:
		return nil, 0, &noren.Error{
			Kind: noren.Usage, Where: noren.File(path), What: "%s cannot be read", Args: []any{what}, Hint: hint,
			Err: atomicfile.Reason(err),
		}
	}
	return csvio.Decode(path, data)
}

// SideRows returns a reader of the records of a side file that is a table, and the
// number of lines above them. A table whose cells do not fit memory is an
// error with the code [meter.Code]: the caller keeps each cell once.
func SideRows(name string, text []byte) (r *csv.Reader, skip int, err error) {
	plain, delimiter, skip := csvio.Form(text)
	between, lines, cells, widest := []byte(string(delimiter)), 0, 0, 0
	for rest := plain; len(rest) > 0; lines++ {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte{'\n'})
		n := bytes.Count(line, between) + 1
		cells, widest = cells+n, max(widest, n)
	}
	weight := int64(lines)*sideLine + int64(cells)*sideCell + int64(widest)*sideField + 2*int64(len(plain))
	if err := meter.New(meter.Limits{}, 0).Hold(weight); err != nil {
		return nil, 0, meter.At(err, noren.File(name))
	}
	for range skip {
		_, plain, _ = bytes.Cut(plain, []byte{'\n'})
	}
	r = csv.NewReader(bytes.NewReader(plain))
	r.Comma = delimiter
	return r, skip, nil
}

// sideError is the error of a reader of [SideRows].
func sideError(name string, hint noren.Format, skip int, err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return &noren.Error{
			Kind: noren.BadData, Where: noren.Position{File: name, Line: int64(parse.Line + skip)}, What: "%s",
			Args: []any{noren.Foreign(parse.Err.Error())}, Hint: hint,
		}
	}
	return &noren.Error{Where: noren.File(name), What: "cannot be read", Err: err}
}
