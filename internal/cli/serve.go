package cli

import (
	"context"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/examples/clinic"
	"github.com/noren-privacy/noren/internal/server"
	"github.com/noren-privacy/noren/internal/server/limit"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/web"
)

// serveFlags are the flags of noren serve.
type serveFlags struct {
	server.Config
	proxies          []string
	roots, databases []string
	publics          []string
	memory, upload   string
	tables           string
	requests         int
	answers          int
}

func newServe(t *terminal) *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve --dir DIR",
		Short: "Serve a page and an HTTP interface for stewards and analysts",
		Long: `Run a server with a page on which stewards prepare tables, release them and open privacy
budgets, and analysts ask questions. All its state (tables, releases, keys, ledger, audit
log) is in DIR, which its owner alone can read. Until a principal has signed in, each start prints a link of one use that signs the first steward in.

An address that other machines reach needs TLS: --tls-cert and --tls-key, or a proxy in
front that ends TLS, named by --behind-proxy. Health and metrics are on --admin. SIGTERM
stops the server, SIGHUP reads the TLS certificate again. docs/server.md has the rest.`,
		Example: `  noren serve --demo
  noren serve --dir /var/lib/noren
  noren serve --dir /var/lib/noren --listen 0.0.0.0:443 --host noren.example.org --tls-cert cert.pem --tls-key key.pem
  noren serve login-link --dir /var/lib/noren --name "M. Ito"`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), t) },
	}
	flags := c.Flags()
	dirFlag(c, &f.Dir)
	flags.BoolVar(&f.Demo, "demo", false, "serve an invented clinic; without --dir from a temporary folder")
	flags.StringVar(&f.Listen, "listen", "127.0.0.1:8080", "`ADDRESS` of the page and the interface")
	flags.StringVar(&f.Admin, "admin", "127.0.0.1:8081", "loopback `ADDRESS` of /livez, /readyz and /metrics")
	flags.StringVar(&f.Certificate, "tls-cert", "", "`FILE` of the TLS certificate, in PEM")
	flags.StringVar(&f.Key, "tls-key", "", "`FILE` of the key of the TLS certificate, in PEM")
	flags.StringSliceVar(&f.proxies, "behind-proxy", nil, "`NETWORKS` of the proxy that ends TLS, such as 10.0.0.0/8")
	flags.StringSliceVar(&f.Hosts, "host", nil, "`NAMES` by which browsers reach the server")
	flags.StringArrayVar(&f.roots, "root", nil, "`NAME=FOLDER` that tables may be read from; may be repeated")
	flags.StringArrayVar(&f.databases, "database", nil, "`NAME=FILE` with the data source name of a PostgreSQL database; may be repeated")
	flags.IntVar(&f.LeastK, "least-k", 5, "the least `K` of a release")
	flags.StringVar(&f.memory, "memory", "1GB", "the most memory that jobs hold, `SIZE` such as 500MB")
	flags.StringVar(&f.upload, "upload-limit", "2GB", "the largest upload, `SIZE` such as 2GB")
	flags.StringVar(&f.tables, "table-memory", "256MB", "the most memory that columns of books take, `SIZE` such as 1GB")
	flags.StringVar(&f.Anchor, "anchor", "", "`FILE` outside DIR that the head of the ledger is kept in")
	flags.StringArrayVar(&f.publics, "public-table", nil, "`NAME=FILE` of a public table that estimates may refer to; may be repeated")
	flags.IntVar(&f.requests, "requests-per-second", 20,
		"the most `REQUESTS` of a principal in a second, three times as many at once; 0 for no limit")
	flags.IntVar(&f.answers, "answers-per-minute", 60, "the most paid `ANSWERS` of a principal in a minute; 0 for no limit")
	flags.StringVar(&f.Name, "name", "Noren", "the `TEXT` that the page shows as the server's name")
	flags.StringVar(&f.Language, "lang", "en", "default `LANGUAGE` of the page: en or ja")
	c.AddCommand(newServeLoginLink(t), newServePrincipal(t), newServeGrant(t), newServeToken(t), newServeAuditCheck(t), newServeKey(t),
		newServeCalibrate(t), newServeAccept(t))
	ownerAlone(c)
	return c
}

// ownerAlone has a command and those below it make files that their owner alone may read,
// whatever the umask was when they were started.
func ownerAlone(c *cobra.Command) {
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		maskFiles()
		return run(c, args)
	}
	for _, below := range c.Commands() {
		ownerAlone(below)
	}
}

// dirFlag is the folder of a server.
func dirFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "dir", "", "the `FOLDER` of the server's state, of mode 0700")
}

