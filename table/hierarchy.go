package table

import (
	"encoding/binary"
	"io"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
)

// Hierarchy is a generalisation hierarchy of a category: level 0 are the
// leaves (the values of the data), the last level is the one root that holds
// them all. Every leaf has the same number of levels.
type Hierarchy struct {
	name   string
	levels int
	// ancestors[l][leaf] is the index in names[l] of the leaf's ancestor at
	// level l.
	ancestors [][]uint32
	names     [][]string
	leaf      map[string]uint32
}

// maxLevels bounds the levels of a hierarchy: each has its own lists of nodes and of leaves.
const maxLevels = 256

// NewHierarchy checks rows, each the names from a leaf to the root, and builds
// the hierarchy. name (a file, say) and line numbers (1-based row numbers when
// lines is nil) go into errors, values do not. The checks: every row has the
// same number of levels (2 to 256), no empty name, no leaf twice, a name
// at one level has one parent only, there is exactly one root, and a name that
// stands at several levels has the same leaves below it at each: a release shows
// names alone, and a reader could not tell the levels apart.
func NewHierarchy(name string, rows [][]string, lines []int64) (*Hierarchy, error) {
	i := -1
	return ReadHierarchy(name, func() ([]string, int64, error) {
		if i++; i == len(rows) {
			return nil, 0, io.EOF
		}
		if lines != nil {
			return rows[i], lines[i], nil
		}
		return rows[i], int64(i + 1), nil
	})
}

// ReadHierarchy is [NewHierarchy] of rows that are read one at a time: next returns the next one
// with the number of its line, and [io.EOF] after the last. It keeps each name once, and no row.
// An error of next is returned as it is.
func ReadHierarchy(name string, next func() (row []string, line int64, err error)) (*Hierarchy, error) {
	bad := func(line int64, col int, what noren.Text, hint noren.Format) error {
		return &noren.Error{
			Kind: noren.BadData, Where: noren.Position{File: name, Line: line, Field: col + 1}, What: what.Format,
			Args: what.Args, Hint: hint,
		}
	}
	row, line, err := next()
	if err == io.EOF {
		return nil, &noren.Error{
			Kind: noren.BadData, Where: noren.File(name), What: "the hierarchy is empty",
			Hint: "one line a value: the value, its group, the group's group, up to one root",
		}
	}
	if err != nil {
		return nil, err
	}
	levels := len(row)
	if levels < 2 {
		return nil, bad(line, 0, noren.Textf("a hierarchy line needs at least a value and the root"), "write leaf,...,root on every line")
	}
	if levels > maxLevels {
		at := noren.Position{File: name, Line: line, Field: maxLevels + 1}
		return nil, &noren.Error{
			Kind: noren.BadData, Code: meter.Code, Where: at, What: "expected at most %d levels, found %d",
			Args: []any{maxLevels, levels}, Hint: "is it the right file?",
		}
	}
	h := &Hierarchy{name: name, levels: levels, ancestors: make([][]uint32, levels), names: make([][]string, levels)}
	index := make([]map[string]uint32, levels)
	for l := range index {
		index[l] = map[string]uint32{}
	}
	// The line of each node that names it first, and its parent.
	firstLine, parent := make([][]int64, levels), make([][]uint32, levels)
	path := make([]uint32, levels)
	for ; err == nil; row, line, err = next() {
		if len(row) != levels {
			return nil, bad(line, len(row)-1, noren.Textf("expected %d {level|levels} as on the first line, found %d", levels, len(row)),
				"repeat a name to fill a level")
		}
		for l, word := range row {
			if word == "" {
				return nil, bad(line, l, noren.Textf("a level has no name"), "repeat the name of the level below to fill it")
			}
			id, known := index[l][word]
			if !known {
				word = strings.Clone(word) // not the whole row
				id = uint32(len(h.names[l]))
				index[l][word] = id
				h.names[l] = append(h.names[l], word)
				firstLine[l] = append(firstLine[l], line)
			} else if l == 0 {
				return nil, bad(line, 0, noren.Textf("this value has a line already"), "one line a value")
			}
			path[l] = id
		}
		for l := 0; l+1 < levels; l++ {
			if int(path[l]) == len(parent[l]) {
				parent[l] = append(parent[l], path[l+1])
			} else if parent[l][path[l]] != path[l+1] {
				return nil, bad(line, l+1, noren.Textf("this name has another parent on an earlier line"), "a name may stand below one name only")
			}
		}
		for l := range path {
			h.ancestors[l] = append(h.ancestors[l], path[l])
		}
	}
	if err != io.EOF {
		return nil, err
	}
	if n := len(h.names[levels-1]); n != 1 {
		return nil, &noren.Error{
			Kind: noren.BadData, Where: noren.File(name), What: "the last level has %d names, expected one root",
			Args: []any{n}, Hint: "end every line with the same name, for instance *",
		}
	}
	h.leaf = index[0]
	if low, high, twice := h.ambiguous(); twice {
		return nil, bad(firstLine[high.level][high.node], high.level,
			noren.Textf("this name stands on line %d, column %d too, with other values below it", firstLine[low.level][low.node], low.level+1),
			"give the two different names: a release shows names, which would not tell the value from its group")
	}
	return h, nil
}

