package service

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
)

const (
	// leastClass is the smallest time class in seconds; each other is four times the one
	// before. uncalibrated is the smallest without a calibration.
	leastClass, uncalibrated = 0.5, 2.0
	// margin is how many times longer than measured an answer is taken to last: machines are
	// loaded, and tables are unlike the made-up one.
	margin = 3
)

// Times are how long a request may take, in seconds. They follow from public parameters and
// the calibration alone.
type Times struct {
	// Class is the time class: 0.5, 2, 8, 32 and so on.
	Class float64
	// Load is the estimate for reading columns that are not taken to be in memory, and Bound
	// that for computing. Both are without a margin.
	Load, Bound float64
}

// TimeClass is the time class of a request in seconds: 0.5, 2, 8, 32 and so on. A front end
// that shows no answer before it, and every answer at it, does not show by time how long
// the answer took. It follows from public parameters alone. memory is that of the columns
// that are kept ([KeepOptions]): tables that fit are taken to be in memory. Without a
// calibration it is at least 2.
func TimeClass(w *api.Work, c *api.Calibration, memory int64) float64 {
	return TimesOf(w, c, memory).Class
}

// TimesOf are the class of a request ([TimeClass]) and the estimates that it follows from. The
// margin chooses the class alone.
func TimesOf(w *api.Work, c *api.Calibration, memory int64) Times {
	out := Times{Class: leastClass}
	if c == nil {
		out.Class, c = uncalibrated, &assumedTimes
	}
	n := float64(w.AtMost)
	if w.Persons {
		out.Bound += n * c.Persons * float64(len(w.Questions))
	}
	for _, q := range w.Questions {
		record, known := c.Record[q.Kind]
		if !known {
			record = c.Record[api.KindOutliers]
		}
		// The condition that was timed has two comparisons.
		out.Bound += n*(record+float64(max(0, q.Terms-2))*c.Record["count"]) + float64(q.Cells)*c.Cell
	}
	// 16 bytes for a value and its text's place.
	if n*16*float64(w.Columns+1) > float64(memory) {
		out.Load = n * c.Load * float64(w.Columns+1)
	}
	for out.Class < margin*(c.Base+out.Load+out.Bound) {
		out.Class *= 4
	}
	if c.Turn > 0 {
		out.Bound += c.Turn
	} else {
		out.Bound += c.Base // of a calibration before the schedule of slots
	}
	return out
}

// assumedTimes are those of a slow machine, for requests before a calibration.
var assumedTimes = api.Calibration{
	Base: 0.1, Load: 1e-6, Persons: 1e-6, Cell: 1e-5,
	Record: map[string]float64{
		"count": 1e-7, "sum": 1e-7, "mean": 1e-7, "variance": 1e-7, "histogram": 1e-7, "quantile": 1e-6, api.KindOutliers: 5e-5, api.KindCorrelated: 1e-6,
	},
}

// calibratedKinds are the questions that are timed: every record meets their conditions.
func calibratedKinds() []api.Question {
	pay := &api.Amount{Epsilon: "0.01"}
	return []api.Question{
		{Kind: "count", Where: "age >= 0 and x <= 1", Pay: pay},
		{Kind: "sum", Column: "x", Where: "age >= 0", Pay: pay},
		{Kind: "mean", Column: "x", Where: "age >= 0", Pay: pay},
		{Kind: "variance", Column: "x", Where: "age >= 0", Pay: pay},
		{Kind: "histogram", Column: "age", Bins: []string{"0", "20", "40", "60", "80", "110"}, Where: "x <= 1", Pay: pay},
		{Kind: "quantile", Column: "x", Where: "age >= 0", Pay: pay},
	}
}

// Calibrate measures how long answers take on this machine, on made-up tables in a ledger of
// its own. It takes some seconds. It reads and charges nothing else.
func (s *Service) Calibrate(ctx context.Context, r *api.CalibrateRequest) (*api.Calibration, error) {
	rows := r.Records
	if rows == 0 {
		rows = 200_000
	}
	if rows < 1000 || rows > 10_000_000 {
		return nil, noren.Usagef("records", "expected 1,000 to 10,000,000, got %d", rows)
	}
	dir, err := os.MkdirTemp(r.Dir, ".calibrate-*")
	if err != nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: "dir", What: "no folder can be made in it", Err: err}
	}
	defer func() { _ = os.RemoveAll(dir) }()
	c := &calibrator{dir: dir, out: &api.Calibration{Records: rows, Record: map[string]float64{}}}
	return c.out, c.measure(ctx, rows)
}

// calibrator is a calibration under way.
type calibrator struct {
	dir string
	out *api.Calibration
	own *Service
}

