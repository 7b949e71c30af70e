package cli

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"os"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
)

// maxSide bounds a side file: it is held in memory.
const maxSide = 1 << 30

// readSide reads a file beside the data (a hierarchy, keys, a specification, a
// model) as UTF-8, however it is encoded; what names it in errors.
func readSide(path, what, hint string) ([]byte, csvio.Encoding, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, &noren.Error{Kind: noren.Usage, Where: path, What: what + " cannot be read", Hint: hint}
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxSide+1))
	switch {
	case err != nil:
		return nil, 0, &noren.Error{Kind: noren.Usage, Where: path, What: what + " cannot be read", Hint: hint, Err: atomicfile.Reason(err)}
	case len(data) > maxSide:
		return nil, 0, &noren.Error{Kind: noren.Usage, Where: path, What: what + " is larger than 1 GiB"}
	}
	return csvio.Decode(path, data)
}

// openSide is readSide for what reads a stream.
func openSide(path, what string) (io.Reader, error) {
	text, _, err := readSide(path, what, "does the file exist?")
	if err != nil {
		return nil, err
	}
	return bytes.NewReader(text), nil
}

// sideRows is a reader of the records of a side file that is a table, and the
// number of lines above them.
func sideRows(text []byte) (r *csv.Reader, skip int) {
	plain, delimiter, skip := csvio.Form(text)
	for range skip {
		_, plain, _ = bytes.Cut(plain, []byte{'\n'})
	}
	r = csv.NewReader(bytes.NewReader(plain))
	r.Comma = delimiter
	return r, skip
}

// loadHierarchy returns a function that reads a hierarchy file: a table, a line a
// value, leaf to root, with or without a line of names above. It says where the
// file is not plain CSV.
func loadHierarchy(t *terminal) func(path string) (*table.Hierarchy, error) {
	return func(path string) (*table.Hierarchy, error) {
		text, e, err := readSide(path, "the hierarchy", "does the file exist?")
		if err != nil {
			return nil, err
		}
		if e != csvio.UTF8 {
			t.note("%s: read as %s", path, e)
		}
		h, headed, err := readHierarchy(path, text)
		if headed {
			t.note("%s: the first line names the levels and is no value", path)
		}
		return h, err
	}
}

func readHierarchy(name string, text []byte) (h *table.Hierarchy, headed bool, err error) {
	r, skip := sideRows(text)
	r.FieldsPerRecord = -1
	var rows [][]string
	var lines []int64
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var parse *csv.ParseError
		if errors.As(err, &parse) {
			return nil, false, &noren.Error{Kind: noren.BadData, Where: noren.Position{File: name, Line: int64(parse.Line + skip)}.String(), What: parse.Err.Error(), Hint: "a hierarchy is CSV: the value, its group, ..., the root"}
		}
		if err != nil {
			return nil, false, &noren.Error{Where: name, What: "cannot be read", Err: err}
		}
		line, _ := r.FieldPos(0)
		rows, lines = append(rows, row), append(lines, int64(line+skip))
	}
	if headed = namesLevels(rows); headed {
		rows, lines = rows[1:], lines[1:]
	}
	h, err = table.NewHierarchy(name, rows, lines)
	return h, headed, err
}

// namesLevels reports whether the first row names the levels, as ARX writes it:
// all others end with one root, and none of them has a name of it at its level. A
// value with another root would make the hierarchy none.
func namesLevels(rows [][]string) bool {
	if len(rows) < 3 || len(rows[0]) < 2 {
		return false
	}
	first := rows[0]
	for _, row := range rows[1:] {
		if len(row) != len(first) || row[len(row)-1] != rows[1][len(row)-1] {
			return false
		}
		for l := range row {
			if row[l] == first[l] {
				return false
			}
		}
	}
	return true
}
