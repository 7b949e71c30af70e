package server

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/store"
)

// A configuration that would expose the server is refused, with the field at fault.
func TestConfig(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		field  string // "" where it is sound
	}{
		"defaults":          {func(*Config) {}, ""},
		"no folder":         {func(c *Config) { c.Dir = "" }, "dir"},
		"public":            {func(c *Config) { c.Listen = "0.0.0.0:0" }, "listen"},
		"public, no host":   {func(c *Config) { c.Listen = ":0" }, "listen"},
		"public, IPv6":      {func(c *Config) { c.Listen = "[::]:0" }, "listen"},
		"a name":            {func(c *Config) { c.Listen = "example.org:80" }, "listen"},
		"no port":           {func(c *Config) { c.Listen = "127.0.0.1" }, "listen"},
		"localhost":         {func(c *Config) { c.Listen = "localhost:0" }, ""},
		"proxy, no name":    {func(c *Config) { c.Listen, c.Proxies = "0.0.0.0:0", prefixes(t, "10.0.0.0/8") }, "host"},
		"proxy":             {func(c *Config) { c.Proxies, c.Hosts = prefixes(t, "10.0.0.0/8"), []string{"a.example"} }, ""},
		"proxy and TLS":     {func(c *Config) { c.Proxies, c.Certificate, c.Key = prefixes(t, "10.0.0.0/8"), "a", "b" }, "behind-proxy"},
		"half of TLS":       {func(c *Config) { c.Certificate = "a" }, "tls-cert"},
		"public health":     {func(c *Config) { c.Admin = "0.0.0.0:0" }, "admin"},
		"a host with port":  {func(c *Config) { c.Hosts = []string{"a.example:80"} }, "host"},
		"a host with space": {func(c *Config) { c.Hosts = []string{"a b"} }, "host"},
		"k of 1":            {func(c *Config) { c.LeastK = 1 }, "least-k"},
		"little memory":     {func(c *Config) { c.Memory = 1 }, "memory"},
		"French":            {func(c *Config) { c.Language = "fr" }, "lang"},
		"no upload":         {func(c *Config) { c.UploadLimit = -1 }, "upload-limit"},
	} {
		cfg := config(t)
		c.change(&cfg)
		s, err := New(t.Context(), cfg)
		if err == nil {
			_ = s.Close()
		}
		var e *noren.Error
		switch {
		case c.field == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.field != "" && (noren.KindOf(err) != noren.Usage || !asError(err, &e) || e.Place() != c.field):
			t.Errorf("%s: %v", name, err)
		}
	}
}

func asError(err error, to **noren.Error) bool {
	e, ok := err.(*noren.Error)
	*to = e
	return ok
}

