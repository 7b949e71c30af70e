package server

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/service"
)

// testSwappedPages replaces each of the first pages of a database by each other one, every step of the pairs:
// the server starts sealed, or with all that it had.
func testSwappedPages(t *testing.T, step int) {
	s, a := opened(t, nil)
	for i := range 12 {
		a.pay(t, 200, a.quote(t, "0.01", "age > 40"), strings.Repeat("k", i+1))
	}
	before, err := s.kept.Known(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cfg := s.cfg
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	const size, most = 4096, 12
	tried, sealed, pair := 0, 0, 0
	for _, name := range []string{"ledger.db", "server.db"} {
		whole, err := os.ReadFile(filepath.Join(cfg.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		pages := min(most, len(whole)/size)
		for to := range pages {
			for from := range pages {
				if pair++; from == to || pair%step != 0 {
					continue
				}
				dir := filepath.Join(t.TempDir(), "server")
				if err := os.CopyFS(dir, os.DirFS(cfg.Dir)); err != nil {
					t.Fatal(err)
				}
				ownersAlone(t, dir)
				text := bytes.Clone(whole)
				copy(text[to*size:(to+1)*size], whole[from*size:(from+1)*size])
				if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
					t.Fatal(err)
				}
				c := cfg
				c.Dir, c.Listen, c.Admin = dir, "", ""
				one, err := New(t.Context(), c)
				if err != nil {
					t.Errorf("%s, page %d in the place of %d: the server does not start: %v", name, from+1, to+1, err)
					continue
				}
				tried++
				if one.Sealed() != "" {
					sealed++
				} else {
					one.complete(t, before, 12)
				}
				if err := one.Close(); err != nil {
					t.Errorf("%s, page %d in the place of %d: %v", name, from+1, to+1, err)
				}
			}
		}
	}
	t.Logf("%d pages in the place of others, %d sealed", tried, sealed)
}

// complete reports where a server that pays does not have all that was spent and answered.
func (s *Server) complete(t *testing.T, before *service.Known, answers int) {
	t.Helper()
	now, err := s.kept.Known(t.Context())
	if err != nil || !reflect.DeepEqual(now.Spent, before.Spent) || now.Seq < before.Seq {
		t.Errorf("spent is %v, it was %v; %v", now, before, err)
	}
	n := 0
	if err := s.store.EachAnswer(t.Context(), func([]byte) error { n++; return nil }); err != nil || n != answers {
		t.Errorf("%d answers of %d, %v", n, answers, err)
	}
}

func TestSwappedPages(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	testSwappedPages(t, 17)
}

func TestLongSwappedPages(t *testing.T) {
	randtest.Long(t)
	testSwappedPages(t, 1)
}
