package server

import (
	"context"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"os/exec"
	"strings"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/names"
	"github.com/noren-privacy/noren/internal/server/limit"
	"github.com/noren-privacy/noren/internal/server/quantum"
	"github.com/noren-privacy/noren/internal/server/store"
)

// Config says what a server serves, and where.
type Config struct {
	// Dir is the folder of all state, of mode 0700. Required. It is made where it does not
	// exist.
	Dir string
	// Apart is the command that calls [apart.Serve] with its standard input and output: each job
	// that computes from a table runs it, so that its computation does not delay paid answers. Without it
	// jobs compute in the server's process. Optional.
	Apart func(ctx context.Context) *exec.Cmd
	// Listen is the address of the interface and the page. Defaults to 127.0.0.1:8080. An
	// address that is not of the loopback needs Certificate or Proxies.
	Listen string
	// Admin is the address of /livez, /readyz and /metrics, on the loopback. Defaults to
	// 127.0.0.1:8081.
	Admin string
	// Certificate and Key are the files of the TLS certificate and its key, in PEM. Optional.
	Certificate, Key string
	// Proxies are the networks of the proxies in front of the server, which end TLS.
	// Requests from other addresses are refused. Optional.
	Proxies []netip.Prefix
	// Hosts are the host names that requests may name, beside those of a loopback address.
	Hosts []string
	// Roots are folders that tables may be read from, by name. Optional.
	Roots map[string]string
	// Databases are files with the data source name of a PostgreSQL database, by name.
	// Optional.
	Databases map[string]string
	// LeastK is the least k of a release. Defaults to 5.
	LeastK int
	// Memory is how much memory all jobs may hold, in bytes. Defaults to 1 GB.
	Memory int64
	// UploadLimit is the size of the largest upload, in bytes. Defaults to 2 GB.
	UploadLimit int64
	// Name is the name of the server, as the page shows it. Defaults to "Noren".
	Name string
	// Language is the default language of the page: "en" or "ja". Defaults to "en".
	Language string
	// Demo says that the data is invented.
	Demo bool
	// Tool is the program, as certificates name it. Required.
	Tool certificate.Tool
	// Page are the files of the page. Without them the server has its interface alone.
	Page fs.FS
	// Clock is what time is measured by. Defaults to [store.SystemClock].
	Clock store.Clock
	// Slowness is how slow a client may be. Defaults to 1 KiB/s after 10 s, and 30 s for
	// each piece of an answer.
	Slowness limit.Slowness
	// Connections is how many connections are open at most, a quarter of them from one
	// address. Where there are more, the one that was idle for longest ends. Defaults to 1,024.
	Connections int
	// Stop is how long jobs may go on once the server stops. Defaults to 20 s.
	Stop time.Duration
	// Anchor is a file outside Dir to which the head of the ledger goes after each change.
	// A ledger that is behind it opens sealed. Optional.
	Anchor string
	// TableMemory is the most memory that columns of books take, in bytes. Defaults to
	// 256 MB.
	TableMemory int64
	// RequestsPerSecond is how many requests a principal may send in a second; three times
	// as many at once. Defaults to 20; below 0 there is no limit.
	RequestsPerSecond int
	// AnswersPerMinute is how many answers a principal may ask for in a minute, and at once.
	// Defaults to 60; below 0 there is no limit.
	AnswersPerMinute int
	// Public are files of public tables, by name, to which estimates by weights refer.
	// Optional.
	Public map[string]string
	// Fault is called at steps of a paid answer: see [service.KeepOptions]. For tests of
	// faults.
	Fault func(step string) error
	// Meter measures the processor time of a computation and fills its bound. Defaults to
	// [quantum.Processor]. For tests of schedules that do not fill it.
	Meter func() quantum.Meter
	// Log receives what the operator should know: it holds no data. Defaults to none.
	Log *slog.Logger
}