// A folder that others can read is refused, and so is one that another server uses.
func TestFolder(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	if runtime.GOOS != "windows" {
		for _, mode := range []os.FileMode{0o755, 0o710, 0o704, 0o701} {
			cfg := config(t)
			if err := os.Mkdir(cfg.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(cfg.Dir, mode); err != nil {
				t.Fatal(err)
			}
			if _, err := New(t.Context(), cfg); noren.KindOf(err) != noren.Usage {
				t.Errorf("mode %o: %v", mode, err)
			}
			if _, err := OpenHost(t.Context(), cfg.Dir); err == nil {
				t.Errorf("mode %o: the host opened it", mode)
			}
		}
	}
	cfg := config(t)
	r := start(t, func(c *Config) { *c = cfg })
	again := cfg
	if _, err := New(t.Context(), again); noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), "another server") {
		t.Errorf("a second server: %v", err)
	}
	work := filepath.Join(cfg.Dir, "work", "left.tmp")
	if err := os.WriteFile(work, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	start(t, func(c *Config) { *c = cfg })
	if _, err := os.Stat(work); err == nil {
		t.Error("what a job left is still there")
	}
	if err := filepath.WalkDir(cfg.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenHost(t.Context(), t.TempDir()); noren.KindOf(err) != noren.Usage {
		t.Errorf("a folder without a server: %v", err)
	}
}

// certificateFiles writes a certificate of its own for a name.
func certificateFiles(t *testing.T, dir, name string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, of, of, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: text}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

// With its own certificate the server speaks TLS, and reads the certificate again.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := start(t, func(c *Config) {
		c.Certificate, c.Key = certificateFiles(t, dir, "one.example")
		c.Hosts = []string{"one.example"}
	})
	name := func() string {
		c, err := tls.Dial("tcp", r.listeners.counted.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if s := c.ConnectionState(); s.Version < tls.VersionTLS12 || s.NegotiatedProtocol != "h2" {
			t.Errorf("version %x, protocol %s", s.Version, s.NegotiatedProtocol)
		}
		return c.ConnectionState().PeerCertificates[0].Subject.CommonName
	}
	if got := name(); got != "one.example" {
		t.Errorf("the certificate is of %s", got)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	res, err := client.Post(strings.Replace(r.base, "http:", "https:", 1)+"/api/v1/session/look", "application/json",
		strings.NewReader(`{"link":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 404 || res.ProtoMajor != 2 || res.Header.Get("Strict-Transport-Security") == "" {
		t.Errorf("%d over %s: %v", res.StatusCode, res.Proto, res.Header)
	}
	certificateFiles(t, dir, "two.example")
	if err := r.ReloadCertificate(); err != nil || name() != "two.example" {
		t.Errorf("after reading again: %v, %s", err, name())
	}
	if err := os.WriteFile(filepath.Join(dir, "cert.pem"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.ReloadCertificate(); err == nil || name() != "two.example" {
		t.Errorf("after a file that is none: %v, %s", err, name())
	}
}

// A server that stops finishes its requests, tells streams, and says that it is not ready.
func TestStop(t *testing.T) {
	t.Parallel()
	r := start(t, func(c *Config) { c.Stop = 2 * time.Second })
	stopped := make(chan string, 1)
	r.atStop = append(r.atStop, func(ctx context.Context) {
		deadline, _ := ctx.Deadline()
		stopped <- time.Until(deadline).Round(time.Second).String()
	})
	if len(r.faults()) != 0 {
		t.Fatal(r.faults())
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if got := <-stopped; got != "2s" {
		t.Errorf("jobs got %s", got)
	}
	if faults := r.faults(); len(faults) != 1 || faults[0] != "stopping" {
		t.Errorf("health says %q", faults)
	}
	select {
	case <-r.closing:
	default:
		t.Error("streams were not told")
	}
}

// Metrics are in the text format, and no label holds an id.
func TestMetrics(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	token := r.token(t, "Canary Tanaka", auth.Steward, auth.Everything)
	r.ask(t, "GET", "/api/v1/session", token, nil, nil)
	r.ask(t, "DELETE", "/api/v1/tokens/tk_canarycanarycana", token, nil, nil)
	r.ask(t, "GET", "/canary.html", "", nil, nil)
	a := httpGet(t, "http://"+r.AdminAddress()+"/metrics", "")
	for _, want := range []string{
		`noren_requests_total{route="GET /api/v1/session",status="200"} 1`,
		`noren_requests_total{route="DELETE /api/v1/tokens/{id}",status="404"} 1`,
		`noren_request_seconds_bucket{route="GET /api/v1/session",le="+Inf"} 1`, "\nnoren_sealed 0\n", "\nnoren_ready 1\n",
		"\nnoren_audit_entries ",
	} {
		if !strings.Contains(a.body, want) {
			t.Errorf("no %q in\n%s", want, a.body)
		}
	}
	if strings.Contains(strings.ToLower(a.body), "canary") {
		t.Errorf("%s", a.body)
	}
	for line := range strings.Lines(a.body) {
		if !strings.HasPrefix(line, "# ") && len(strings.Fields(line)) < 2 {
			t.Errorf("a line without a value: %q", line)
		}
	}
	if a := httpGet(t, "http://"+r.AdminAddress()+"/livez", ""); a.status != 200 {
		t.Errorf("%d", a.status)
	}
	if a := httpGet(t, "http://"+r.AdminAddress()+"/api/v1/server", ""); a.status != 404 {
		t.Errorf("the interface is on the admin listener: %d", a.status)
	}
}

// Principals and their names are checked on the host.
func TestHost(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	h := r.Host()
	for name, fails := range map[string]bool{
		"M. Ito": false, "伊藤 真": false, "": true, " x": true, "a\nb": true, "a\u202eb": true,
		strings.Repeat("a", 101): true, "M. Ito\x00": true,
	} {
		if _, err := h.AddPrincipal(t.Context(), name, auth.Steward, auth.Everything); (err != nil) != fails {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := h.AddPrincipal(t.Context(), "M. Ito", auth.Auditor, auth.Everything); noren.KindOf(err) != noren.Usage {
		t.Errorf("a name twice: %v", err)
	}
	for _, c := range []struct {
		role   auth.Role
		object string
	}{{"owner", "*"}, {auth.Analyst, "visits"}, {auth.Analyst, "rc_aaaaaaaaaaaaaaaa"}} {
		if err := h.Grant(t.Context(), "M. Ito", c.role, c.object, false); noren.KindOf(err) != noren.Usage {
			t.Errorf("%v: %v", c, err)
		}
	}
	id := store.NewID("tb")
	if err := h.Grant(t.Context(), "M. Ito", auth.Auditor, id, false); noren.KindOf(err) != noren.Usage ||
		!strings.Contains(err.Error(), "no table has this id") {
		t.Errorf("a table that does not exist: %v", err)
	}
	if _, err := h.AddPrincipal(t.Context(), "K. Sato", auth.Analyst, id); noren.KindOf(err) != noren.Usage {
		t.Errorf("a principal of a table that does not exist: %v", err)
	}
	if err := r.store.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
		return tx.AddResource(ctx, &store.Resource{ID: id, Kind: store.KindTable, Doc: []byte(`{"name":"visits"}`)})
	}); err != nil {
		t.Fatal(err)
	}
	if err := h.Grant(t.Context(), "M. Ito", auth.Auditor, store.NewID("tb"), false); err == nil ||
		!strings.Contains(err.Error(), id+" (visits)") {
		t.Errorf("the tables are not named: %v", err)
	}
	if got := h.ObjectName(t.Context(), id); got != id+" (visits)" {
		t.Errorf("the table of a role is %q", got)
	}
	if got := h.ObjectName(t.Context(), "*"); got != "*" {
		t.Errorf("all objects are %q", got)
	}
	if err := h.Grant(t.Context(), "M. Ito", auth.Auditor, id, false); err != nil {
		t.Error(err)
	}
	if err := h.Grant(t.Context(), "M. Ito", auth.Steward, "*", true); err != nil {
		t.Error(err)
	}
	if err := h.Grant(t.Context(), "M. Ito", auth.Steward, "*", true); err == nil {
		t.Error("a grant was ended twice")
	}
	p, err := h.principal(t.Context(), "M. Ito")
	if err != nil || len(p.Grants) != 1 || p.Grants[0].Role != "auditor" {
		t.Errorf("%+v %v", p, err)
	}
	var export bytes.Buffer
	if err := r.audit.Export(t.Context(), &export, auditFilter("grant.add"), r.key, r.namesOf); err != nil ||
		strings.Count(export.String(), `"action":"grant.add"`) != 1 {
		t.Errorf("%v %s", err, export.String())
	}
}

// count is the number of entries of a folder; 0 where there is none.
func count(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return len(entries)
}
