package acceptance

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A served is a process of noren serve over one folder. It can be killed and started again.
type served struct {
	dir     string
	flags   []string
	client  *http.Client
	program string // "noren", or another one of main_test.go
	others  int    // questions that other clients of a trial have open

	cmd         *exec.Cmd
	base, admin string
	log         bytes.Buffer
}

var (
	servedAt = regexp.MustCompile(`^noren serves (\S+)$`)
	healthAt = regexp.MustCompile(`^health and metrics: (\S+)/readyz$`)
)

// unlimited switches off what would slow a trial down that has one client for many.
var unlimited = []string{"--requests-per-second", "0", "--answers-per-minute", "0"}

// calibration is what noren serve calibrate measured on 2 cores. With it the answers of the
// trials leave after 0.5 s, as on a server that was calibrated.
const calibration = `{"records":200000,"base_s":0.0102,"turn_s":0.0008,"load_s":1.6e-7,"persons_s":3.4e-6,"cell_s":2.7e-5,"record_s":{
"correlated":5e-7,"count":1.4e-8,"histogram":3.1e-8,"mean":2.9e-8,"outliers":2.8e-5,"quantile":3.1e-6,"sum":3.4e-8,"variance":3.1e-8},
"numbers_s":{"count":7e-9,"histogram":2.2e-8,"mean":2.1e-8,"sum":2.3e-8,"variance":2.1e-8},
"single_s":{"count":3.7e-9,"histogram":2e-8,"mean":1.5e-8,"sum":1.5e-8,"variance":1.5e-8}}`

// serve starts a server over a new folder and stops it with the test.
func serve(t *testing.T, flags ...string) *served {
	t.Helper()
	s := &served{dir: filepath.Join(t.TempDir(), "server"), flags: append(append([]string{}, unlimited...), flags...), program: "noren"}
	s.client = &http.Client{
		Timeout:   3 * time.Minute,
		Transport: &http.Transport{MaxIdleConns: 2000, MaxIdleConnsPerHost: 2000, IdleConnTimeout: 20 * time.Second, DisableCompression: true},
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "calibration.json"), []byte(calibration), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start(t)
	t.Cleanup(func() {
		s.kill()
		s.client.CloseIdleConnections()
	})
	return s
}

// fromManyAddresses lets the clients come from eight addresses in turn, where the system has
// them: one address alone has a share of the server's connections.
func (s *served) fromManyAddresses() {
	if runtime.GOOS != "linux" {
		return
	}
	var dialled atomic.Uint32
	s.client.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		from := net.IPv4(127, 0, 0, byte(2+dialled.Add(1)%8))
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}
		return d.DialContext(ctx, network, address)
	}
}

// start starts the process and waits until it is ready.
func (s *served) start(t *testing.T) {
	t.Helper()
	s.base, s.admin = "", ""
	s.log.Reset()
	s.cmd = exec.Command(s.program, append([]string{"serve", "--dir", s.dir, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"},
		s.flags...)...)
	s.cmd.Stderr = &s.log
	s.cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Dir(s.dir))
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
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
		t.Fatalf("the server did not start: %v\n%s", s.cmd.Wait(), s.log.String())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	for range 4000 {
		res, err := s.client.Get(s.base + "/api/v1/server")
		if err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("the server does not answer\n%s", s.log.String())
}

// kill ends the process at once, as a power cut does.
func (s *served) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// stop ends the process as an operator does.
func (s *served) stop(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Fatalf("SIGTERM: %v\n%s", err, s.log.String())
	}
}

// noren runs the command and returns what it prints.
func noren(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("noren", args...).Output()
	if err != nil {
		var said []byte
		if e, ok := err.(*exec.ExitError); ok { //nolint:errorlint // of exec.Output itself
			said = e.Stderr
		}
		t.Fatalf("noren %s: %v\n%s", strings.Join(args, " "), err, said)
	}
	return strings.TrimSpace(string(out))
}

// token makes a token of a principal.
func (s *served) token(t *testing.T, principal string) string {
	t.Helper()
	return noren(t, "serve", "token", "--dir", s.dir, "--principal", principal, "--name", "trial", "--days", "2")
}
