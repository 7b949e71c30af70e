package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/noren-privacy/noren/internal/server/store"
)

// adminHandler answers health checks and metrics, on the loopback.
func (s *Server) adminHandler() http.Handler {
	mux := http.NewServeMux()
	text := func(w http.ResponseWriter, status int, body string) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { text(w, http.StatusOK, "ok\n") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		lines, status := s.faults(), http.StatusServiceUnavailable
		if len(lines) == 0 {
			lines, status = []string{"ok"}, http.StatusOK
		}
		text(w, status, strings.Join(append(lines, s.notices()...), "\n")+"\n")
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		s.metrics.write(w)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The page of another site cannot read health by a name that resolves to this machine.
		if !loopbackHost(r.Host) {
			text(w, http.StatusMisdirectedRequest, "expected the host name 127.0.0.1 or localhost\n")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// Of the disk, leastFree must be free, or leastFreeBytes, which are a small share of a
// large disk.
const (
	leastFree      = 0.05
	leastFreeBytes = 4 << 30
)

// faults are the reasons for which the server is not ready; none where it is.
func (s *Server) faults() (all []string) {
	if s.stopping() {
		return []string{"stopping"}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := s.store.Write(ctx, func(context.Context, *store.Tx) error { return nil }); err != nil {
		all = append(all, "store: it cannot be written")
	}
	if reason := s.Sealed(); reason != "" {
		all = append(all, "sealed: "+string(reason))
	}
	if s.Sealed() == "" {
		if lost, err := s.books.Lost(ctx); err == nil && len(lost) > 0 {
			all = append(all, "books: their record cannot be read, or the ledger does not know their data sets: "+strings.Join(lost, ", "))
		}
	}
	if s.Sealed() == "" {
		if changed, err := s.books.Changed(ctx); err == nil && len(changed) > 0 {
			all = append(all, "books: their files are not those that were granted: "+strings.Join(changed, ", "))
		}
	}
	if altered := s.records.Altered(); len(altered) > 0 {
		all = append(all, "releases: these are not what was released: "+strings.Join(altered, ", "))
	}
	if free, total, known := freeDisk(s.cfg.Dir); known && free < leastFree*total && free < leastFreeBytes {
		all = append(all, fmt.Sprintf("disk: expected at least %.0f%% or %d GiB free, got %.1f%%", 100*leastFree, leastFreeBytes>>30,
			100*free/total))
	}
	return all
}

// notices are what the operator should know and what keeps the server from nothing: a clock that
// was set back by hours does not take it out of service for as long.
func (s *Server) notices() (all []string) {
	if ahead := s.store.Ahead(); ahead > time.Minute {
		all = append(all, fmt.Sprintf("clock: it is %s behind the latest time that this server has seen; sessions and tokens that had ended "+
			"stay ended", ahead.Round(time.Second)))
	}
	if jump := s.store.Jump(); jump > time.Hour {
		all = append(all,
			fmt.Sprintf("clock: it moved forward by %s while the server ran; sessions and tokens that end before its time have ended",
				jump.Round(time.Second)))
	}
	return all
}
