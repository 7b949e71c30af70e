package server

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/questions"
)

// drawn is what two servers draw each for itself: ids, keys, hashes, signatures and times.
var drawn = regexp.MustCompile(
	`\b[a-z]{2}_[a-z2-7]{16}\b|\b[0-9a-f]{12,}\b|[A-Za-z0-9_+/-]{40,}=*|\d{4}-\d\d-\d\dT[0-9:.]+(Z|[+-]\d\d:\d\d)|"fingerprint":"[0-9a-f ]+"|"(seconds|uptime_s|age_s|retry_s|size|bytes|free_bytes)":[0-9.]+`)

// What a server shows and sends is the same, in text and length, with a secret of an answer as
// without one: before a charge, while its answer is pending, and when it is stored. A server
// whose noise.pem cannot be read keeps no secrets, and is compared with one that does. So is the
// size of the ledger, once it is closed.
func TestTheSecretShowsNowhere(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	moments := func(secrets bool) (shown map[string]string, size int64) {
		dir := filepath.Join(t.TempDir(), "server")
		if !secrets {
			if err := os.MkdirAll(filepath.Join(dir, "key", "noise.pem"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		reached, goOn := make(chan struct{}), make(chan struct{})
		s, a := opened(t, func(c *Config) {
			c.Dir = dir
			c.Fault = func(step string) error {
				if step == "computed" {
					close(reached)
					<-goOn
				}
				return nil
			}
		})
		if (s.noiseKey != nil) != secrets {
			t.Fatalf("secrets: %t", !secrets)
		}
		other := a.second(t, s, "Kimura")
		auditor := &steward{s.running, s.token(t, "Ito", auth.Auditor, auth.Everything)}
		shown = map[string]string{}
		look := func(moment string) {
			for who, by := range map[string]*steward{"steward": s, "analyst": a.steward, "other": other.steward, "auditor": auditor} {
				for _, path := range []string{
					"/answers", "/answers?book=" + a.book.ID, "/books", "/books/" + a.book.ID, "/books/" + a.book.ID + "/entries", "/books/" + a.book.ID +
						"/spend",
					"/books/" + a.book.ID + "/ledger", "/audit", "/audit/check", "/certificates", "/keys", "/jobs", "/tables",
				} {
					b := by.ask(t, "GET", "/api/v1"+path, by.secret, nil, nil)
					shown[moment+" "+who+" "+drawn.ReplaceAllString(path, "ID")] = http.StatusText(b.status) + " " +
						drawn.ReplaceAllString(b.body, "DRAWN")
				}
			}
			for who, by := range map[string]*asker{"analyst": a, "other": other} {
				q := by.quote(t, "0.1", "age >= 65")
				stored := "none stored"
				if q.Stored != nil {
					stored = "stored"
				}
				shown[moment+" "+who+" quote"] = stored + " " + q.Cost.Epsilon
			}
		}
		q := a.quote(t, "0.1", "age >= 65")
		look("before")
		replied := make(chan *answer, 1)
		go func() {
			replied <- a.ask(t, "POST", "/api/v1/answers", a.secret, map[string]any{"quote": q.Token, "most": q.Cost}, idempotency("one"))
		}()
		<-reached
		look("pending")
		close(goOn)
		<-replied
		body := a.pay(t, 200, q, "one")
		var out questions.Answer
		body.decode(t, &out)
		shown["stored length"] = strings.Repeat("x", len(body.body))
		shown["fetched length"] = strings.Repeat("x", len(a.do(t, 200, "GET", "/answers/"+out.ID, nil, nil).body))
		look("stored")
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, "ledger.db"))
		if err != nil {
			t.Fatal(err)
		}
		return shown, info.Size()
	}
	with, size := moments(true)
	without, other := moments(false)
	// Numbers of an answer, which are drawn, are in the export alone.
	values := regexp.MustCompile(`"(payload|result|value|interval|low|high)":("[^"]*"|\[[^\]]*\]|[0-9.-]+)`)
	const assumed = `"the noise is expanded from a secret of 256 random bits`
	for what, text := range without {
		a, b := values.ReplaceAllString(with[what], "VALUE"), values.ReplaceAllString(text, "VALUE")
		if strings.HasSuffix(what, "/ledger") && strings.Contains(a, "expanded from a secret") {
			continue // the certificate states its assumption
		}
		if a != b {
			at := 0
			for at < min(len(a), len(b)) && a[at] == b[at] {
				at++
			}
			t.Errorf("%s: with a secret ...%.200q, without ...%.200q", what, a[max(0, at-60):], b[max(0, at-60):])
		}
		if strings.Contains(text, assumed) {
			t.Errorf("%s: an answer without a secret states one", what)
		}
	}
	if len(with) != len(without) || size != other {
		t.Errorf("%d and %d replies, ledgers of %d and %d bytes", len(with), len(without), size, other)
	}
}
