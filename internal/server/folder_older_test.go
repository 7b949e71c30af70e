package server

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/store"
)

// A folder of before issue 32, with three analysts of whom one has ended, a token that has
// ended, an upload of which half is there, and a book whose copy is the same file as that of
// its table: everything goes on, what has ended stays ended, and what was spent stays spent.
func TestFolderOfSeveralAnalysts(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	cfg := config(t)
	var known struct {
		Tokens, Principals           map[string]string
		Table, Recipe, Book, Release string
		ReleaseSHA256                string `json:"release_sha256"`
		Upload                       string
		Answers                      map[string]struct {
			By     string
			Body   map[string]any
			SHA256 string
		}
	}
	unpackBefore(t, "testdata/before/older", cfg.Dir, &known)
	made, begun := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC), time.Now()
	cfg.Clock = store.Clock{
		Wall:    func() time.Time { return made.Add(time.Since(begun)) },
		Elapsed: func() time.Duration { return time.Since(begun) },
	}
	spent := "0.4"
	for n, pays := range []string{"0.1", "0.2"} { // the second start finds what the first one left
		r := start(t, func(c *Config) { *c = cfg })
		if reason := r.Sealed(); reason != "" {
			t.Fatal(reason)
		}
		s := &steward{r, known.Tokens["Anna"]}
		sato := &asker{&steward{r, known.Tokens["Sato"]}, known.Principals["Sato"], &books.Book{ID: known.Book}}
		for _, ended := range []string{"Mori", "Abe"} {
			if a := r.ask(t, "GET", "/api/v1/session", known.Tokens[ended], nil, nil); a.status != 401 {
				t.Errorf("the token of %s, which has ended: %d", ended, a.status)
			}
		}
		for key, x := range known.Answers {
			token := known.Tokens[x.By]
			if x.By == "Mori" {
				token = known.Tokens["Mori2"]
			}
			b := r.ask(t, "POST", "/api/v1/answers", token, x.Body, idempotency(key))
			sum := sha256.Sum256([]byte(b.body))
			if x.By == "Abe" {
				if b.status != 401 {
					t.Errorf("the answer of a principal that has ended: %d", b.status)
				}
			} else if b.status != 200 || hex.EncodeToString(sum[:]) != x.SHA256 {
				t.Errorf("answer %s: %d, or other bytes", key, b.status)
			}
		}
		file := r.ask(t, "GET", "/api/v1/releases/"+known.Release+"/file", known.Tokens["Sato"], nil, nil)
		if sum := sha256.Sum256([]byte(file.body)); file.status != 200 || hex.EncodeToString(sum[:]) != known.ReleaseSHA256 {
			t.Errorf("the released file: %d, or other bytes", file.status)
		}
		if got := s.books0(t).Spent.Epsilon; got != spent {
			t.Errorf("spent %s, and not %s", got, spent)
		}
		sato.pay(t, 200, sato.quote(t, pays, "age >= 50"), "new "+pays)
		spent = []string{"0.5", "0.7"}[n]
		if got := s.books0(t).Spent.Epsilon; got != spent {
			t.Errorf("spent %s, and not %s", got, spent)
		}
		if n == 0 {
			people, err := os.ReadFile(filepath.Join(cfg.Dir, "books", known.Book, "1", "people.csv"))
			if err != nil {
				t.Fatal(err)
			}
			half := int64(len(people) / 2)
			if a := s.part(t, known.Upload, half, int64(len(people)), people[half:], nil); a.status != 200 {
				t.Errorf("the other half of an upload: %d %s", a.status, a.body)
			}
			if p := s.preview(t, known.Recipe); len(p.Earlier) != 1 || p.Earlier[0].Release != known.Release {
				t.Errorf("earlier releases of the preview: %+v", p.Earlier)
			} else {
				s.release(t, known.Recipe, p, known.Release)
			}
		}
		var checked books.LedgerCheck
		if job := s.finish(t, s.do(t, 202, "POST", "/books/"+known.Book+"/check", nil, nil)); job.State != jobs.Done {
			t.Errorf("%+v", job)
		}
		s.do(t, 200, "GET", "/books/"+known.Book+"/check", nil, nil).decode(t, &checked)
		for _, c := range checked.Checks {
			if c.Level != "ok" {
				t.Errorf("%+v", c)
			}
		}
		if faults := r.faults(); len(faults) > 0 {
			t.Errorf("not ready: %q", faults)
		}
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}
	}
}
