package publish_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

func TestPublishRefuses(t *testing.T) {
	c := column(t, table.Field{}, "a", "b")
	for name, call := range map[string]func() error{
		"another number of stored columns": func() error {
			_, err := publish.Publish(context.Background(), []*table.Column{c}, nil, []uint32{0, 0}, 1, publish.Options{})
			return err
		},
		"another number of records": func() error {
			_, err := publish.Publish(context.Background(), []*table.Column{c}, stored(c), []uint32{0}, 1, publish.Options{})
			return err
		},
		"a group too high": func() error {
			_, err := publish.Publish(context.Background(), []*table.Column{c}, stored(c), []uint32{0, 1}, 1, publish.Options{})
			return err
		},
		"an empty group": func() error {
			_, err := publish.Publish(context.Background(), []*table.Column{c}, stored(c), []uint32{0, 2}, 3, publish.Options{})
			return err
		},
	} {
		var e *noren.Error
		if err := call(); !errors.As(err, &e) || e.Kind != noren.Internal {
			t.Errorf("%s: got %v, want an error of kind internal", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := publish.Publish(ctx, []*table.Column{c}, stored(c), []uint32{0, 0}, 1, publish.Options{})
	if noren.KindOf(err) != noren.Interrupted {
		t.Errorf("cancelled: got %v", err)
	}
}

// A context that ends under way ends the work, in the middle of a column too.
func TestPublishEndsWithItsContext(t *testing.T) {
	const n = 1 << 16
	b, err := table.NewBuilder(table.Field{Name: "x", Type: table.Integer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	group := make([]uint32, n)
	for i := range group {
		b.AppendInt(int64(i))
		group[i] = uint32(i)
	}
	c := b.Column()
	columns, columnsStored := make([]*table.Column, 8), make([]table.StoredColumn, 8)
	for i := range columns {
		columns[i], columnsStored[i] = c, table.StoredColumn{Name: "x"}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	told := 0
	_, err = publish.Publish(ctx, columns, columnsStored, group, n, publish.Options{Progress: func(string, int64, int64) {
		told++
		cancel()
	}})
	if noren.KindOf(err) != noren.Interrupted || told >= len(columns) {
		t.Errorf("got %v after %d columns", err, told)
	}
}

// counted is a context that ends when it has been asked so many times.
type counted struct {
	context.Context
	left  int
	asked int
}

func (c *counted) Err() error {
	c.asked++
	if c.asked > c.left {
		return context.Canceled
	}
	return nil
}

// One column is long work too: the context is asked on the way, and obeyed.
func TestContextWithinAColumn(t *testing.T) {
	const n = 20 * 4096
	b, err := table.NewBuilder(table.Field{Name: "x", Type: table.Integer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	group := make([]uint32, n)
	for i := range group {
		b.AppendInt(int64(i))
		group[i] = uint32(i)
	}
	c := b.Column()
	for _, end := range []struct{ after, least, most int }{{1000, 20, 25}, {5, 6, 8}} {
		ctx := &counted{Context: context.Background(), left: end.after}
		_, err := publish.Publish(ctx, []*table.Column{c}, stored(c), group, n, publish.Options{})
		if (noren.KindOf(err) == noren.Interrupted) != (end.after == 5) || ctx.asked < end.least || ctx.asked > end.most {
			t.Errorf("ends after %d: asked %d times, %v", end.after, ctx.asked, err)
		}
	}
}

func TestProgress(t *testing.T) {
	a, b := column(t, table.Field{Name: "a"}, "x", "y"), column(t, table.Field{Name: "b", Type: table.Integer}, "1", "2")
	var told []string
	_, err := publish.Publish(context.Background(), []*table.Column{a, b}, append(stored(a), stored(b)...), []uint32{0, 0}, 1,
		publish.Options{Progress: func(stage string, done, total int64) {
			told = append(told, fmt.Sprint(stage, " ", done, " of ", total))
		}})
	if got := strings.Join(told, ", "); err != nil || got != "publishing 1 of 2, publishing 2 of 2" {
		t.Errorf("got %s, %v", got, err)
	}
}

// What a text file releases is text; means say that they are numbers, for formats
// that have them.
func TestStoredAsText(t *testing.T) {
	fields := []table.Field{
		{Name: "a"},
		{Name: "b", Type: table.Integer},
		{Name: "c", Type: table.Decimal},
		{Name: "d", Type: table.Date},
		{Name: "e", Type: table.Ordered, Levels: []string{"1"}},
	}
	for i, text := range []string{"x", "1", "1.5", "2024-02-29", "1"} {
		for _, mode := range []publish.Mode{publish.Aggregate, publish.Generalize} {
			got := publishOne(t, column(t, fields[i], text, ""), []uint32{0, 1}, 2, mode).Stored
			mean := mode == publish.Aggregate && (fields[i].Type == table.Integer || fields[i].Type == table.Decimal)
			if mean != (got.Proposed != nil) || mean && *got.Proposed != fields[i].Type {
				t.Errorf("%s, %s: proposed as %v", fields[i].Name, mode, got.Proposed)
			}
			if got.Name != fields[i].Name || got.Kind != table.Text || got.Nullable || got.Origin != nil || got.AppendText != nil {
				t.Errorf("%s: %+v", fields[i].Name, got)
			}
		}
	}
}

// A vector that was filled once is filled anew, nulls and kinds included.
func TestFillAgain(t *testing.T) {
	c := column(t, table.Field{Type: table.Integer}, "1", "NA", "3")
	kind := table.Integer
	out, err := publish.Publish(context.Background(), []*table.Column{c},
		[]table.StoredColumn{{Name: "x", Kind: table.Int, Proposed: &kind, Nullable: true}}, []uint32{0, 1, 2}, 3, publish.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var v table.Vector
	publishOne(t, column(t, table.Field{}, "a", "b"), []uint32{0, 1}, 2, publish.Aggregate).Fill(&v, []uint32{1, 0, 1, 0})
	out[0].Fill(&v, []uint32{2, 1, 1, 0})
	if v.Kind != table.Int || fmt.Sprint(v.Ints, v.Null, len(v.Texts), len(v.Floats)) != "[3 0 0 1] [false true true false] 0 0" {
		t.Errorf("got %+v", v)
	}
	publishOne(t, column(t, table.Field{}, "a", "b"), []uint32{0, 1}, 2, publish.Aggregate).Fill(&v, []uint32{1})
	if v.Kind != table.Text || v.Null != nil || len(v.Ints) != 0 || len(v.Texts) != 1 || string(v.Texts[0]) != "b" {
		t.Errorf("got %+v", v)
	}
}

func TestMode_String(t *testing.T) {
	for m, name := range map[publish.Mode]string{publish.Aggregate: "aggregate", publish.Generalize: "generalize"} {
		if m.String() != name {
			t.Errorf("%d is %q", m, m)
		}
		if got, err := publish.ParseMode(name); err != nil || got != m {
			t.Errorf("%q: %v, %v", name, got, err)
		}
	}
	if _, err := publish.ParseMode("suppress"); err == nil {
		t.Error("suppress is no mode")
	}
}
