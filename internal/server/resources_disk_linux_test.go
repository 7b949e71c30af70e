package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/tables"
	"github.com/noren-privacy/noren/internal/server/uploads"
)

// onSmallDisk is a server whose folder is on a disk of a size such as 8m.
func onSmallDisk(t *testing.T, size string) (s *steward, disk string) {
	t.Helper()
	disk = t.TempDir()
	if err := syscall.Mount("noren", disk, "tmpfs", 0, "mode=0700,size="+size); err != nil {
		t.Skip("no file system can be mounted here")
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	return start(t, func(c *Config) { c.Dir, c.Log = filepath.Join(disk, "server"), textLog(t.Output()) }).steward(t), disk
}

// Parts that are under way share what is free: together they leave the reserve of ledger and
// audit log, though each alone would.
func TestPartsAtOnceLeaveTheReserve(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	s, _ := onSmallDisk(t, "32m")
	const size = 10 << 20
	data := make([]byte, size)
	people := []*steward{s}
	for _, name := range []string{"Abe", "Endo"} {
		people = append(people, &steward{running: s.running, secret: s.token(t, name, "steward", "*")})
	}
	ids := make([]string, len(people))
	for i, p := range people {
		var u uploadBody
		p.do(t, 201, "POST", "/uploads", map[string]any{"name": "a.csv", "size": size}, nil).decode(t, &u)
		ids[i] = u.ID
	}
	// The first part begins, and comes slowly.
	slow, feed := io.Pipe()
	request, err := http.NewRequestWithContext(t.Context(), "PUT", s.base+"/api/v1/uploads/"+ids[0], slow)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	request.ContentLength = size
	request.Header.Set("Authorization", "Bearer "+s.secret)
	request.Header.Set("Content-Type", "application/octet-stream")
	request.Header.Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", size-1, size))
	request.Header.Set("Content-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":")
	status := make(chan int, 1)
	go func() {
		res, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			status <- 0
			return
		}
		_ = res.Body.Close()
		status <- res.StatusCode
	}()
	if _, err := feed.Write(data[:1]); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		s.pledges.mu.Lock()
		held := s.pledges.held
		s.pledges.mu.Unlock()
		if held > 0 {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatal("the first part does not begin")
		}
	}
	if a := people[1].part(t, ids[1], 0, size, data, nil); a.status != 200 {
		t.Errorf("the second part: %d %s", a.status, a.body)
	}
	if a := people[2].part(t, ids[2], 0, size, data, nil); a.status != 503 || a.code() != "unavailable" {
		t.Errorf("the third part, for which the disk has no space: %d %s", a.status, a.body)
	}
	if _, err := io.Copy(feed, bytes.NewReader(data[1:])); err != nil {
		t.Error(err)
	}
	_ = feed.Close()
	if got := <-status; got != 200 {
		t.Errorf("the first part: %d", got)
	}
	if faults := s.faults(); len(faults) > 0 {
		t.Errorf("health: %q", faults)
	}
	s.pledges.mu.Lock()
	defer s.pledges.mu.Unlock()
	if s.pledges.held != 0 {
		t.Errorf("%d bytes are pledged still", s.pledges.held)
	}
}

// One principal's uploads take half of the space, and leave the rest to others.
func TestUploadsOfOneLeaveHalf(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	s, _ := onSmallDisk(t, "32m")
	other := &steward{running: s.running, secret: s.token(t, "Abe", "steward", "*")}
	const size = 5 << 20
	begun := 0
	for ; begun < 20; begun++ {
		a := s.ask(t, "POST", "/api/v1/uploads", s.secret, map[string]any{"name": "a.csv", "size": size}, nil)
		if a.status == 503 {
			break
		}
		var u uploadBody
		a.decode(t, &u)
		if a := s.part(t, u.ID, 0, size, make([]byte, size), nil); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	if begun != 2 {
		t.Errorf("%d uploads of 5 MiB were begun on a disk of 32", begun)
	}
	other.upload(t, "b.csv", make([]byte, size))
}

// Work that writes a file of unknown size ends before the reserve is taken.
func TestWorkEndsOnAFullDisk(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	s, disk := onSmallDisk(t, "8m")
	ctx, ended := s.watchSpace(t.Context())
	defer ended()
	if err := tables.Watched(ctx, errors.New("x")); err == nil || errors.Is(err, uploads.ErrDiskFull) {
		t.Errorf("beside free space: %v", err)
	}
	f, err := os.Create(filepath.Join(disk, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for begun := time.Now(); ctx.Err() == nil; {
		if _, err := f.Write(make([]byte, 64<<10)); err != nil || time.Since(begun) > time.Minute {
			time.Sleep(watchInterval)
		}
		if time.Since(begun) > 2*time.Minute {
			t.Fatal("the work goes on")
		}
	}
	if err := f.Truncate(0); err != nil { // the server stops on a disk that it can write
		t.Fatal(err)
	}
	if !errors.Is(context.Cause(ctx), uploads.ErrDiskFull) {
		t.Errorf("the cause is %v", context.Cause(ctx))
	}
	if p := s.explained(tables.Watched(ctx, ctx.Err())); p.Code != "unavailable" || p.Status != 503 {
		t.Errorf("%d %s", p.Status, p.Code)
	}
}

// On a full disk nothing half is left, what was there stays, and work goes on once there
// is space.
func TestFullDisk(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	s, disk := onSmallDisk(t, "8m")
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
		// The server writes too: what is free may be less by then.
		if err := os.WriteFile(filler, make([]byte, max(0, int64(stat.Bavail)*stat.Bsize-left)), 0o600); err != nil &&
			!errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	full := func(job *jobs.Job) {
		t.Helper()
		if job.State != jobs.Failed || !strings.Contains(string(job.Problem), `"code":"unavailable"`) ||
			!strings.Contains(string(job.Problem), "disk is full") {
			t.Errorf("%s is %s: %s", job.Kind, job.State, job.Problem)
		}
	}
	fill(350 << 10) // less than the reserve of 400 KiB, and enough for the log of the store
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
	// With nothing free at all, nothing is charged.
	fill(0)
	if err := s.spaceToCharge(); err == nil {
		t.Error("a charge is not refused on a disk that is full to the last byte")
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
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
