package publish_test

import (
	"context"
	"flag"
	"os"
	"testing"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// fataler is a test or a rapid check.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// column builds a column of texts; the empty text and NA are missing.
func column(t fataler, f table.Field, texts ...string) *table.Column {
	t.Helper()
	if f.Name == "" {
		f.Name = "x"
	}
	b, err := table.NewBuilder(f, []string{"NA"})
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, text := range texts {
		if err := b.Append([]byte(text)); err != nil {
			t.Fatalf("%v", err)
		}
	}
	return b.Column()
}

// stored describes a column as a text file stores it.
func stored(c *table.Column) []table.StoredColumn {
	return []table.StoredColumn{{Name: c.Field.Name}}
}

// publishOne publishes one column of a text file.
func publishOne(t fataler, c *table.Column, group []uint32, groups int, mode publish.Mode) *publish.Column {
	t.Helper()
	out, err := publish.Publish(context.Background(), []*table.Column{c}, stored(c), group, groups, publish.Options{Mode: mode})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return &out[0]
}

// shown is the text that each of these groups shows, <null> for a null.
func shown(c *publish.Column, groups ...uint32) []string {
	var v table.Vector
	c.Fill(&v, groups)
	texts := make([]string, len(groups))
	for i := range groups {
		if v.IsNull(i) {
			texts[i] = "<null>"
			continue
		}
		texts[i] = string(table.AppendText(nil, &c.Stored, &v, i))
	}
	return texts
}

// one publishes texts as one group and returns what it shows.
func one(t fataler, f table.Field, mode publish.Mode, texts ...string) string {
	t.Helper()
	c := column(t, f, texts...)
	return shown(publishOne(t, c, make([]uint32, len(texts)), 1, mode), 0)[0]
}

func round(places int) *int { return &places }

func words(t testing.TB, got, want string, texts []string) {
	t.Helper()
	if got != want {
		t.Errorf("%q: got %q, want %q", texts, got, want)
	}
}

// Properties are cheap here: more than the hundred cases that rapid tries, and far more
// in the long trials.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		cases := "300"
		if os.Getenv("NOREN_TRIALS") == "1" {
			cases = "2000"
		}
		_ = f.Value.Set(cases)
	}
	os.Exit(m.Run())
}