// place is a node of a level.
type place struct {
	level int
	node  uint32
}

// ambiguous finds a name that stands at two levels with different leaves below.
func (h *Hierarchy) ambiguous() (low, high place, found bool) {
	// Levels are nested: of two nodes, either all leaves of the lower one lie below the
	// higher one or none, and numbers of leaves tell whether they are all.
	seen := map[string]place{}
	sizes, firsts := make([][]int, h.levels), make([][]uint32, h.levels)
	for l := range h.levels {
		sizes[l], firsts[l] = make([]int, len(h.names[l])), make([]uint32, len(h.names[l]))
		for leaf, node := range h.ancestors[l] {
			if sizes[l][node]++; sizes[l][node] == 1 {
				firsts[l][node] = uint32(leaf)
			}
		}
		for node, name := range h.names[l] {
			if l == 0 {
				break // no leaf is there twice, and h.leaf has them
			}
			at := place{l, uint32(node)}
			before, twice := seen[name]
			if leaf, ok := h.leaf[name]; ok {
				before, twice = place{0, leaf}, true
			}
			if twice && (h.ancestors[l][firsts[before.level][before.node]] != at.node || sizes[before.level][before.node] != sizes[l][node]) {
				return before, at, true
			}
			if !twice {
				seen[name] = at
			}
		}
	}
	return place{}, place{}, false
}

// Name is the name it was loaded by.
func (h *Hierarchy) Name() string { return h.name }

// Levels is the number of levels, leaves and root included.
func (h *Hierarchy) Levels() int { return h.levels }

// Leaf returns the number of the leaf that word names.
func (h *Hierarchy) Leaf(word string) (uint32, bool) {
	id, ok := h.leaf[word]
	return id, ok
}

// Leaves is the number of leaves.
func (h *Hierarchy) Leaves() int { return len(h.names[0]) }

// Ancestor returns the number, within its level, of a leaf's ancestor; level 0
// is the leaf itself.
func (h *Hierarchy) Ancestor(leaf uint32, level int) uint32 { return h.ancestors[level][leaf] }

// NameAt returns the name of a node of a level.
func (h *Hierarchy) NameAt(level int, node uint32) string { return h.names[level][node] }

// Size is the number of nodes of a level.
func (h *Hierarchy) Size(level int) int { return len(h.names[level]) }

// AppendCanonical appends bytes that fix the hierarchy: the names from each leaf to the
// root, line by line. Its own name, which is that of a file, is not in them.
func (h *Hierarchy) AppendCanonical(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(h.levels))
	dst = binary.AppendUvarint(dst, uint64(h.Leaves()))
	for leaf := range h.Leaves() {
		for level := range h.levels {
			dst = appendSized(dst, h.NameAt(level, h.Ancestor(uint32(leaf), level)))
		}
	}
	return dst
}

// Common returns the level and node of the lowest common ancestor of leaves,
// of which there must be one at least.
func (h *Hierarchy) Common(leaves []uint32) (level int, node uint32) {
	for level = 0; ; level++ {
		node = h.ancestors[level][leaves[0]]
		same := true
		for _, leaf := range leaves[1:] {
			if h.ancestors[level][leaf] != node {
				same = false
				break
			}
		}
		if same {
			return level, node
		}
	}
}
