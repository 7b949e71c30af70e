package kanon

import "github.com/noren-privacy/noren/table"

// leaving reads the source without the records that are left out.
type leaving struct {
	table.Reader
	left []bool
	kept table.Chunk
	next int64
}

// Next implements [table.Reader].
func (l *leaving) Next() (*table.Chunk, error) {
	for {
		c, err := l.Reader.Next()
		if err != nil {
			return nil, err
		}
		left := l.left[c.First : c.First+int64(c.Rows)]
		l.kept.First, l.kept.Rows = l.next, 0
		for _, out := range left {
			if !out {
				l.kept.Rows++
			}
		}
		if l.kept.Rows == 0 {
			continue
		}
		l.next += int64(l.kept.Rows)
		if len(l.kept.Cols) != len(c.Cols) {
			l.kept.Cols = make([]table.Vector, len(c.Cols))
		}
		for j := range c.Cols {
			v, k := &c.Cols[j], &l.kept.Cols[j]
			k.Kind = v.Kind
			k.Null, k.Ints = keptOf(k.Null, v.Null, left), keptOf(k.Ints, v.Ints, left)
			k.Floats, k.Texts = keptOf(k.Floats, v.Floats, left), keptOf(k.Texts, v.Texts, left)
		}
		return &l.kept, nil
	}
}

// keptOf sets dst to the values that are not left out, nil where there are none.
func keptOf[T any](dst, from []T, left []bool) []T {
	if len(from) == 0 {
		return nil
	}
	dst = dst[:0]
	for i, out := range left {
		if !out {
			dst = append(dst, from[i])
		}
	}
	return dst
}
