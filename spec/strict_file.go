package spec

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter/yamlbound"
	"github.com/noren-privacy/noren/internal/names"
)

// Document is a YAML file that was read strictly, with the places of its entries.
type Document struct {
	name string
	file *ast.File
}

// ReadDocument reads one YAML document into v, whose fields have the names of their JSON
// tags. A key that v does not know is an error. name goes into errors, which are of kind
// Usage and state line and column.
func ReadDocument(name string, data []byte, v any) (d *Document, err error) {
	// The YAML library panics on some malformed files; that must not cross this border.
	defer func() {
		if recover() != nil {
			d, err = nil, &noren.Error{Kind: noren.Usage, Where: noren.File(name), What: "not valid YAML"}
		}
	}()
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err := yamlbound.Check(name, data); err != nil {
		return nil, err
	}
	if err := withoutConnections(name, data); err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(data), yaml.DisallowUnknownField(), yaml.UseJSONUnmarshaler(), yaml.CustomUnmarshaler(asWritten))
	if err := dec.Decode(v); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &noren.Error{Kind: noren.Usage, Code: CodeEmpty, Where: noren.File(name), What: "the specification is empty"}
		}
		return nil, notRead(name, err)
	}
	var more any
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(name), What: "more than one document", Hint: "one specification a file"}
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(name), What: "not valid YAML"}
	}
	return &Document{name, file}, nil
}

// withoutConnections refuses a YAML file that holds a connection string: specifications are
// copied, and errors, records and certificates repeat parts of them.
func withoutConnections(name string, data []byte) error {
	line := names.ConnectionLine(data)
	if line == 0 {
		return nil
	}
	return &noren.Error{
		Kind: noren.Usage, Where: noren.Textf("%s:%d", noren.File(name), line),
		What: "holds a connection string, which is not repeated because it may hold a password",
		Hint: "take it out: set PGHOST, PGUSER and PGDATABASE, and PGPASSFILE for the password, or a service of PGSERVICEFILE",
	}
}

// asWritten reads a text. A number that stands where a text is expected, as in keys: [01],
// is taken as it is written.
func asWritten(into *string, source []byte) error {
	file, err := parser.ParseBytes(source, 0)
	if err != nil || len(file.Docs) != 1 {
		return errors.New("expected a text")
	}
	switch n := file.Docs[0].Body.(type) {
	case *ast.StringNode:
		*into = n.Value
	case *ast.LiteralNode:
		*into = n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		*into = n.GetToken().Value
	default:
		return errors.New("expected a text")
	}
	return nil
}

// notRead says where and why a document could not be read.
func notRead(name string, err error) error {
	var at yaml.Error
	if !errors.As(err, &at) || at.GetToken() == nil {
		return &noren.Error{Kind: noren.Usage, Code: CodeInvalid, Where: noren.File(name), What: "not a valid specification"}
	}
	what := noren.Textf("%s", noren.Foreign(at.GetMessage()))
	var mismatch *yaml.TypeError
	if errors.As(err, &mismatch) {
		what = noren.Textf("expected %s, found %s", mismatch.DstType, mismatch.SrcType)
	}
	p := at.GetToken().Position
	return &noren.Error{
		Kind: noren.Usage, Code: CodeInvalid, Where: noren.Textf("%s:%d:%d", noren.File(name), p.Line, p.Column),
		What: "not a valid specification: %s", Args: []any{what},
	}
}

// At says where the entry of a path like "questions.1.margin.within" stands, numbers
// counting from 0: with its line where the entry or one that holds it is in the file.
func (d *Document) At(path string) any {
	parts := strings.Split(path, ".")
	for n := len(parts); n > 0; n-- {
		b := (&yaml.PathBuilder{}).Root()
		for _, p := range parts[:n] {
			if i, err := strconv.ParseUint(p, 10, 31); err == nil {
				b = b.Index(uint(i))
			} else {
				b = b.Child(p)
			}
		}
		node, err := b.Build().FilterFile(d.file)
		if err == nil && node != nil && node.GetToken() != nil {
			p := node.GetToken().Position
			return noren.Place{noren.Textf("%s:%d:%d", noren.File(d.name), p.Line, p.Column), path}
		}
	}
	return noren.Place{noren.File(d.name), path}
}

// WriteDocument writes v as [ReadDocument] reads it.
func WriteDocument(v any) (string, error) {
	text, err := yaml.MarshalWithOptions(v, yaml.UseJSONMarshaler(), yaml.IndentSequence(true))
	if err != nil {
		return "", &noren.Error{What: "the specification cannot be written", Err: err}
	}
	return string(text), nil
}
