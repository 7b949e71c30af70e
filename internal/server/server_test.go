package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/server/audit"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/limit"
	"github.com/noren-privacy/noren/internal/server/store"
)

// testPage is a page with one compressed file.
func testPage() fs.FS {
	return fstest.MapFS{
		"index.html":             {Data: []byte("<!doctype html><title>Noren</title>")},
		"check.html":             {Data: []byte("<!doctype html><title>Check</title>")},
		"assets/main-1a2b.js":    {Data: []byte("'plain'")},
		"assets/main-1a2b.js.br": {Data: []byte("brotli")},
		"assets/main-1a2b.js.gz": {Data: []byte("gzip")},
	}
}

// A running is a server that answers on the loopback.
type running struct {
	*Server
	base string
	stop func() error
}

// config is the configuration of a server of a test.
func config(t *testing.T) Config {
	return Config{
		Dir: filepath.Join(patientFiles(t), "server"), Listen: "127.0.0.1:0", Admin: "127.0.0.1:0",
		Tool: certificate.Tool{Name: "noren", Version: "test"}, Page: testPage(),
		Apart: testApart,
	}
}

// testApart runs an operation in another process of the program of the tests.
func testApart(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), "NOREN_TEST_APART=1")
	return cmd
}

// patientFiles makes a folder of the host that no reply may show.
func patientFiles(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "Patient files (2026)")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// showsFolders reports whether a reply shows a folder of the host.
func showsFolders(reply string) bool {
	for _, part := range []string{"Patient files", "Patient%20files", "(2026)", `2026)/`, os.TempDir() + string(filepath.Separator) + "Test"} {
		if strings.Contains(reply, part) {
			return true
		}
	}
	return false
}

// start starts a server and stops it with the test.
func start(t *testing.T, change func(*Config)) *running {
	t.Helper()
	cfg := config(t)
	if change != nil {
		change(&cfg)
	}
	// Other tests on the machine may keep a computation from its bound: that ends no questions
	// but in the test of it.
	fault := cfg.Fault
	cfg.Fault = func(step string) error {
		if step == "passed" && t.Name() != "TestAskingEnded" {
			return errors.New("the machine is busy")
		}
		if fault == nil {
			return nil
		}
		return fault(step)
	}
	s, err := New(t.Context(), cfg)
	if err == nil && s.calibration.Load() == nil {
		s.calibration.Store(&api.Calibration{}) // the shortest class
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	r := &running{Server: s, base: "http://" + s.listeners.counted.Addr().String()}
	stopped := false
	r.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		err := <-done
		if closed := s.Close(); err == nil {
			err = closed
		}
		return err
	}
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// token makes a principal with a role on an object and returns a token of it.
func (r *running) token(t *testing.T, name string, role auth.Role, object string) string {
	t.Helper()
	// A role is for a table that exists: one that does not is there while the role is given.
	made := false
	if strings.HasPrefix(object, "tb_") {
		if _, err := r.store.FindResource(t.Context(), store.KindTable, object); err != nil {
			made = true
			r.changeTable(t, func(ctx context.Context, tx *store.Tx) error {
				return tx.AddResource(ctx, &store.Resource{ID: object, Kind: store.KindTable, Doc: []byte(`{"name":"x"}`)})
			})
		}
	}
	if _, err := r.Host().AddPrincipal(t.Context(), name, role, object); err != nil {
		t.Fatal(err)
	}
	if made {
		r.changeTable(t, func(ctx context.Context, tx *store.Tx) error { return tx.DropResource(ctx, store.KindTable, object) })
	}
	secret, _, err := r.Host().Token(t.Context(), name, "test", 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// changeTable changes a table in the store alone.
func (r *running) changeTable(t *testing.T, do func(ctx context.Context, tx *store.Tx) error) {
	t.Helper()
	if err := r.store.Write(t.Context(), do); err != nil {
		t.Fatal(err)
	}
}

// An answer is what a server answered.
type answer struct {
	status int
	header http.Header
	body   string
}

// decode reads the JSON body of an answer.
func (a *answer) decode(t *testing.T, to any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), to); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
}

// code is the code of a problem; "" for another body.
func (a *answer) code() string {
	var p struct{ Code string }
	if !strings.HasPrefix(a.header.Get("Content-Type"), "application/problem+json") || json.Unmarshal([]byte(a.body), &p) != nil {
		return ""
	}
	return p.Code
}

// ask sends a request. body is sent as JSON where it is not nil. change may change it.
func (r *running) ask(t *testing.T, method, path, token string, body any, change func(*http.Request)) *answer {
	t.Helper()
	var in io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		in = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, r.base+path, in)
	if err != nil {
		t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if change != nil {
		change(req)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if showsFolders(string(text)) {
		t.Errorf("%s %s shows a folder of the host: %s", method, path, text)
	}
	return &answer{res.StatusCode, res.Header, string(text)}
}

// signIn makes a link of a principal, signs in with it and returns the cookie.
func (r *running) signInAs(t *testing.T, name string) *http.Cookie {
	t.Helper()
	link, err := r.Host().LoginLink(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	_, secret, _ := strings.Cut(link.URL, "#/sign-in/")
	a := r.ask(t, "POST", "/api/v1/session", "", map[string]string{"link": secret}, nil)
	if a.status != http.StatusOK {
		t.Fatalf("signing in: %d %s", a.status, a.body)
	}
	cookies, err := http.ParseSetCookie(a.header.Get("Set-Cookie"))
	if err != nil {
		t.Fatal(err)
	}
	return cookies
}

// with adds a cookie to a request.
func with(c *http.Cookie) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Cookie", c.Name+"="+c.Value) }
}

var anyRequestID = regexp.MustCompile(`rq_[a-z2-7]{16}`)

// unnamed is a text without the ids of requests.
func unnamed(text string) string { return anyRequestID.ReplaceAllString(text, "rq_") }

// A clock is set by a test.
type clock struct {
	wall    time.Time
	elapsed time.Duration
}

func (c *clock) clock() store.Clock {
	return store.Clock{Wall: func() time.Time { return c.wall }, Elapsed: func() time.Duration { return c.elapsed }}
}

// pass lets time pass.
func (c *clock) pass(d time.Duration) { c.wall, c.elapsed = c.wall.Add(d), c.elapsed+d }

// prefixes reads networks.
func prefixes(t *testing.T, text string) (all []netip.Prefix) {
	t.Helper()
	for _, one := range strings.Fields(text) {
		p, err := netip.ParsePrefix(one)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// textLog is a log that a test reads.
func textLog(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// recorder records an answer.
type recorder struct {
	header http.Header
	status int
	body   strings.Builder
}

func newRecorder() *recorder { return &recorder{header: http.Header{}} }

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) { r.status = status }

func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }

// unlimited is a rate that no test reaches.
func unlimited() *limit.Rate { return limit.NewRate(time.Nanosecond, 1<<30) }

func auditFilter(action string) *audit.Filter { return &audit.Filter{Action: action} }
