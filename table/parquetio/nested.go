package parquetio

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// A nested column travels as text: for every leaf in order the number of its
// values in the record, and for every value its repetition level, its definition
// level and, where it is no null, its length and bytes.

const (
	nestedValues = 256 // values of a leaf that are read at a time
	nestedDepth  = 100 // groups within groups; a deeper schema is refused
)

// nested is the shape of a column of lists, maps or groups.
type nested struct {
	node       parquet.Node // with its repetition
	optional   bool
	repeated   bool
	list       bool // lists and maps: as text, their one repeated field
	definition int  // level from which the node is there
	repetition int
	name       string
	fields     []*nested
	leaf       int // index of the first leaf below, counted from the column's first
	leaves     int
	kind       parquet.Kind
	form       form
}

// walk goes through a schema in the order of the file.
type walk struct {
	meta    *format.FileMetaData
	element int                       // the next entry of the schema
	leaf    int                       // the next column chunk
	codecs  []format.CompressionCodec // of the first row group, by column chunk
	leaves  []leaf
}

// column describes a column and all below it.
func (w *walk) column(c *parquet.Column) (*origin, error) {
	first := w.leaf
	if c.Leaf() && !c.Repeated() {
		element := &w.meta.Schema[w.element]
		definition := 0
		if c.Optional() {
			definition = 1
		}
		node, f, err := w.leafNode(c, definition, 0)
		if err != nil {
			return nil, err
		}
		_, empty := element.LogicalType.Value.(*format.NullType)
		if empty && !c.Optional() {
			return nil, errors.New("nulls in a column without")
		}
		return &origin{node: node, field: c.ID(), form: f, first: first, leaves: 1, empty: empty}, nil
	}
	n, err := w.node(c, 0, 0, first, 0)
	if err != nil {
		return nil, err
	}
	return &origin{node: n.node, field: c.ID(), form: form{kind: table.Text, show: n.show}, first: first, leaves: w.leaf - first, nested: n},
		nil
}

// leafNode describes a leaf without its repetition.
func (w *walk) leafNode(c *parquet.Column, definition, repetition int) (parquet.Node, form, error) {
	element := &w.meta.Schema[w.element]
	t := c.Type()
	if _, empty := element.LogicalType.Value.(*format.NullType); empty {
		// The library has no physical type for it; the file has one.
		t = parquet.Int32Type
		if element.Type.Valid && parquet.Kind(element.Type.V) == parquet.ByteArray {
			t = parquet.ByteArrayType
		}
	}
	if k := t.Kind(); k < parquet.Boolean || k > parquet.FixedLenByteArray {
		return nil, form{}, errors.New("unknown type")
	}
	node := parquet.Leaf(annotate(t, element))
	if t.Kind() != parquet.Boolean && dictionaryCoded(w.meta, w.leaf) {
		node = parquet.Encoded(node, &parquet.RLEDictionary)
	}
	if w.leaf < len(w.codecs) {
		node = parquet.Compressed(node, parquet.LookupCompressionCodec(w.codecs[w.leaf]))
	}
	w.leaves = append(w.leaves, leaf{t.Kind(), definition, repetition})
	w.element++
	w.leaf++
	return node, formOf(t, element), nil
}

