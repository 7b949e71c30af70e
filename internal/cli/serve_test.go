//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
)

// A served is a process of noren serve.
type served struct {
	*exec.Cmd
	base, admin, link string
	temp              string // its folder of temporary files
	stderr            *bytes.Buffer
	ended             chan error
}

var (
	servedAt = regexp.MustCompile(`^noren serves (\S+)$`)
	healthAt = regexp.MustCompile(`^health and metrics: (\S+)/readyz$`)
	linkAt   = regexp.MustCompile(`^sign in as .*: (\S+)$`)
)

// serve starts noren serve and waits until it is ready.
func serve(t *testing.T, args ...string) *served {
	t.Helper()
	return serveIn(t, t.TempDir(), args...)
}

// serveIn is serve with a folder of temporary files.
func serveIn(t *testing.T, temp string, args ...string) *served {
	t.Helper()
	c := exec.CommandContext(t.Context(), "noren", append([]string{"serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)...)
	s := &served{Cmd: c, stderr: &bytes.Buffer{}, ended: make(chan error, 1), temp: temp}
	c.Stderr = s.stderr
	c.Env = append(os.Environ(), "TMPDIR="+s.temp)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for s.admin == "" && lines.Scan() {
		for re, to := range map[*regexp.Regexp]*string{servedAt: &s.base, healthAt: &s.admin} {
			if m := re.FindStringSubmatch(lines.Text()); m != nil {
				*to = m[1]
			}
		}
	}
	if s.admin == "" {
		t.Fatalf("it did not start: %v\n%s", c.Wait(), s.stderr)
	}
	rest := make(chan struct{})
	go func() {
		defer close(rest)
		for lines.Scan() {
			if m := linkAt.FindStringSubmatch(lines.Text()); m != nil {
				s.link = m[1]
			}
		}
	}()
	go func() {
		<-rest
		s.ended <- c.Wait()
	}()
	t.Cleanup(func() { _ = c.Process.Kill() })
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if status, _ := get(t, s.admin+"/readyz", nil); status == 200 {
			return s
		}
		if time.Now().After(deadline) {
			t.Fatalf("it is not ready\n%s", s.stderr)
		}
	}
}

// end waits for the exit code of a server.
func (s *served) end(t *testing.T) int {
	t.Helper()
	select {
	case <-s.ended:
		return s.ProcessState.ExitCode()
	case <-time.After(2 * time.Minute):
		t.Fatalf("it did not end\n%s", s.stderr)
		return -1
	}
}

func (s *served) signal(t *testing.T, sig os.Signal) {
	t.Helper()
	if err := s.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, url string, header http.Header) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header, req.Close = header, true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(text)
}

// run runs noren and returns its output.
func run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "noren", args...).Output()
	if err != nil {
		t.Fatalf("noren %s: %v\n%s", strings.Join(args, " "), err, err.(*exec.ExitError).Stderr)
	}
	return strings.TrimSpace(string(out))
}

