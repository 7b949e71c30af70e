package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
)

// A condition and one of the same length that no record of visits meets.
type conditions struct{ all, none string }

// twentyConditions are conditions that all records meet, in other forms.
func twentyConditions() []conditions {
	out := []conditions{
		{"age >= 0", "age > 99"},
		{"age <= 99", "age >  99"},
		{"cost >= 0", "cost <  0"},
		{"cost < 10000", "cost > 10000"},
		{"ward in ('A', 'B', 'C', 'D')", "ward in ('E', 'F', 'G', 'H')"},
		{"ward != 'E'", "ward  = 'E'"},
		{"age >= 0 and cost >= 0", "age >= 0 and cost <  0"},
		{"age >= 0 or age > 99", "age <  0 or age > 99"},
		{"not age > 99", "not age >= 0"},
		{"age >= 0 and ward != 'E'", "age >= 0 and ward  = 'E'"},
	}
	for i := range 10 {
		out = append(out, conditions{fmt.Sprintf("age >= 0 and cost >= -%d", i+1), fmt.Sprintf("age >= 0 and cost <  -%d", i+1)})
	}
	return out
}

// rungs are how many payments are sent at once, one batch after the other: on a machine of any load
// some of them are in time, and under load some are not.
func rungs() []int { return []int{1, 2, 4, 8, 16, 32} }

// seen counts what a client saw of its requests: the status and code of each first reply, and
// the lengths of answers.
type seen struct {
	replies map[string]int
	lengths []float64
	errors  []string
	sent    int
}

// missed is how many replies were not in time, and ended how many requests were refused because a
// computation took longer than its bound and the allowance.
func (s *seen) missed() int { return s.count("202 ") }
func (s *seen) ended() int  { return s.count(" asking-ended ") }

func (s *seen) count(part string) (n int) {
	for k, many := range s.replies {
		if strings.Contains(k, part) {
			n += many
		}
	}
	return n
}

// payer is a new analyst that pays for twenty quantiles under one condition again and again.
type payer struct {
	*user
	body []byte
	seen seen
}

func (u *user) payer(t *testing.T, book, name, where string) *payer {
	t.Helper()
	asked := make([]question, 20)
	for i := range asked {
		asked[i] = question{"kind": "quantile", "column": "cost", "where": where}
	}
	return u.paysFor(t, book, name, asked)
}

// payerOf is a new analyst that pays for that many quantiles of all records.
func (u *user) payerOf(t *testing.T, book, name string, quantiles int) *payer {
	t.Helper()
	asked := make([]question, quantiles)
	for i := range asked {
		asked[i] = question{"kind": "quantile", "column": "cost"}
	}
	return u.paysFor(t, book, name, asked)
}

func (u *user) paysFor(t *testing.T, book, name string, asked []question) *payer {
	t.Helper()
	a := u.analyst(t, name, book, setting{"epsilon": "1000"})
	text, err := json.Marshal(a.quote(t, quoting(book, "0.000001", asked...)).paying())
	if err != nil {
		t.Fatal(err)
	}
	return &payer{a, text, seen{replies: map[string]int{}}}
}

// batch pays that many times at once, once no other question is worked on.
func (p *payer) batch(t *testing.T, atOnce int) {
	t.Helper()
	p.idle(t)
	var mu sync.Mutex
	var group sync.WaitGroup
	for range atOnce {
		p.seen.sent++
		key := fmt.Sprint("payment ", p.seen.sent)
		group.Go(func() {
			// The first reply alone: neither an answer that missed its class nor a refusal is
			// followed.
			r := p.raw(t.Context(), "POST", "/answers", p.body, "Content-Type", "application/json", "Idempotency-Key", key)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case r.err != nil:
				p.seen.errors = append(p.seen.errors, r.String())
			case r.status == 200:
				p.seen.replies["200"]++
				p.seen.lengths = append(p.seen.lengths, float64(len(r.body)))
			default:
				p.seen.replies[fmt.Sprint(r.status, " ", r.code(), " ", len(r.body))]++
			}
		})
	}
	group.Wait()
}

