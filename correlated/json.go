package correlated

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
)

// node is a JSON value that knows its place.
type node struct {
	where string
	value any // nil, bool, string, json.Number, []any or object
}

type object map[string]any

// maxDepth bounds how deep a file nests, and maxFile its size. A value takes its place in
// a list that grows, its text, and its place in the lists that are made of it; a key takes
// an entry of a map.
const (
	maxDepth    = 32
	maxFile     = 64 << 20
	valueWeight = 72
	keyWeight   = 160
)

// tooLarge is the error about the value at which the memory of a file ended.
func tooLarge(err error, where any) error {
	var e *noren.Error
	if errors.As(meter.At(err, where), &e) {
		c := *e
		c.Hinted("describe fewer records or states")
		return &c
	}
	return err
}

// readJSON reads exactly one JSON value. Unlike encoding/json it refuses a key
// that is given twice: which one was meant cannot be known.
func readJSON(r io.Reader, name string) (node, error) {
	dec := json.NewDecoder(meter.Bounded(r, maxFile, noren.File(name)))
	dec.UseNumber()
	v, err := (&reader{dec: dec, m: meter.New(meter.Limits{}, 0)}).value()
	if err == nil {
		var t json.Token
		if t, err = dec.Token(); err == nil {
			err = badJSON("", noren.Textf("after the end stands %T", t))
		} else if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		return node{}, jsonError(name, dec.InputOffset(), err)
	}
	return node{value: v}, nil
}

func badJSON(where any, what noren.Text) error {
	return &noren.Error{Kind: noren.Usage, Where: where, What: what.Format, Args: what.Args}
}

// jsonError gives an error the file's name, and the place where the reader
// stood if it has none.
func jsonError(name string, offset int64, err error) error {
	var e *noren.Error
	if errors.As(err, &e) {
		if e.Place() == name {
			return err
		}
		return inFile(name, err)
	}
	var syntax *json.SyntaxError
	where := noren.Textf("byte %d", offset)
	switch {
	case errors.As(err, &syntax):
		return inFile(name, &noren.Error{Kind: noren.Usage, Where: noren.Textf("byte %d", syntax.Offset), What: "this is not JSON"})
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return inFile(name, &noren.Error{Kind: noren.Usage, Where: where, What: "the file ends too early"})
	}
	return inFile(name, &noren.Error{Kind: noren.Internal, Where: where, What: "cannot read", Err: err})
}

// inFile puts the file's name before the place of an error.
func inFile(name string, err error) error {
	var e *noren.Error
	if name == "" || !errors.As(err, &e) {
		return err
	}
	c := *e
	c.Where = noren.File(name)
	if e.Place() != "" {
		c.Where = noren.Place{noren.File(name), e.Where}
	}
	return &c
}

// reader reads a JSON value. Its place is put in words for errors alone: a name for each value
// would take many times the file.
type reader struct {
	dec *json.Decoder
	m   *meter.Meter
	at  []step
}

// step is an entry of a list, or a field where it has a key.
type step struct {
	key   string
	field bool
	entry int
}

// where is the place of the value that is read.
func (r *reader) where() string {
	where := ""
	for _, s := range r.at {
		if s.field {
			where = join(where, s.key)
		} else {
			where = index(where, s.entry)
		}
	}
	return where
}

// within reads the value at a step from the one that is read.
func (r *reader) within(s step) (any, error) {
	r.at = append(r.at, s)
	v, err := r.value()
	if err == nil {
		r.at = r.at[:len(r.at)-1]
	}
	return v, err
}

func (r *reader) value() (any, error) {
	if len(r.at) > maxDepth {
		return nil, &noren.Error{
			Kind: noren.BadData, Code: meter.Code, Where: r.where(), What: "nests more than %d levels",
			Args: []any{maxDepth},
		}
	}
	t, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	weight := int64(valueWeight)
	switch v := t.(type) {
	case string:
		weight += int64(len(v))
	case json.Number:
		weight += int64(len(v))
	}
	if err := r.m.Hold(weight); err != nil {
		return nil, tooLarge(err, r.where())
	}
	switch t {
	case json.Delim('['):
		list := []any{}
		for r.dec.More() {
			v, err := r.within(step{entry: len(list)})
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := r.dec.Token()
		return list, err
	case json.Delim('{'):
		o := object{}
		for r.dec.More() {
			k, err := r.dec.Token()
			if err != nil {
				return nil, err
			}
			key := k.(string)
			if err := r.m.Hold(keyWeight + int64(len(key))); err != nil {
				return nil, tooLarge(err, r.where())
			}
			if _, twice := o[key]; twice {
				return nil, badJSON(join(r.where(), key), noren.Textf("this key is given twice"))
			}
			if o[key], err = r.within(step{key: key, field: true}); err != nil {
				return nil, err
			}
		}
		_, err := r.dec.Token()
		return o, err
	}
	return t, nil
}

func join(where, key string) string {
	if strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == '.' || r == '[' }) || len(key) > 40 {
		key = strconv.QuoteToASCII(key[:min(len(key), 40)])
	}
	if where == "" {
		return key
	}
	return where + "." + key
}

