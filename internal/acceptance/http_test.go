package acceptance

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"
)

// A user is a principal with a token.
type user struct {
	*served
	id, name, secret string
	by               *user  // the steward who gave an account
	account          string // the book of the account
}

// A reply is what the server answered, and after what time. err is set where no whole
// answer came back.
type reply struct {
	status int
	header http.Header
	body   []byte
	took   time.Duration
	err    error
}

// code is the code of a problem; "" for another body.
func (r *reply) code() string {
	var p struct{ Code string }
	if r.status < 400 || json.Unmarshal(r.body, &p) != nil {
		return ""
	}
	return p.Code
}

func (r *reply) String() string {
	if r.err != nil {
		return r.err.Error()
	}
	return fmt.Sprintf("%d %s", r.status, bytes.TrimSpace(r.body))
}

// decode reads a JSON body.
func (r *reply) decode(t *testing.T, to any) {
	t.Helper()
	if err := json.Unmarshal(r.body, to); err != nil {
		t.Fatalf("%v: %s", err, r)
	}
}

// send sends a request of the interface. headers are names and values in turn.
func (u *user) send(ctx context.Context, method, path string, body any, headers ...string) *reply {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return &reply{err: err}
		}
		headers = append(headers, "Content-Type", "application/json")
	}
	return u.raw(ctx, method, path, text, headers...)
}

// raw is send with the bytes of a body.
func (u *user) raw(ctx context.Context, method, path string, text []byte, headers ...string) *reply {
	req, err := http.NewRequestWithContext(ctx, method, u.base+"/api/v1"+path, bytes.NewReader(text))
	if err != nil {
		return &reply{err: err}
	}
	if u.secret != "" {
		req.Header.Set("Authorization", "Bearer "+u.secret)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	begun := time.Now()
	res, err := u.client.Do(req)
	if err != nil {
		return &reply{err: err}
	}
	defer func() { _ = res.Body.Close() }()
	out, err := io.ReadAll(res.Body)
	return &reply{res.StatusCode, res.Header, out, time.Since(begun), err}
}

// must sends a request that has to succeed, and reads the answer into out.
func (u *user) must(t *testing.T, status int, method, path string, body, out any, headers ...string) *reply {
	t.Helper()
	r := u.send(t.Context(), method, path, body, headers...)
	if r.err != nil || r.status != status {
		t.Fatalf("%s %s: expected %d, got %s\n%s", method, path, status, r, u.log.String())
	}
	if out != nil {
		r.decode(t, out)
	}
	return r
}

// upload uploads a file and returns the id of the upload.
func (u *user) upload(t *testing.T, name string, data []byte) string {
	t.Helper()
	var up struct{ ID string }
	u.must(t, 201, "POST", "/uploads", map[string]any{"name": name, "size": len(data)}, &up)
	for first := 0; first < len(data); first += 8 << 20 {
		part := data[first:min(len(data), first+8<<20)]
		sum := sha256.Sum256(part)
		r := u.raw(
			t.Context(), "PUT", "/uploads/"+up.ID, part, "Content-Type", "application/octet-stream",
			"Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, first+len(part)-1, len(data)),
			"Content-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":",
		)
		if r.err != nil || r.status != 200 {
			t.Fatalf("a part of the upload: %s", r)
		}
	}
	return up.ID
}

// job is a job of the server.
type job struct {
	ID, State       string
	Result, Problem json.RawMessage
}

// wait waits until a job is done.
func (u *user) wait(t *testing.T, id string) job {
	t.Helper()
	for range 6000 {
		var j job
		u.must(t, 200, "GET", "/jobs/"+id, nil, &j)
		switch j.State {
		case "done":
			return j
		case "failed", "cancelled", "lost":
			t.Fatalf("the job is %s: %s", j.State, j.Problem)
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("the job does not end")
	return job{}
}
