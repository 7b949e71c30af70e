package certificate

import (
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter/metertest"
)

func TestKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config", "noren", "key.pem")
	t.Setenv("NOREN_KEY", path)
	if got, err := KeyPath(); err != nil || got != path {
		t.Fatal(got, err)
	}
	if _, err := LoadKey(path); !errors.Is(err, os.ErrNotExist) || noren.KindOf(err) != noren.Usage {
		t.Fatalf("a missing key: %v", err)
	}
	var wg sync.WaitGroup
	keys := make([]ed25519.PrivateKey, 8)
	for i := range keys {
		wg.Go(func() {
			var err error
			if keys[i], err = LoadOrCreateKey(path); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, k := range keys[1:] {
		if !k.Equal(keys[0]) {
			t.Fatal("two processes made two keys")
		}
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 1 {
		t.Errorf("left behind: %v, %v", files, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		if info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v", info.Mode())
		}
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadOrCreateKey(path); noren.KindOf(err) != noren.Usage {
			t.Errorf("a key that others can read: %v", err)
		}
	}
	text, err := EncodePublicKey(public(keys[0]))
	if err != nil {
		t.Fatal(err)
	}
	if back, err := ParsePublicKey(text); err != nil || !back.Equal(public(keys[0])) {
		t.Error(err)
	}
	if _, err := ParsePublicKey(append(text, "more"...)); noren.KindOf(err) != noren.BadData {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("-----BEGIN NONSENSE-----"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadOrCreateKey(path); noren.KindOf(err) != noren.BadData {
		t.Errorf("a broken key must not be replaced: %v", err)
	}
}

func FuzzParsePublicKey(f *testing.F) {
	text, err := EncodePublicKey(public(testKey(1)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, data []byte) {
		metertest.Hold(t, len(data))
		key, err := ParsePublicKey(data)
		if err == nil && len(key) != ed25519.PublicKeySize {
			t.Fatal("a key of another size")
		}
	})
}

// An empty file is no key, and the error says how it may have come there.
func TestEmptyKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadOrCreateKey(path); err == nil || !strings.Contains(err.Error(), "remove the file") {
		t.Errorf("got %v", err)
	}
}
