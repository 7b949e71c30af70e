package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/server/limit"
	"github.com/noren-privacy/noren/internal/server/store"
)

// listeners are the open listeners of a server.
type listeners struct {
	main, admin net.Listener
	counted     *limit.Listener
	certificate atomic.Pointer[tls.Certificate]
}

// shed is the answer to a connection over the limit.
const shed = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nRetry-After: 5\r\nContent-Length: 34\r\nConnection: " +
	"close\r\n\r\nThe server has no free connection\n"

// Listen opens the addresses of the interface and of health and metrics, and returns the
// address that links begin with, such as http://127.0.0.1:8080.
func (s *Server) Listen(ctx context.Context) (base string, err error) {
	var lc net.ListenConfig
	if s.cfg.Certificate != "" {
		if err := s.ReloadCertificate(); err != nil {
			return "", err
		}
	}
	main, err := lc.Listen(ctx, "tcp", s.cfg.Listen)
	if err != nil {
		return "", listenError("listen", err)
	}
	admin, err := lc.Listen(ctx, "tcp", s.cfg.Admin)
	if err != nil {
		return "", errors.Join(listenError("admin", err), main.Close())
	}
	l := &s.listeners
	l.admin = admin
	l.counted = &limit.Listener{Listener: main, Most: s.cfg.Connections, Share: s.cfg.connectionShare(), Proxy: s.isProxy}
	scheme := "http"
	if s.cfg.Certificate == "" {
		l.counted.Shed = []byte(shed)
		l.main = l.counted
	} else {
		scheme = "https"
		l.main = tls.NewListener(l.counted, &tls.Config{
			MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return l.certificate.Load(), nil },
		})
	}
	host, port, err := net.SplitHostPort(main.Addr().String())
	if err != nil {
		return "", listenError("listen", err)
	}
	if ip := net.ParseIP(host); ip != nil {
		s.loopback = ip.IsLoopback()
	}
	s.port = port
	switch {
	case len(s.cfg.Proxies) > 0 && len(s.cfg.Hosts) > 0:
		base = "https://" + s.cfg.Hosts[0]
	case len(s.cfg.Hosts) > 0 && !s.loopback:
		base = scheme + "://" + net.JoinHostPort(s.cfg.Hosts[0], port)
		if port == "443" {
			base = scheme + "://" + s.cfg.Hosts[0]
		}
	default:
		base = scheme + "://" + net.JoinHostPort(host, port)
	}
	return base, s.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.SetBase(ctx, base) })
}

func listenError(field string, err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return &noren.Error{
		Kind: noren.Usage, Where: field, What: "the address cannot be opened", Err: err,
		Hint: "another program may use it: choose another port",
	}
}

// AdminAddress is the address of health and metrics once [Server.Listen] has returned.
func (s *Server) AdminAddress() string { return s.listeners.admin.Addr().String() }

// ReloadCertificate reads the TLS certificate and its key again. If it fails, the one
// before stays in use.
func (s *Server) ReloadCertificate() error {
	if s.cfg.Certificate == "" {
		return nil
	}
	c, err := tls.LoadX509KeyPair(s.cfg.Certificate, s.cfg.Key)
	if err != nil {
		return &noren.Error{
			Kind: noren.Usage, Where: s.cfg.Certificate, What: "the TLS certificate and its key cannot be used", Err: err,
			Hint: "both are PEM files, and the key belongs to the certificate",
		}
	}
	s.listeners.certificate.Store(&c)
	return nil
}

// unused is the size of memory that a server asks for and never touches, so that it takes
// addresses alone. The next garbage collection starts when the heap, this part included, has
// doubled. What a server holds between requests is small: without it a collection would
// follow each few megabytes of replies, which took a fifth of the processor time of a quote.
const unused = 32 << 20

// Serve answers requests until ctx ends, after [Server.Listen]. Then it stops: health says
// not ready, streams get their last event, no connection is accepted, requests and jobs
// end within [Config.Stop] or are cancelled. It returns nil after such a stop.
func (s *Server) Serve(ctx context.Context) error {
	defer runtime.KeepAlive(make([]byte, unused))
	quiet := log.New(discard{}, "", 0) // its lines hold addresses
	main := &http.Server{
		Handler: s.handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 60 * time.Second,
		MaxHeaderBytes: headerLimit, ErrorLog: quiet, ConnState: s.listeners.counted.State,
	}
	admin := &http.Server{
		Handler: s.adminHandler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: 60 * time.Second, MaxHeaderBytes: headerLimit, ErrorLog: quiet,
	}
	failed := make(chan error, 2)
	for _, one := range []struct {
		server *http.Server
		on     net.Listener
	}{{main, s.listeners.main}, {admin, s.listeners.admin}} {
		go func() { failed <- one.server.Serve(one.on) }()
	}
	var fault error
	select {
	case <-ctx.Done():
	case err := <-failed:
		fault = &noren.Error{Where: "server", What: "stopped to answer", Err: err}
	}
	s.beginStop()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.Stop)
	defer cancel()
	var work sync.WaitGroup
	for _, stop := range s.atStop {
		work.Go(func() { stop(end) })
	}
	work.Go(func() {
		if main.Shutdown(end) != nil {
			_ = main.Close()
		}
	})
	work.Wait()
	_ = admin.Close()
	return fault
}

// discard drops what is written to it.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
