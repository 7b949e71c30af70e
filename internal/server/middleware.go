package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/limit"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/lang"
)

type (
	requestKey  struct{}
	languageKey struct{}
	identityKey struct{}
	addressKey  struct{}
)

// requestID is the random id of a request.
func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}

// languageOf is the language in which a request is answered.
func languageOf(ctx context.Context) lang.Lang {
	l, _ := ctx.Value(languageKey{}).(lang.Lang)
	return l
}

// identityOf is the principal that a request's cookie or token names; nil for none.
func identityOf(ctx context.Context) *auth.Actor {
	a, _ := ctx.Value(identityKey{}).(*auth.Actor)
	return a
}

// policy is the content security policy of every answer.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// headers sets the headers that every answer has.
func (s *Server) headers(h http.Header, path string) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	if s.cfg.secure() {
		h.Set("Strict-Transport-Security", "max-age=63072000")
	}
	if strings.HasPrefix(path, apiPrefix) {
		h.Set("Cache-Control", "no-store")
	}
}

// guard is the handler of all requests: it names each request, sets the headers, refuses
// foreign hosts, other sites and too many requests, and finds the principal.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		id := store.NewID("rq")
		ctx := context.WithValue(r.Context(), requestKey{}, id)
		r = r.WithContext(context.WithValue(ctx, languageKey{}, lang.Accepted(strings.Join(r.Header.Values("Accept-Language"), ","))))
		counted := &statusWriter{ResponseWriter: w}
		w = s.cfg.Slowness.Writer(counted)
		s.headers(w.Header(), r.URL.Path)
		w.Header().Set("X-Request-Id", id)
		defer func() {
			if v := recover(); v != nil {
				if v == http.ErrAbortHandler {
					s.metrics.request(r.Pattern, counted.status, time.Since(begun))
					panic(v)
				}
				s.cfg.Log.Error("a request stopped by a fault of the program", "request", id, "at", caller())
				if counted.status == 0 {
					s.refuse(w, r, problem.New("internal", ""))
				}
			}
			s.metrics.request(r.Pattern, counted.status, time.Since(begun))
		}()
		if len(r.TransferEncoding) > 0 || !r.ProtoAtLeast(1, 1) {
			// Beside Transfer-Encoding, net/http drops a Content-Length without a word, and of HTTP/1.0
			// the Transfer-Encoding: what another program took for the rest of the body is no
			// second request.
			w.Header().Set("Connection", "close")
		}
		if r.Body != nil && r.ContentLength != 0 {
			r.Body = s.cfg.Slowness.Body(w, r)
		}
		from, err := s.check(r)
		if err == nil {
			end, ok := s.clients.Take(s.addressHash(from))
			if !ok {
				// Its connection is one of those that others wait for.
				w.Header().Set("Connection", "close")
				s.refuse(w, r, tooMany(time.Second))
				return
			}
			defer end()
			if r, err = s.identify(r, from); err == nil {
				if done, ok := s.sends(r.Context(), from); ok {
					defer done()
					next.ServeHTTP(w, r)
					return
				}
				w.Header().Set("Connection", "close")
				err = tooMany(time.Second)
			}
		}
		s.refuse(w, r, err)
	})
}

// sends counts a request of a principal at an address, or one without a sign-in. People behind
// one address share its places: the last eighth of them is for those who have few.
func (s *Server) sends(ctx context.Context, from netip.Addr) (done func(), ok bool) {
	address, most := s.addressHash(from), s.cfg.connectionShare()
	sender := address
	if a := identityOf(ctx); a != nil {
		sender += " " + a.ID
	}
	done, ok = s.senders.Take(sender)
	if ok && s.clients.Held(address) > most-most/8 && s.senders.Held(sender) > most/16 {
		done()
		return nil, false
	}
	return done, ok
}

// check refuses a request that must not reach any route, and returns the address of its
// client.
func (s *Server) check(r *http.Request) (netip.Addr, error) {
	from, err := s.client(r)
	if err != nil {
		return from, err
	}
	if !s.servesHost(r.Host) {
		return from, problem.New("host", "").Hinted("open the server by one of its names")
	}
	if err := s.crossOrigin.Check(r); err != nil {
		return from, problem.New("cross-site", "")
	}
	for _, name := range headersOnce {
		if len(r.Header.Values(name)) > 1 {
			return from, problem.New("malformed", "expected the header %s once", name)
		}
	}
	return from, nil
}

