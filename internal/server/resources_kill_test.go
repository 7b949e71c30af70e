//go:build unix

package server

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/records"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/internal/server/tables"
	"github.com/noren-privacy/noren/internal/server/uploads"
)

// killedFolder is the environment variable that makes the test a server that is killed.
const killedFolder = "NOREN_TEST_KILLED"

// TestServerThatIsKilled uploads, adds, previews and releases until it is killed. It runs
// in a process of its own.
func TestServerThatIsKilled(t *testing.T) {
	dir := os.Getenv(killedFolder)
	if dir == "" {
		t.Skip("runs as a process of another test")
	}
	r := start(t, func(c *Config) { c.Dir = dir })
	name := fmt.Sprint("Anna ", os.Getpid())
	s := &steward{r, r.token(t, name, auth.Steward, auth.Everything)}
	for {
		table := s.people(t, 60, "x")
		recipe := s.recipe(t, table.ID, nil)
		p := s.preview(t, recipe.ID)
		var studied []string
		for _, e := range p.Earlier {
			studied = append(studied, e.Release)
		}
		rel := s.release(t, recipe.ID, p, studied...)
		// What was acknowledged is there after any kill.
		if err := os.WriteFile(filepath.Join(dir+"-told", rel.ID), []byte(rel.SHA256), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir+"-told", table.ID), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A server that is killed at any time leaves no half file and loses nothing that it has
// acknowledged.
func TestKilledServer(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	testKilledServer(t, 14)
}

// TestLongStateOfKilledServers has the number of trials of a run of .ci/run.
func TestLongStateOfKilledServers(t *testing.T) {
	randtest.Long(t)
	testKilledServer(t, 20)
}

func TestLongKilledServer(t *testing.T) {
	randtest.Long(t)
	testKilledServer(t, 200)
}

func testKilledServer(t *testing.T, trials int) {
	dir := filepath.Join(t.TempDir(), "server")
	told := dir + "-told"
	if err := os.Mkdir(told, 0o700); err != nil {
		t.Fatal(err)
	}
	releases, temporary := 0, t.TempDir() // a killed process leaves its temporary folders
	for i := range trials {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestServerThatIsKilled$", "-test.timeout", "60s")
		c.Env = append(os.Environ(), killedFolder+"="+dir, "TMPDIR="+temporary)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		before := count(t, told)
		// At times from the start of the first upload to the second release.
		for deadline := time.Now().Add(20 * time.Second); count(t, filepath.Join(dir, "uploads")) == 0 && time.Now().Before(deadline) &&
			count(t, told) == before; {
			time.Sleep(2 * time.Millisecond)
		}
		time.Sleep(time.Duration(i*37%trials) * 1500 * time.Millisecond / time.Duration(trials))
		_ = c.Process.Kill()
		_ = c.Wait()
		releases = inspectKilled(t, dir, told)
	}
	t.Logf("%d trials, %d releases", trials, releases)
}

// inspectKilled opens the folder of a server that was killed and looks at all that is in
// it.
func inspectKilled(t *testing.T, dir, told string) int {
	t.Helper()
	ctx := context.Background()
	s, err := New(ctx, Config{Dir: dir, Tool: certificate.Tool{Name: "noren", Version: "test"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.jobs.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if reason := s.Sealed(); reason != "" {
		t.Errorf("sealed: %s", reason)
	}
	if n := count(t, s.path("work")); n > 0 {
		t.Errorf("%d folders of previews", n)
	}
	known := map[string]bool{}
	rows, err := s.store.Resources(ctx, store.KindTable, "", 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		table, err := s.tables.Get(ctx, row.ID)
		if err != nil {
			t.Fatal(err)
		}
		known[row.ID] = true
		switch table.State {
		case tables.Reading:
			t.Errorf("table %s is read by no job", row.ID)
		case tables.Failed:
		default:
			h, err := s.tables.Hold(ctx, row.ID)
			if err != nil {
				t.Fatal(err)
			}
			if data, err := os.ReadFile(h.Input); err != nil || fmt.Sprintf("%x", sha256.Sum256(data)) != h.SHA256 {
				t.Errorf("the copy of table %s is another: %v", row.ID, err)
			}
		}
	}
	entries, err := os.ReadDir(s.path("tables"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !known[e.Name()] {
			t.Errorf("the folder %s is of no table", e.Name())
		}
	}
	all, _, _, err := s.records.Releases(ctx, "", 0, 1<<20, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, rel := range all {
		known[rel.ID] = true
		file, err := s.records.Open(ctx, rel.ID, records.PartFile)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := s.records.Open(ctx, rel.ID, records.PartCertificate)
		if err != nil {
			t.Fatal(err)
		}
		c, err := certificate.Load(signed.File.Name())
		if err != nil {
			t.Fatal(err)
		}
		err = c.MatchesFile(ctx, file.File.Name())
		_, _ = file.Close(), signed.Close()
		if err != nil {
			t.Errorf("release %s: %v", rel.ID, err)
		}
	}
	if n := count(t, s.path("releases")); n != len(all) {
		t.Errorf("%d folders of %d releases", n, len(all))
	}
	if entries, err = os.ReadDir(told); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !known[e.Name()] {
			t.Errorf("%s was acknowledged and is lost", e.Name())
		}
	}
	if entries, err = os.ReadDir(s.path("uploads")); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		var u uploads.Upload
		text, err := os.ReadFile(filepath.Join(s.path("uploads"), e.Name(), "upload.json"))
		if err == nil {
			err = json.Unmarshal(text, &u)
		}
		info, statErr := os.Stat(filepath.Join(s.path("uploads"), e.Name(), "data"))
		if err != nil || statErr != nil || info.Size() != u.Offset {
			t.Errorf("upload %s: %v, %v", e.Name(), err, statErr)
		}
	}
	if _, _, err := s.audit.Check(ctx); err != nil {
		t.Error(err)
	}
	return len(all)
}
