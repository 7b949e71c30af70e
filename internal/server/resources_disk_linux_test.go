package server

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/tables"
)

// On a full disk nothing half is left, what was there stays, and work goes on once there
// is space.
func TestFullDisk(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("noren", disk, "tmpfs", 0, "size=8m,mode=0700"); err != nil {
		t.Skip("no file system can be mounted here")
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	s := start(t, func(c *Config) { c.Dir, c.Log = filepath.Join(disk, "server"), textLog(t.Output()) }).steward(t)
	table := s.people(t, 3000, strings.Repeat("x", 100))
	recipe := s.recipe(t, table.ID, nil)
	id := s.upload(t, "more.csv", people(2000, strings.Repeat("y", 100)))
	filler := filepath.Join(disk, "filler")
	fill := func(left int64) {
		t.Helper()
		var stat syscall.Statfs_t
		if err := syscall.Statfs(disk, &stat); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filler, make([]byte, max(0, int64(stat.Bavail)*stat.Bsize-left)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	full := func(job *jobs.Job) {
		t.Helper()
		if job.State != jobs.Failed || !strings.Contains(string(job.Problem), `"code":"unavailable"`) || !strings.Contains(string(job.Problem), "disk is full") {
			t.Errorf("%s is %s: %s", job.Kind, job.State, job.Problem)
		}
	}
	fill(150 << 10)
	var job jobs.Job
	s.do(t, 202, "POST", "/recipes/"+recipe.ID+"/preview", nil, nil).decode(t, &job)
	full(s.wait(t, job.ID))
	if entries, err := os.ReadDir(s.path("work")); err != nil || len(entries) > 0 {
		t.Errorf("%d folders of previews, %v", len(entries), err)
	}
	var u uploadBody
	s.do(t, 201, "POST", "/uploads", map[string]any{"name": "big.csv", "size": 1 << 20}, nil).decode(t, &u)
	if a := s.part(t, u.ID, 0, 1<<20, make([]byte, 1<<20), nil); a.status != 503 || a.code() != "unavailable" {
		t.Errorf("%d %s", a.status, a.body)
	}
	var added struct {
		Table tables.Table
		Job   jobs.Job
	}
	s.do(t, 202, "POST", "/tables", map[string]any{"source": map[string]any{"kind": "upload", "upload": id}}, nil).decode(t, &added)
	full(s.wait(t, added.Job.ID))
	if entries, err := os.ReadDir(s.path("tables")); err != nil || len(entries) != 1 {
		t.Errorf("%d folders of tables, %v", len(entries), err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if p := s.preview(t, recipe.ID); !p.Gate.Open {
		t.Errorf("%+v", p.Gate)
	}
	if again := s.add(t, tables.Source{Kind: "upload", Upload: id}); again.State != "proposed" || again.Rows != 2000 {
		t.Errorf("%+v %s", again.Line, again.Failure)
	}
}