// named reads flags of the form NAME=VALUE.
func named(flag string, all []string) (map[string]string, error) {
	out := map[string]string{}
	for _, one := range all {
		name, value, ok := strings.Cut(one, "=")
		if !ok || name == "" || value == "" || strings.ContainsAny(name, `/\`) {
			return nil, noren.Usagef("--"+flag, "expected NAME=VALUE with a name without slashes")
		}
		if _, twice := out[name]; twice {
			return nil, noren.Usagef("--"+flag, "expected each name once, got %s twice", name)
		}
		out[name] = value
	}
	return out, nil
}

// config turns the flags into the configuration of the server.
func (f *serveFlags) config(t *terminal) (*server.Config, error) {
	cfg := f.Config
	cfg.Apart = workerOperation
	for _, text := range f.proxies {
		p, err := limit.ParseNetwork(text)
		if err != nil {
			return nil, noren.Usagef("--behind-proxy", "expected a network such as 10.0.0.0/8")
		}
		cfg.Proxies = append(cfg.Proxies, p)
	}
	var err error
	if cfg.Roots, err = named("root", f.roots); err != nil {
		return nil, err
	}
	if cfg.Databases, err = named("database", f.databases); err != nil {
		return nil, err
	}
	if cfg.Public, err = named("public-table", f.publics); err != nil {
		return nil, err
	}
	for _, n := range []struct {
		flag  string
		value int
		to    *int
	}{{"--requests-per-second", f.requests, &cfg.RequestsPerSecond}, {"--answers-per-minute", f.answers, &cfg.AnswersPerMinute}} {
		if n.value < 0 {
			return nil, noren.Usagef(n.flag, "expected 0 or more, got %d", n.value)
		}
		*n.to = n.value
		if n.value == 0 {
			*n.to = -1 // no limit
		}
	}
	for _, size := range []struct {
		flag, text string
		to         *int64
	}{{"--memory", f.memory, &cfg.Memory}, {"--upload-limit", f.upload, &cfg.UploadLimit}, {"--table-memory", f.tables, &cfg.TableMemory}} {
		if *size.to, err = parseSize(size.text); err != nil {
			return nil, noren.Usagef(size.flag, "expected a size such as 500MB or 2GB").Hinted("the size %q cannot be read", size.text)
		}
	}
	cfg.Tool = tool()
	if cfg.Page, err = web.Files(); err != nil {
		return nil, &noren.Error{Where: "page", What: "cannot be read", Err: err}
	}
	cfg.Log = slog.New(slog.NewTextHandler(t.stderr, nil))
	return &cfg, nil
}

// run serves until the context ends or a second signal arrives.
func (f *serveFlags) run(ctx context.Context, t *terminal) error {
	cfg, err := f.config(t)
	if err != nil {
		return err
	}
	if cfg.Dir == "" && cfg.Demo {
		dir, err := os.MkdirTemp("", demoFolders)
		if err != nil {
			return &noren.Error{Where: "--demo", What: "a temporary folder cannot be made", Err: err}
		}
		defer os.RemoveAll(dir)
		cfg.Dir = filepath.Join(dir, "server")
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	s, err := server.New(ctx, *cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	base, err := s.Listen(ctx)
	if err != nil {
		return err
	}
	if f.Demo {
		visits, err := fs.ReadFile(clinic.FS(), clinic.VisitsFile)
		if err != nil {
			return &noren.Error{Where: "--demo", What: "the built-in example cannot be read", Err: err}
		}
		if err := s.Demonstrate(ctx, demo(visits)); err != nil {
			return err
		}
	}
	if err := announce(ctx, t.stdout, s, base); err != nil {
		return err
	}
	if f.Demo {
		goOn(ctx, t, s, cfg.Dir, f.Dir == "")
	}
	done := make(chan error, 1)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() { done <- s.Serve(ctx) }()
	return wait(t, s, signals, done, stop)
}

// wait waits for the end of the server: a first signal stops it, a second one ends it at
// once, SIGHUP reads its certificate again.
func wait(t *terminal, s *server.Server, signals <-chan os.Signal, done <-chan error, stop func()) error {
	for stopped := false; ; {
		select {
		case err := <-done:
			return err
		case sig := <-signals:
			switch {
			case sig == syscall.SIGHUP:
				if err := s.ReloadCertificate(); err != nil {
					t.warn("%v", err)
				}
			case stopped:
				return &alreadySaid{&noren.Error{Kind: noren.Interrupted, What: "stopped by a second signal"}}
			default:
				stopped = true
				stop()
			}
		}
	}
}

// announce prints where the server is, and the link of the first steward.
func announce(ctx context.Context, w io.Writer, s *server.Server, base string) error {
	lang.Fprintf(w, "noren serves %s\nhealth and metrics: http://%s/readyz\n", base, s.AdminAddress())
	if way := s.WayBack(); len(way) > 0 {
		lang.Fprintf(w, "the server is sealed: %s\nthe way back:\n", s.Sealed())
		for i, step := range way {
			lang.Fprintf(w, "  %d. %s\n", i+1, step)
		}
	}
	return links(ctx, w, s)
}

// links prints the link of the first steward, and that of the analyst of a demonstration.
func links(ctx context.Context, w io.Writer, s *server.Server) error {
	link, err := s.SetupLink(ctx)
	if err != nil || link == nil {
		return err
	}
	lang.Fprintf(w, "sign in as %s (once, within 10 minutes): %s\n", link.Name, link.URL)
	if link, err = s.DemoLink(ctx); err != nil || link == nil {
		return err
	}
	lang.Fprintf(w, "or, in another browser, as %s: %s\n", link.Name, link.URL)
	return nil
}
