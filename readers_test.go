package noren_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readers are the calls that bring bytes of somebody else into memory, or make more of them.
var readers = []string{
	"os.Open", "os.OpenFile", "os.ReadFile", "plainfile.Open", "plainfile.OpenPath", "plainfile.OpenFile", "plainfile.OpenOrMake",
	"fs.ReadFile", "io.ReadAll", "io.Copy", "io.CopyN", "root.Open", "ioutil.ReadAll", "ioutil.ReadFile",
	"json.NewDecoder", "json.Unmarshal", "yaml.NewDecoder", "yaml.Unmarshal", "yaml.UnmarshalWithOptions", "csv.NewReader", "xml.NewDecoder",
	"xml.Unmarshal", "gob.NewDecoder", "cbor.Unmarshal", "cbor.NewDecoder",
	"zip.NewReader", "zip.OpenReader", "gzip.NewReader", "zlib.NewReader", "flate.NewReader", "bzip2.NewReader", "lzw.NewReader",
	"zstd.NewReader", "snappy.Decode", "snappy.NewReader", "s2.NewReader", "brotli.NewReader", "lz4.NewReader",
	"parquet.OpenFile", "parquet.NewReader", "thrift.NewDecoder", "excelize.OpenReader", "excelize.OpenFile", "sql.Open", "pem.Decode",
	"bufio.NewReader", "bufio.NewReaderSize", "bufio.NewScanner", "tar.NewReader",
}

// notProduct are folders whose programs read files of this repository or of a test alone.
var notProduct = []string{
	"api/generate", "client", "cluster", "cmd", "docs", "examples", "experiments", "internal/acceptance", "internal/cli/generate",
	"internal/lint", "internal/meter", "internal/randtest",
	"internal/reproduce", "lang", "node_modules", "table/tabletest", "web",
}

// found are the calls of readers by file and function of the product. A function that draws on a
// meter, or bounds a body, by itself is left out.
func found(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(path)
		if d.IsDir() {
			if slices.Contains(notProduct, name) || strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			at := name
			if f, ok := decl.(*ast.FuncDecl); ok {
				at += " " + f.Name.Name
			}
			calls, bounded := callsOf(decl)
			if !bounded && len(calls) > 0 {
				out[at] = append(out[at], calls...)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func callsOf(n ast.Node) (calls []string, bounded bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := s.X.(*ast.Ident)
		if !ok {
			return true
		}
		call := x.Name + "." + s.Sel.Name
		bounded = bounded || x.Name == "meter" && s.Sel.Name != "Refused" && s.Sel.Name != "Code" || x.Name == "yamlbound" ||
			call == "http.MaxBytesReader" || call == "plainfile.ReadFile"
		if slices.Contains(readers, call) && !slices.Contains(calls, call) {
			calls = append(calls, call)
		}
		return true
	})
	return calls, bounded
}

// Every reader of bytes that somebody else made draws on a meter, or is in the list with its reason.
func TestEveryReaderIsBounded(t *testing.T) {
	all := found(t)
	for _, at := range slices.Sorted(maps.Keys(all)) {
		reasons, ok := boundedReaders[at]
		if !ok {
			t.Errorf("%s calls %s: draw on package meter, or say in boundedReaders why it is bounded", at, strings.Join(all[at], ", "))
			continue
		}
		slices.Sort(all[at])
		if calls := strings.Join(all[at], " "); calls != reasons.calls {
			t.Errorf("%s calls %q, and the list says %q: is it bounded still?", at, calls, reasons.calls)
		}
	}
	for at := range boundedReaders {
		if all[at] == nil {
			t.Errorf("%s is in the list and reads nothing", at)
		}
	}
}

// The test sees a reader that draws on nothing, and one that does.
func TestReadersAreSeen(t *testing.T) {
	for body, want := range map[string]string{
		"b, _ := os.ReadFile(name); _ = b":              "[os.ReadFile] false",
		"b, _ := meter.ReadFile(name, 1); _ = b":        "[] true",
		"f, _ := os.Open(name); meter.ReadAll(f, 1, a)": "[os.Open] true",
		"z, _ := gzip.NewReader(f); io.ReadAll(z)":      "[gzip.NewReader io.ReadAll] false",
		"read := os.ReadFile; read(name)":               "[os.ReadFile] false",
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\nfunc f() { "+body+" }", parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		calls, bounded := callsOf(f)
		if got := fmt.Sprint(calls, " ", bounded); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}
