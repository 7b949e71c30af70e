package shard_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon/shard"
	"github.com/noren-privacy/noren/table/parts"
)

// errFails is what uses of the file system fail with below.
var errFails = errors.New("input/output error of the test")

// failures are the ways in which uses of the file system fail, from the one of a number on.
var failures = map[string]func(n, at int, looks bool, do func() error) error{
	"once": func(n, at int, _ bool, do func() error) error {
		if n == at {
			return errFails
		}
		return do()
	},
	"once, although it was done": func(n, at int, _ bool, do func() error) error {
		err := do()
		if n == at {
			return errFails
		}
		return err
	},
	"all": func(n, at int, _ bool, do func() error) error {
		if n >= at {
			return errFails
		}
		return do()
	},
	"all changes": func(n, at int, looks bool, do func() error) error {
		if n >= at && !looks {
			return &fs.PathError{Op: "rename", Path: "x", Err: errFails}
		}
		return do()
	},
}

// Uses of the file system by a commit fail, once or from there on. A reader never sees a part
// of a release, the old release or the new one is whole, and the next job goes on.
func TestFailedCommits(t *testing.T) {
	randtest.SkipShort(t)
	failAll(t, 5)
}

// TestLongFailedCommits has each use fail.
func TestLongFailedCommits(t *testing.T) {
	randtest.Long(t)
	failAll(t, 1)
}

func failAll(t *testing.T, stride int) {
	t.Helper()
	first := 0
	for _, within := range []bool{false, true} {
		for _, force := range []bool{false, true} {
			k := newKillable(t, small(t, 5), within, force)
			for _, way := range slices.Sorted(maps.Keys(failures)) {
				t.Run(fmt.Sprintf("within=%t,force=%t,%s", within, force, way), func(t *testing.T) {
					stride := stride
					if way == "once, although it was done" {
						stride = 1 // one use alone tells what became of it
					}
					at := first % stride
					for first++; ; at += stride {
						copyTree(t, k.kept, k.root)
						if n := k.failing(t, way, at, failures[way]); n <= at {
							break
						}
						if t.Failed() {
							t.Fatalf("use %d failed", at)
						}
					}
					if at < 20 {
						t.Errorf("%d uses", at)
					}
				})
			}
		}
	}
}

// What is in the place of the release, or where the job lies, is another thing than when the job
// began: the old release is whole, wherever it is, or the new one is in its place.
func TestChangedPlaces(t *testing.T) {
	randtest.SkipShort(t)
	for name, c := range map[string]struct {
		change func(t *testing.T, k *killable) error
		shown  bool   // the new release is
		at     string // where the old one is, beside the folder of the release; nowhere where empty
		words  string // of the error
	}{
		"the folder is gone": {change: func(_ *testing.T, k *killable) error { return os.RemoveAll(k.Folder) }, shown: true},
		"the folder is a link": {change: func(_ *testing.T, k *killable) error {
			return errors.Join(os.Rename(k.Folder, filepath.Join(k.root, "elsewhere")), os.Symlink("elsewhere", k.Folder))
		}, shown: true, at: "elsewhere"},
		"the folder is a link to nothing": {change: func(_ *testing.T, k *killable) error {
			return errors.Join(os.Rename(k.Folder, filepath.Join(k.root, "elsewhere")), os.Symlink("nothing", k.Folder))
		}, at: "elsewhere", words: "all is as it was"},
		"the folder is a file": {change: func(_ *testing.T, k *killable) error {
			return errors.Join(os.Rename(k.Folder, filepath.Join(k.root, "elsewhere")), os.WriteFile(k.Folder, nil, 0o600))
		}, at: "elsewhere", words: "expected a folder"},
		"the folder holds what is not ours": {change: func(_ *testing.T, k *killable) error {
			return os.WriteFile(filepath.Join(k.Folder, "notes.txt"), nil, 0o600)
		}, at: "out 一", words: "is not replaced"},
		"the job is on another file system": {change: func(t *testing.T, k *killable) error {
			dir, err := os.MkdirTemp("/dev/shm", "noren-test")
			if err != nil {
				t.Skip("no second file system here")
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			if os.Link(filepath.Join(k.dir, "job"), filepath.Join(dir, "job")) == nil {
				t.Skip("the same file system")
			}
			copyTree(t, k.dir, dir)
			k.dir = dir
			return nil
		}, at: "out 一", words: "all is as it was"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKillable(t, small(t, 5), false, true)
			if err := c.change(t, k); err != nil {
				t.Fatal(err)
			}
			_, err := commitStored(t.Context(), k.Job, k.dir)
			if (err == nil) != c.shown || err != nil && !strings.Contains(err.Error(), c.words) {
				t.Errorf("%v", err)
			}
			_ = os.Remove(filepath.Join(k.Folder, "notes.txt")) // which is no part of a release
			if shown := digestOf(t, k.Folder); c.shown && (shown == "" || shown == k.old) {
				t.Errorf("the release shown is %q", shown)
			}
			if c.at != "" && digestOf(t, filepath.Join(k.root, c.at)) != k.old {
				t.Error("the old release is not whole")
			}
			if text, err := os.ReadFile(k.Certificate); err != nil || !c.shown && !strings.Contains(string(text), k.old) {
				t.Errorf("the certificate: %q, %v", text, err)
			}
		})
	}
}

