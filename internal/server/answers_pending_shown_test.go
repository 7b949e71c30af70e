package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
)

// Before the boundary of an answer no route, method or header tells an analyst whether it is
// computed already: a client that went away and asks again, one that asks by its id, and another
// analyst of the book see the same while the computation runs and after it has ended or failed.
func TestPendingAnswerShowsNothing(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	shown := func(t *testing.T, fault func(goOn chan struct{}) error) map[string]string {
		reached, goOn := make(chan struct{}), make(chan struct{})
		s, a := opened(t, func(c *Config) {
			c.Fault = func(step string) error {
				if step != "noise" {
					return nil
				}
				close(reached)
				return fault(goOn)
			}
		})
		// A class in which all of this has its time.
		s.calibration.Load().Base = 1
		other := a.second(t, s, "Kimura")
		q := a.quote(t, "0.1", "age >= 65")
		if q.TimeClass < 8 {
			t.Fatalf("a class of %g s", q.TimeClass)
		}
		// The client goes away while its answer is computed.
		ctx, leave := context.WithCancel(t.Context())
		gone := make(chan struct{})
		begun := time.Now()
		go func() {
			defer close(gone)
			text, err := json.Marshal(map[string]any{"quote": q.Token, "most": q.Cost})
			if err != nil {
				t.Error(err)
				return
			}
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/api/v1/answers", strings.NewReader(string(text)))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer "+a.secret)
			r.Header.Set("Idempotency-Key", "one")
			if res, err := http.DefaultClient.Do(r); err == nil {
				t.Errorf("a reply before the boundary: %s", res.Status)
				_ = res.Body.Close()
			}
		}()
		<-reached
		time.Sleep(300 * time.Millisecond) // one that has ended would be known by now
		leave()
		<-gone
		rows, err := s.store.OpenQuestions(t.Context())
		if err != nil || len(rows) != 1 {
			t.Fatalf("%v, %v", rows, err)
		}
		out := map[string]string{}
		of := "/answers/" + rows[0].ID
		for who, by := range map[string]*asker{"the analyst": a, "another": other} {
			for _, path := range []string{
				of, of + "/certificate", of + "/file", "/answers", "/answers?book=" + a.book.ID, "/books", "/books/" + a.book.ID,
				"/books/" + a.book.ID + "/entries",
				"/books/" + a.book.ID + "/entries?state=released", "/books/" + a.book.ID + "/entries?state=reserved", "/books/" + a.book.ID + "/spend",
				"/jobs", "/session", "/server",
			} {
				methods := []string{"GET"}
				if path == of {
					methods = []string{"GET", "HEAD", "OPTIONS", "PUT", "DELETE"}
				}
				for _, method := range methods {
					b := by.ask(t, method, "/api/v1"+path, by.secret, nil, nil)
					var names []string
					for name, values := range b.header {
						if name != "Date" && name != "X-Request-Id" && name != "Retry-After" { // the last is until the boundary
							names = append(names, name+": "+drawn.ReplaceAllString(strings.Join(values, ","), "DRAWN"))
						}
					}
					slices.Sort(names)
					out[who+" "+method+" "+drawn.ReplaceAllString(path, "ID")] = fmt.Sprint(b.status, " ", names, " ",
						drawn.ReplaceAllString(b.body, "DRAWN"))
				}
			}
			stored := by.quote(t, "0.1", "age >= 65")
			out[who+" quote"] = fmt.Sprint(stored.Stored != nil, " ", stored.Fits, " ", stored.Cost)
			if who == "the analyst" { // of another it would be a request of its own, and paid
				conflict := by.ask(t, "POST", "/api/v1/answers", by.secret,
					map[string]any{"quote": stored.Token, "most": map[string]string{"epsilon": "9"}}, idempotency("one"))
				out[who+" conflict"] = fmt.Sprint(conflict.status, drawn.ReplaceAllString(conflict.body, "DRAWN"))
			}
		}
		if took := time.Since(begun); took > time.Duration(q.TimeClass*0.9*float64(time.Second)) {
			t.Skipf("the machine is too slow: %s", took)
		}
		close(goOn)
		return out
	}
	var mu sync.Mutex
	all := map[string]map[string]string{}
	t.Run("moments", func(t *testing.T) {
		for name, fault := range map[string]func(chan struct{}) error{
			"runs":   func(goOn chan struct{}) error { <-goOn; return nil },
			"ended":  func(chan struct{}) error { return nil },
			"failed": func(chan struct{}) error { return errors.New("a fault") },
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				out := shown(t, fault)
				mu.Lock()
				defer mu.Unlock()
				all[name] = out
			})
		}
	})
	for _, name := range []string{"ended", "failed"} {
		if all[name] == nil || all["runs"] == nil {
			t.Skip("the machine was too slow")
		}
		for what, text := range all["runs"] {
			if got := all[name][what]; got != text {
				t.Errorf("%s: %s\nwhile it runs %.600s\nthen          %.600s", name, what, text, got)
			}
		}
	}
}