func (w *walk) node(c *parquet.Column, definition, repetition, first, depth int) (*nested, error) {
	if depth > nestedDepth {
		return nil, errors.New("nested too deep")
	}
	n := &nested{name: c.Name(), optional: c.Optional(), repeated: c.Repeated(), leaf: w.leaf - first}
	if n.optional || n.repeated {
		definition++
	}
	if n.repeated {
		repetition++
	}
	n.definition, n.repetition = definition, repetition
	var node parquet.Node
	if c.Leaf() {
		var err error
		if node, n.form, err = w.leafNode(c, definition, repetition); err != nil {
			return nil, err
		}
		n.kind = node.Type().Kind()
	} else {
		said := annotate(parquet.Group{}.Type(), &w.meta.Schema[w.element])
		w.element++
		g := &group{said: &said}
		for _, below := range c.Columns() {
			m, err := w.node(below, definition, repetition, first, depth+1)
			if err != nil {
				return nil, err
			}
			n.fields = append(n.fields, m)
			g.fields = append(g.fields, field{m.node, m.name})
		}
		if len(g.fields) == 0 {
			return nil, errors.New("a group of nothing")
		}
		element := c.Type().LogicalType()
		if element != nil && len(n.fields) == 1 && n.fields[0].repeated {
			switch element.Value.(type) {
			case *format.ListType, *format.MapType:
				n.list = true
			}
		}
		node = g
	}
	switch {
	case n.optional:
		node = parquet.Optional(node)
	case n.repeated:
		node = parquet.Repeated(node)
	}
	if depth > 0 && c.ID() != 0 {
		node = parquet.FieldID(node, c.ID())
	}
	n.node, n.leaves = node, w.leaf-first-n.leaf
	return n, nil
}

// allNull reports whether nothing in the statistics of a leaf contradicts that
// all its values are null.
func allNull(meta *format.FileMetaData, leaf int) bool {
	for _, g := range meta.RowGroups {
		m := &g.Columns[leaf].MetaData
		if s := m.Statistics; len(s.MinValue) > 0 || len(s.MaxValue) > 0 {
			return false
		}
	}
	return true
}

// leafCursor walks through the values of a leaf by records.
type leafCursor struct {
	pages  parquet.Pages
	from   *pages
	page   parquet.Page
	values parquet.ValueReader
	buffer []parquet.Value
	at, n  int // the values of buffer that are still to come
	ended  bool
}

// peek is the next value; nil at the end.
func (l *leafCursor) peek() (*parquet.Value, error) {
	for l.at == l.n {
		if l.ended {
			return nil, nil
		}
		if l.values == nil {
			if l.page != nil {
				parquet.Release(l.page)
				l.page = nil
			}
			page, err := l.pages.ReadPage()
			if err == io.EOF {
				l.ended = true
				return nil, nil
			}
			if err != nil {
				return nil, err
			}
			l.from.settle()
			l.page, l.values = page, page.Values()
		}
		n, err := l.values.ReadValues(l.buffer)
		l.at, l.n = 0, n
		switch {
		case err == io.EOF:
			l.values = nil
		case err != nil:
			return nil, err
		case n == 0:
			return nil, io.ErrNoProgress
		}
	}
	return &l.buffer[l.at], nil
}

func (l *leafCursor) close() error {
	l.from.close()
	if l.page != nil {
		parquet.Release(l.page)
	}
	return l.pages.Close()
}

// takeNested reads the next record of a nested column into the arena.
func (c *cursor) takeNested(n *nested) (null bool, err error) {
	for j := range c.nested {
		l := &c.nested[j]
		first := true
		c.scratch.b = c.scratch.b[:0]
		count := 0
		for {
			v, err := l.peek()
			if err != nil {
				return false, err
			}
			if v == nil || !first && v.RepetitionLevel() == 0 {
				break
			}
			if first && v.RepetitionLevel() != 0 {
				return false, errors.New("a record begins within a list")
			}
			if first && j == 0 {
				null = n.optional && v.DefinitionLevel() == 0
			}
			var b []byte
			if !v.IsNull() {
				b = v.Bytes()
			}
			if err := c.scratch.grow(len(b) + 2 + binary.MaxVarintLen64); err != nil {
				return false, err
			}
			if err := c.scratch.meter.Unpack(int64(len(b) + 2)); err != nil {
				return false, err
			}
			scratch := append(c.scratch.b, byte(v.RepetitionLevel()), byte(v.DefinitionLevel()))
			if v.IsNull() {
				scratch = binary.AppendUvarint(scratch, 0)
			} else {
				scratch = append(binary.AppendUvarint(scratch, uint64(len(b))+1), b...)
			}
			c.scratch.b = scratch
			first = false
			count++
			l.at++
		}
		if count == 0 {
			return false, io.ErrUnexpectedEOF
		}
		// Where the record is shown, its values are entries.
		apart := int64(count) * entrySize
		if err := c.scratch.meter.Hold(apart); err != nil {
			return false, err
		}
		c.scratch.meter.Release(apart)
		if err := c.arena.grow(len(c.scratch.b) + binary.MaxVarintLen64); err != nil {
			return false, err
		}
		c.arena.b = append(binary.AppendUvarint(c.arena.b, uint64(count)), c.scratch.b...)
	}
	c.ends = append(c.ends, len(c.arena.b))
	return null, nil
}

