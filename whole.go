package noren

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
)

// Whole is a text as it is stored: its JSON holds the format and the arguments, so that what is read is the
// text that was written, and is shown in the language of a later reader.
type Whole Text

// wholeForm is the JSON of a text or of an argument that is neither a string nor a whole number.
type wholeForm struct {
	Format  Format     `json:"format,omitempty"`
	Args    []wholeArg `json:"args,omitempty"`
	Float   *float64   `json:"float,omitempty"`
	File    *string    `json:"file,omitempty"`
	Foreign *string    `json:"foreign,omitempty"`
	List    string     `json:"list,omitempty"` // what Of is
	Of      []wholeArg `json:"of,omitempty"`
}

// wholeArg is an argument.
type wholeArg struct{ value any }

// MarshalJSON implements [json.Marshaler].
func (w Whole) MarshalJSON() ([]byte, error) {
	return json.Marshal(wholeForm{Format: w.Format, Args: wholeArgs(w.Args)})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (w *Whole) UnmarshalJSON(text []byte) error {
	var form wholeForm
	if err := json.Unmarshal(text, &form); err != nil {
		return err
	}
	*w = Whole{Format: form.Format, Args: valuesOf(form.Args)}
	return nil
}

// The kinds of lists, as they are stored.
const (
	listTexts, listCommas, listLines    = "texts", "commas", "lines"
	listParagraph, listPlace, listNames = "paragraph", "place", "names"
	listSentence                        = "sentence"
)

// MarshalJSON implements [json.Marshaler].
func (a wholeArg) MarshalJSON() ([]byte, error) {
	list := func(kind string, of []any) ([]byte, error) {
		return json.Marshal(wholeForm{List: kind, Of: wholeArgs(of)})
	}
	switch v := a.value.(type) {
	case Text:
		return Whole(v).MarshalJSON()
	case Phrase:
		return Whole{Format: Format(v)}.MarshalJSON()
	case Term:
		return Whole{Format: Format(v)}.MarshalJSON()
	case File:
		return json.Marshal(wholeForm{File: (*string)(&v)})
	case Foreign:
		return json.Marshal(wholeForm{Foreign: (*string)(&v)})
	case Texts:
		return list(listTexts, anys(v))
	case Commas:
		return list(listCommas, anys(v))
	case Lines:
		return list(listLines, anys(v))
	case Paragraph:
		return list(listParagraph, anys(v))
	case Names:
		return list(listNames, anys(v))
	case Sentence:
		return list(listSentence, []any{Text(v)})
	case Place:
		return list(listPlace, v)
	case Position:
		return list(listPlace, v.Place())
	case *Error:
		return Whole(v.whole()).MarshalJSON()
	case interface{ Text() Text }:
		return Whole(v.Text()).MarshalJSON()
	case interface{ Texts() Texts }:
		return list(listTexts, anys(v.Texts()))
	case error:
		return Whole(TextOf(v)).MarshalJSON()
	case fmt.Stringer:
		return json.Marshal(v.String())
	}
	switch v := reflect.ValueOf(a.value); {
	case v.IsValid() && (v.CanInt() || v.CanUint() || v.Kind() == reflect.Bool):
		return fmt.Append(nil, a.value), nil
	case v.IsValid() && v.CanFloat():
		float := v.Float()
		return json.Marshal(wholeForm{Float: &float})
	}
	return json.Marshal(fmt.Sprint(a.value))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (a *wholeArg) UnmarshalJSON(text []byte) error {
	if !bytes.HasPrefix(text, []byte("{")) {
		if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			a.value = n
			return nil
		}
		return json.Unmarshal(text, &a.value)
	}
	var form wholeForm
	if err := json.Unmarshal(text, &form); err != nil {
		return err
	}
	switch {
	case form.Float != nil:
		a.value = *form.Float
	case form.File != nil:
		a.value = File(*form.File)
	case form.Foreign != nil:
		a.value = Foreign(*form.Foreign)
	case form.List != "":
		a.value = form.list()
	default:
		a.value = Text{form.Format, valuesOf(form.Args)}
	}
	return nil
}

// list is a list that was stored.
func (f *wholeForm) list() any {
	values := valuesOf(f.Of)
	texts := make(Texts, 0, len(values))
	names := make(Names, 0, len(values))
	for _, v := range values {
		switch v := v.(type) {
		case Text:
			texts = append(texts, v)
		case string:
			names = append(names, v)
		}
	}
	switch f.List {
	case listPlace:
		return Place(values)
	case listNames:
		return names
	case listCommas:
		return Commas(texts)
	case listLines:
		return Lines(texts)
	case listParagraph:
		return Paragraph(texts)
	case listSentence:
		if len(texts) == 1 {
			return Sentence(texts[0])
		}
	}
	return texts
}

// whole is an error as one text.
func (e *Error) whole() Text {
	t := e.Said()
	switch {
	case e.Err != nil && e.What == "":
		t = TextOf(e.Err)
	case e.Err != nil:
		t = Textf("%s: %s", t, TextOf(e.Err))
	}
	if e.Place() != "" {
		t = Textf("%s: %s", e.Where, t)
	}
	if e.Hint != "" {
		t = Textf("%s (%s)", t, e.Advice())
	}
	return t
}

func wholeArgs(args []any) []wholeArg {
	out := make([]wholeArg, len(args))
	for i, arg := range args {
		out[i] = wholeArg{arg}
	}
	return out
}

func valuesOf(args []wholeArg) []any {
	if len(args) == 0 {
		return nil
	}
	out := make([]any, len(args))
	for i, arg := range args {
		out[i] = arg.value
	}
	return out
}

func anys[T any](list []T) []any {
	out := make([]any, len(list))
	for i, one := range list {
		out[i] = one
	}
	return out
}
