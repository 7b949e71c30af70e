package main

import (
	"fmt"
	"strings"

	"github.com/noren-privacy/noren"
)

// table is the fields of an object as a table in Markdown. Fields of inner objects follow
// the one that holds them; a field of a shared type refers to that type's own table.
func table(n *node, parts map[string]*node) string {
	var b strings.Builder
	b.WriteString("| field | type | meaning |\n|---|---|---|\n")
	rows(&b, "", n, parts)
	return b.String()
}

func rows(b *strings.Builder, prefix string, n *node, parts map[string]*node) {
	hidden := map[string]bool{}
	for name, part := range parts {
		if part == n || !holds(n, part) {
			continue
		}
		for _, f := range part.fields {
			hidden[f.name] = true
		}
		defer fmt.Fprintf(b, "| ... | | the fields of [%s](#%s) |\n", name, name)
	}
	for _, f := range n.fields {
		if hidden[f.name] {
			continue
		}
		inner, path := f.node, prefix+f.name
		for inner.kind == "array" || inner.kind == "map" {
			if inner.kind == "array" {
				path += "[]"
			} else {
				path += ".*"
			}
			inner = inner.elem
		}
		doc := strings.ReplaceAll(f.doc, "|", "\\|")
		if f.optional {
			doc += " May be absent."
		}
		if inner.shared != "" {
			doc += fmt.Sprintf(" Its fields are those of [%s](#%s).", inner.shared, inner.shared)
		}
		doc = strings.TrimSpace(doc)
		kind := words(f.node)
		if f.null {
			kind += " or null"
		}
		fmt.Fprintf(b, "| `%s%s` | %s | %s |\n", prefix, f.name, kind, doc)
		if inner.kind == "object" && inner.shared == "" {
			rows(b, path+".", inner, parts)
		}
	}
}

// holds reports whether the fields of part are fields of n.
func holds(n, part *node) bool {
	have := map[string]*node{}
	for _, f := range n.fields {
		have[f.name] = f.node
	}
	for _, f := range part.fields {
		if other := have[f.name]; other == nil || other.kind != f.node.kind {
			return false
		}
	}
	return true
}

// words is the type in words.
func words(n *node) string {
	switch n.kind {
	case "array":
		inner := words(n.elem)
		if n.elem.kind == "object" {
			inner = "objects"
		} else if n.elem.kind == "any" {
			inner = "values"
		} else if n.elem.kind != "array" {
			inner = strings.ReplaceAll(inner, " or ", "s or ") + "s"
		}
		if n.length > 0 {
			return fmt.Sprintf("array of %d %s", n.length, inner)
		}
		return "array of " + inner
	case "map":
		return "object by name"
	case "any":
		return "any value"
	}
	return n.kind
}

// codes is the table of error codes.
func codes() string {
	var b strings.Builder
	b.WriteString("| code | exit | meaning |\n|---|---|---|\n")
	for _, c := range noren.Codes() {
		fmt.Fprintf(&b, "| `%s` | %d | %s |\n", c.Name, c.Kind.ExitCode(), c.Meaning)
	}
	return b.String()
}