// entrySize is about how many bytes an entry takes while a slice of them grows.
const entrySize = 96

// entry is a value of a leaf.
type entry struct {
	repetition, definition int
	null                   bool
	bytes                  []byte
}

var errNested = errors.New("a nested value is damaged")

// entries takes a record apart: the values of every leaf.
func (n *nested) entries(b []byte) ([][]entry, error) {
	found := make([][]entry, n.leaves)
	for j := range found {
		count, used := binary.Uvarint(b)
		if used <= 0 || count > uint64(len(b)) {
			return nil, errNested
		}
		b = b[used:]
		for range count {
			if len(b) < 2 {
				return nil, errNested
			}
			e := entry{repetition: int(b[0]), definition: int(b[1])}
			size, used := binary.Uvarint(b[2:])
			if used <= 0 || size > uint64(len(b)) {
				return nil, errNested
			}
			b = b[2+used:]
			if size == 0 {
				e.null = true
			} else {
				if size-1 > uint64(len(b)) {
					return nil, errNested
				}
				e.bytes, b = b[:size-1], b[size-1:]
			}
			found[j] = append(found[j], e)
		}
	}
	if len(b) > 0 {
		return nil, errNested
	}
	return found, nil
}

// kinds are the physical types of the leaves.
func (n *nested) kinds(to []parquet.Kind) []parquet.Kind {
	if len(n.fields) == 0 {
		return append(to, n.kind)
	}
	for _, f := range n.fields {
		to = f.kinds(to)
	}
	return to
}

// writeNested writes count records of the nested column i.
func (s *Sink) writeNested(i int, v *table.Vector, from, count int) error {
	n := s.origins[i].nested
	if v.Kind != table.Text {
		return &noren.Error{Where: noren.File(s.name), What: "column %s is of another kind than was said", Args: []any{s.columns[i].Name}}
	}
	kinds := n.kinds(nil)
	values := make([][]parquet.Value, n.leaves)
	for row := from; row < from+count; row++ {
		if v.IsNull(row) {
			if !n.optional {
				return s.refuse(i, row-from, "a missing value in a column that can hold none")
			}
			for j := range values {
				values[j] = append(values[j], parquet.NullValue().Level(0, 0, s.first[i]+j))
			}
			continue
		}
		s.bytes += int64(len(v.Texts[row]))
		leaves, err := n.entries(v.Texts[row])
		if err != nil {
			return s.refuse(i, row-from, "a nested value of another type than the column's")
		}
		for j, leaf := range leaves {
			for _, e := range leaf {
				value := parquet.NullValue()
				if !e.null {
					if err := guard(func() error { value = kinds[j].Value(e.bytes); return nil }); err != nil {
						return s.refuse(i, row-from, "a nested value of another type than the column's")
					}
				}
				values[j] = append(values[j], value.Level(e.repetition, e.definition, s.first[i]+j))
			}
		}
	}
	for j := range values {
		if err := s.put(s.first[i]+j, values[j]); err != nil {
			return err
		}
	}
	return nil
}

