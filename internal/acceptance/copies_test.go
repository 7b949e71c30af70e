package acceptance

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
)

// wayBack is what a sealed server says of how it goes on.
var wayBack = regexp.MustCompile("put .* back|reconciled|noren serve accept|damaged")

const copiedCost = 1_000_000 // 0.001

// copying is a server whose folder is copied while it works.
type copying struct {
	steward, analyst *user
	book             string
	q                *quote
	rng              *rand.Rand

	mu    sync.Mutex
	seen  map[string][]byte // the bytes of each answer by its key
	ended []string          // secrets of tokens that have ended
}

// token makes a token of the analyst, and returns what ends it.
func (c *copying) token(t *testing.T, name string) (end func()) {
	t.Helper()
	secret := noren(t, "serve", "token", "--dir", c.steward.dir, "--principal", c.analyst.name, "--name", name, "--days", "2")
	return func() {
		var all struct {
			Items []struct{ ID, Name string }
		}
		c.analyst.must(t, 200, "GET", "/tokens?limit=200", nil, &all)
		for _, token := range all.Items {
			if token.Name == name {
				if r := c.analyst.send(t.Context(), "DELETE", "/tokens/"+token.ID, nil); r.err != nil || r.status >= 300 {
					t.Fatal(r)
				}
				c.ended = append(c.ended, secret)
				return
			}
		}
		t.Fatalf("no token %s", name)
	}
}

// A copied folder, and what was seen before its first file was copied.
type copied struct {
	dir   string
	order []string
	seen  map[string][]byte
	ended []string
}

// work pays until ctx ends.
func (c *copying) work(ctx context.Context, t *testing.T, writers int) *sync.WaitGroup {
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				key := fmt.Sprintf("writer %d request %d", w, n)
				if r := c.analyst.pay(ctx, c.q, key); r.err == nil && r.status == 200 {
					c.mu.Lock()
					c.seen[key] = r.body
					c.mu.Unlock()
				} else if r.err == nil {
					t.Errorf("%s: %s", key, r)
				}
			}
		})
	}
	return &group
}

// copy copies the folder file by file in an order of chance, with pauses as large files would make.
func (c *copying) copy(t *testing.T, to string, pauses time.Duration) *copied {
	t.Helper()
	c.mu.Lock()
	out := &copied{dir: to, seen: map[string][]byte{}, ended: slices.Clone(c.ended)}
	for key, body := range c.seen {
		out.seen[key] = body
	}
	c.mu.Unlock()
	from := c.steward.dir
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it is gone
		}
		name, _ := filepath.Rel(from, path)
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		}
		out.order = append(out.order, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c.rng.Shuffle(len(out.order), func(i, j int) { out.order[i], out.order[j] = out.order[j], out.order[i] })
	for _, name := range out.order {
		if err := copyOne(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			t.Fatal(err)
		}
		if pauses > 0 && strings.Contains(name, ".db") {
			time.Sleep(time.Duration(c.rng.Int64N(int64(pauses))))
		}
	}
	return out
}

// copyOne copies a file; one that is gone is left out.
func copyOne(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return nil //nolint:nilerr // as cp goes on
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if e := out.Close(); err == nil {
		err = e
	}
	return err
}

// check starts a copy: it is sealed and names a way back, or it knows all that was seen before the
// copy began: answers by their bytes, what is spent, and the tokens that had ended.
func (c *copying) check(t *testing.T, of *copied) (sealed bool) {
	t.Helper()
	s := &served{dir: of.dir, flags: c.steward.flags, program: "noren", client: &http.Client{Timeout: time.Minute}}
	s.start(t)
	defer s.kill()
	as := func(u *user) *user {
		return &user{served: s, id: u.id, name: u.name, secret: u.secret, by: u.by, account: u.account}
	}
	steward, analyst := as(c.steward), as(c.analyst)
	res, err := s.client.Get(s.admin + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	ready, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(ready), "sealed") {
		if !wayBack.Match(ready) {
			t.Errorf("%v: sealed without a way back:\n%s", of.order, ready)
		}
		if r := analyst.payOnce(t.Context(), c.q, "a new request"); r.err != nil || r.status == 200 {
			t.Errorf("%v: a sealed copy pays: %s", of.order, r)
		}
		return true
	}
	for _, secret := range of.ended {
		if r := (&user{served: s, secret: secret}).send(t.Context(), "GET", "/tokens", nil); r.status != 401 {
			t.Errorf("%v: a token that had ended is valid: %s", of.order, r)
			break
		}
	}
	spent := nano(t, steward.book(t, c.book).Spent.Epsilon)
	if least := int64(len(of.seen)) * copiedCost; spent < least {
		t.Errorf("%v: %s are spent, and answers for %s were seen", of.order, decimal(spent), decimal(least))
	}
	checked := 0
	for key, body := range of.seen {
		if r := analyst.pay(t.Context(), c.q, key); r.err != nil || !bytes.Equal(r.body, body) {
			t.Errorf("%v: %s: expected the bytes of before, got %s", of.order, key, r)
		}
		if checked++; checked == 10 {
			break
		}
	}
	if now := nano(t, steward.book(t, c.book).Spent.Epsilon); now != spent {
		t.Errorf("%v: %s were spent, then %s: what was paid is paid again", of.order, decimal(spent), decimal(now))
	}
	steward.sound(t, c.book)
	return false
}

// testCopies copies the folder of a server at work that many times, file by file.
func testCopies(t *testing.T, copies, writers int, pauses time.Duration) {
	s := serve(t)
	u := s.steward(t)
	book := u.add(t, "visits.csv", visits(300, 1), nil).book
	c := &copying{steward: u, book: book, rng: rand.New(rand.NewPCG(uint64(copies), 7)), seen: map[string][]byte{}}
	c.analyst = u.analyst(t, "K. Sato", book, setting{"epsilon": "50"})
	c.q = c.analyst.quote(t, quoting(book, decimal(copiedCost), question{"kind": "count"}))
	ends := make([]func(), copies)
	for i := range ends {
		ends[i] = c.token(t, fmt.Sprint("token ", i))
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	work := c.work(ctx, t, writers)
	var all []*copied
	for i := range copies {
		time.Sleep(time.Duration(100+c.rng.IntN(400)) * time.Millisecond)
		ends[i]()
		all = append(all, c.copy(t, filepath.Join(filepath.Dir(s.dir), fmt.Sprint("copy", i)), pauses))
	}
	stop()
	work.Wait()
	s.stop(t)
	sealed := 0
	for _, one := range all {
		t.Run(filepath.Base(one.dir), func(t *testing.T) {
			if c.check(t, one) {
				sealed++
			}
		})
	}
	t.Logf("%d copies while %d answers were paid and %d tokens ended: %d sealed", len(all), len(c.seen), len(c.ended), sealed)
}

// Copies of a server's folder that are made file by file while it works start complete or sealed.
func TestCopiesWhileAnswersArePaid(t *testing.T) {
	short(t)
	testCopies(t, 4, 4, 0)
}

func TestLongServedCopiesWhileAnswersArePaid(t *testing.T) {
	randtest.Long(t)
	testCopies(t, 20, 8, 0)
	testCopies(t, 20, 16, 2*time.Second)
}
