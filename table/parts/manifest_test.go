package parts_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/table/parts"
)

func TestManifestForm(t *testing.T) {
	sum := strings.Repeat("a", 64)
	file := func(name, rest string) string { return `{"name":"` + name + `","size":1,"rows":1,` + rest + `}` }
	of := func(rows string, files ...string) string {
		return `{"format":"noren.parts/1","rows":` + rows + `,"files":[` + strings.Join(files, ",") + `]}`
	}
	good := file("1.csv", `"sha256":"`+sum+`"`)
	for name, c := range map[string]struct {
		text, want string
		kind       noren.Kind
	}{
		"missing file": {of("1", good), "1.csv: the manifest states this file, and it is missing", noren.NotMet},
		"no JSON":      {"x", "expected a manifest in JSON", noren.BadData},
		"more":         {of("0") + "{}", "expected one JSON object", noren.BadData},
		"field":        {`{"format":"noren.parts/1","more":1}`, "expected a manifest in JSON", noren.BadData},
		"format":       {`{"format":"noren.parts/2"}`, "expected the format noren.parts/1", noren.BadData},
		"outside":      {of("1", file("../1.csv", `"sha256":"`+sum+`"`)), "file 1: expected the name of a table file", noren.BadData},
		"hidden":       {of("1", file("_1.csv", `"sha256":"`+sum+`"`)), "file 1: expected the name of a table file", noren.BadData},
		"twice":        {of("2", good, good), "file 2: its name occurs twice", noren.BadData},
		"hash":         {of("1", file("1.csv", `"sha256":"aa"`)), "file 1: expected a size", noren.BadData},
		"sum":          {of("2", good), "do not add up", noren.BadData},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, map[string]string{parts.ManifestName: c.text, "0.csv": "a\n"})
			if name == "missing file" {
				write(t, dir, map[string]string{parts.ManifestName: strings.Replace(of("1", good, file("0.csv", `"sha256":"`+sum+`"`)),
					`"rows":1,"files"`, `"rows":2,"files"`, 1)})
				sumOf(t, dir)
			}
			err := parts.CheckManifest(t.Context(), dir)
			if err == nil || !strings.Contains(err.Error(), c.want) || noren.KindOf(err) != c.kind {
				t.Errorf("got %v (kind %v), want %q (kind %v)", err, noren.KindOf(err), c.want, c.kind)
			}
		})
	}
	if err := parts.CheckManifest(t.Context(), t.TempDir()); noren.KindOf(err) != noren.Usage {
		t.Errorf("without a manifest: %v", err)
	}
}

// sumOf makes the file 0.csv of dir the one that its manifest states.
func sumOf(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, parts.ManifestName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// SHA-256 of "a\n", as sha256sum prints it.
	const hash = "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"
	at := strings.Index(string(text), `"0.csv"`)
	rest := strings.Replace(strings.Replace(string(text[at:]), strings.Repeat("a", 64), hash, 1), `"size":1`, `"size":2`, 1)
	write(t, dir, map[string]string{parts.ManifestName: string(text[:at]) + rest})
}

func FuzzManifest(f *testing.F) {
	f.Add(`{"format":"noren.parts/1","rows":0,"files":[]}`)
	f.Fuzz(func(t *testing.T, text string) {
		metertest.Hold(t, len(text))
		dir := t.TempDir()
		write(t, dir, map[string]string{parts.ManifestName: text, "1.csv": "a\n"})
		if parts.CheckManifest(t.Context(), dir) == nil {
			t.Error("a manifest that states no file passed")
		}
	})
}