// defaults fills in what is not stated.
func (c *Config) defaults() {
	set := func(to *string, value string) {
		if *to == "" {
			*to = value
		}
	}
	set(&c.Listen, "127.0.0.1:8080")
	set(&c.Admin, "127.0.0.1:8081")
	set(&c.Name, "Noren")
	set(&c.Language, "en")
	number := func(to *int64, value int64) {
		if *to == 0 {
			*to = value
		}
	}
	number(&c.Memory, 1e9)
	number(&c.UploadLimit, 2e9)
	number(&c.TableMemory, 256e6)
	number(&c.Slowness.BytesPerSecond, 1024)
	number((*int64)(&c.Slowness.Grace), int64(10*time.Second))
	number((*int64)(&c.Slowness.Write), int64(30*time.Second))
	number((*int64)(&c.Stop), int64(20*time.Second))
	if c.LeastK == 0 {
		c.LeastK = 5
	}
	if c.RequestsPerSecond == 0 {
		c.RequestsPerSecond = 20
	}
	if c.AnswersPerMinute == 0 {
		c.AnswersPerMinute = 60
	}
	if c.Connections == 0 {
		c.Connections = 1024
	}
	if c.Clock.Wall == nil {
		c.Clock = store.SystemClock()
	}
	if c.Meter == nil {
		c.Meter = quantum.Processor
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
}

// connectionShare is how many connections, and requests that are being answered, one address
// may have.
func (c *Config) connectionShare() int { return max(1, c.Connections/4) }

// validate returns the first fault of a configuration.
func (c *Config) validate() error {
	switch {
	case c.Dir == "":
		return noren.Usagef("dir", "expected a folder for the state of the server, got none")
	case c.Tool.Name == "":
		return noren.Usagef("tool", "expected the name of the program, got none")
	case c.Language != "en" && c.Language != "ja":
		return noren.Usagef("lang", "expected en or ja")
	case c.LeastK < 2:
		return noren.Usagef("least-k", "expected 2 or more, got %d", c.LeastK)
	case c.Memory < 64e6:
		return noren.Usagef("memory", "expected 64 MB or more, got %d {byte|bytes}", c.Memory)
	case c.TableMemory < 1e6:
		return noren.Usagef("table-memory", "expected 1 MB or more, got %d {byte|bytes}", c.TableMemory)
	case c.UploadLimit < 1:
		return noren.Usagef("upload-limit", "expected more than 0 bytes, got %d", c.UploadLimit)
	case !names.Seen(c.Name):
		return noren.Usagef("name", "holds a character that cannot be seen").Hinted("use letters, digits and signs")
	case (c.Certificate == "") != (c.Key == ""):
		return noren.Usagef("tls-cert", "expected a certificate and its key, got one of both").Hinted("name both files")
	case c.Certificate != "" && len(c.Proxies) > 0:
		return noren.Usagef("behind-proxy", "expected one of a certificate and a proxy, got both").
			Hinted("the proxy ends TLS; a server with a certificate does so itself")
	}
	for field, all := range map[string]map[string]string{"root": c.Roots, "database": c.Databases, "public-table": c.Public} {
		for name := range all {
			if !names.Seen(name) {
				return noren.Usagef(field, "holds a character that cannot be seen").Hinted("use letters, digits and signs")
			}
		}
	}
	public, err := c.public(c.Listen, "listen")
	if err != nil {
		return err
	}
	if public && !c.secure() {
		return noren.Usagef("listen", "expected TLS on an address that other machines reach, got none").
			Hinted("name a certificate and its key, name the networks of the proxy in front, or listen on 127.0.0.1")
	}
	if public && len(c.Hosts) == 0 {
		return noren.Usagef("host", "expected the host names of the server, got none").Hinted("requests that name other hosts are refused")
	}
	if public, err = c.public(c.Admin, "admin"); err != nil {
		return err
	}
	if public {
		return noren.Usagef("admin", "expected an address of the loopback").Hinted("health and metrics are for this machine: 127.0.0.1:8081")
	}
	for _, h := range c.Hosts {
		if h == "" || strings.ContainsAny(h, "/:@ ") {
			return noren.Usagef("host", "expected a host name such as noren.example.org")
		}
	}
	return nil
}

// secure says that browsers reach the server by TLS.
func (c *Config) secure() bool { return c.Certificate != "" || len(c.Proxies) > 0 }

// public reports whether an address is reached by other machines.
func (c *Config) public(address, field string) (bool, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false, noren.Usagef(field, "expected an address and a port, such as 127.0.0.1:8080")
	}
	if host == "localhost" {
		return false, nil
	}
	if host == "" {
		return true, nil
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false, noren.Usagef(field, "expected an IP address and a port, such as 127.0.0.1:8080")
	}
	return !ip.IsLoopback(), nil
}