// Somebody removes what a killed commit has made, and not its record: the old release is put
// back, and is not taken for one that was replaced.
func TestRemovedAfterAKill(t *testing.T) {
	randtest.SkipShort(t)
	for _, within := range []bool{false, true} {
		k := newKillable(t, small(t, 5), within, true)
		for steps := 0; ; steps++ {
			copyTree(t, k.kept, k.root)
			if !k.process(t, "commit", steps) {
				t.Fatal("the old release is never away")
			}
			if _, err := os.Lstat(filepath.Join(k.dir, "old", parts.ManifestName)); err == nil {
				break
			}
		}
		if err := os.RemoveAll(filepath.Join(k.dir, "release")); err != nil {
			t.Fatal(err)
		}
		k.afterwards(t, rand.New(rand.NewPCG(5, 6)), false)
		if shown := digestOf(t, k.Folder); shown != k.old {
			t.Errorf("within=%t: the release is %q, want the old one", within, shown)
		}
	}
}

// failing commits where one use of the file system fails, and returns how many there were.
func (k *killable) failing(t *testing.T, way string, at int, fails func(n, at int, looks bool, do func() error) error) int {
	t.Helper()
	sizes := k.sizes(t)
	n := 0
	ctx := shard.WithSteps(t.Context(), func(looks bool, do func() error) error {
		n++
		err := fails(n-1, at, looks, do)
		if named := k.named(t); !k.within() && len(sizes) > 0 && !slices.Contains(sizes, named) {
			t.Errorf("a reader sees %d files after use %d", named, n-1)
		}
		return err
	})
	j, err := shard.Open(k.dir, build)
	if err != nil {
		t.Fatal(err)
	}
	_, err = commitStored(ctx, j, k.dir)
	recorded := false
	if _, e := os.Lstat(filepath.Join(k.dir, "commit")); e == nil {
		recorded = true
	}
	switch text := said(err); {
	case err == nil:
		if shown := digestOf(t, k.Folder); shown == "" || shown == k.old {
			t.Errorf("no error, and no new release: %q", shown)
		}
	case strings.Contains(text, "all is as it was"):
		if shown := digestOf(t, k.Folder); shown != k.old {
			t.Errorf("all is as it was, and the release is %q, want %q", shown, k.old)
		}
	case !recorded || !strings.Contains(text, k.dir):
		t.Errorf("the error does not say what is left: %s", text)
	}
	if strings.HasPrefix(way, "once") && n > at && err != nil && !strings.Contains(said(err), "all is as it was") {
		// The recovery is what failed: its next trial goes on.
		if err := k.Recover(k.dir); err != nil {
			t.Error(err)
		}
	}
	k.afterwards(t, rand.New(rand.NewPCG(1, uint64(at))), false)
	return n
}

// said is all that an error says.
func said(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	var several interface{ Unwrap() []error }
	all := []error{err}
	if errors.As(err, &several) {
		all = several.Unwrap()
	}
	for _, err := range all {
		var own *noren.Error
		if errors.As(err, &own) {
			text += "\n" + fmt.Sprintf(string(own.Hint), own.HintArgs...)
		}
	}
	return text
}

// named is how many files of releases a reader sees in the folder.
func (k *killable) named(t *testing.T) int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(k.Folder, "part-*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

// sizes are the numbers of files that a reader may see.
func (k *killable) sizes(t *testing.T) []int {
	t.Helper()
	made, err := filepath.Glob(filepath.Join(k.dir, shard.TempPrefix+"*"))
	if err != nil || len(made) == 0 {
		t.Fatal(made, err)
	}
	return []int{0, k.named(t), len(made)}
}
