package cli

import (
	"errors"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon"
)

func TestMemoryFlag(t *testing.T) {
	for text, want := range map[string]int64{
		"": kanon.DefaultMemory, "2GB": 2e9, "2gb": 2e9, "512MiB": 512 << 20, "1.5GiB": 3 << 29, " 100 MB ": 1e8, "64MiB": 64 << 20,
		"70000kB": 7e7, "70000KiB": 70000 << 10, "1TB": 1e12, "1TiB": 1 << 40,
	} {
		if got, err := memoryFlag(text); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"2", "2G", "GB", "-2GB", "0GB", "NaNGB", "InfGB", "1e30GB", "2 G B", "two GB", "2GB!", "1kB", "63MiB",
		"0x2p9GB0",
	} {
		_, err := memoryFlag(text)
		var e *noren.Error
		if !errors.As(err, &e) || e.Kind != noren.Usage || e.Place() != "--memory" {
			t.Errorf("%q: %v", text, err)
		}
	}
}
