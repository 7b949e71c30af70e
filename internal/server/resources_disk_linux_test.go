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
	var begun uploadBody
	s.do(t, 201, "POST", "/uploads", map[string]any{"name": "small.csv", "size": 1000}, nil).decode(t, &begun)
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
	// What a charge needs is kept: an upload is refused before it begins, and at each part.
	if a := s.do(t, 503, "POST", "/uploads", map[string]any{"name": "big.csv", "size": 1 << 20}, nil); a.code() != "unavailable" {
		t.Errorf("%s", a.body)
	}
	if a := s.part(t, begun.ID, 0, 1000, make([]byte, 1000), nil); a.status != 503 || a.code() != "unavailable" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if err := s.spaceToCharge(); err != nil {
		t.Error("a charge is refused beside the reserve")
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
	p := s.preview(t, recipe.ID)
	if !p.Gate.Open {
		t.Errorf("%+v", p.Gate)
	}
	// A release that fails leaves the preview that was studied.
	fill(0)
	ask := map[string]any{"recipe": recipe.ID, "preview_sha256": p.Leaving.SHA256}
	asked := s.ask(t, "POST", "/api/v1/releases", s.secret, ask, withKey("full"))
	switch asked.status {
	case 202:
		asked.decode(t, &job)
		full(s.wait(t, job.ID))
	case 503:
	default:
		t.Errorf("%d %s", asked.status, asked.body)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if rel := s.release(t, recipe.ID, p); rel.SHA256 != p.Leaving.SHA256 {
		t.Errorf("%+v", rel)
	}
	if again := s.add(t, tables.Source{Kind: "upload", Upload: id}); again.State != "proposed" || again.Rows != 2000 {
		t.Errorf("%+v %s", again.Line, again.Failure)
	}
}
