package tempfile

import (
	"crypto/sha256"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/noren-privacy/noren/internal/meter"
)

// A lock of a process on another host may be unknown here: not every shared file system tells
// of it. So a name has two marks of its host, and a file of another host stays until it has
// not been changed for [foreign]. One mark is of the machine and stays when it starts anew; the
// other one is of its start, which containers with names of their own have in common.
const (
	foreign  = 7 * 24 * time.Hour
	markSize = 6
	longest  = 4096 // of what tells hosts apart
)

// unknown is a mark where nothing tells a host from others.
const unknown = "000000"

// marks are those of this host.
var marks = sync.OnceValue(func() [2]string {
	name, _ := os.Hostname()
	machine, _ := meter.ReadFile("/etc/machine-id", longest)
	if name == "localhost" && len(machine) == 0 {
		name = ""
	}
	start, _ := meter.ReadFile("/proc/sys/kernel/random/boot_id", longest)
	return [2]string{mark(name + "\x00" + string(machine)), mark("start\x00" + string(start))}
})

func mark(of string) string {
	if of == "\x00" || of == "start\x00" {
		return unknown
	}
	sum := sha256.Sum256([]byte("noren temporary file 1\x00" + of))
	text := new(big.Int).SetBytes(sum[:8]).Text(36)
	return (strings.Repeat("0", markSize) + text)[len(text):]
}

// own reports whether a temporary name is of this host.
func own(name string) bool {
	text := strings.TrimPrefix(name, prefix)
	if len(text) < 2*markSize+1 || text[2*markSize] != '-' {
		return false
	}
	for i, m := range marks() {
		if m != unknown && text[i*markSize:][:markSize] == m {
			return true
		}
	}
	return false
}

// changedWithin reports whether a file, or something in a folder, was changed in that time, or
// cannot be looked at.
func changedWithin(path string, d time.Duration) bool {
	young := false
	err := filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && time.Since(info.ModTime()) < d {
			young = true
			return fs.SkipAll
		}
		return err
	})
	return young || err != nil
}
