//go:build unix

package server

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/books"
)

// Environment variables of the process that is killed: the folder of the server, the token
// and the book, the step, and at which passage of it.
const (
	killedAnswers = "NOREN_TEST_KILLED_ANSWERS"
	killedStep    = "NOREN_TEST_KILLED_STEP"
)

// killSteps are the steps of a paid answer, in order.
var killSteps = []string{"asked", "reserved", "read", "computed", "settled", "stored", "reply"}

// TestAnswersThatAreKilled pays answers until a step kills the process. It runs in a
// process of its own.
func TestAnswersThatAreKilled(t *testing.T) {
	parts := strings.Fields(os.Getenv(killedAnswers))
	if len(parts) != 4 {
		t.Skip("runs as a process of another test")
	}
	dir, secret, book, run := parts[0], parts[1], parts[2], parts[3]
	step, nth, _ := strings.Cut(os.Getenv(killedStep), " ")
	at, err := strconv.ParseInt(nth, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	var passed atomic.Int64
	r := start(t, func(c *Config) {
		c.Dir, c.RequestsPerSecond, c.AnswersPerMinute = dir, -1, -1
		c.Fault = func(s string) error {
			if s == step && passed.Add(1) == at {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {} // until it ends
			}
			return nil
		}
	})
	a := &asker{steward: &steward{r, secret}, book: &books.Book{ID: book}}
	q := a.quote(t, "0.0001", "age >= 30")
	tried, told := appendTo(t, dir+"-tried"), appendTo(t, dir+"-told")
	var wait sync.WaitGroup
	for w := range 4 {
		wait.Go(func() {
			for i := 0; ; i++ {
				key := fmt.Sprintf("%s-%d-%d", run, w, i)
				fmt.Fprintf(tried, "%s %s\n", key, q.Token)
				b := a.pay(t, 200, q, key)
				sum := sha256.Sum256([]byte(b.body))
				fmt.Fprintf(told, "%s %s\n", key, hex.EncodeToString(sum[:]))
			}
		})
	}
	wait.Wait()
}

// appendTo opens a file to which lines are appended whole.
func appendTo(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// A server that is killed at any step of a paid answer: what is spent is never below what
// was answered, and each key is charged once at most, also when it is sent again.
func TestKilledAnswers(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	testKilledAnswers(t, 4*len(killSteps))
}

// TestLongAnswersOfKilledServers has the number of trials of a run of .ci/run.
func TestLongAnswersOfKilledServers(t *testing.T) {
	randtest.Long(t)
	testKilledAnswers(t, 50)
}

func TestLongKilledAnswers(t *testing.T) {
	randtest.Long(t)
	testKilledAnswers(t, 2000)
}

func testKilledAnswers(t *testing.T, trials int) {
	dir := filepath.Join(t.TempDir(), "server")
	here := func(c *Config) { c.Dir, c.RequestsPerSecond, c.AnswersPerMinute = dir, -1, -1 }
	r := start(t, here)
	s := r.steward(t)
	a := s.opened(t, smallBook(s.people(t, 60, "kill").ID))
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	temporary := t.TempDir() // a killed process leaves its temporary folders
	for i := range trials {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestAnswersThatAreKilled$", "-test.timeout", "5m")
		c.Env = append(os.Environ(), killedAnswers+"="+strings.Join([]string{dir, a.secret, a.book.ID, strconv.Itoa(i)}, " "),
			fmt.Sprintf("%s=%s %d", killedStep, killSteps[i%len(killSteps)], 1+i/len(killSteps)%5), "TMPDIR="+temporary)
		if out, err := c.CombinedOutput(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("trial %d: the process was not killed: %v\n%s", i, err, out)
		}
		if i%10 == 9 || i == trials-1 {
			inspectAnswers(t, dir, a, here)
		}
	}
}

// pairs are the lines of a file, which have two words.
func pairs(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	out := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if key, value, ok := strings.Cut(lines.Text(), " "); ok {
			out[key] = value
		}
	}
	return out
}

// inspectAnswers opens the folder of a server that was killed: all that was answered is
// there with the same bytes, spent covers it, and all that was charged is answered.
func inspectAnswers(t *testing.T, dir string, a *asker, here func(*Config)) {
	t.Helper()
	tried, told := pairs(t, dir+"-tried"), map[string]string{}
	if _, err := os.Stat(dir + "-told"); err == nil {
		told = pairs(t, dir+"-told")
	}
	r := start(t, here)
	now := &asker{&steward{r, a.secret}, a.id, a.book}
	if reason := r.Sealed(); reason != "" {
		t.Fatalf("sealed: %s", reason)
	}
	spent := func() float64 {
		v, err := strconv.ParseFloat(now.shown(t).Spent.Epsilon, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	const each = 0.0001
	if have := spent(); have < each*float64(len(told))-1e-9 || have > each*float64(len(tried))+1e-9 {
		t.Errorf("spent %g with %d answers of %d requests", have, len(told), len(tried))
	}
	// Sent again, a key gives what it gave, or says that it has no answer.
	before, fresh, resumed := spent(), 0, 0
	for key, token := range tried {
		kept, err := r.store.QuestionByKey(t.Context(), keyOf(a.id, key))
		if err != nil {
			if told[key] != "" {
				t.Errorf("%s was answered and is lost: %v", key, err)
			}
			fresh++ // not charged
			continue
		}
		if kept.State == "asked" {
			resumed++
		}
		send := func() *answer {
			return now.ask(t, "POST", "/api/v1/answers", a.secret,
				map[string]any{"quote": token, "most": map[string]string{"epsilon": "0.0001", "delta": "0"}}, idempotency(key))
		}
		b := send()
		for deadline := time.Now().Add(time.Minute); b.status == 202 && time.Now().Before(deadline); b = send() {
			time.Sleep(500 * time.Millisecond) // a busy machine misses the class of a resumed answer
		}
		sum := sha256.Sum256([]byte(b.body))
		switch {
		case told[key] != "" && (b.status != 200 || hex.EncodeToString(sum[:]) != told[key]):
			t.Errorf("%s: %d, and other bytes than before", key, b.status)
		case b.status != 200:
			t.Errorf("%s: %d %s", key, b.status, strings.TrimSpace(b.body))
		}
	}
	if want := each * float64(len(tried)-fresh); before < want-1e-9 || before > want+1e-9 {
		t.Errorf("spent %g for %d charges", before, len(tried)-fresh)
	}
	if after := spent(); after != before {
		t.Errorf("sent again, the keys cost %g", after-before)
	}
	t.Logf("%d requests, %d answered, %d not charged, %d computed again, spent %g", len(tried), len(told), fresh, resumed, before)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
}

// keyOf is the request key of a principal's Idempotency-Key.
func keyOf(principal, key string) string {
	sum := sha256.Sum256([]byte("noren.server.answer/1\n" + principal + "\n" + key))
	return hex.EncodeToString(sum[:])
}
