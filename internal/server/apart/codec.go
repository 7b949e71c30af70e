package apart

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"slices"
)

// encode is what v points to as bytes that [decode] reads in the same program: exported fields in their order,
// whatever they are called in JSON. A nil slice, map and pointer stays one. Functions and channels are left out, and
// so are the fields that [leftOut] names. An error is of a type that cannot be passed.
func encode(v any) (out []byte, err error) {
	defer failing(&err)
	return appendValue(nil, reflect.ValueOf(v).Elem()), nil
}

// decode reads what [encode] wrote into what v points to.
func decode(data []byte, v any) (err error) {
	defer failing(&err)
	d := decoder{rest: data}
	d.value(reflect.ValueOf(v).Elem())
	if len(d.rest) > 0 {
		return errLeft
	}
	return nil
}

// marshals reports whether a type writes itself, as [time.Time] does, whose fields are not exported.
func marshals(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[encoding.BinaryMarshaler]()) && reflect.PointerTo(t).
		Implements(reflect.TypeFor[encoding.BinaryUnmarshaler]())
}

// passes reports whether a field is passed.
func passes(t reflect.Type, f *reflect.StructField) bool {
	switch f.Type.Kind() {
	case reflect.Func, reflect.Chan:
		return false
	}
	if slices.Contains(leftOut(), t.String()+"."+f.Name) {
		return false
	}
	if !f.IsExported() && (!f.Anonymous || f.Type.Kind() != reflect.Struct) {
		fail(cannot, t, ".", f.Name)
	}
	return true
}

func appendValue(out []byte, v reflect.Value) []byte {
	t := v.Type()
	if marshals(t) {
		data, err := v.Interface().(encoding.BinaryMarshaler).MarshalBinary()
		if err != nil {
			fail(cannot, err)
		}
		return append(binary.AppendUvarint(out, uint64(len(data))), data...)
	}
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(out, 1)
		}
		return append(out, 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(out, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(out, v.Uint())
	case reflect.Float32, reflect.Float64:
		return binary.LittleEndian.AppendUint64(out, math.Float64bits(v.Float()))
	case reflect.String:
		return append(binary.AppendUvarint(out, uint64(v.Len())), v.String()...)
	case reflect.Pointer:
		if v.IsNil() {
			return append(out, 0)
		}
		return appendValue(append(out, 1), v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			return append(out, 0)
		}
		out = binary.AppendUvarint(out, uint64(v.Len())+1)
		if classes, ok := v.Interface().([]uint32); ok { // one for each record of a table
			for _, c := range classes {
				out = binary.AppendUvarint(out, uint64(c))
			}
			return out
		}
		return appendItems(out, v)
	case reflect.Array:
		return appendItems(out, v)
	case reflect.Map:
		if v.IsNil() {
			return append(out, 0)
		}
		out = binary.AppendUvarint(out, uint64(v.Len())+1)
		pairs := make([][]byte, 0, v.Len())
		for each := v.MapRange(); each.Next(); {
			pairs = append(pairs, appendValue(appendValue(nil, each.Key()), each.Value()))
		}
		slices.SortFunc(pairs, bytes.Compare)
		return append(out, bytes.Join(pairs, nil)...)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := t.Field(i); passes(t, &f) {
				out = appendValue(out, v.Field(i))
			}
		}
		return out
	case reflect.Interface:
		return appendArgument(out, v)
	}
	fail(cannot, t)
	return nil
}

func appendItems(out []byte, v reflect.Value) []byte {
	for i := range v.Len() {
		out = appendValue(out, v.Index(i))
	}
	return out
}

// appendArgument appends what an interface holds: a value of [arguments] with its place there, counted from 1, or
// else what [argument] makes of it.
func appendArgument(out []byte, v reflect.Value) []byte {
	if v.IsNil() {
		return append(out, 0)
	}
	held := argument(v.Interface())
	at := slices.Index(arguments(), reflect.TypeOf(held))
	if at < 0 {
		fail(cannot, reflect.TypeOf(held), " in ", v.Type())
	}
	return appendValue(binary.AppendUvarint(out, uint64(at)+1), reflect.ValueOf(held))
}

