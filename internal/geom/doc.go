// Package geom counts and lists neighbours among integer points.
//
// A [Tree] is a tree of blocks: points are cut by the median of the axis along
// which they are spread widest until a block holds few, and every node keeps
// the smallest box around its points. A search passes over boxes that lie too
// far away, counts boxes that lie wholly near at once, and measures only what
// is left, block by block. In few dimensions that is a grid which adapts to
// the density; in many, where no box is ever far, it is the plain comparison of
// blocks with blocks.
//
// Guarantee: distances are compared exactly. Coordinates are
// integers, squared distances are int64 and cannot overflow ([NewTree] checks
// it), and no floating-point number takes part.
package geom
