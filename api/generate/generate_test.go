package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The reference must be what the types say: run go run ./api/generate.
func TestReferenceIsCurrent(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		got, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Errorf("%v: run go run ./api/generate", err)
		} else if string(got) != want {
			t.Errorf("%s differs from the types (run go run ./api/generate):\n%s", path, cmp.Diff(want, string(got)))
		}
	}
	present, err := filepath.Glob(filepath.Join(root, "docs", "schemas", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range present {
		if rel, _ := filepath.Rel(root, path); files[rel] == "" {
			t.Errorf("%s is the schema of no document", rel)
		}
	}
}

type inner struct {
	A int    `json:"a"`
	B string `json:"b,omitempty"`
}

type outer struct {
	inner
	B    float64          `json:"b"`
	List [][2]inner       `json:"list"`
	By   map[string]inner `json:"by,omitempty"`
	Not  int              `json:"-"`
}

func TestNode(t *testing.T) {
	tr := &tree{comments: &comments{root: filepath.Join("..", ".."), known: map[string]map[string]string{}}}
	n, err := tr.node(reflect.TypeFor[outer]())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.SplitSeq(table(n, nil), "\n") {
		if strings.HasPrefix(line, "| `") {
			got = append(got, line)
		}
	}
	want := []string{
		"| `a` | integer |  |", "| `b` | number |  |", "| `list` | array of array of 2 objects or null |  |",
		"| `list[][].a` | integer |  |", "| `list[][].b` | string | May be absent. |",
		"| `by` | object by name | May be absent. |", "| `by.*.a` | integer |  |", "| `by.*.b` | string | May be absent. |",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	missing := []string{"a", "b", "list", "list.a", "list.b", "by", "by.a", "by.b"}
	if d := cmp.Diff(missing, uncommented("", n)); d != "" {
		t.Error(d)
	}
	if _, err := tr.node(reflect.TypeFor[chan int]()); err == nil {
		t.Error("a channel has a form")
	}
}

func TestFill(t *testing.T) {
	tables := map[string]string{"codes": "T\n"}
	once, err := fill("x\n<!-- codes -->\nold\n<!-- end -->\ny", tables)
	if err != nil || once != "x\n<!-- codes -->\n\nT\n\n<!-- end -->\ny" {
		t.Fatalf("%q, %v", once, err)
	}
	if again, err := fill(once, tables); err != nil || again != once {
		t.Errorf("filled twice: %q, %v", again, err)
	}
	for name, text := range map[string]string{
		"no mark":      "x",
		"no end":       "<!-- codes -->",
		"twice":        "<!-- codes -->\n<!-- end -->\n<!-- codes -->\n<!-- end -->",
		"unknown mark": "<!-- codes -->\n<!-- end -->\n<!-- fields noren.none/1 -->\n<!-- end -->",
	} {
		if _, err := fill(text, tables); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