// deepest is how many values may be within each other. Bytes that state more are not ours: the stack of a
// goroutine ends, and the program with it, long before the bytes do.
const deepest = 10_000

type decoder struct {
	rest []byte
	deep int
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		fail(early)
	}
	out := d.rest[:n:n]
	d.rest = d.rest[n:]
	return out
}

func (d *decoder) uvarint() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 {
		fail(early)
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) value(v reflect.Value) {
	if d.deep++; d.deep > deepest {
		fail(tooDeep)
	}
	defer func() { d.deep-- }()
	t := v.Type()
	if marshals(t) {
		if err := v.Addr().Interface().(encoding.BinaryUnmarshaler).UnmarshalBinary(d.take(d.uvarint())); err != nil {
			fail(cannot, err)
		}
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(d.take(1)[0] == 1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, size := binary.Varint(d.rest)
		if size <= 0 {
			fail(early)
		}
		d.rest = d.rest[size:]
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(d.uvarint())
	case reflect.Float32, reflect.Float64:
		v.SetFloat(math.Float64frombits(binary.LittleEndian.Uint64(d.take(8))))
	case reflect.String:
		v.SetString(string(d.take(d.uvarint())))
	case reflect.Pointer:
		if d.take(1)[0] == 1 {
			v.Set(reflect.New(t.Elem()))
			d.value(v.Elem())
		}
	case reflect.Slice:
		if n := d.uvarint(); n > 0 {
			d.slice(v, n-1)
		}
	case reflect.Array:
		for i := range v.Len() {
			d.value(v.Index(i))
		}
	case reflect.Map:
		n := d.uvarint()
		if n == 0 {
			return
		}
		v.Set(reflect.MakeMap(t))
		for range n - 1 {
			key, item := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
			d.value(key)
			d.value(item)
			v.SetMapIndex(key, item)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := t.Field(i); passes(t, &f) {
				d.value(v.Field(i))
			}
		}
	case reflect.Interface:
		d.argument(v)
	default:
		fail(cannot, t)
	}
}

// slice reads the items of a slice. It grows with what is read: a length alone costs no memory.
func (d *decoder) slice(v reflect.Value, n uint64) {
	if n > uint64(len(d.rest)) {
		fail(early)
	}
	if classes, ok := v.Addr().Interface().(*[]uint32); ok {
		*classes = make([]uint32, n)
		for i := range *classes {
			(*classes)[i] = uint32(d.uvarint())
		}
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	for range n {
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(item)
		v.Set(reflect.Append(v, item))
	}
}

func (d *decoder) argument(v reflect.Value) {
	at := d.uvarint()
	if at == 0 {
		return
	}
	types := arguments()
	if at > uint64(len(types)) {
		fail(kind)
	}
	held := reflect.New(types[at-1]).Elem()
	d.value(held)
	is := reflect.ValueOf(received(held.Interface()))
	if !is.IsValid() || !is.Type().AssignableTo(v.Type()) {
		fail(cannot, held.Type(), " in ", v.Type())
	}
	v.Set(is)
}

// print is a print of types and of all that they hold: two programs with the same one pass values to each
// other.
func print(types ...reflect.Type) string {
	var text []byte
	seen := map[reflect.Type]bool{}
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		text = fmt.Appendf(text, "%s %s\n", t.PkgPath(), t)
		if seen[t] || marshals(t) {
			return
		}
		seen[t] = true
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(t.Elem())
		case reflect.Map:
			walk(t.Key())
			walk(t.Elem())
		case reflect.Struct:
			for i := range t.NumField() {
				if f := t.Field(i); passes(t, &f) {
					text = fmt.Appendf(text, "%s ", f.Name)
					walk(f.Type)
				}
			}
		}
	}
	for _, t := range append(slices.Clone(types), arguments()...) {
		walk(t)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
