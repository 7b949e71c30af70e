package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
)

// slowQuantiles is a calibration by which eight quantiles of 800 records have a class of 2 s, and so many
// of them at once a schedule that is just in time.
const slowQuantiles = `{"records":200000,"base_s":0.0306,"turn_s":0.0024,"load_s":4.8e-7,"persons_s":1.02e-5,"cell_s":8.1e-5,"record_s":{
"correlated":1.5e-6,"count":4.2e-8,"histogram":9.3e-8,"mean":8.7e-8,"outliers":8.4e-5,"quantile":9.3e-6,"sum":1.02e-7,"variance":9.3e-8}}`

// A large table of another book, of which a steward makes releases meanwhile.
type besides struct {
	*user
	recipe string
}

// preview begins a preview, and returns what ends it.
func (b *besides) preview(t *testing.T) (end func()) {
	t.Helper()
	var begun job
	b.must(t, 202, "POST", "/recipes/"+b.recipe+"/preview", nil, &begun)
	for range 200 { // until it computes
		var now job
		if b.must(t, 200, "GET", "/jobs/"+begun.ID, nil, &now); now.State == "running" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(200 * time.Millisecond)
	return func() {
		b.send(t.Context(), "DELETE", "/jobs/"+begun.ID, nil)
		for range 600 {
			var now job
			if b.must(t, 200, "GET", "/jobs/"+begun.ID, nil, &now); now.State != "running" && now.State != "queued" {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Fatal("a preview does not end")
	}
}

// testJobs pays in batches, in turn beside a preview of another table and without one, and compares
// what the analyst saw. A difference counts if it is found in each trial.
func testJobs(t *testing.T, program string, rounds, atOnce, trials int) (found string, beside, alone seen) {
	t.Helper()
	s := serve(t)
	s.stop(t)
	if err := os.WriteFile(filepath.Join(s.dir, "calibration.json"), []byte(slowQuantiles), 0o600); err != nil {
		t.Fatal(err)
	}
	s.program = program
	s.start(t)
	u := s.steward(t)
	book := u.add(t, "visits.csv", visits(800, 1), setting{"epsilon": "1000", "at_most": 800}).book
	large := u.add(t, "large.csv", visits(60_000, 2), setting{"epsilon": "1", "at_most": 60_000})
	var recipe struct{ ID string }
	u.must(t, 201, "POST", "/tables/"+large.id+"/recipes", map[string]any{}, &recipe)
	b := besides{u, recipe.ID}
	for trial := range trials {
		with, without := u.payerOf(t, book, fmt.Sprint("beside ", trial), 8), u.payerOf(t, book, fmt.Sprint("alone ", trial), 8)
		for range rounds {
			end := b.preview(t)
			with.batch(t, atOnce)
			end()
			without.batch(t, atOnce)
		}
		p := differs(&with.seen, &without.seen)
		text := fmt.Sprintf("beside a preview %v, without one %v, p = %.2g", with.seen.replies, without.seen.replies, p)
		t.Log(text)
		beside, alone = with.seen, without.seen
		if p >= 1e-6 {
			return "", beside, alone
		}
		found = text
	}
	return found, beside, alone
}

// Jobs of stewards do not show in the statuses of answers of another book.
func TestJobsTellNothing(t *testing.T) {
	short(t)
	if found, _, _ := testJobs(t, "noren", 3, 8, 2); found != "" {
		t.Error(found)
	}
}

// The same with more payments, up to more than the processors compute in time.
func TestLongServedJobs(t *testing.T) {
	randtest.Long(t)
	for _, atOnce := range []int{8, 20} {
		t.Run(fmt.Sprint(atOnce), func(t *testing.T) {
			if found, _, _ := testJobs(t, "noren", 9, atOnce, 3); found != "" {
				t.Error(found)
			}
		})
	}
}

// The comparison sees a server whose jobs compute in its own process, as those of earlier versions did.
func TestLongServedJobsTogether(t *testing.T) {
	randtest.Long(t)
	if found, beside, alone := testJobs(t, togetherServer, 24, 8, 2); found == "" {
		t.Errorf("no difference is seen: %v and %v", beside.replies, alone.replies)
	}
}