func (n node) kind() noren.Phrase {
	switch n.value.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "a text"
	case json.Number:
		return "a number"
	case []any:
		return "a list"
	}
	return "an object"
}

func (n node) wrong(want noren.Phrase) error {
	return noren.Usagef(n.where, "here should stand %s, and it is %s", want, n.kind())
}

// object returns the fields of n, which must be among those allowed.
func (n node) object(allowed ...string) (map[string]node, error) {
	o, ok := n.value.(object)
	if !ok {
		return nil, n.wrong("an object")
	}
	out := map[string]node{}
	for k, v := range o {
		if !slices.Contains(allowed, k) {
			return nil, &noren.Error{
				Kind: noren.Usage, Where: join(n.where, k), What: "there is no such field here", Hint: "fields are %s",
				HintArgs: []any{strings.Join(allowed, ", ")},
			}
		}
		out[k] = node{join(n.where, k), v}
	}
	return out, nil
}

// need returns the field of that name.
func (n node) need(fields map[string]node, name string) (node, error) {
	f, ok := fields[name]
	if !ok {
		return node{}, noren.Usagef(n.where, "the field %q is missing", name)
	}
	return f, nil
}

func (n node) list() ([]node, error) {
	l, ok := n.value.([]any)
	if !ok {
		return nil, n.wrong("a list")
	}
	out := make([]node, len(l))
	for i, v := range l {
		out[i] = node{index(n.where, i), v}
	}
	return out, nil
}

func (n node) text() (string, error) {
	s, ok := n.value.(string)
	if !ok {
		return "", n.wrong("a text")
	}
	return s, nil
}

func (n node) float() (float64, error) {
	num, ok := n.value.(json.Number)
	if !ok {
		return 0, n.wrong("a number")
	}
	f, err := num.Float64()
	if err != nil {
		return 0, noren.Usagef(n.where, "the number is too large")
	}
	return f, nil
}

func (n node) int() (int, error) {
	num, ok := n.value.(json.Number)
	if !ok {
		return 0, n.wrong("a whole number")
	}
	v, err := strconv.ParseInt(num.String(), 10, 32)
	if err != nil {
		return 0, noren.Usagef(n.where, "here should stand a whole number")
	}
	return int(v), nil
}

// Numbers are read without a node for each: a model may have millions.

func (n node) floats() ([]float64, error) {
	l, ok := n.value.([]any)
	if !ok {
		return nil, n.wrong("a list of numbers")
	}
	out := make([]float64, len(l))
	for i, v := range l {
		num, ok := v.(json.Number)
		if ok {
			f, err := num.Float64()
			if err == nil {
				out[i] = f
				continue
			}
		}
		_, err := node{index(n.where, i), v}.float()
		return nil, err
	}
	return out, nil
}

func (n node) ints() ([]int, error) {
	l, ok := n.value.([]any)
	if !ok {
		return nil, n.wrong("a list of whole numbers")
	}
	out := make([]int, len(l))
	for i, v := range l {
		if num, ok := v.(json.Number); ok {
			if k, err := strconv.ParseInt(num.String(), 10, 32); err == nil {
				out[i] = int(k)
				continue
			}
		}
		_, err := node{index(n.where, i), v}.int()
		return nil, err
	}
	return out, nil
}

func (n node) matrix() ([][]float64, error) {
	l, err := n.list()
	if err != nil {
		return nil, err
	}
	out := make([][]float64, len(l))
	for i, row := range l {
		if out[i], err = row.floats(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// depth is how many lists n is inside each other, at the first entries.
func (n node) depth() int {
	d := 0
	for v := n.value; ; d++ {
		l, ok := v.([]any)
		if !ok {
			return d
		}
		if len(l) == 0 {
			return d + 1
		}
		// A null stands for a matrix that is not needed.
		v = l[0]
		for _, other := range l {
			if other != nil {
				v = other
				break
			}
		}
	}
}

// matrices are a list of matrices, null allowed, or one matrix alone.
func (n node) matrices() (list [][][]float64, alone bool, err error) {
	if n.depth() == 2 {
		m, err := n.matrix()
		return [][][]float64{m}, true, err
	}
	l, err := n.list()
	if err != nil {
		return nil, false, err
	}
	list = make([][][]float64, len(l))
	for i, m := range l {
		if m.value == nil {
			continue
		}
		if list[i], err = m.matrix(); err != nil {
			return nil, false, err
		}
	}
	return list, false, nil
}
