package server

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/internal/server/tables"
)

// raw sends the bytes of a request and reads replies until the connection ends.
func (r *running) raw(t *testing.T, text string) (replies []*http.Response) {
	t.Helper()
	address := strings.TrimPrefix(r.base, "http://")
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(c, strings.ReplaceAll(text, "HOST", address)); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(c)
	for {
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return replies
		}
		_, _ = io.Copy(io.Discard, res.Body)
		replies = append(replies, res)
	}
}

// A request whose credentials or length can be read in two ways is read in none.
func TestTwoWaysToRead(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	token := r.token(t, "Ito", auth.Steward, auth.Everything)
	q := func(change func(*http.Request)) *answer {
		return r.ask(t, "GET", "/api/v1/session", token, nil, change)
	}
	if a := q(func(q *http.Request) { q.Header.Add("Authorization", "Bearer nrn_other") }); a.status != 401 {
		t.Errorf("two credentials: %d", a.status)
	}
	if a := q(func(q *http.Request) { q.Header.Add("Authorization", q.Header.Get("Authorization")) }); a.status != 401 {
		t.Errorf("one credential twice: %d", a.status)
	}
	if a := q(nil); a.status != 200 {
		t.Errorf("one credential: %d", a.status)
	}
	for _, name := range []string{
		"Idempotency-Key", "If-Match", "Content-Type", "Content-Range", "Content-Digest", "Repr-Digest",
		"Last-Event-ID",
	} {
		a := q(func(q *http.Request) { q.Header[name] = []string{"one", "two"} })
		if a.status != 400 || !strings.Contains(a.body, name) {
			t.Errorf("two headers %s: %d %s", name, a.status, a.body)
		}
	}
	// What follows a body in chunks beside a Content-Length is no second request.
	post := "POST /api/v1/session/look HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
	second := "GET /api/v1/server HTTP/1.1\r\nHost: HOST\r\n\r\n"
	for name, text := range map[string]string{
		"length and chunks": post + "Content-Length: 6\r\n\r\n0\r\n\r\n" + second,
		"chunks":            post + "\r\n2\r\n{}\r\n0\r\n\r\n" + second,
	} {
		if got := r.raw(t, text); len(got) != 1 || !got[0].Close {
			t.Errorf("%s: %d replies", name, len(got))
		}
	}
	// HTTP/1.0 has no chunks: net/http takes its Content-Length, and says nothing of the chunks.
	old := strings.Replace(strings.Replace(post, "HTTP/1.1", "HTTP/1.0", 1), "Host:", "Connection: keep-alive\r\nHost:", 1)
	if got := r.raw(t, old+"Content-Length: 5\r\n\r\n0\r\n\r\n"+second); len(got) != 1 || !got[0].Close {
		t.Errorf("length and chunks in HTTP/1.0: %d replies", len(got))
	}
	// Chunks that are none are the client's fault, in every route that reads a body.
	for path, media := range map[string]string{
		"POST /api/v1/session/look": "application/json", "POST /api/v1/quotes": "application/json", "POST /api/v1/answers": "application/json",
		"POST /api/v1/uploads": "application/json", "PUT /api/v1/uploads/up_aaaaaaaaaaaaaaaa": "application/octet-stream",
		"PUT /api/v1/tables/tb_aaaaaaaaaaaaaaaa/hierarchies/age": "text/csv",
	} {
		got := r.raw(t, path+" HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer "+token+"\r\nContent-Type: "+media+
			"\r\nIf-Match: \"1\"\r\nIdempotency-Key: "+strings.Repeat("a", 20)+
			"\r\nContent-Range: bytes 0-9/10\r\nContent-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:\r\nTransfer-Encoding: "+
			"chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n")
		if len(got) != 1 || got[0].StatusCode < 400 || got[0].StatusCode >= 500 {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// The events of a job end with the session, and with the role.
func TestEventsEnd(t *testing.T) {
	t.Parallel()
	s := start(t, nil).steward(t)
	until := make(chan struct{})
	defer close(until)
	for name, end := range map[string]func(cookie *http.Cookie, id string){
		"sign-out": func(cookie *http.Cookie, _ string) {
			if a := s.ask(t, "DELETE", "/api/v1/session", "", nil, with(cookie)); a.status >= 300 {
				t.Errorf("sign-out: %d %s", a.status, a.body)
			}
		},
		"end of the grant": func(_ *http.Cookie, who string) {
			if err := s.Host().Grant(t.Context(), who, auth.Steward, auth.Everything, true); err != nil {
				t.Error(err)
			}
		},
		"end of the role": func(_ *http.Cookie, who string) {
			if err := s.Host().EndPrincipal(t.Context(), who); err != nil {
				t.Error(err)
			}
		},
	} {
		job := s.waitingJob(t, until)
		who := strings.ReplaceAll(name, " ", "-")
		if _, err := s.Host().AddPrincipal(t.Context(), who, auth.Steward, auth.Everything); err != nil {
			t.Fatal(err)
		}
		cookie := s.signInAs(t, who)
		q, err := http.NewRequestWithContext(t.Context(), "GET", s.base+"/api/v1/jobs/"+job+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		q.AddCookie(cookie)
		res, err := http.DefaultTransport.RoundTrip(q)
		if err != nil || res.StatusCode != 200 {
			t.Fatalf("%v %v", res, err)
		}
		end(cookie, who)
		ended := make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, res.Body)
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			t.Errorf("%s: the stream goes on", name)
		}
		_ = res.Body.Close()
	}
}

// Uploads are counted for each steward, who can list and delete its own. What a table failed to
// read is kept to be tried by another form, and goes with the table.
func TestOwnUploads(t *testing.T) {
	t.Parallel()
	s := start(t, nil).steward(t)
	other := &steward{s.running, s.token(t, "Mori", auth.Steward, auth.Everything)}
	begin := map[string]any{"name": "a.csv", "size": 10}
	for range 64 {
		s.do(t, 201, "POST", "/uploads", begin, nil)
	}
	if a := s.do(t, 429, "POST", "/uploads", begin, nil); !strings.Contains(a.body, "You have too many") {
		t.Errorf("the 65th: %s", a.body)
	}
	other.do(t, 201, "POST", "/uploads", begin, nil)
	var own page[uploadBody]
	s.do(t, 200, "GET", "/uploads", nil, nil).decode(t, &own)
	if len(own.Items) != 64 {
		t.Fatalf("%d are listed", len(own.Items))
	}
	for _, u := range own.Items {
		s.do(t, 204, "DELETE", "/uploads/"+u.ID, nil, nil)
	}
	count := func() int {
		s.do(t, 200, "GET", "/uploads", nil, nil).decode(t, &own)
		return len(own.Items)
	}
	bad := s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, "bad.csv", []byte("a,b\n1,2,3\n\"x\n"))})
	if bad.State != "failed" || count() != 1 {
		t.Errorf("a file that cannot be read: %+v, %d uploads", bad.Line, count())
	}
	book := s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, "bad.xlsx", []byte("PK no workbook"))})
	if book.State != "failed" || count() != 2 {
		t.Errorf("a workbook that cannot be read: %+v, %d uploads", book.Line, count())
	}
	for _, failed := range []*tables.Table{book, bad} {
		s.do(t, 204, "DELETE", "/tables/"+failed.ID, nil, match(etag(failed.Version)))
	}
	if count() != 0 {
		t.Error("the upload of a deleted table is kept")
	}
}