// idle waits until the server works on no more than a few questions, which other analysts of a
// trial send one after the other.
func (s *served) idle(t *testing.T) {
	t.Helper()
	s.until(t, func(open int) bool { return open <= s.others })
}

// waits waits until that many questions, or more, wait or are worked on.
func (s *served) waits(t *testing.T, most int) {
	t.Helper()
	s.until(t, func(open int) bool { return open >= most })
}

// until looks at the number of questions that wait or are worked on until it is as wanted.
func (s *served) until(t *testing.T, wanted func(open int) bool) {
	t.Helper()
	for range 2000 {
		res, err := s.client.Get(s.admin + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		open := 0
		for _, m := range openQuestions.FindAllStringSubmatch(string(text), -1) {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			open += n
		}
		if wanted(open) {
			return
		}
		time.Sleep(30 * time.Millisecond)
	}
	t.Fatal("the number of open questions is not what is waited for")
}

var openQuestions = regexp.MustCompile(`(?m)^noren_questions\{state="(?:waiting|running)"\} ([0-9]+)$`)

// fisher is the p-value of the exact test that two groups of n and m have a share in common,
// of which a and b have a property: the chance of all tables that are at most as likely.
func fisher(a, n, b, m int) float64 {
	choose := func(n, k int) float64 {
		up, _ := math.Lgamma(float64(n + 1))
		down, _ := math.Lgamma(float64(k + 1))
		rest, _ := math.Lgamma(float64(n - k + 1))
		return up - down - rest
	}
	chance := func(x int) float64 { return choose(n, x) + choose(m, a+b-x) - choose(n+m, a+b) }
	p, own := 0.0, chance(a)
	for x := max(0, a+b-m); x <= min(n, a+b); x++ {
		if c := chance(x); c <= own+1e-9 {
			p += math.Exp(c)
		}
	}
	return min(1, p)
}

func TestFisher(t *testing.T) {
	for _, c := range []struct {
		a, n, b, m int
		want       float64
	}{{3, 4, 1, 4, 0.4857142857}, {1, 10, 9, 10, 0.0010938}, {11, 40, 0, 40, 4.37e-4}, {0, 40, 0, 40, 1}} {
		if got := fisher(c.a, c.n, c.b, c.m); math.Abs(got-c.want) > 1e-2*c.want {
			t.Errorf("%d of %d and %d of %d: %g, want %g", c.a, c.n, c.b, c.m, got, c.want)
		}
	}
}

// differs is the smallest p-value of the comparisons of what two clients saw, times their number.
func differs(a, b *seen) float64 {
	kinds := map[string]bool{}
	for _, s := range []*seen{a, b} {
		for k := range s.replies {
			kinds[k] = true
		}
	}
	p := 1.0
	for k := range kinds {
		p = min(p, fisher(a.replies[k], a.sent, b.replies[k], b.sent))
	}
	if len(a.lengths) > 0 && len(b.lengths) > 0 {
		p = min(p, randtest.TwoSample(a.lengths, b.lengths).P)
	}
	return min(1, p*float64(len(kinds)+1))
}

// trials is how often a comparison is made again that another program has disturbed.
const trials = 6

// compared is what the comparisons of a trial came to.
type compared struct {
	found     []string // differences, of all conditions
	disturbed int      // conditions that could not be compared
	sent      int      // payments under each of both conditions, in the comparisons that count
	all, none int      // misses of conditions that all records meet, and that none meets
}

// testSchedule pays for quantiles of conditions that all records meet, and of conditions that
// none meets, in turn and more and more at once, and compares what the client saw. A stall of
// the machine changes all of one batch, whatever it asks: a difference counts if new analysts
// find it again in each trial. One with ended questions says nothing of the schedule: the
// machine is slower than the calibration of the test, and a computation used more than its
// bound, which is the first assumption of docs/threat-model.md.
func testSchedule(t *testing.T, u *user, book, name string, all []conditions, rungs []int, trials int) (out compared) {
	t.Helper()
	for i, c := range all {
		t.Run(fmt.Sprint("condition ", i), func(t *testing.T) {
			var found []string
			counts := false
			for trial := range trials {
				met := u.payer(t, book, fmt.Sprint(name, " all ", i, " ", trial), c.all)
				none := u.payer(t, book, fmt.Sprint(name, " none ", i, " ", trial), c.none)
				for n, atOnce := range rungs {
					both := []*payer{met, none}
					if n%2 == 1 {
						slices.Reverse(both)
					}
					for _, one := range both {
						one.batch(t, atOnce)
					}
				}
				if errs := slices.Concat(met.seen.errors, none.seen.errors); len(errs) > 0 {
					t.Fatal(errs[0])
				}
				p := differs(&met.seen, &none.seen)
				text := fmt.Sprintf("%s: %q: %v, %q: %v, p = %.2g", name, c.all, met.seen.replies, c.none, none.seen.replies, p)
				t.Log(text)
				ended := met.seen.ended()+none.seen.ended() > 0
				if p >= 1e-6 || !ended {
					counts = true
					out.sent, out.all, out.none = out.sent+met.seen.sent, out.all+met.seen.missed(), out.none+none.seen.missed()
				}
				if p >= 1e-6 {
					found = nil
					break
				}
				if !ended {
					found = append(found, text)
				}
			}
			out.found = append(out.found, found...)
			if !counts {
				out.disturbed++
			}
		})
	}
	t.Logf("%s: of %d payments %d missed their class under conditions that all records meet, %d under those that none meets; %d of %d "+
		"conditions could not be compared",
		name, out.sent, out.all, out.none, out.disturbed, len(all))
	return out
}

// nothing reports the differences that a client saw.
func (c *compared) nothing(t *testing.T) {
	t.Helper()
	if len(c.found) > 0 {
		t.Errorf("what a client sees depends on the records:\n%s", strings.Join(c.found, "\n"))
	}
}

// quickQuantiles is a calibration by which twenty quantiles of 800 records have a bound of 70 ms,
// which a condition that all records meet uses a third to two thirds of, and others nothing.
const quickQuantiles = `{"records":200000,"base_s":0.05,"turn_s":0.001,"load_s":5e-7,"persons_s":5.8e-6,"cell_s":1e-5,"record_s":{
"correlated":5e-9,"count":5e-9,"histogram":1e-8,"mean":1.4e-8,"outliers":7.8e-5,"quantile":4.2e-6,"sum":1.3e-8,"variance":1.3e-8}}`

// scheduled serves a book by that calibration: of 800 records in a class of 0.5 s, of 3,000 in
// one of 2 s and with a bound of 250 ms, beside which charges are short also under load.
func scheduled(t *testing.T, program string, rows int) (*user, string) {
	t.Helper()
	s := serve(t)
	s.stop(t)
	if err := os.WriteFile(filepath.Join(s.dir, "calibration.json"), []byte(quickQuantiles), 0o600); err != nil {
		t.Fatal(err)
	}
	s.program = program
	s.start(t)
	u := s.steward(t)
	return u, u.add(t, "visits.csv", visits(rows, 1), setting{"epsilon": "1000", "at_most": rows}).book
}

// The statuses and lengths of many payments at once do not tell how many records meet a
// condition: on the machine as it is, and with other programs on all processors.
func TestScheduleTellsNothing(t *testing.T) {
	short(t)
	u, book := scheduled(t, "noren", 800)
	alone := testSchedule(t, u, book, "alone", twentyConditions()[:1], rungs()[:5], trials)
	alone.nothing(t)
	busy(t, 1)
	loaded := testSchedule(t, u, book, "with all processors busy", twentyConditions()[1:2], rungs()[:5], trials)
	if loaded.nothing(t); alone.disturbed+loaded.disturbed == 2 {
		t.Skip("the machine is slower than the calibration of the test")
	}
}

// The comparison sees a server whose computations leave the processor when they end, as those of
// earlier versions did, on a machine with other programs on all processors.
func TestLongServedScheduleOfEarlyEnds(t *testing.T) {
	randtest.Long(t)
	u, book := scheduled(t, earlyServer, 3000)
	busy(t, 3)
	got := testSchedule(t, u, book, "early ends", twentyConditions()[:3], []int{8, 16, 24}, 2)
	if len(got.found) == 0 {
		t.Errorf("a client sees no difference: %d of %d payments missed their class, and %d", got.all, got.sent, got.none)
	}
}

// The comparison sees a server whose classes begin when a request arrives, as those of earlier
// versions did: the number of misses of a batch tells how many records meet a condition. No
// other program has to be busy for that.
func TestLongServedScheduleFromArrival(t *testing.T) {
	randtest.Long(t)
	u, book := scheduled(t, arrivalServer, 3000)
	got := testSchedule(t, u, book, "classes from arrival", twentyConditions()[:1], []int{40, 64}, 2)
	if len(got.found) == 0 {
		t.Errorf("a client sees no difference: %d of %d payments missed their class, and %d", got.all, got.sent, got.none)
	}
}

// Its parts can be run alone, also with some conditions: -run TestLongServedSchedule/disks/_[0-2]$.
func TestLongServedSchedule(t *testing.T) {
	randtest.Long(t)
	u, book := scheduled(t, "noren", 3000)
	all := twentyConditions()
	t.Run("alone", func(t *testing.T) {
		alone := testSchedule(t, u, book, "alone", all, rungs()[:5], trials)
		if alone.nothing(t); alone.disturbed > 0 || alone.all+alone.none > alone.sent {
			t.Errorf("%d conditions could not be compared, and %d and %d of %d payments missed their class on a machine that should be quiet",
				alone.disturbed, alone.all, alone.none, alone.sent)
		}
	})
	for _, l := range []struct {
		name   string
		others int
		begin  func(ctx context.Context, t *testing.T)
	}{
		{"beside nine others", 9, func(ctx context.Context, t *testing.T) { beside(ctx, t, u, book, 9) }},
		{"with slow disks", 0, func(ctx context.Context, _ *testing.T) { slowDisks(ctx, u.dir) }},
		{"with all processors busy", 0, func(ctx context.Context, t *testing.T) { busy(t, 1); <-ctx.Done() }},
	} {
		t.Run(l.name, func(t *testing.T) {
			u.others = l.others
			ctx, stop := context.WithCancel(t.Context())
			var group sync.WaitGroup
			group.Go(func() { l.begin(ctx, t) })
			time.Sleep(time.Second) // let the load begin
			got := testSchedule(t, u, book, l.name, all, rungs()[:5], trials)
			got.nothing(t)
			if stop(); got.all == 0 || got.none == 0 {
				t.Logf("%s: no payment missed its class: nothing was compared but lengths", l.name)
			}
			group.Wait()
		})
	}
}

// beside lets other analysts pay one question after the other until ctx ends.
func beside(ctx context.Context, t *testing.T, u *user, book string, others int) {
	var group sync.WaitGroup
	for i := range others {
		a := u.analyst(t, fmt.Sprint("Other ", i), book, setting{"epsilon": "1000"})
		q := a.quote(t, quoting(book, "0.000001", question{"kind": "mean", "column": "cost", "by": []string{"ward"}}))
		group.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				a.pay(ctx, q, fmt.Sprint("other ", n))
			}
		})
	}
	group.Wait()
}

// slowDisks writes and syncs files beside those of a server until ctx ends.
func slowDisks(ctx context.Context, dir string) {
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			path := filepath.Join(filepath.Dir(dir), fmt.Sprint("storm", i))
			defer func() { _ = os.Remove(path) }()
			data := make([]byte, 1<<20)
			for n := int64(0); ctx.Err() == nil; n++ {
				f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
				if err != nil {
					return
				}
				if _, err = f.WriteAt(data, n%64<<20); err == nil {
					err = f.Sync()
				}
				if f.Close() != nil || err != nil {
					return
				}
			}
		})
	}
	group.Wait()
}

// busy lets that many programs use each processor until the test ends.
func busy(t *testing.T, each int) {
	t.Helper()
	for range each * runtime.NumCPU() {
		c := exec.CommandContext(t.Context(), busyProgram)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = c.Process.Kill()
			_ = c.Wait()
		})
	}
}
