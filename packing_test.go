package noren_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// A release packs the manual pages and completions from where they are generated.
func TestReleasePacksManual(t *testing.T) {
	text, err := os.ReadFile(".goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var release struct {
		Before   struct{ Hooks []string }
		Builds   []struct{ Main string }
		Archives []struct{ Files []string }
	}
	if err := yaml.Unmarshal(text, &release); err != nil {
		t.Fatal(err)
	}
	dir := ""
	for _, hook := range release.Before.Hooks {
		if rest, ok := strings.CutPrefix(hook, "go run ./internal/cli/generate "); ok {
			dir = rest
		}
	}
	if dir == "" {
		t.Fatal("no hook runs this command")
	}
	ignored, err := os.ReadFile(".gitignore")
	if err != nil {
		t.Fatal(err)
	}
	top, _, _ := strings.Cut(dir, "/")
	if !strings.Contains("\n"+string(ignored), "\n/"+top+"/\n") {
		t.Errorf("/%s/ is not ignored: a release is made from a clean checkout", top)
	}
	packed := false
	for _, a := range release.Archives {
		for _, pattern := range a.Files {
			packed = packed || pattern == dir+"/**/*"
			if files, err := filepath.Glob(pattern); err != nil || len(files) == 0 && !strings.HasPrefix(pattern, dir) {
				t.Errorf("%s is packed and matches no file (%v)", pattern, err)
			}
		}
	}
	if !packed {
		t.Errorf("no archive has %s/**/*", dir)
	}
	for _, b := range release.Builds {
		if _, err := os.Stat(filepath.Join(b.Main, "main.go")); err != nil {
			t.Error(err)
		}
	}
}
