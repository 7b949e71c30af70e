// Package server serves Noren over HTTP: an interface in JSON, and the page over it.
//
// All state is in one folder that its owner alone can read. Every operation on a table is
// one of package service; the server adds who may ask (package auth), in which form
// (problem), how often (limit), and a log of it (audit). The contract of the interface is
// docs/openapi.json; docs/server.md says how to run a server.
//
// The server assumes that the machine, its owner's account and its clock's general
// direction are trusted; docs/threat-model.md has the list.
package server

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/server/apart"
	"github.com/noren-privacy/noren/internal/server/audit"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/limit"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/quantum"
	"github.com/noren-privacy/noren/internal/server/questions"
	"github.com/noren-privacy/noren/internal/server/records"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/internal/server/tables"
	"github.com/noren-privacy/noren/internal/server/uploads"
	"github.com/noren-privacy/noren/service"
)

const (
	// apiPrefix begins the addresses of the interface.
	apiPrefix = "/api/v1"
	// jsonLimit is the size of the largest JSON body, in bytes.
	jsonLimit = 1 << 20
	// headerLimit is the size of the largest header, in bytes.
	headerLimit = 16 << 10
	// mostStreams is how many streams of events of one principal are open at once.
	mostStreams = 32
)

// Server is a server over one folder. Make one with [New], and Close it.
type Server struct {
	places *limit.Places // of processes of proposals and checks
	cfg    Config
	lock   *store.Lock
	store  *store.Store
	auth   *auth.Auth
	audit  *audit.Log
	key    ed25519.PrivateKey

	noiseKey []byte // encrypts the secrets of answers that are not stored yet; nil without one
	ledger   string // the path of the open ledger
	keyGone  bool   // key is a stand-in that signs nothing

	jobs    *jobs.Manager
	uploads *uploads.Store
	tables  *tables.Tables
	records *records.Records

	kept        *service.Kept
	books       *books.Books
	desk        *quantum.Desk
	questions   *questions.Questions
	calibration atomic.Pointer[api.Calibration]
	mayRead     func(ctx context.Context, answer string, r *questions.Reader) error

	handler     http.Handler
	api         huma.API
	routes      []mounted
	owners      map[string]owner // by the prefix of an id
	crossOrigin *http.CrossOriginProtection
	clients     *limit.Shares // requests that are being answered, by address
	senders     *limit.Shares // those of one principal at one address, or of no principal
	streams     *limit.Shares // streams of events, by principal
	addresses   *limit.Rate   // requests by address
	failures    *limit.Rate   // unknown credentials by address
	principals  *limit.Rate   // requests by principal
	signIns     *limit.Rate   // looks at links and sign-ins by address
	answers     *limit.Rate   // paid questions by principal; nil for no limit
	metrics     *metrics
	inFlight    inFlight
	pledges     pledges

	warnNoAddress, warnNoHeader sync.Once // faults of the proxy in front

	saltMu sync.Mutex
	salt   string
	salted time.Time

	listeners listeners
	loopback  bool
	port      string

	background sync.WaitGroup // ends once closing is closed

	sealMu sync.Mutex
	seal   noren.Phrase   // the first reason
	seals  []noren.Phrase // all of them

	closing  chan struct{} // closed when the server begins to stop
	stopOnce sync.Once
	atStop   []func(context.Context) // what stops with the server, such as jobs
}

