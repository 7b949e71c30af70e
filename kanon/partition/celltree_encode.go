package partition

import (
	"encoding/binary"
	"errors"
	"math"
)

// A tree is written as its number of nodes and then the nodes: a byte that is 0 for a
// cell and 1 for a cut; for a cut its axis, the bound and the codes that go left, and the
// right side. The left side of a cut is the next node, and cells are numbered as they
// come.

// cutBytes is the length of a cut.
const cutBytes = 1 + 4 + 8 + 4 + 4 + 4

// AppendBinary appends t in a form that [DecodeCellTree] reads. Its error is nil.
func (t *CellTree) AppendBinary(dst []byte) ([]byte, error) {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(t.nodes)))
	for i := range t.nodes {
		nd := &t.nodes[i]
		if nd.axis < 0 {
			dst = append(dst, 0)
			continue
		}
		dst = append(dst, 1)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(nd.axis))
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(nd.at))
		dst = binary.LittleEndian.AppendUint32(dst, nd.from)
		dst = binary.LittleEndian.AppendUint32(dst, nd.upTo)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(nd.right))
	}
	return dst, nil
}

// errTree says that bytes are no tree.
var errTree = errors.New("expected a tree of cells")

// DecodeCellTree reads a tree whose cuts are of axes 0 to axes-1, and refuses what
// [CellTree.AppendBinary] does not write.
func DecodeCellTree(src []byte, axes int) (*CellTree, error) {
	if len(src) < 4 {
		return nil, errTree
	}
	n := int(binary.LittleEndian.Uint32(src))
	src = src[4:]
	if n < 1 || n > len(src) || n > math.MaxInt32 {
		return nil, errTree
	}
	t := &CellTree{nodes: make([]cellNode, n)}
	var open []int32 // the right sides of the cuts whose left side is being read
	for i := range t.nodes {
		nd := &t.nodes[i]
		if len(src) < 1 || src[0] > 1 {
			return nil, errTree
		}
		if src[0] == 0 {
			src = src[1:]
			*nd = cellNode{axis: -1, cell: uint32(t.cells)}
			t.cells++
			// The node after a cell is the right side of the last cut that waits for one.
			switch {
			case len(open) > 0 && open[len(open)-1] == int32(i+1):
				open = open[:len(open)-1]
			case len(open) == 0 && i == n-1:
			default:
				return nil, errTree
			}
			continue
		}
		if len(src) < cutBytes {
			return nil, errTree
		}
		axis := binary.LittleEndian.Uint32(src[1:])
		right := binary.LittleEndian.Uint32(src[17+4:])
		if int64(axis) >= int64(axes) || int64(right) <= int64(i)+1 || int64(right) >= int64(n) {
			return nil, errTree
		}
		*nd = cellNode{
			axis: int(axis), at: math.Float64frombits(binary.LittleEndian.Uint64(src[5:])),
			from: binary.LittleEndian.Uint32(src[13:]), upTo: binary.LittleEndian.Uint32(src[17:]),
			left: int32(i + 1), right: int32(right),
		}
		open = append(open, nd.right)
		src = src[cutBytes:]
	}
	if len(src) > 0 || len(open) > 0 {
		return nil, errTree
	}
	return t, nil
}
