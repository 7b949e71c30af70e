package noren

// Reason is an error that is a text: a format and its arguments, of which one may be the cause.
type Reason struct{ said Text }

// Reasonf is the reason of a format and its arguments. An argument that is an error is its cause.
func Reasonf(format Format, args ...any) error {
	return &Reason{Text{plain(format, args), args}}
}

// Error is the text in English.
func (r *Reason) Error() string { return r.said.String() }

// Text is the text.
func (r *Reason) Text() Text { return r.said }

// Unwrap is the cause.
func (r *Reason) Unwrap() error {
	for _, arg := range r.said.Args {
		if err, ok := arg.(error); ok {
			return err
		}
	}
	return nil
}

// Bug is a fault of the program itself, such as a call without what the function needs. It is in English for those who
// mend it, and has no translation.
type Bug string

// Error is the fault.
func (b Bug) Error() string { return string(b) }
