package shard_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/shard"
	"github.com/noren-privacy/noren/table/parts"
)

// A process that commits or recovers and ends by SIGKILL: the variables of its environment.
const (
	killJob   = "NOREN_TEST_KILL_JOB"   // the folder of the job
	killStep  = "NOREN_TEST_KILL_STEP"  // after how many changes of the file system, -1 for never
	killStage = "NOREN_TEST_KILL_STAGE" // commit or recover
)

// TestKilledProcess is the process that the tests below kill.
func TestKilledProcess(t *testing.T) {
	dir := os.Getenv(killJob)
	if dir == "" {
		t.Skip("runs within TestKilledCommits")
	}
	left, err := strconv.Atoi(os.Getenv(killStep))
	if err != nil {
		t.Fatal(err)
	}
	ctx := shard.WithSteps(t.Context(), func(looks bool, do func() error) error {
		if looks {
			return do()
		}
		if left == 0 {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill()
			}
			select {}
		}
		left--
		return do()
	})
	j, err := shard.Open(dir, build)
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv(killStage) == "recover" {
		if err := shard.RecoverIn(ctx, j.Folder, dir); err != nil {
			t.Fatal(err)
		}
		return
	}
	if _, err := commitStored(ctx, j, dir); err != nil {
		t.Fatal(err)
	}
}

// commitStored commits a job whose frames lie beside its folder.
func commitStored(ctx context.Context, j *shard.Job, dir string) (*kanon.Result, error) {
	plan, err := j.GetPlan(dir)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(framesOf(j))
	if err != nil {
		return nil, err
	}
	var all [][]byte
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&all); err != nil {
		return nil, err
	}
	return j.Commit(ctx, plan, dir, frames(all), func(_ *kanon.Result, manifest []byte) error {
		if j.Certificate == "" {
			return nil
		}
		f, err := atomicfile.Create(j.Certificate, j.Force)
		if err != nil {
			return err
		}
		defer f.Discard()
		sum := sha256.Sum256(manifest)
		if _, err := fmt.Fprintf(f, "certifies %s\n", hex.EncodeToString(sum[:])); err != nil {
			return err
		}
		return f.Commit()
	})
}

func framesOf(j *shard.Job) string { return filepath.Join(filepath.Dir(j.Folder), "frames") }

// killable is a release that is ready to be committed, in a folder of its own.
type killable struct {
	*cluster
	root  string // holds the folders of the release and of the job, and the certificate
	kept  string // a copy of it
	force bool
	old   string // the digest of the release that is replaced
}

