package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	b, err := fs.ReadFile(files, name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The page runs under a policy without inline scripts and styles, and asks for
// nothing beyond its origin.
func TestIndexHasNothingInline(t *testing.T) {
	page := string(read(t, "index.html"))
	if regexp.MustCompile(`<style|<script[^>]*>[^<]|\son\w+=|\sstyle=|https?://`).MatchString(page) {
		t.Errorf("index.html has an inline script, an inline style or a foreign address:\n%s", page)
	}
	for _, found := range regexp.MustCompile(`(?:src|href)="/([^"]+)"`).FindAllStringSubmatch(page, -1) {
		read(t, found[1])
	}
}

// The saved page allows its own script and style by their hashes, and no request.
func TestCheckPageAllowsOnlyItself(t *testing.T) {
	page := string(read(t, "check.html"))
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]+)"`).FindStringSubmatch(page)
	if policy == nil || !strings.HasPrefix(policy[1], "default-src 'none';") || strings.Contains(policy[1], "connect-src") {
		t.Fatalf("check.html has the policy %q", policy)
	}
	for _, tag := range []string{"script", "style"} {
		body := regexp.MustCompile(`(?s)<`+tag+`>(.*?)</`+tag+`>`).FindAllStringSubmatch(page, -1)
		if len(body) != 1 {
			t.Fatalf("check.html has %d elements %s, expected 1", len(body), tag)
		}
		sum := sha256.Sum256([]byte(body[0][1]))
		if want := tag + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy[1], want) {
			t.Errorf("the policy of check.html does not allow its %s", tag)
		}
	}
}

// Every file has its compressed copies, and nothing else is embedded.
func TestCompressedCopies(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	plain := 0
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if base, ok := strings.CutSuffix(name, ".gz"); ok {
			r, err := gzip.NewReader(bytes.NewReader(read(t, name)))
			if err != nil {
				return err
			}
			got, err := io.ReadAll(r)
			if err != nil {
				return err
			}
			if !bytes.Equal(got, read(t, base)) {
				t.Errorf("%s is not %s compressed", name, base)
			}
			return nil
		}
		if base, ok := strings.CutSuffix(name, ".br"); ok {
			read(t, base)
			return nil
		}
		plain++
		read(t, name+".gz")
		read(t, name+".br")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if plain < 10 {
		t.Errorf("expected the page and its chunks, got %d files", plain)
	}
}
