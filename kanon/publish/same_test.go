package publish_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// Groups that show the same in all columns are one class; a missing value is none
// of the texts.
func TestSame(t *testing.T) {
	column := func(name string, kind table.Type, texts ...string) *table.Column {
		b, err := table.NewBuilder(table.Field{Name: name, Type: kind}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			if err := b.Append([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		return b.Column()
	}
	cols := []*table.Column{
		column("x", table.Integer, "1", "3", "2", "2", "2", "2", "", "", "2"),
		column("c", table.Category, "a", "a", "a", "a", "b", "b", "a", "a", "a"),
	}
	stored := []table.StoredColumn{{Name: "x"}, {Name: "c"}}
	group := []uint32{0, 0, 1, 1, 2, 2, 3, 3, 4}
	shown, err := publish.Publish(context.Background(), cols, stored, group, 5, publish.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := publish.Same(shown, 5); !reflect.DeepEqual(got, [][]uint32{{0, 1, 4}}) {
		t.Fatalf("the same: %v", got)
	}
}