func (c *calibrator) measure(ctx context.Context, rows int) (err error) {
	book := filepath.Join(c.dir, "noren.db")
	if err := ledger.Create(ctx, book); err != nil {
		return err
	}
	for _, d := range []struct {
		name, unit string
		rows       int
	}{{"one", account.Record, 1}, {"many", account.Record, rows}, {"persons", "who", rows}, {"few", account.Record, min(rows, 5000)}} {
		if err := c.grant(ctx, book, d.name, d.unit, d.rows); err != nil {
			return err
		}
	}
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)) // it signs made-up answers alone
	c.own = &Service{Signer: func() (ed25519.PrivateKey, error) { return key, nil }, Tool: certificate.Tool{Name: "calibration", Version: "1"}, Analyst: "calibration"}
	if c.own.Kept, err = Keep(ctx, book, KeepOptions{TableMemory: 4 << 30}); err != nil {
		return err
	}
	defer func() { _ = c.own.Kept.Close() }()
	columns := 4.0
	start := time.Now()
	if err := c.own.Kept.Load(ctx, "many"); err != nil {
		return err
	}
	n := float64(rows)
	c.out.Load = time.Since(start).Seconds() / n / columns
	kinds := calibratedKinds()
	if c.out.Base, c.out.Turn, err = c.slowest(ctx, "one", kinds[0]); err != nil {
		return err
	}
	for _, q := range kinds {
		_, t, err := c.slowest(ctx, "many", q)
		if err != nil {
			return err
		}
		c.out.Record[q.Kind] = max(0, t-c.out.Turn) / n
	}
	return c.others(ctx, rows, kinds[0])
}

// others measures persons, cells and outliers.
func (c *calibrator) others(ctx context.Context, rows int, count api.Question) error {
	n := float64(rows)
	persons := count
	persons.MaxRows = 2
	_, t, err := c.slowest(ctx, "persons", persons)
	if err != nil {
		return err
	}
	c.out.Persons = max(0, t-c.out.Turn) / n
	groups := count
	groups.By, groups.Keys = []string{"sex"}, [][]string{{"f", "m"}}
	for i := range 498 {
		groups.Keys[0] = append(groups.Keys[0], fmt.Sprintf("key %d", i))
	}
	if _, t, err = c.slowest(ctx, "many", groups); err != nil {
		return err
	}
	c.out.Cell = max(0, t-c.out.Turn-n*c.out.Record["count"]) / 500
	// The time of a count of outliers grows with the number of neighbours: it is measured
	// where many records are neighbours of each other.
	few := min(rows, 5000)
	_, t, err = c.slowest(ctx, "few", api.Question{Kind: api.KindOutliers, Columns: []string{"age"}, K: 5, Radius: 10, Pay: &api.Amount{Epsilon: "1"}})
	if err != nil {
		return err
	}
	c.out.Record[api.KindOutliers] = max(0, t-c.out.Turn) / float64(few)
	c.out.Record[api.KindCorrelated] = c.out.Record["count"]
	return nil
}

// slowest are the longest times of some answers, in seconds: of the whole, and of the part
// between reading and the end of the computation. As many are asked at once as there are
// processors. The first, which loads the columns, does not count.
func (c *calibrator) slowest(ctx context.Context, name string, q api.Question) (whole, turn float64, err error) {
	ask := func() (whole, turn float64, err error) {
		start := time.Now()
		var read time.Time
		held := &Held{Read: func() { read = time.Now() }, Computed: func() { turn = time.Since(read).Seconds() }}
		_, err = held.Ask(ctx, c.own, &api.AskRequest{Dataset: name, Questions: []api.Question{q}})
		return time.Since(start).Seconds(), turn, err
	}
	if _, _, err := ask(); err != nil {
		return 0, 0, err
	}
	var mu sync.Mutex
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for range 3 {
				w, t, failed := ask()
				mu.Lock()
				whole, turn, err = max(whole, w), max(turn, t), cmp.Or(err, failed)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return whole, turn, err
}

// grant writes a made-up table and grants it in the ledger of the calibration.
func (c *calibrator) grant(ctx context.Context, book, name, unit string, rows int) error {
	d, err := (&dataset.Definition{Unit: unit, Columns: []dataset.Column{
		{Name: "age", Type: "integer", Bounds: []string{"0", "110"}},
		{Name: "x", Type: "decimal", Bounds: []string{"0", "1"}},
		{Name: "sex", Type: "category", Keys: []string{"f", "m"}},
		{Name: "who", Type: "category"},
	}}).Complete()
	if err != nil {
		return err
	}
	made := dataset.MadeUp{Definition: d, Fields: d.Fields(), Rows: rows, Seed: sha256.Sum256([]byte(name)), Values: map[string][]string{"who": people(rows)}}
	t, err := made.Table()
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("age,sex,who,x\n")
	for i := range t.Rows {
		sex, who := t.Column("sex"), t.Column("who")
		fmt.Fprintf(&b, "%d,%s,%s,%g\n", t.Column("age").Ints[i], sex.Dict[sex.Codes[i]], who.Dict[who.Codes[i]], t.Column("x").Floats[i])
	}
	path := filepath.Join(c.dir, name+".csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		return &noren.Error{Where: path, What: "cannot be written", Err: err}
	}
	l, err := ledger.Open(ctx, book, ledger.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	reviewed, err := release.ReviewGrant(ctx, l, release.Candidate{Path: path, Definition: d})
	if err == nil {
		_, err = release.ConfirmGrant(ctx, l, release.Grant{Name: name, Cap: account.Cost{Epsilon: 1000 * account.EpsilonUnits}, OtherPeople: true}, reviewed)
	}
	return err
}

// people are names of persons with three records each, on average.
func people(rows int) []string {
	out := make([]string, max(1, rows/3))
	for i := range out {
		out[i] = fmt.Sprintf("p%d", i)
	}
	return out
}
