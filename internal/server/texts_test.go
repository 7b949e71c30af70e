package server

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/table/personal"
)

// Every code that the server can send has a Japanese text in the page, and a text names no
// argument that the message lacks.
func TestThePageKnowsEveryCode(t *testing.T) {
	texts := pageTexts(t)
	sent := map[string]map[string]bool{}
	for _, folder := range []string{"tables", "records", "books", "../../table/infer"} {
		codesIn(t, folder, sent)
	}
	notesIn(t, sent)
	// The lines of text.Release, whose arguments depend on the line.
	for _, label := range []string{"promise", "classes", "persons", "intersect", "pseudonyms"} {
		sent[label] = nil
	}
	delete(sent, "assumption") // translated by its sentence
	if len(sent) < 60 {
		t.Fatalf("found only %d codes: %v", len(sent), slices.Sorted(maps.Keys(sent)))
	}
	placeholder := regexp.MustCompile(`[{\[](\w+)[}?]`)
	for _, code := range slices.Sorted(maps.Keys(sent)) {
		text, known := texts[code]
		if !known {
			t.Errorf("web/src/lang/ja-server.ts: expected a text for the code %s", code)
			continue
		}
		if names := sent[code]; names != nil {
			for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
				if !names[m[1]] {
					t.Errorf("web/src/lang/ja-server.ts: the text of %s names %q, and the message has %v", code, m[1], slices.Sorted(maps.Keys(names)))
				}
			}
		}
	}
	for kind := personal.None + 1; !strings.HasPrefix(kind.String(), "kind("); kind++ {
		if _, known := texts["kind."+kind.String()]; !known {
			t.Errorf("web/src/lang/ja-server.ts: expected a text for kind.%s", kind)
		}
	}
	for _, c := range problem.Codes() {
		if _, known := texts["code."+c.Name]; !known {
			t.Errorf("web/src/lang/ja-server.ts: expected a title for code.%s", c.Name)
		}
	}
	// A server runs no job of a cluster.
	elsewhere := []string{"file-changed", "input-changed", "shard-fault", "shard-form", "shard-too-large", "untyped", "whole-table", "worker-version"}
	for _, c := range noren.Codes() {
		if slices.Contains(elsewhere, c.Name) {
			continue
		}
		if _, known := texts["code."+c.Name]; !known {
			t.Errorf("web/src/lang/ja-server.ts: expected a title for code.%s", c.Name)
		}
	}
}

// pageTexts are the sentences of the server in Japanese, by code.
func pageTexts(t *testing.T) map[string]string {
	t.Helper()
	source, err := os.ReadFile("../../web/src/lang/ja-server.ts")
	if err != nil {
		t.Fatal(err)
	}
	body, _, _ := strings.Cut(string(source), "\n};")
	out := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^  (?:"([^"]+)"|(\w+)):\s+"([^"]*)",$`).FindAllStringSubmatch(body, -1) {
		out[m[1]+m[2]] = m[3]
	}
	return out
}

// files are the parsed Go files that a pattern names, without tests.
func files(t *testing.T, pattern string) []*ast.File {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v, %v", pattern, names, err)
	}
	var out []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}

func literal(e ast.Expr) (string, bool) {
	b, ok := e.(*ast.BasicLit)
	if !ok || b.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(b.Value)
	return s, err == nil
}

// codesIn finds the codes of messages and reasons in a folder, with the names of their
// arguments where these are written beside the code.
func codesIn(t *testing.T, folder string, sent map[string]map[string]bool) {
	t.Helper()
	take := func(code string, args ast.Expr) {
		names := map[string]bool{}
		switch a := args.(type) {
		case nil:
		case *ast.CompositeLit:
			for _, e := range a.Elts {
				name, _ := literal(e.(*ast.KeyValueExpr).Key)
				names[name] = true
			}
		case *ast.Ident:
			if a.Name != "nil" {
				names = nil
			}
		default:
			names = nil
		}
		if old, twice := sent[code]; twice && (old == nil || names == nil) {
			names = nil
		}
		sent[code] = names
	}
	for _, f := range files(t, folder+"/*.go") {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				var code string
				var args ast.Expr
				for _, e := range n.Elts {
					kv, ok := e.(*ast.KeyValueExpr)
					if !ok {
						continue
					}
					switch key, _ := kv.Key.(*ast.Ident); {
					case key == nil:
					case key.Name == "Code":
						code, _ = literal(kv.Value)
					case key.Name == "Args":
						args = kv.Value
					}
				}
				if code != "" {
					take(code, args)
				}
			case *ast.CallExpr:
				// add(code, text, args) and add(level, code, text, args).
				if name, ok := n.Fun.(*ast.Ident); !ok || name.Name != "add" || len(n.Args) < 3 {
					return true
				}
				if code, ok := literal(n.Args[len(n.Args)-3]); ok {
					take(code, n.Args[len(n.Args)-1])
				}
			}
			return true
		})
	}
}

// notesIn finds the codes of notes that a release may make.
func notesIn(t *testing.T, sent map[string]map[string]bool) {
	t.Helper()
	for _, pattern := range []string{"../../spec/note.go", "../../service/anonymize.go", "../../service/table.go", "../../service/assess.go"} {
		for _, f := range files(t, pattern) {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ValueSpec:
					if strings.HasPrefix(n.Names[0].Name, "Note") && len(n.Values) == 1 {
						if code, ok := literal(n.Values[0]); ok {
							sent[code] = nil
						}
					}
				case *ast.CallExpr:
					if to, ok := n.Fun.(*ast.SelectorExpr); ok && (to.Sel.Name == "note" || to.Sel.Name == "columnNote") {
						if code, ok := literal(n.Args[1]); ok {
							sent[code] = nil
						}
					}
				}
				return true
			})
		}
	}
}