// A server is managed by commands beside it, its log is exported and checked without it,
// and it stops with exit code 0; after a kill it starts again with all that it had.
func TestServe(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "server")
	s := serve(t, "--dir", dir)
	id := run(t, "serve", "principal", "add", "--dir", dir, "--name", "K. Sato", "--role", "auditor")
	if !strings.HasPrefix(id, "pr_") {
		t.Errorf("the id is %s", id)
	}
	run(t, "serve", "grant", "--dir", dir, "--name", "K. Sato", "--role", "analyst")
	if list := run(t, "serve", "principal", "list", "--dir", dir); !strings.Contains(list, "analyst on *, auditor on *") ||
		!strings.Contains(list, "Steward") {
		t.Errorf("%s", list)
	}
	if link := run(t, "serve", "login-link", "--dir", dir, "--name", "K. Sato"); !strings.HasPrefix(link, s.base+"/#/sign-in/") {
		t.Errorf("the link is %s", link)
	}
	token := run(t, "serve", "token", "--dir", dir, "--principal", "K. Sato", "--name", "test", "--days", "1")
	as := http.Header{"Authorization": {"Bearer " + token}}
	status, export := get(t, s.base+"/api/v1/audit/export?action=grant.add", as)
	if status != 200 {
		t.Fatalf("%d %s", status, export)
	}
	file, key := filepath.Join(dir, "..", "audit.jsonl"), filepath.Join(dir, "..", "key.pem")
	if err := os.WriteFile(file, []byte(export), 0o600); err != nil {
		t.Fatal(err)
	}
	var keys struct{ Items []struct{ ID, PEM string } }
	if _, text := get(t, s.base+"/api/v1/keys", nil); json.Unmarshal([]byte(text), &keys) != nil || len(keys.Items) != 1 {
		t.Fatal(text)
	}
	if err := os.WriteFile(key, []byte(keys.Items[0].PEM), 0o600); err != nil {
		t.Fatal(err)
	}
	if printed := run(t, "serve", "key", "--dir", dir); printed != strings.TrimSpace(keys.Items[0].PEM) {
		t.Errorf("the printed key is %s", printed)
	}
	if id := run(t, "serve", "key", "--dir", dir, "--id"); id != keys.Items[0].ID {
		t.Errorf("the printed id is %s", id)
	}
	if out := run(t, "serve", "audit-check", file, "--trust", key); !strings.Contains(out, "sound: ") ||
		!strings.Contains(out, "of which 1 is shown") || !strings.Contains(out, "a trusted key") {
		t.Errorf("%s", out)
	}
	// The list has the name of the principal beside its id: another object could have the same name.
	if out := run(t, "serve", "audit-check", file, "--trust", key, "--list"); !strings.Contains(out, "about") ||
		!regexp.MustCompile(`[ =]K\. Sato \(pr_[a-z2-7]{16}\) `).MatchString(out) {
		t.Errorf("%s", out)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(export, "analyst", "steward", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := exec.CommandContext(t.Context(), "noren", "serve", "audit-check", file).Run(); err == nil || err.(*exec.ExitError).
		ExitCode() != 4 {
		t.Errorf("a changed export: %v", err)
	}
	if out, err := exec.CommandContext(t.Context(), "noren", "serve", "--dir", dir, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0").
		CombinedOutput(); err == nil || !strings.Contains(string(out), "another server uses this folder") {
		t.Errorf("a second server: %v %s", err, out)
	}
	s.signal(t, syscall.SIGHUP)
	s.signal(t, syscall.SIGKILL)
	s.end(t)
	s = serve(t, "--dir", dir)
	if status, text := get(t, s.base+"/api/v1/session", as); status != 200 || !strings.Contains(text, "K. Sato") {
		t.Errorf("after a kill: %d %s", status, text)
	}
	run(t, "serve", "principal", "end", "--dir", dir, "--name", "K. Sato")
	if status, _ := get(t, s.base+"/api/v1/session", as); status != 401 {
		t.Errorf("an ended principal: %d", status)
	}
	s.signal(t, syscall.SIGTERM)
	if code := s.end(t); code != 0 {
		t.Errorf("SIGTERM: exit code %d\n%s", code, s.stderr)
	}
	if strings.Contains(s.stderr.String(), "ERROR") {
		t.Errorf("its log: %s", s.stderr)
	}
}

// A second signal ends a server that still answers a request, with exit code 130.
func TestServeSecondSignal(t *testing.T) {
	randtest.SkipShort(t)
	s := serve(t, "--dir", filepath.Join(t.TempDir(), "server"))
	address := strings.TrimPrefix(s.base, "http://")
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /api/v1/session/look HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 60\r\n\r\n{", address)
	time.Sleep(200 * time.Millisecond) // the request has begun
	s.signal(t, syscall.SIGTERM)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, text := get(t, s.admin+"/readyz", nil); text == "stopping\n" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("health does not say that it stops")
		}
	}
	s.signal(t, syscall.SIGTERM)
	if code := s.end(t); code != 130 {
		t.Errorf("exit code %d", code)
	}
}

// The demonstration is ready within 5 s, has the clinic and one link, and leaves nothing.
func TestServeDemo(t *testing.T) {
	begun := time.Now()
	s := serve(t, "--demo")
	if took := time.Since(begun); took > 5*time.Second {
		t.Logf("ready after %s: the machine is busy", took)
	}
	if status, text := get(t, s.base+"/", nil); status != 200 || !strings.Contains(text, "<!doctype html>") {
		t.Errorf("%d %s", status, text)
	}
	if status, text := get(t, s.base+"/api/v1/server", nil); status != 200 || !strings.Contains(text, `"demo":true`) {
		t.Errorf("%d %s", status, text)
	}
	s.signal(t, os.Interrupt)
	if code := s.end(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.stderr)
	}
	if !strings.HasPrefix(s.link, s.base+"/#/sign-in/") {
		t.Errorf("the link is %q", s.link)
	}
	if left, err := os.ReadDir(s.temp); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

// While a demonstration runs, its used links have successors: by Enter, and by a command that finds it.
func TestServeDemoLinks(t *testing.T) {
	temp := t.TempDir()
	link := func() (string, string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "noren", "serve", "login-link")
		c.Env = append(os.Environ(), "TMPDIR="+temp)
		var out, errs bytes.Buffer
		c.Stdout, c.Stderr = &out, &errs
		_ = c.Run()
		return strings.TrimSpace(out.String()), errs.String()
	}
	if got, said := link(); got != "" || !strings.Contains(said, "no demonstration of yours is running") {
		t.Errorf("%q, %s", got, said)
	}
	c := exec.CommandContext(t.Context(), "noren", "serve", "--demo", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	c.Env = append(os.Environ(), "TMPDIR="+temp)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	next := func(what string) string {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), what) {
				return lines.Text()
			}
		}
		t.Fatalf("it did not say %q", what)
		return ""
	}
	first := next("sign in as Demo steward")
	if folder := next("the folder of the demonstration: "); !strings.Contains(folder, temp) {
		t.Errorf("%s", folder)
	}
	next("press Enter")
	if _, err := io.WriteString(in, "\n"); err != nil {
		t.Fatal(err)
	}
	if again := next("sign in as Demo steward"); again == first {
		t.Errorf("the same link again: %s", again)
	}
	next("Demo analyst")
	if got, said := link(); !strings.Contains(got, "/#/sign-in/") {
		t.Errorf("%q, %s", got, said)
	}
	token := exec.CommandContext(t.Context(), "noren", "serve", "token", "--principal", "Demo analyst", "--name", "n", "--days", "1")
	token.Env = append(os.Environ(), "TMPDIR="+temp)
	if said, err := token.CombinedOutput(); err == nil || !strings.Contains(string(said), "--dir "+temp) {
		t.Errorf("a token without --dir: %v, %s", err, said)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if got, said := link(); got != "" {
		t.Errorf("a link of a demonstration that has ended: %s %s", got, said)
	}
}

// A demonstration that ends leaves the folder of another one.
func TestServeTwoDemos(t *testing.T) {
	randtest.SkipShort(t)
	first := serve(t, "--demo")
	second := serveIn(t, first.temp, "--demo")
	first.signal(t, os.Interrupt)
	if code := first.end(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, first.stderr)
	}
	if left, err := os.ReadDir(first.temp); err != nil || len(left) != 1 {
		t.Errorf("%d folders are left, %v", len(left), err)
	}
	if status, text := get(t, second.admin+"/readyz", nil); status != 200 {
		t.Errorf("%d %s", status, text)
	}
	second.signal(t, os.Interrupt)
	if code := second.end(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, second.stderr)
	}
	if left, err := os.ReadDir(first.temp); err != nil || len(left) > 0 {
		t.Errorf("they left %v, %v", left, err)
	}
}