// One book that the ledger does not know leaves the others in the list, and is named by
// the health of the server.
func TestBookWithoutDataset(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "server")
	in := func(c *Config) { c.Dir = dir }
	s := start(t, in).steward(t)
	kept := s.opened(t, smallBook(s.people(t, 60, "x").ID))
	lost := store.NewID("bk")
	err := s.store.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
		return tx.AddResource(ctx, &store.Resource{
			ID: lost, Kind: store.KindBook, Parent: "tb_gone",
			Doc: []byte(`{"state":"open","table":"` + kept.book.Table + `","name":"gone"}`),
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	again := &steward{start(t, in), s.secret}
	var list page[books.Book]
	again.do(t, 200, "GET", "/books", nil, nil).decode(t, &list)
	if len(list.Items) != 1 || list.Items[0].ID != kept.book.ID {
		t.Errorf("%+v", list.Items)
	}
	if faults := strings.Join(again.faults(), "\n"); !strings.Contains(faults, lost) {
		t.Errorf("health: %q", faults)
	}
}

// waitingJob begins a job that waits for a channel.
func (s *steward) waitingJob(t *testing.T, until chan struct{}) string {
	t.Helper()
	job, err := s.jobs.Submit(jobs.Task{Kind: "read", Table: auth.Everything, Run: func(ctx context.Context, _ *jobs.Run) (any, error) {
		select {
		case <-until:
		case <-ctx.Done():
		}
		return nil, ctx.Err()
	}})
	if err != nil {
		t.Fatal(err)
	}
	return job.ID
}

// idle waits until no job runs or waits.
func (s *steward) idle(t *testing.T) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if running, queued := s.jobs.Counts(); running+queued == 0 {
			return
		}
		if time.Since(begun) > time.Minute {
			t.Fatal("jobs go on")
		}
	}
}
