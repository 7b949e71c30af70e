package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ldp/survey"
)

// Files that are counted apart name their specification: text in a line, binary reports in
// a file beside. Another one is refused, and the sum names it where every file does.
func TestWorkerLDPCountChecksTheSpecification(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	f, p, q := 0.1, 0.2, 0.8
	spec := survey.Spec{Version: 1, Question: "page", Mechanism: "rappor", K: 8, H: 1, M: 2, P: &p, Q: &q, F: &f}
	s, err := survey.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	spec.F = &p
	other, err := survey.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	const reports, binary = "0,00000001\n1,10000001\n", "\x01\x00\x00\x00\x03\x00\x00\x00"
	tied := file("tied.txt", s.Header()+"\n"+reports)
	foreign := file("foreign.txt", other.Header()+"\n"+reports)
	plain := file("plain.txt", reports)
	packed := file("packed.bin", binary)
	file("packed.bin.spec", s.Header()+"\n")
	loose := file("loose.bin", binary)
	wrong := file("wrong.bin", binary)
	file("wrong.bin.spec", other.Header()+"\n")
	flags := []string{"--mechanism", "rappor", "--rappor", "k=8,h=1,m=2,p=0.2,q=0.8,f=0.1"}
	count := func(path string, more ...string) (int, []byte, string) {
		return runNoren(t, strings.NewReader(""), append(append([]string{"worker", "ldp-count", path}, flags...), more...)...)
	}
	for _, refused := range [][]string{{foreign}, {wrong, "--binary"}} {
		if code, _, stderr := count(refused[0], refused[1:]...); code != 3 || !strings.Contains(stderr, "another specification") {
			t.Errorf("%s: exit code %d: %s", refused[0], code, stderr)
		}
	}
	for name, c := range map[string]struct {
		files   [][]string
		without int64
	}{
		"all tied":     {[][]string{{tied}, {packed, "--binary"}}, 0},
		"one untied":   {[][]string{{tied}, {plain}}, 1},
		"binary alone": {[][]string{{tied}, {loose, "--binary"}}, 1},
	} {
		var frames [][]byte
		for _, args := range c.files {
			code, out, stderr := count(args[0], args[1:]...)
			if code != 0 {
				t.Fatal(name, stderr)
			}
			frames = append(frames, allFrames(t, out)...)
		}
		counts := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".csv")
		code, out, stderr := runNoren(t, framed(t, frames), append([]string{"worker", "ldp-sum", "-o", counts}, flags...)...)
		if code != 0 {
			t.Fatal(name, stderr)
		}
		var summary api.LDPCounted
		if err := json.Unmarshal(allFrames(t, out)[0], &summary); err != nil || summary.Without != c.without || summary.Files != 2 {
			t.Errorf("%s: %+v, %v", name, summary, err)
		}
		text, err := os.ReadFile(counts)
		if err != nil || strings.HasPrefix(string(text), s.Header()) != (c.without == 0) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
}
