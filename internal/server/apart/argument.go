package apart

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
)

// leftOut are fields that are not passed: the text of a specification that was read from a file, for
// the places of its faults. The server makes its specifications, and names files by a path; and the
// standard output of a command.
func leftOut() []string {
	return []string{"spec.Spec.name", "spec.Spec.file", "api.AnonymizeRequest.Stdout"}
}

// arguments are the types of what an argument of a text can be.
func arguments() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[bool](), reflect.TypeFor[int64](), reflect.TypeFor[int](), reflect.TypeFor[uint64](),
		reflect.TypeFor[float64](),
		reflect.TypeFor[float32](), reflect.TypeFor[[]byte](), reflect.TypeFor[[]string](), reflect.TypeFor[[]int](), reflect.TypeFor[[]any](),
		reflect.TypeFor[noren.Format](), reflect.TypeFor[noren.Phrase](), reflect.TypeFor[noren.Term](), reflect.TypeFor[noren.File](),
		reflect.TypeFor[noren.Place](), reflect.TypeFor[noren.Position](),
		reflect.TypeFor[noren.Foreign](), reflect.TypeFor[noren.Text](), reflect.TypeFor[noren.Texts](), reflect.TypeFor[noren.Commas](),
		reflect.TypeFor[noren.Lines](),
		reflect.TypeFor[noren.Paragraph](), reflect.TypeFor[noren.Sentence](), reflect.TypeFor[noren.Names](),
		reflect.TypeFor[inLanguages](), reflect.TypeFor[*passed](), reflect.TypeFor[named](),
	}
}

// argument is an argument of a text as one of [arguments]: the text, the error or the words that it
// stands for.
func argument(v any) any {
	for _, t := range arguments() {
		if reflect.TypeOf(v) == t {
			return v
		}
	}
	switch v := v.(type) {
	case lang.Spoken:
		return said(v)
	case interface{ Text() noren.Text }:
		return v.Text()
	case interface{ Texts() noren.Texts }:
		return v.Texts()
	case error:
		return pass(v)
	}
	is := plain(v)
	if s, ok := v.(fmt.Stringer); ok {
		return named{s.String(), is}
	}
	return is
}

// plain is an argument without its type, but for what every verb of package fmt writes of it.
func plain(v any) any {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		return r.Int()
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		return r.Uint()
	case reflect.Float64:
		return r.Float()
	case reflect.Float32:
		return float32(r.Float())
	case reflect.Bool:
		return r.Bool()
	case reflect.String:
		return r.String()
	case reflect.Slice, reflect.Array:
		if r.Type().Elem() == reflect.TypeFor[byte]() {
			out := make([]byte, r.Len())
			reflect.Copy(reflect.ValueOf(out), r)
			return out
		}
		out := make([]any, r.Len())
		for i := range out {
			out[i] = r.Index(i).Interface()
		}
		return out
	}
	return fmt.Sprint(v)
}

// named is an argument that has a method String, and is written by it for a text.
type named struct {
	Text string
	Is   any
}

// String implements [fmt.Stringer].
func (n named) String() string { return n.Text }

// Format implements [fmt.Formatter].
func (n named) Format(f fmt.State, verb rune) {
	var is any = n.Text
	if !strings.ContainsRune("vsxXq", verb) {
		is = n.Is
	}
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), is)
}

// received is an argument as it was before [argument].
func received(v any) any {
	switch v := v.(type) {
	case inLanguages:
		return lang.Spoken(v.in)
	case *passed:
		return v.error()
	}
	return v
}

// inLanguages is a text in each language, by its tag.
type inLanguages map[string]string

func said(in func(lang.Lang) string) inLanguages {
	out := inLanguages{}
	for _, l := range lang.All() {
		out[l.String()] = in(l)
	}
	return out
}

func (s inLanguages) in(l lang.Lang) string { return s[l.String()] }
