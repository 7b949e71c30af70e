// Command generate writes the reference of the JSON contract from the types of package
// api and their comments: the tables of fields and of error codes in docs/cli.md, and a
// JSON schema for each form in docs/schemas. It copies the glossary into docs, and the assumptions of
// certificates in Japanese into the page. Every field of a form must have a comment.
// Run it in the root of the module:
//
//	go run ./api/generate
//
// In docs/cli.md it fills the parts between a line "<!-- fields NAME -->" or
// "<!-- codes -->" and the next line "<!-- end -->".
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/lang/glossary"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	schemas := filepath.Join(root, "docs", "schemas")
	if err := os.MkdirAll(schemas, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(schemas, "*.json"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if rel, _ := filepath.Rel(root, path); files[rel] == "" {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	for path, text := range files {
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the files that it makes, by their paths from the root.
func generate(root string) (map[string]string, error) {
	t := &tree{comments: &comments{root: root, known: map[string]map[string]string{}}, shared: map[reflect.Type]string{}}
	parts, tables, files := map[string]*node{}, map[string]string{}, map[string]string{}
	for name, of := range api.Shared() {
		t.shared[of] = name
	}
	for name, of := range api.Shared() {
		n, err := t.node(of)
		if err != nil {
			return nil, err
		}
		if missing := uncommented("", n); len(missing) > 0 {
			return nil, fmt.Errorf("%s: no comment on %s", name, strings.Join(missing, ", "))
		}
		parts[name] = n
	}
	for name, n := range parts {
		tables["fields "+name] = table(n, nil)
	}
	for _, d := range api.Documents() {
		n, err := t.node(d.Type)
		if err != nil {
			return nil, err
		}
		if missing := uncommented("", n); len(missing) > 0 {
			return nil, fmt.Errorf("%s: no comment on %s", d.Name(), strings.Join(missing, ", "))
		}
		if _, twice := tables["fields "+d.Name()]; twice {
			return nil, fmt.Errorf("two documents are named %s", d.Name())
		}
		tables["fields "+d.Name()] = table(n, parts)
		text, err := schema(d, n)
		if err != nil {
			return nil, err
		}
		files[filepath.Join("docs", "schemas", fileName(d))] = string(text)
	}
	files[filepath.Join("docs", "glossary.md")] = glossary.Document(lang.English)
	files[filepath.Join("docs", "ja", "glossary.md")] = glossary.Document(lang.Japanese)
	stated, err := assumptions()
	if err != nil {
		return nil, err
	}
	files[filepath.Join("web", "src", "lang", "assumptions.ja.json")] = stated
	tables["codes"] = codes()
	page := filepath.Join("docs", "cli.md")
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return nil, err
	}
	files[page], err = fill(string(text), tables)
	return files, err
}

// fill puts the tables between their marks. Every table must have a mark, and every mark
// a table.
func fill(text string, tables map[string]string) (string, error) {
	var out []string
	used, inside := map[string]bool{}, ""
	for _, line := range strings.Split(text, "\n") {
		mark, isMark := strings.CutPrefix(line, "<!-- ")
		mark = strings.TrimSuffix(mark, " -->")
		switch {
		case isMark && mark == "end":
			inside = ""
		case inside != "":
			continue
		case isMark && (mark == "codes" || strings.HasPrefix(mark, "fields ")):
			table, known := tables[mark]
			if !known || used[mark] {
				return "", fmt.Errorf("docs/cli.md: %q is no table, or stands twice", mark)
			}
			out = append(out, line, "", strings.TrimSuffix(table, "\n"), "")
			inside, used[mark] = mark, true
			continue
		}
		out = append(out, line)
	}
	for name := range tables {
		if !used[name] {
			return "", fmt.Errorf("docs/cli.md has no line <!-- %s -->", name)
		}
	}
	if inside != "" {
		return "", fmt.Errorf("docs/cli.md: %q has no end", inside)
	}
	return strings.Join(out, "\n"), nil
}
