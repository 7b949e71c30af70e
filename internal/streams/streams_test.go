package streams

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// makers are the functions that begin a stream, by the path of their package.
var makers = map[string][]string{
	"crypto/hmac":                  {"New"},
	"crypto/hkdf":                  {"Key", "Extract", "Expand"},
	"crypto/rand":                  {"Read", "Reader", "Int", "Text", "Prime"},
	"crypto/cipher":                {"NewCTR", "NewOFB", "NewGCM"},
	"hash/maphash":                 {"MakeSeed", "Comparable"},
	"math/rand":                    nil, // every function
	"math/rand/v2":                 nil,
	"golang.org/x/crypto/chacha20": nil,
	"github.com/noren-privacy/noren/internal/entropy": {"Seeded", "FromReader", "Secret"},
	"github.com/noren-privacy/noren/noise":            {"NewSource"},
	"github.com/noren-privacy/noren/ratio/redraw":     {"New"},
	"github.com/noren-privacy/noren/table/shuffle":    {"Keyed", "Permutation"},
	"github.com/noren-privacy/noren/table/pseudonym":  {"New", "NewKey"},
}

// constants are those of generators that are written out (SplitMix64, PCG, FNV is no
// generator).
var constants = []uint64{0x9e3779b97f4a7c15, 6364136223846793005}

// hashes are functions by which a secret or a seed may be turned into a stream, where the
// function has one.
var hashes = regexp.MustCompile(`^(Sum256|Sum512|New)$`)

// secrets are names of secrets and seeds.
var secrets = regexp.MustCompile(`(?i)secret|seed$|^salt$`)

// left are folders without streams of the program: papers, examples and tests.
var left = map[string]bool{
	"experiments": true, "examples": true, "internal/randtest": true, "internal/acceptance": true,
	"node_modules": true, "testdata": true, "dist": true,
}

// found are the places in the sources where a stream begins: "file: function: maker".
func found(t *testing.T, root string) map[string]bool {
	t.Helper()
	places := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if name != "." && (left[name] || left[d.Name()] || len(d.Name()) > 1 && d.Name()[0] == '.') {
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
		inFile(file, func(function, maker string) { places[name+": "+function+": "+maker] = true })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return places
}

// inFile reports the streams that a file begins.
func inFile(file *ast.File, report func(function, maker string)) {
	packages := map[string]string{} // path by name
	for _, i := range file.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		name := strings.TrimSuffix(path, "/v2")
		name = name[strings.LastIndex(name, "/")+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		packages[name] = path
	}
	for _, decl := range file.Decls {
		function := "var"
		if f, ok := decl.(*ast.FuncDecl); ok {
			function = f.Name.Name
			if f.Recv != nil && len(f.Recv.List) == 1 {
				function = receiver(f.Recv.List[0].Type) + "." + function
			}
		}
		hashed, secret := false, false
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				secret = secret || secrets.MatchString(n.Name)
				if n.Name == "newPRF" && function != "newPRF" {
					report(function, "newPRF")
				}
			case *ast.BasicLit:
				if v, err := strconv.ParseUint(n.Value, 0, 64); err == nil && slices.Contains(constants, v) {
					report(function, "SplitMix64")
				}
			case *ast.CallExpr: // of a hash, which HMAC and HKDF get as a value, or for a purpose
				if p := purpose(n, packages); p != "" {
					report(function, "purpose "+p)
				}
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && hashes.MatchString(f.Sel.Name) {
					x, _ := f.X.(*ast.Ident)
					hashed = hashed || x != nil && (packages[x.Name] == "crypto/sha256" || packages[x.Name] == "crypto/sha512")
				}
			case *ast.SelectorExpr:
				secret = secret || n.Sel.Name == "key"
				x, ok := n.X.(*ast.Ident)
				if !ok {
					return true
				}
				path := packages[x.Name]
				if names, ok := makers[path]; ok && (names == nil && ast.IsExported(n.Sel.Name) && !isType(n.Sel.Name) ||
					slices.Contains(names, n.Sel.Name)) {
					report(function, strings.TrimSuffix(path, "/v2")[strings.LastIndex(strings.TrimSuffix(path, "/v2"), "/")+1:]+"."+n.Sel.Name)
				}
			}
			return true
		})
		if hashed && secret {
			report(function, "sha256 of a secret")
		}
	}
}

