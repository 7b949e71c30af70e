// Package yamlbound bounds what a YAML file that somebody else made can take: its size, how
// deep it nests, and what its aliases stand for in all.
//
//	if err := yamlbound.Check("noren.yaml", data); err != nil {
//		return err
//	}
package yamlbound

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
)

// The limits. A file of that size takes about 250 times as much memory to be read, in the
// parser's tree of it.
const (
	MostSize = 1 << 20
	// MostTokens bounds names, values and marks.
	MostTokens = 200_000
	// MostDepth bounds how deep collections nest.
	MostDepth = 64
	// MostNodes bounds what a file holds when every alias is replaced by what it names.
	MostNodes = 500_000
)

// Check refuses a file that exceeds a limit, with the code [meter.Code] and its place.
// Other faults are for the parser to say.
func Check(name string, data []byte) error {
	if len(data) > MostSize {
		return meter.TooLarge(noren.File(name), MostSize)
	}
	tokens := lexer.Tokenize(string(data))
	if len(tokens) > MostTokens {
		return excess(name, tokens[MostTokens], noren.Textf("holds more than %d names, values and marks", MostTokens))
	}
	aliases := false
	d := depth{}
	for _, t := range tokens {
		aliases = aliases || t.Type == token.AliasType
		if d.add(t); d.most() > MostDepth {
			return excess(name, t, noren.Textf("nests more than %d levels", MostDepth))
		}
	}
	if !aliases {
		return nil
	}
	return checkAliases(name, tokens)
}

func excess(name string, t *token.Token, what noren.Text) error {
	at := noren.Position{File: name}
	if t != nil && t.Position != nil {
		at.Line, at.Field = int64(t.Position.Line), t.Position.Column
	}
	return &noren.Error{Kind: noren.BadData, Code: meter.Code, Where: at, What: what.Format, Args: what.Args, Hint: "write a shorter file"}
}

// depth follows how deep tokens nest, or more: a parser goes no deeper.
type depth struct {
	flow    int   // open brackets and braces
	columns []int // of the open collections in block form
	run     int   // marks that follow each other, such as anchors and tags
}

func (d *depth) most() int { return d.flow + len(d.columns) + d.run }

func (d *depth) add(t *token.Token) {
	switch t.Type {
	case token.AnchorType, token.TagType, token.MappingKeyType, token.SequenceEntryType, token.LiteralType, token.FoldedType:
		d.run++
	case token.MappingStartType, token.SequenceStartType, token.MappingValueType:
	default:
		if t.Prev == nil || t.Prev.Type != token.AnchorType { // the name of an anchor
			d.run = 0
		}
	}
	at := t
	switch t.Type {
	case token.MappingStartType, token.SequenceStartType:
		d.flow++
		return
	case token.MappingEndType, token.SequenceEndType:
		d.flow = max(d.flow-1, 0)
		return
	case token.MappingValueType:
		if t.Prev != nil {
			at = t.Prev
		}
	case token.SequenceEntryType, token.MappingKeyType:
	default:
		return
	}
	if d.flow > 0 || at.Position == nil {
		return
	}
	for n := len(d.columns); n > 0 && d.columns[n-1] >= at.Position.Column; n = len(d.columns) {
		d.columns = d.columns[:n-1]
	}
	d.columns = append(d.columns, at.Position.Column)
}

// checkAliases counts what the file holds when aliases are replaced.
func checkAliases(name string, tokens token.Tokens) error {
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil // the caller's parser says what is wrong
	}
	c := counting{anchors: map[string]int64{}}
	total := int64(0)
	for _, doc := range file.Docs {
		total += c.size(doc.Body)
	}
	if total > MostNodes {
		return excess(name, nil, noren.Textf("holds more than %d values when each alias is replaced by what it names", MostNodes))
	}
	return nil
}

// counting knows what the anchors so far stand for.
type counting struct{ anchors map[string]int64 }

// bounded adds sizes without overflow.
func bounded(a, b int64) int64 { return min(a+b, 1<<40) }

func (c *counting) size(n ast.Node) int64 {
	switch n := n.(type) {
	case nil:
		return 0
	case *ast.MappingNode:
		sum := int64(1)
		for _, v := range n.Values {
			sum = bounded(sum, c.size(v))
		}
		return sum
	case *ast.MappingValueNode:
		return bounded(bounded(1, c.size(n.Key)), c.size(n.Value))
	case *ast.SequenceNode:
		sum := int64(1)
		for _, v := range n.Values {
			sum = bounded(sum, c.size(v))
		}
		return sum
	case *ast.MappingKeyNode:
		return bounded(1, c.size(n.Value))
	case *ast.TagNode:
		return bounded(1, c.size(n.Value))
	case *ast.AnchorNode:
		label := ""
		if n.Name != nil {
			label = n.Name.String()
		}
		c.anchors[label] = MostNodes + 1 // of an anchor that names itself
		sum := bounded(1, c.size(n.Value))
		c.anchors[label] = sum
		return sum
	case *ast.AliasNode:
		if n.Value == nil {
			return 1
		}
		return bounded(1, c.anchors[n.Value.String()])
	}
	return 1
}
