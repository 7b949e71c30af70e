package shard_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/kanon/shard"
)

// Files in the folder of a job that state much in few bytes, or are longer than they can be, are
// refused before they are decoded.
func TestHostileFilesOfJobs(t *testing.T) {
	dir := t.TempDir()
	many := `{"protocol":1,"build":"b","shards":[{}` + strings.Repeat(",{}", 3<<19) + "]}"
	for _, c := range []struct {
		name, text string
		size       int64
		open       func() error
	}{
		{"job", many, 0, func() error { _, err := shard.Open(dir, "b"); return err }},
		{"job", "{}", 3 << 30, func() error { _, err := shard.Open(dir, "b"); return err }},
		{"verify", many, 0, func() error { _, err := shard.OpenVerification(dir, "b"); return err }},
		{"verify", "{}", 3 << 30, func() error { _, err := shard.OpenVerification(dir, "b"); return err }},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if c.size > 0 {
			if err := os.Truncate(path, c.size); err != nil {
				t.Fatal(err)
			}
		}
		most := metertest.Peak(t, func() {
			if err := c.open(); noren.CodeOf(err) != meter.Code {
				t.Errorf("%s of %d bytes: %v", c.name, c.size, err)
			}
		})
		if most > meter.DefaultHeld {
			t.Errorf("%s of %d bytes: took %d MB", c.name, c.size, most/1e6)
		}
	}
}