// New opens the folder of a server, makes what it lacks, and mounts the routes. It takes
// the folder's lock until Close.
func New(ctx context.Context, cfg Config) (_ *Server, err error) {
	cfg.defaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.Dir, err = filepath.Abs(cfg.Dir); err != nil {
		return nil, noren.Usagef("dir", "expected a folder, got one that cannot be found")
	}
	for name, root := range cfg.Roots {
		if cfg.Roots[name], err = filepath.Abs(root); err != nil {
			return nil, noren.Usagef("root", "expected a folder, got one that cannot be found")
		}
	}
	for name, file := range cfg.Public {
		if cfg.Public[name], err = filepath.Abs(file); err != nil {
			return nil, noren.Usagef("public-table", "expected a file, got one that cannot be found")
		}
	}
	s := &Server{
		cfg: cfg, closing: make(chan struct{}), owners: map[string]owner{}, metrics: newMetrics(),
		crossOrigin: http.NewCrossOriginProtection(),
		clients:     limit.NewShares(cfg.connectionShare()),
		senders:     limit.NewShares(cfg.connectionShare()),
		streams:     limit.NewShares(mostStreams),
		addresses:   limit.NewRate(time.Second/100, 400),
		failures:    limit.NewRate(time.Second, 30),
		signIns:     limit.NewRate(6*time.Second, 10),
	}
	if n := cfg.RequestsPerSecond; n > 0 {
		s.principals = limit.NewRate(time.Second/time.Duration(n), 3*n)
	}
	if n := cfg.AnswersPerMinute; n > 0 {
		s.answers = limit.NewRate(time.Minute/time.Duration(n), n)
	}
	for _, host := range cfg.Hosts {
		// A proxy may send another Host than the browser did.
		if err := s.crossOrigin.AddTrustedOrigin("https://" + host); err != nil {
			return nil, noren.Usagef("host", "expected a host name such as noren.example.org")
		}
	}
	if s.lock, err = prepare(ctx, cfg.Dir); err != nil {
		return nil, err
	}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.openResources(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.openBooks(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.mount()
	if s.Sealed() == "" {
		s.background.Go(s.seeLater)
	}
	return s, nil
}

// open opens what is in the folder.
func (s *Server) open(ctx context.Context) (err error) {
	for _, name := range []string{
		"server.db", "server.db-wal", "server.db-shm", "audit.log", "ledger.db", "ledger.db-wal", "ledger.db-shm",
		"ledger.db.head",
	} {
		if err := plainOrAbsent(s.path(name)); err != nil {
			return err
		}
	}
	if err := s.openStore(ctx); err != nil {
		return err
	}
	s.auth = auth.New(s.store)
	if s.audit, err = audit.Open(ctx, s.path("audit.log"), s.store); err != nil {
		return err
	}
	s.audit.ResumeWhen(s.spaceToCharge)
	s.sealAuditLog()
	if err := s.openKey(ctx); err != nil {
		return err
	}
	if s.Sealed() == "" { // a sealed server makes no key
		s.openNoiseKey()
	}
	return s.openLedger(ctx)
}

// useKey notes the key that signs from now on.
func useKey(ctx context.Context, tx *store.Tx, key ed25519.PrivateKey) error {
	public := key.Public().(ed25519.PublicKey)
	text, err := certificate.EncodePublicKey(public)
	if err != nil {
		return err
	}
	return tx.UseKey(ctx, certificate.KeyID(public), string(text))
}

// service has the operations, over this server's ledger and key. Each call makes a new
// one, so that a job can set its own progress.
func (s *Server) service() *service.Service {
	memory := int64(0)
	if s.jobs != nil { // after the start
		memory = s.jobs.Share()
	}
	out := &service.Service{
		Memory: memory,
		Ledger: s.ledger,
		Signer: s.signer,
		Tool:   s.cfg.Tool,
		Kept:   s.kept, Identity: certificate.Authenticated,
	}
	if s.noiseKey != nil {
		out.NoiseKey = func() ([]byte, error) { return s.noiseKey, nil }
	}
	return out
}

// processes is how many processes of proposals and checks compute from tables at once, beside those of
// jobs, and waitingProcesses how many of one principal wait.
const processes, waitingProcesses = 4, 16

// apart runs operations on tables in other processes.
func (s *Server) apart() *apart.Runner {
	if s.places == nil {
		s.places = limit.NewPlaces(processes, waitingProcesses)
	}
	return &apart.Runner{Command: s.cfg.Apart, Place: s.place, Tool: s.cfg.Tool, Memory: func() int64 { return s.jobs.Share() }}
}

// place waits for a place for a process of a proposal or check. The principals get theirs in turn.
func (s *Server) place(ctx context.Context) (func(), error) {
	by := ""
	if c := callOf(ctx); c != nil && c.actor != nil {
		by = c.actor.ID
	}
	back, err := s.places.Take(ctx, by)
	if errors.Is(err, limit.ErrShare) {
		p := problem.New("too-many", "Your checks fill your share of the queue.").Hinted("wait until one ends")
		p.RetryAfter = 1
		return nil, p
	}
	return back, err
}

// path is a path in the folder of the state.
func (s *Server) path(parts ...string) string {
	return filepath.Join(append([]string{s.cfg.Dir}, parts...)...)
}

// Sealed says why the server refuses changes and releases; "" where it does not.
func (s *Server) Sealed() noren.Phrase {
	s.sealMu.Lock()
	defer s.sealMu.Unlock()
	if s.seal == "" && s.audit != nil && s.audit.Damage() != nil {
		return "The audit log cannot be written: the server answers reading requests alone."
	}
	return s.seal
}

func (s *Server) setSealed(reason noren.Phrase) {
	s.sealMu.Lock()
	defer s.sealMu.Unlock()
	if s.seal == "" {
		s.seal = reason
	}
	if !slices.Contains(s.seals, reason) {
		s.seals = append(s.seals, reason)
	}
}

// stopping reports whether the server has begun to stop.
func (s *Server) stopping() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}

// beginStop tells streams and health that the server stops.
func (s *Server) beginStop() { s.stopOnce.Do(func() { close(s.closing) }) }

// Close closes the store and gives the folder's lock back. It does not wait for requests:
// [Server.Serve] does.
func (s *Server) Close() error {
	s.beginStop()
	s.background.Wait()
	var err error
	if s.questions != nil {
		s.questions.Close()
	}
	if s.books != nil {
		s.books.Close()
	}
	if s.kept != nil {
		if s.audit != nil {
			err = s.seeLedger(context.Background())
		}
		err = errors.Join(err, s.kept.Close())
	}
	if s.audit != nil {
		s.audit.Close()
	}
	if s.store != nil {
		err = errors.Join(err, s.store.Close())
	}
	return errors.Join(err, s.lock.Close())
}
