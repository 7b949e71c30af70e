package tables

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/internal/server/apart"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/table/file"
)

// Packed files that hold more than the limit are refused, and no others.
func TestUnpacks(t *testing.T) {
	pack := map[string]func([]byte) []byte{
		".gz": func(data []byte) []byte {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			_, _ = w.Write(data)
			_ = w.Close()
			return b.Bytes()
		},
		".zst": func(data []byte) []byte {
			w, err := zstd.NewWriter(nil)
			if err != nil {
				t.Fatal(err)
			}
			return w.EncodeAll(data, nil)
		},
	}
	for ending, packed := range pack {
		path := filepath.Join(t.TempDir(), "bomb.csv"+ending)
		if err := os.WriteFile(path, packed(make([]byte, 8<<20)), 0o600); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() > 1<<16 {
			t.Fatalf("%s: the bomb is not small: %v", ending, err)
		}
		limited := func(most int64) *Tables { return &Tables{config: Config{Apart: &apart.Runner{}, MostBytes: most}} }
		var p *problem.Problem
		if err := limited(8<<20-1).unpacks(t.Context(), path, nil); !errors.As(err, &p) || p.Code != "too-large" {
			t.Errorf("%s: %v", ending, err)
		}
		if err := limited(8<<20).unpacks(t.Context(), path, nil); err != nil {
			t.Errorf("%s: exactly the limit: %v", ending, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := limited(8<<20).unpacks(ctx, path, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled: %v", ending, err)
		}
	}
}

// Whatever a file is called, its copy has a plain name: no folder, no pattern, no database
// and no worksheet, and the form that its ending tells.
func TestFileNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z:*?/\\. $;-]{0,20}`)).Draw(t, "name") + rapid.SampledFrom(endings).
			Draw(t, "ending")
		got, err := fileName(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(got, `/\:*?[]'"$;&|<>() `) || strings.HasPrefix(got, ".") || strings.HasPrefix(got, "-") || len(got) > 100 {
			t.Fatalf("%q becomes %q", name, got)
		}
		if file.IsDatabase(got) || file.IsParts(got) {
			t.Fatalf("%q is no file", got)
		}
	})
	for _, name := range []string{"", "visits", "visits.exe", "visits.xlsm", ".gz", "visits.sqlite"} {
		if got, err := fileName(name); err == nil {
			t.Errorf("%q becomes %q", name, got)
		}
	}
}

func FuzzInside(f *testing.F) {
	for _, path := range []string{"a/b.csv", "../a", "/etc", "a/../../b", "a\\b", ".", ""} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		metertest.Hold(t, len(path))
		if at, ok := inside(path); ok && (filepath.IsAbs(at) || !filepath.IsLocal(filepath.FromSlash(at))) {
			t.Errorf("%q leads to %q", path, at)
		}
	})
}
