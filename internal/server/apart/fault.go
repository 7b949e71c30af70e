package apart

import (
	"fmt"

	"github.com/noren-privacy/noren"
)

// Faults of the exchange, which are of the program and not of its users.
var (
	errLeft    = noren.Bug("apart: bytes are left over")
	errNone    = noren.Bug("apart: the process had no result")
	errLarge   = noren.Bug("apart: more bytes than an operation may hold")
	errForm    = noren.Bug("apart: a frame has an unknown form")
	errVersion = noren.Bug("apart: the program that asks is another version")
	errName    = noren.Bug("apart: there is no such operation")
)

const (
	early   = "the bytes end early"
	cannot  = "cannot be passed: "
	kind    = "an argument has an unknown type"
	tooDeep = "values are too deep within each other"
)

// fault is an error that ends encoding or decoding.
type fault struct{ error }

// fail ends it.
func fail(text string, about ...any) {
	panic(fault{noren.Bug("apart: " + text + fmt.Sprint(about...))})
}

func failing(err *error) {
	switch f := recover().(type) {
	case nil:
	case fault:
		*err = f.error
	default:
		panic(f)
	}
}
