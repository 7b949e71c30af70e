package problem

import "slices"

// Codes returns the codes of the HTTP interface that are not codes of the library.
func Codes() []Code { return slices.Clone(codes) }
