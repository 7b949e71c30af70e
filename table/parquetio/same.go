package parquetio

import "reflect"

// Same reports whether a column of another file is stored as the same type, so that
// values of both can be written by either description. Encoding, compression and, of
// flat columns, whether values may be null do not count.
func (o *origin) Same(other any) bool {
	p, ok := other.(*origin)
	if !ok || o.empty != p.empty || (o.nested == nil) != (p.nested == nil) || o.leaves != p.leaves {
		return false
	}
	if o.nested != nil {
		return o.node.String() == p.node.String()
	}
	return o.node.Type().String() == p.node.Type().String() && sameArrow(o.arrow, p.arrow)
}

// sameArrow compares types, not names, nullability or dictionaries.
func sameArrow(a, b *arrowField) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.kind != b.kind || a.zone != b.zone || !reflect.DeepEqual(a.params, b.params) || len(a.children) != len(b.children) {
		return false
	}
	for i := range a.children {
		if !sameArrow(a.children[i], b.children[i]) {
			return false
		}
	}
	return true
}