// show appends value i of a nested column as JSON.
func (n *nested) show(dst []byte, v *table.Vector, i int) []byte {
	leaves, err := n.entries(v.Texts[i])
	if err != nil {
		return showHex(dst, v, i)
	}
	a := &assembly{leaves: leaves}
	return a.value(dst, n)
}

// assembly puts the values of leaves together to one text, from left to right.
type assembly struct{ leaves [][]entry }

func (a *assembly) peek(leaf int) (entry, bool) {
	if len(a.leaves[leaf]) == 0 {
		return entry{null: true}, false
	}
	return a.leaves[leaf][0], true
}

func (a *assembly) skip(n *nested) {
	for j := n.leaf; j < n.leaf+n.leaves; j++ {
		if len(a.leaves[j]) > 0 {
			a.leaves[j] = a.leaves[j][1:]
		}
	}
}

func (a *assembly) value(dst []byte, n *nested) []byte {
	next, _ := a.peek(n.leaf)
	switch {
	case n.optional && next.definition < n.definition:
		a.skip(n)
		return append(dst, "null"...)
	case !n.repeated:
		return a.inner(dst, n)
	case next.definition < n.definition:
		a.skip(n)
		return append(dst, "[]"...)
	}
	dst = append(dst, '[')
	for first := true; ; first = false {
		if next, more := a.peek(n.leaf); !first && (!more || next.repetition != n.repetition) {
			return append(dst, ']')
		}
		if !first {
			dst = append(dst, ',')
		}
		dst = a.inner(dst, n)
	}
}

// inner appends a value that is there.
func (a *assembly) inner(dst []byte, n *nested) []byte {
	switch {
	case len(n.fields) == 0:
		e, _ := a.peek(n.leaf)
		a.skip(n)
		return n.appendLeaf(dst, e)
	case n.list:
		return a.value(dst, n.fields[0])
	case n.repeated && len(n.fields) == 1:
		return a.value(dst, n.fields[0]) // the element of a list
	}
	dst = append(dst, '{')
	for j, f := range n.fields {
		if j > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendJSON(dst, f.name), ':')
		dst = a.value(dst, f)
	}
	return append(dst, '}')
}

func (n *nested) appendLeaf(dst []byte, e entry) []byte {
	if e.null {
		return append(dst, "null"...)
	}
	var value parquet.Value
	if err := guard(func() error { value = n.kind.Value(e.bytes); return nil }); err != nil {
		return append(dst, "null"...)
	}
	c := cursor{}
	v := table.Vector{Kind: n.form.kind}
	var nulls bool
	if _, err := c.take(&v, []parquet.Value{value}, n.kind, &n.form, &nulls); err != nil {
		return append(dst, "null"...)
	}
	if v.Kind == table.Text {
		v.Texts = [][]byte{c.arena.b}
	}
	text := string(table.AppendText(nil, &table.StoredColumn{Kind: v.Kind, AppendText: n.form.show}, &v, 0))
	// NaN, Inf
	bare := n.form.kind != table.Text && n.form.proposed != nil && *n.form.proposed != table.Date && !strings.ContainsAny(text, "NI")
	if bare {
		return append(dst, text...)
	}
	return appendJSON(dst, text)
}

// appendJSON appends a text as JSON; bytes that are not UTF-8 become U+FFFD.
func appendJSON(dst []byte, s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		return append(dst, `""`...)
	}
	return append(dst, b...)
}

// pandasIndex returns the names that pandas gave to an index without a name.
func pandasIndex(text string) map[string]bool {
	var said struct {
		Index []any `json:"index_columns"`
	}
	index := map[string]bool{}
	if json.Unmarshal([]byte(text), &said) != nil {
		return index
	}
	for _, c := range said.Index {
		if name, ok := c.(string); ok && strings.HasPrefix(name, "__index_level_") && strings.HasSuffix(name, "__") {
			index[name] = true
		}
	}
	return index
}