// headersOnce are the headers that say what a request asks for: one that states two values can be
// read in two ways, here and by a proxy.
var headersOnce = [...]string{
	"Idempotency-Key", "If-Match", "If-None-Match", "Content-Type", "Content-Range", "Content-Digest", "Repr-Digest", "Last-Event-ID",
	"Origin", "Sec-Fetch-Site",
}

func tooMany(wait time.Duration) error {
	p := problem.New("too-many", "")
	p.RetryAfter = int((wait + time.Second - 1) / time.Second)
	return p
}

// loopbackHost reports whether a host of a request names the loopback.
func loopbackHost(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	name = strings.Trim(name, "[]")
	return name == "localhost" || name == "127.0.0.1" || name == "::1"
}

// servesHost reports whether the server has the name that a request gives it. A page of
// another site whose name resolves to this machine is refused by this.
func (s *Server) servesHost(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = host, ""
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if slices.ContainsFunc(s.cfg.Hosts, func(h string) bool { return strings.EqualFold(h, name) }) {
		return true
	}
	return s.loopback && port == s.port && loopbackHost(name)
}

// addressHash names an address in memory: a hash under a key that lives 10 minutes. Of an
// IPv6 address the network counts.
func (s *Server) addressHash(a netip.Addr) string {
	a = limit.Network(a)
	s.saltMu.Lock()
	if now := time.Now(); now.Sub(s.salted) > 10*time.Minute {
		s.salt, s.salted = store.NewSecret(), now
	}
	salt := s.salt
	s.saltMu.Unlock()
	sum := sha256.Sum256([]byte(salt + a.String()))
	return string(sum[:12])
}

// identify finds the principal of a request of the interface, and limits the rate of the
// principal; that of the address where there is none. Many principals may have one address.
func (s *Server) identify(r *http.Request, from netip.Addr) (*http.Request, error) {
	r = r.WithContext(context.WithValue(r.Context(), addressKey{}, from))
	var actor *auth.Actor
	var err error
	if strings.HasPrefix(r.URL.Path, apiPrefix) {
		actor, err = s.whoIs(r, from)
	}
	if errors.Is(err, auth.ErrUnknown) {
		// As without a credential: routes that need one refuse.
		if ok, wait := s.failures.Allow(s.addressHash(from), s.store.Now()); !ok {
			return r, tooMany(wait)
		}
		return r, nil
	}
	if err != nil {
		return r, err
	}
	if actor == nil {
		if ok, wait := s.addresses.Allow(s.addressHash(from), s.store.Now()); !ok {
			return r, tooMany(wait)
		}
		return r, nil
	}
	if s.principals != nil {
		if ok, wait := s.principals.Allow(actor.ID, s.store.Now()); !ok {
			return r, tooMany(wait)
		}
	}
	return r.WithContext(context.WithValue(r.Context(), identityKey{}, actor)), nil
}

// whoIs finds the principal by the token of a request, or by its cookie where it has no
// token; nil without both.
func (s *Server) whoIs(r *http.Request, from netip.Addr) (*auth.Actor, error) {
	return s.actorOf(r, from, s.auth.BySession)
}

// actorOf is whoIs, with the function that finds the principal of a session's secret.
func (s *Server) actorOf(r *http.Request, from netip.Addr, session func(context.Context, string) (*auth.Actor, error)) (*auth.Actor,
	error,
) {
	if s.unsure() && (len(r.Header.Values("Authorization")) > 0 || len(r.CookiesNamed(s.cookieName())) > 0) {
		return nil, problem.New("sealed", "%s", s.Sealed())
	}
	if values := r.Header.Values("Authorization"); len(values) > 0 {
		scheme, token, ok := strings.Cut(values[0], " ")
		if len(values) > 1 || !ok || !strings.EqualFold(scheme, "bearer") {
			return nil, auth.ErrUnknown
		}
		return s.auth.ByToken(r.Context(), strings.TrimSpace(token), from)
	}
	cookies := r.CookiesNamed(s.cookieName())
	if len(cookies) == 0 {
		return nil, nil
	}
	if len(cookies) > 1 {
		return nil, auth.ErrUnknown // one was planted
	}
	return session(r.Context(), cookies[0].Value)
}

// cookieName is the name of the session's cookie. A browser takes the prefix __Host- from
// this host over TLS alone.
func (s *Server) cookieName() string {
	if s.cfg.secure() {
		return "__Host-noren"
	}
	return "noren"
}

// statusWriter knows the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// Unwrap serves [http.ResponseController].
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// caller names the functions that led to a panic, without their arguments.
func caller() []string {
	pcs := make([]uintptr, 24)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs)])
	var names []string
	for {
		f, more := frames.Next()
		names = append(names, f.Function)
		if !more {
			return names
		}
	}
}