func newKillable(t *testing.T, s *setup, within, force bool) *killable {
	t.Helper()
	base := t.TempDir()
	k := &killable{root: filepath.Join(base, "the root 根"), kept: filepath.Join(base, "kept"), force: force}
	if err := os.Mkdir(k.root, 0o700); err != nil {
		t.Fatal(err)
	}
	s.within, s.folder = within, filepath.Join(k.root, "out 一")
	s.alter = func(j *shard.Job) { j.Certificate = filepath.Join(k.root, "certificate") }
	paths := split(t, s.text, 2)
	ready := func(seed uint64) *cluster {
		c, err := begin(t, s, paths)
		if err != nil {
			t.Fatal(err)
		}
		all, err := c.ready(seed)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := gob.NewEncoder(&text).Encode(all); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(framesOf(c.Job), text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return c
	}
	if force {
		first := ready(1)
		if _, err := commitStored(t.Context(), first.Job, first.dir); err != nil {
			t.Fatal(err)
		}
		k.old = digestOf(t, first.Folder)
		s.options.K = 7
		s.alter = func(j *shard.Job) { j.Certificate, j.Force = filepath.Join(k.root, "certificate"), true }
	}
	k.cluster = ready(2)
	copyTree(t, k.root, k.kept)
	return k
}

// digestOf is the digest of the manifest of a release that is whole, and empty where the
// folder has no part of a release.
func digestOf(t *testing.T, folder string) string {
	t.Helper()
	named, err := filepath.Glob(filepath.Join(folder, "part-*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(named) == 0 && !parts.IsManifested(folder) {
		return ""
	}
	text, err := os.ReadFile(filepath.Join(folder, parts.ManifestName))
	if err != nil {
		t.Errorf("%s holds parts without a manifest: %v", folder, named)
		return "damaged"
	}
	if err := parts.CheckManifest(t.Context(), folder); err != nil && noren.CodeOf(err) != parts.CodeUnread {
		t.Errorf("%s: %v", folder, err)
		return "damaged"
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// copyTree makes a copy of a folder with the times of its files.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		at := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(at, info.Mode().Perm())
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(at, text, info.Mode().Perm()); err != nil {
			return err
		}
		return os.Chtimes(at, info.ModTime(), info.ModTime())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// process runs a stage that is killed after some steps, and reports whether it was.
func (k *killable) process(t *testing.T, stage string, steps int) bool {
	t.Helper()
	c := k.command(stage, steps)
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false
	case errors.As(err, &exit) && exit.ExitCode() == -1:
		return true
	}
	t.Fatalf("%s, %d steps: %v\n%s", stage, steps, err, out)
	return false
}

func (k *killable) command(stage string, steps int) *exec.Cmd {
	c := exec.Command(os.Args[0], "-test.run=^TestKilledProcess$")
	c.Env = append(os.Environ(), killJob+"="+k.dir, killStage+"="+stage, killStep+"="+strconv.Itoa(steps))
	return c
}

// afterwards checks what a killed process has left, and has the next job go on.
func (k *killable) afterwards(t *testing.T, rng *rand.Rand, kills bool) {
	t.Helper()
	if !k.within() {
		shown := digestOf(t, k.Folder) // damaged where a reader sees a part
		if k.force && shown == "" {
			if kept := digestOf(t, filepath.Join(k.dir, "old")); kept != k.old {
				t.Errorf("the earlier release is nowhere on the disk: %q", kept)
			}
		}
	}
	for range killsOf(rng, kills) { // the process that puts it in order is killed, too
		k.process(t, "recover", rng.IntN(6))
	}
	if err := k.Recover(k.dir); err != nil {
		t.Fatal(err)
	}
	shown := digestOf(t, k.Folder)
	if k.force && shown == "" {
		t.Error("neither the earlier release nor the later one is there")
	}
	text, err := os.ReadFile(k.Certificate)
	switch {
	case shown == "" && !errors.Is(err, fs.ErrNotExist):
		t.Errorf("a certificate without a release: %q, %v", text, err)
	case shown != "" && !strings.Contains(string(text), shown):
		t.Errorf("the certificate is of another release: %q, %v", text, err)
	}
	err = k.Vacant()
	if !k.force && shown == "" && err != nil || k.force && err != nil {
		t.Errorf("the next job is refused: %v", err)
	}
	if !k.force && shown != "" {
		wants(t, err, noren.Usage, "the folder is not empty")
	}
	// The next job removes all that is no part of a release.
	if err := k.Begin(k.dir); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(k.dir)
	if err != nil || len(left) != 1 || left[0].Name() != "job" {
		t.Errorf("the folder of the job holds %v, %v", left, err)
	}
}

// killsOf is how often the process is killed that puts things in order.
func killsOf(rng *rand.Rand, kills bool) int {
	if !kills {
		return 0
	}
	return rng.IntN(3)
}

func (k *killable) within() bool { return filepath.Dir(k.dir) == k.Folder }

// A commit that is killed between any two changes of the file system leaves no part of a
// release, and what it leaves is put in order by the next job, also one that is killed.
func TestKilledCommits(t *testing.T) {
	randtest.SkipShort(t)
	for _, within := range []bool{false, true} {
		for _, force := range []bool{false, true} {
			t.Run(fmt.Sprintf("within=%t,force=%t", within, force), func(t *testing.T) {
				k := newKillable(t, small(t, 5), within, force)
				rng := rand.New(rand.NewPCG(1, 2))
				steps := 0
				for ; ; steps++ {
					copyTree(t, k.kept, k.root)
					if !k.process(t, "commit", steps) {
						break
					}
					k.afterwards(t, rng, true)
					if t.Failed() {
						t.Fatalf("after %d steps", steps)
					}
				}
				if shown := digestOf(t, k.Folder); steps < 8 || shown == "" || shown == k.old {
					t.Errorf("%d steps, shown %q", steps, shown)
				}
			})
		}
	}
}

// TestLongKilledCommits kills at any time, while a reader looks at the folder.
func TestLongKilledCommits(t *testing.T) {
	randtest.Long(t)
	killAnywhen(t, 50)
}

// TestKilledAnywhen is a smaller version of TestLongKilledCommits.
func TestKilledAnywhen(t *testing.T) {
	randtest.SkipShort(t)
	killAnywhen(t, 5)
}

func killAnywhen(t *testing.T, trials int) {
	t.Helper()
	for _, force := range []bool{false, true} {
		k := newKillable(t, small(t, 5), false, force)
		rng := rand.New(rand.NewPCG(3, 4))
		copyTree(t, k.kept, k.root)
		began := time.Now()
		k.process(t, "commit", -1)
		whole, taken := len(k.released(t)), time.Since(began)
		for trial := range trials {
			copyTree(t, k.kept, k.root)
			c := k.command("commit", -1)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			sizes := []int{0, whole}
			if force {
				named, _ := filepath.Glob(filepath.Join(k.kept, filepath.Base(k.Folder), "part-*"))
				sizes = append(sizes, len(named))
			}
			for end := time.Now().Add(time.Duration(rng.Float64() * 1.2 * float64(taken))); time.Now().Before(end); {
				entries, err := os.ReadDir(k.Folder)
				n := 0
				for _, e := range entries {
					if strings.HasPrefix(e.Name(), "part-") {
						n++
					}
				}
				if err != nil && !errors.Is(err, fs.ErrNotExist) || !slices.Contains(sizes, n) {
					t.Errorf("a reader sees %d files, %v", n, err)
				}
			}
			_ = c.Process.Kill()
			_ = c.Wait()
			k.afterwards(t, rng, true)
			if t.Failed() {
				t.Fatalf("trial %d, force %t", trial, force)
			}
		}
	}
}

// A file that changes after it was checked is not released, whether its bytes change or its
// time alone does.
func TestChangedAfterTheCheck(t *testing.T) {
	randtest.SkipShort(t)
	for name, change := range map[string]func(path string) error{
		"bytes": func(path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text[len(text)-2] ^= 1
			if err := os.WriteFile(path, text, 0o600); err != nil {
				return err
			}
			return os.Chtimes(path, info.ModTime(), info.ModTime())
		},
		"time":    func(path string) error { return os.Chtimes(path, time.Now(), time.Now().Add(time.Nanosecond)) },
		"size":    func(path string) error { return os.Truncate(path, 10) },
		"removed": os.Remove,
		"a link": func(path string) error {
			if err := os.Rename(path, path+".elsewhere"); err != nil {
				return err
			}
			return os.Symlink(path+".elsewhere", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := small(t, 5)
			c, err := begin(t, s, split(t, s.text, 2))
			if err != nil {
				t.Fatal(err)
			}
			all, err := c.ready(1)
			if err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(c.dir, shard.TempPrefix+"*"))
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			if err := change(files[0]); err != nil {
				t.Fatal(err)
			}
			certified := false
			_, err = c.Commit(t.Context(), c.plan, c.dir, frames(all), func(*kanon.Result, []byte) error { certified = true; return nil })
			wants(t, err, noren.NotMet, "is not the file that was written")
			if certified {
				t.Error("it was certified")
			}
			c.unnamed(t)
		})
	}
}
