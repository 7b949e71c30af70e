package server

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/server/auth"
)

// gone is the writer of a client that has ended its connection.
type gone struct{ header http.Header }

func (g gone) Header() http.Header       { return g.header }
func (g gone) WriteHeader(int)           {}
func (g gone) Write([]byte) (int, error) { return 0, errors.New("write tcp 192.0.2.7:1: broken pipe") }

// Nothing is written to the standard error, and no fault of the program is logged, where a client
// does not take its reply: whether of huma, of a handler or of a refusal.
func TestClientsThatAreGone(t *testing.T) {
	var log bytes.Buffer
	r := start(t, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	token := r.token(t, "Ito", auth.Analyst, "tb_aaaaaaaaaaaaaaaa")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = write
	serve := func(req *http.Request) {
		defer func() {
			if v := recover(); v != nil && v != http.ErrAbortHandler {
				panic(v)
			}
		}()
		req.Header.Set("Authorization", "Bearer "+token)
		r.handler.ServeHTTP(gone{http.Header{}}, req)
	}
	for _, target := range []string{"/tables?nothing=1", "/tables", "/books", "/jobs", "/nowhere"} {
		serve(httptest.NewRequest(http.MethodGet, r.base+"/api/v1"+target, nil))
	}
	req := httptest.NewRequest(http.MethodPost, r.base+"/api/v1/quotes", strings.NewReader(`{"book":1}`))
	req.Header.Set("Content-Type", "application/json")
	serve(req)
	os.Stderr = stderr
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	if said, err := io.ReadAll(read); err != nil || len(said) > 0 {
		t.Errorf("%q is written to the standard error; %v", said, err)
	}
	if log.Len() > 0 {
		t.Errorf("logged: %s", log.String())
	}
}
