package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// A release packs what this command writes, from where it writes it.
func TestReleasePacksManual(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	text, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
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
	ignored, err := os.ReadFile(filepath.Join(root, ".gitignore"))
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
			if files, err := filepath.Glob(filepath.Join(root, pattern)); err != nil || len(files) == 0 && !strings.HasPrefix(pattern, dir) {
				t.Errorf("%s is packed and matches no file (%v)", pattern, err)
			}
		}
	}
	if !packed {
		t.Errorf("no archive has %s/**/*", dir)
	}
	for _, b := range release.Builds {
		if _, err := os.Stat(filepath.Join(root, b.Main, "main.go")); err != nil {
			t.Error(err)
		}
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	if err := run(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"man/noren.1", "man/noren-query-count.1", "completions/noren.bash", "completions/_noren"} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(file); err == nil {
		t.Error("a file was taken for the folder")
	}
}
