package assess_test

import (
	"testing"

	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

func TestClassLoss(t *testing.T) {
	column := (&table.Column{Field: table.Field{Name: "a", Type: table.Integer}}).Blank(4)
	copy(column.Ints, []int64{0, 10, 2, 12})
	for _, c := range []struct {
		name string
		of   []uint32
		size []uint32
		want float64
	}{
		// The squared distances from 6 sum to 104; those from 1 and 11 to 4.
		{"near records together", []uint32{0, 1, 0, 1}, []uint32{2, 2}, 4. / 104},
		{"one class", []uint32{0, 0, 0, 0}, []uint32{4}, 1},
		{"a class that only another table has", []uint32{0, 1, 3, 2}, []uint32{1, 1, 1, 1, 0}, 0},
	} {
		for _, scale := range []space.Scaling{space.None, space.ZScore, space.MinMax} {
			l, err := assess.NewClassLoss([]*table.Column{column}, assess.Classes{Of: c.of, Size: c.size}, scale)
			if err != nil {
				t.Fatal(err)
			}
			if d := l.Loss - c.want; d > 1e-12 || d < -1e-12 || l.Scale != scale.String() {
				t.Errorf("%s: %+v, want %v", c.name, l, c.want)
			}
		}
	}
	// Equal values lose nothing.
	same := (&table.Column{Field: table.Field{Name: "a", Type: table.Integer}}).Blank(2)
	if l, err := assess.NewClassLoss([]*table.Column{same}, assess.Classes{Of: []uint32{0, 0}, Size: []uint32{2}}, space.ZScore); err != nil ||
		l.Loss != 0 {
		t.Errorf("%+v, %v", l, err)
	}
	// What cannot be measured is an error.
	far := (&table.Column{Field: table.Field{Name: "a", Type: table.Decimal}}).Blank(2)
	far.Floats[0] = 1e200
	if _, err := assess.NewClassLoss([]*table.Column{far}, assess.Classes{Of: []uint32{0, 0}, Size: []uint32{2}}, space.ZScore); err == nil {
		t.Error("1e200 has a place")
	}
}
