package ledger

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A full disk refuses charges, whichever write it is that fails, and seals nothing: with free
// space the same ledger goes on, its chain is sound, and what was refused was not charged.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("noren", disk, "tmpfs", 0, "size=4m,mode=0700"); err != nil {
		t.Skip("no file system can be mounted here")
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	ctx := context.Background()
	f := &fixture{dir: disk, path: filepath.Join(disk, "noren.db"), file: filepath.Join(disk, "data.csv")}
	write(t, f.file, firstTable)
	if err := Create(ctx, f.path); err != nil {
		t.Fatal(err)
	}
	l := f.open(t)
	if _, err := l.Grant(ctx, pinned(t, "adult", f.file, Cost{Epsilon: 100 * one})); err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(disk, "filler")
	asked, refused := 0, 0
	// Each round leaves a little more space, so that another write is the first that fails.
	for left := int64(0); left < 40<<12; left += 2 << 12 {
		var stat syscall.Statfs_t
		if err := syscall.Statfs(disk, &stat); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filler, make([]byte, max(0, int64(stat.Bavail)*stat.Bsize-left)), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 40 {
			asked++
			if _, err := ask(ctx, l, request(asked, Cost{Epsilon: one / 100}), answer(asked)); err != nil {
				refused++
				break
			}
		}
		if err := l.Sealed(); err != nil {
			t.Fatalf("%d bytes left: the full disk sealed the ledger: %v", left, err)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		asked++
		if _, err := ask(ctx, l, request(asked, Cost{Epsilon: one / 100}), answer(asked)); err != nil {
			t.Fatalf("%d bytes were left: with free space: %v", left, err)
		}
		if err := l.Sealed(); err != nil {
			t.Fatal(err)
		}
	}
	if refused == 0 {
		t.Error("the disk was never full")
	}
	verifyClean(t, l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.open(t).Sealed(); err != nil {
		t.Error(err)
	}
	t.Log(fmt.Sprint(refused, " of ", asked, " refused"))
}
