package apart

import (
	"errors"
	"fmt"
)

// Faults of the exchange, which are of the program and not of its users.
var (
	errLeft    = bug("apart: bytes are left over")
	errNone    = bug("apart: the process had no result")
	errLarge   = bug("apart: more bytes than an operation may hold")
	errForm    = bug("apart: a frame has an unknown form")
	errVersion = bug("apart: the program that asks is another version")
	errName    = bug("apart: there is no such operation")
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
	panic(fault{errors.New("apart: " + text + fmt.Sprint(about...))})
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

// bug is a fault of the program itself, in English.
type bug string

func (b bug) Error() string { return string(b) }
