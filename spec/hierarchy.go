package spec

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
)

// LoadHierarchy reads a hierarchy file: a CSV table with one line a value, from the
// value to the root, with or without a line above that names the levels. It notes a
// file that is not plain CSV in UTF-8. Errors are of kind Usage where the file cannot
// be read, and BadData where it is not a hierarchy.
func LoadHierarchy(path string, notes Notes) (*table.Hierarchy, error) {
	text, e, err := ReadSide(path, "the hierarchy", "does the file exist?")
	if err != nil {
		return nil, err
	}
	if e != csvio.UTF8 {
		notes.add(Note{Code: NoteHierarchyEncoding, Text: noren.Textf("%s: read as %s text", noren.File(path), e)})
	}
	h, headed, err := readHierarchy(path, text)
	if headed {
		notes.add(Note{Code: NoteHierarchyHeader, Text: noren.Textf("%s: the first line names the levels and is no value", noren.File(path))})
	}
	return h, err
}

func readHierarchy(name string, text []byte) (h *table.Hierarchy, headed bool, err error) {
	if headed, err = namesLevels(name, text); err != nil {
		return nil, false, err
	}
	next, err := hierarchyRows(name, text)
	if err != nil {
		return nil, false, err
	}
	if headed {
		if _, _, err := next(); err != nil {
			return nil, false, err
		}
	}
	h, err = table.ReadHierarchy(name, next)
	return h, headed, err
}

// hierarchyRows reads the rows of a hierarchy one at a time, each with its line. A row is good
// until the next one.
func hierarchyRows(name string, text []byte) (func() ([]string, int64, error), error) {
	r, skip, err := SideRows(name, text)
	if err != nil {
		return nil, err
	}
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	return func() ([]string, int64, error) {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil, 0, io.EOF
		}
		if err != nil {
			return nil, 0, sideError(name, "a hierarchy is CSV: the value, its group, ..., the root", skip, err)
		}
		line, _ := r.FieldPos(0)
		return row, int64(line + skip), nil
	}, nil
}

// namesLevels reports whether the first row names the levels, as ARX writes it: all
// other rows end with one root, and none of them has a name of the first row at its
// level. A value with another root would not make a hierarchy.
func namesLevels(name string, text []byte) (bool, error) {
	next, err := hierarchyRows(name, text)
	if err != nil {
		return false, err
	}
	row, _, err := next()
	if err == io.EOF {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	first, root, rows := slices.Clone(row), "", 1
	for ; ; rows++ {
		row, _, err := next()
		if err == io.EOF {
			return rows >= 3, nil
		}
		if err != nil {
			return false, err
		}
		if rows == 1 {
			root = strings.Clone(row[len(row)-1])
		}
		if len(first) < 2 || len(row) != len(first) || row[len(row)-1] != root {
			return false, nil
		}
		for l := range row {
			if row[l] == first[l] {
				return false, nil
			}
		}
	}
}
