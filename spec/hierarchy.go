package spec

import (
	"errors"
	"fmt"
	"io"

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
		notes.add(Note{Code: NoteHierarchyEncoding, Text: fmt.Sprintf("%s: read as %s text", path, e)})
	}
	h, headed, err := readHierarchy(path, text)
	if headed {
		notes.add(Note{Code: NoteHierarchyHeader, Text: path + ": the first line names the levels and is no value"})
	}
	return h, err
}

func readHierarchy(name string, text []byte) (h *table.Hierarchy, headed bool, err error) {
	r, skip, err := SideRows(name, text)
	if err != nil {
		return nil, false, err
	}
	r.FieldsPerRecord = -1
	var rows [][]string
	var lines []int64
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, false, sideError(name, "a hierarchy is CSV: the value, its group, ..., the root", skip, err)
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

// namesLevels reports whether the first row names the levels, as ARX writes it: all
// other rows end with one root, and none of them has a name of the first row at its
// level. A value with another root would not make a hierarchy.
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
