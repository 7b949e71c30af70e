package cli_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
)

// memory is a line of the memory of a process in MB, such as VmRSS or its peak VmHWM.
func memory(t *testing.T, s *served, line string) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), line+":")
	kB, err := strconv.ParseFloat(strings.Fields(after)[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	return kB * 1024 / 1e6
}

// A part is one part of a file that is uploaded.
type part struct {
	url, token        string
	data              []byte
	first, last, size int64
	cut               bool // the connection breaks after half of it
}

// errCut breaks a connection.
var errCut = errors.New("cut")

// broken fails after some bytes.
type broken struct{ io.Reader }

func (b broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = errCut
	}
	return n, err
}

// send sends a part, and returns the offset that the server states.
func (p *part) send(t *testing.T, client *http.Client) int64 {
	t.Helper()
	var body io.Reader = bytes.NewReader(p.data)
	if p.cut {
		body = broken{bytes.NewReader(p.data[:len(p.data)/2])}
	}
	req, err := http.NewRequestWithContext(t.Context(), "PUT", p.url, body)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(p.data)
	req.ContentLength = int64(len(p.data))
	req.Header = http.Header{
		"Authorization": {"Bearer " + p.token}, "Content-Type": {"application/octet-stream"},
		"Content-Range": {fmt.Sprintf("bytes %d-%d/%d", p.first, p.last, p.size)}, "Content-Digest": {
			"sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":",
		},
	}
	res, err := client.Do(req)
	if p.cut {
		if !errors.Is(err, errCut) {
			t.Fatalf("the connection did not break: %v", err)
		}
		return p.offset(t, client)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err != nil || res.StatusCode != 200 {
		t.Fatalf("%d %s, %v", res.StatusCode, text, err)
	}
	return offsetOf(t, res)
}

// offset asks the server where an upload goes on, once it has seen the connection break.
func (p *part) offset(t *testing.T, client *http.Client) int64 {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", p.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	time.Sleep(50 * time.Millisecond)
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatal(err)
	}
	return offsetOf(t, res)
}

func offsetOf(t *testing.T, res *http.Response) int64 {
	t.Helper()
	n, err := strconv.ParseInt(res.Header.Get("Upload-Offset"), 10, 64)
	if err != nil {
		t.Fatalf("%d: Upload-Offset: %v", res.StatusCode, err)
	}
	return n
}

// lines is a text of n bytes in lines of comma-separated numbers.
func lines(n int) []byte {
	out := make([]byte, 0, n+64)
	for i := 0; len(out) < n; i++ {
		out = fmt.Appendf(out, "%d,0,0,0,%d,0,0,%d\n", i, i*7919%1000, i%97)
	}
	return out[:n]
}

// Uploads of 2 GiB with five cuts hold little memory, and arrive whole.
func TestLongUpload(t *testing.T) {
	randtest.Long(t)
	const size, partBytes, cuts = 2 << 30, 16 << 20, 5
	dir := filepath.Join(t.TempDir(), "server")
	s := serve(t, "--dir", dir, "--upload-limit", "3GB")
	token := run(t, "serve", "token", "--dir", dir, "--principal", "Steward", "--name", "test", "--days", "1")
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.base+"/api/v1/uploads",
		strings.NewReader(fmt.Sprintf(`{"name":"big.csv","size":%d}`, size)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var begun struct{ ID string }
	if err := json.NewDecoder(res.Body).Decode(&begun); err != nil || res.StatusCode != 201 {
		t.Fatalf("%d %v", res.StatusCode, err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	p := part{url: s.base + "/api/v1/uploads/" + begun.ID, token: token, data: lines(partBytes), size: size}
	whole, before, start := sha256.New(), memory(t, s, "VmRSS"), time.Now()
	left := cuts
	for p.first < size {
		copy(p.data, fmt.Sprintf("%015d", p.first)) // no two parts are the same
		p.last = p.first + partBytes - 1
		p.cut = left > 0 && p.first >= int64(cuts-left+1)*size/(cuts+2)
		want := p.last + 1
		if p.cut {
			left--
			want = p.first
		} else {
			whole.Write(p.data)
		}
		if got := p.send(t, client); got != want {
			t.Fatalf("the upload goes on at %d, want %d", got, want)
		}
		p.first = want
	}
	took := time.Since(start)
	above := memory(t, s, "VmHWM") - before
	t.Logf("%.0f MB/s with %d cuts; memory %.0f MB above %.0f MB", size/1e6/took.Seconds(), cuts-left, above, before)
	if left > 0 || above > 64 {
		t.Errorf("%d cuts were not made; %.0f MB above the start", left, above)
	}
	same(t, whole, filepath.Join(dir, "uploads", begun.ID, "data"))
}

// same compares a file with a SHA-256.
func same(t *testing.T, want hash.Hash, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := sha256.New()
	if _, err := io.Copy(got, f); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Sum(nil), want.Sum(nil)) {
		t.Error("another file arrived")
	}
}

// Fifty browsers that have loaded the page and keep their connections cost little memory.
func TestLongIdleBrowsers(t *testing.T) {
	randtest.Long(t)
	s := serve(t, "--demo")
	paths := []string{"/", "/api/v1/server", "/api/v1/session", "/api/v1/keys"}
	browse := func(client *http.Client) {
		for _, path := range paths {
			req, err := http.NewRequestWithContext(t.Context(), "GET", s.base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, res.Body); err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
		}
	}
	first := &http.Client{Transport: &http.Transport{}}
	browse(first)
	time.Sleep(3 * time.Second) // the clinic has been read
	before := memory(t, s, "VmRSS")
	for range 50 {
		browse(&http.Client{Transport: &http.Transport{}})
		time.Sleep(50 * time.Millisecond) // within the rate of an address
	}
	above := memory(t, s, "VmRSS") - before
	_, metrics := get(t, s.admin+"/metrics", nil)
	t.Logf("%.1f MB above %.0f MB", above, before)
	for line := range strings.SplitSeq(metrics, "\n") {
		if strings.Contains(line, "connections") && !strings.HasPrefix(line, "#") {
			t.Log(line)
		}
	}
	if above > 50 {
		t.Errorf("%.1f MB above the start", above)
	}
}