// derivers are names of functions that derive a key for a purpose.
var derivers = regexp.MustCompile(`^([Dd]erived?|Key)$`)

// purpose is the constant for which a call derives a key, quoted; empty for other calls.
func purpose(c *ast.CallExpr, packages map[string]string) string {
	if len(c.Args) == 0 {
		return ""
	}
	text, ok := c.Args[0].(*ast.BasicLit)
	if !ok || text.Kind != token.STRING {
		return ""
	}
	switch f := c.Fun.(type) {
	case *ast.Ident:
		if derivers.MatchString(f.Name) {
			return text.Value
		}
	case *ast.SelectorExpr:
		x, _ := f.X.(*ast.Ident)
		if derivers.MatchString(f.Sel.Name) && (x == nil || packages[x.Name] == "") {
			return text.Value
		}
	}
	return ""
}

// isType tells whether a name of math/rand is a type.
func isType(name string) bool {
	return slices.Contains([]string{"Rand", "Source", "PCG", "ChaCha8", "Zipf"}, name)
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

const root = "../.."

// Every place that begins a stream is listed, with a reason, and every listed place is
// there.
func TestEveryStreamIsListed(t *testing.T) {
	places := found(t, root)
	maps.Copy(places, foundInClients(t))
	listed := map[string]bool{}
	for _, s := range All() {
		if s.Purpose == "" || s.Key == "" || s.Message == "" || s.Once == "" || len(s.Places) == 0 ||
			!slices.Contains([]Kind{Secret, Fresh, Print, Public}, s.Kind) {
			t.Errorf("%+v: expected a kind, a purpose, a key, a message, a reason and places", s)
		}
		for _, p := range s.Places {
			listed[p] = true
			if !places[p] {
				t.Errorf("%s: no stream begins there", p)
			}
		}
	}
	for _, p := range slices.Sorted(maps.Keys(places)) {
		if !listed[p] {
			t.Errorf("%s: begins a stream that is not listed in All: say what it is for, its key and message, and why no two uses share it", p)
		}
	}
}

// Streams under one key have labels of which none begins another, and each label is in the
// sources of its stream.
func TestLabelsUnderOneKeyDiffer(t *testing.T) {
	type label struct{ key, text string }
	var labels []label
	for _, s := range All() {
		var sources strings.Builder
		for _, p := range s.Places {
			file, _, _ := strings.Cut(p, ": ")
			text, err := os.ReadFile(filepath.Join(root, file))
			if err != nil {
				t.Fatal(err)
			}
			sources.Write(text)
		}
		for _, l := range s.Labels {
			// A key that is derived by HKDF has its label as info, and another is the same secret.
			key, _, _ := strings.Cut(s.Key, ",")
			labels = append(labels, label{key, l})
			text := strings.TrimRight(strings.ReplaceAll(l, "\x00", ""), " ")
			text = strings.TrimSuffix(strings.TrimSuffix(text, "grr"), "oue") // the mechanism is a variable
			if !strings.Contains(sources.String(), text) && !inSources(t, text) {
				t.Errorf("%q: is in no source of %q", l, s.Purpose)
			}
		}
	}
	for i, a := range labels {
		for _, b := range labels[i+1:] {
			if a.key == b.key && (strings.HasPrefix(a.text, b.text) || strings.HasPrefix(b.text, a.text)) && !severed[[2]string{a.text, b.text}] {
				t.Errorf("%s: the labels %q and %q begin each other", a.key, a.text, b.text)
			}
		}
	}
}

// severed are pairs of labels of which one begins the other and that no message has in
// common, for the reason that All states.
var severed = map[[2]string]bool{
	{"noren/kanon/order/2/insecure\x00", "noren/kanon/"}: true, // the uses are order/2 and search, with NUL
	{"noren ldp cohort 2 ", "noren ldp cohort"}:          true, // of HKDF: info there, salt here
}

// inSources tells whether a text is in a Go source of the program.
func inSources(t *testing.T, text string) bool {
	t.Helper()
	in := false
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || in {
			return err
		}
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		if d.IsDir() && name != "." && (left[name] || left[d.Name()] || d.Name()[0] == '.' || name == "internal/streams") {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			source, err := os.ReadFile(path)
			in = in || strings.Contains(string(source), strconv.Quote(text)) || strings.Contains(string(source), `"`+text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// clientMakers begin streams in the TypeScript client.
var clientMakers = regexp.MustCompile(
	`subtle\.(sign|deriveBits|deriveKey|encrypt)|getRandomValues\(|Math\.random|this\.mac\(|firstSecret = `)

// definition is the name of a function, a class or a constant at the beginning of a line.
var definition = regexp.MustCompile(`^(?:export )?(?:async )?(?:function|class|const) (\w+)`)

// foundInClients are the places of the TypeScript client, by the function or class.
func foundInClients(t *testing.T) map[string]bool {
	t.Helper()
	places := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(root, "client/ldp-ts/src/*.ts"))
	if err != nil || len(files) == 0 {
		t.Fatal("no client", err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		in := ""
		for line := range strings.Lines(string(text)) {
			if m := definition.FindStringSubmatch(line); m != nil {
				in = m[1]
			}
			if code, _, _ := strings.Cut(line, "//"); clientMakers.MatchString(code) && !strings.HasPrefix(strings.TrimSpace(code), "*") {
				places["client/ldp-ts/src/"+filepath.Base(path)+": "+in] = true
			}
		}
	}
	return places
}

// The finder finds: each maker in a source of its own.
func TestFinder(t *testing.T) {
	for source, want := range map[string]string{
		`import "crypto/hmac"; func (k *Key[T]) f() { hmac.New(nil, nil) }`:                 "Key.f hmac.New",
		`import m "crypto/hmac"; var x = m.New`:                                             "var hmac.New",
		`import "math/rand/v2"; func f() { go func() { rand.IntN(3) }() }`:                  "f rand.IntN",
		`import "math/rand/v2"; func f(r *rand.Rand) {}`:                                    "",
		`import "crypto/sha256"; func f(secret []byte) { sha256.Sum256(secret) }`:           "f sha256 of a secret",
		`import "crypto/sha256"; func f(o *O) { h := sha256.New(); h.Write(o.SecretSeed) }`: "f sha256 of a secret",
		`import "crypto/sha256"; func f(text []byte) { sha256.Sum256(text) }`:               "",
		`func next(s uint64) uint64 { return s + 0x9e3779b97f4a7c15 }`:                      "next SplitMix64",
		`import "github.com/noren-privacy/noren/noise"; func f() { noise.NewSource() }`:     "f noise.NewSource",
		`func f(l *Ledger) { l.Key("a") }`:                                                  "f purpose \"a\"",
		`import "lang"; func f() { lang.Key("a") }`:                                         "",
		`func f(derive func(string) []byte) { derive("a") }`:                                "f purpose \"a\"",
		`import "crypto/rand"; func f() { rand.Read(nil) }`:                                 "f rand.Read",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x; "+source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(source, err)
		}
		var got []string
		inFile(file, func(function, maker string) { got = append(got, function+" "+maker) })
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: found %q, want %q", source, got, want)
		}
	}
}

// docs/threat-model.md has the table.
func TestTheTableIsInTheThreatModel(t *testing.T) {
	path := filepath.Join(root, "docs/threat-model.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- streams -->\n", "<!-- end of streams -->\n"
	before, rest, ok := bytes.Cut(text, []byte(begin))
	_, after, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		t.Fatal("the marks of the table are missing")
	}
	want := slices.Concat(before, []byte(begin), []byte(Markdown()), []byte(end), after)
	if bytes.Equal(text, want) {
		return
	}
	if os.Getenv("NOREN_RENEW") == "1" {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("the table of streams is another: NOREN_RENEW=1 go test ./internal/streams writes it")
}
