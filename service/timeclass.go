package service

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/cputime"
	"github.com/noren-privacy/noren/internal/tempfile"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/report/text"
)

const (
	// leastClass is the smallest time class in seconds; each other is four times the one
	// before. uncalibrated is the smallest without a calibration.
	leastClass, uncalibrated = 0.5, 2.0
	// margin is how many times longer than measured an answer is taken to last: machines are
	// loaded, and tables are unlike the made-up one.
	margin = 3
	// spare is how many times as much processor time as measured a computation is taken to use:
	// where the machine is busy, caches and the garbage collector have other work beside it. The
	// same quantiles used up to 2.2 times as much at a load average of 13 on two processors.
	spare = 2.5
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

// TimesOf are the time class of a request in seconds (0.5, 2, 8, 32 and so on) and the estimates that it follows
// from. A front end that shows no answer before it, and every answer at it, does not show by time how long
// the answer took. They follow from public parameters alone. memory is that of the columns
// that are kept ([KeepOptions]): tables that fit are taken to be in memory. Without a
// calibration the class is at least 2. The margin chooses the class alone.
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
		record, term := perRecord(c, &q)
		if q.Kind == "quantile" {
			// The losses of a quantile are whole numbers up to the number of records times the
			// denominator of the rank, and a weight takes a product for each of their bits.
			record *= lossRatio(n, q.Digits, c.Records)
		}
		if q.Kind == countOfOutliers {
			record *= neighbourWork(n, q.K, q.Columns, q.Degrees)
		}
		record += groupWork(c, &q)
		// The conditions that were timed have at most two comparisons.
		out.Bound += n*(record+float64(max(0, q.Terms-2))*term) + (float64(q.Cells)+float64(q.Terms)/10)*c.Cell
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

// perRecord is how long a question takes for a record, and how much longer with each comparison
// of its condition that was not timed.
func perRecord(c *api.Calibration, q *api.QuestionWork) (record, term float64) {
	record, known := c.Record[q.Kind]
	if !known {
		record = c.Record[countOfOutliers]
	}
	term = c.Record["count"]
	if q.Texts {
		return record, term
	}
	if numbers, timed := c.Numbers[q.Kind]; timed {
		record = numbers
	}
	if single, timed := c.Single[q.Kind]; timed && q.Terms <= 1 {
		record = single
	}
	if numbers, timed := c.Numbers["count"]; timed {
		term = numbers
	}
	return record, term
}

// groupWork is how much longer a question takes for a record because of the lists in which values are
// looked up, and of many bins. A look-up of a text took up to as long as a condition of a number
// and a text, for four columns at once, and is counted twice; one of a number, by its hash, three times.
// Both slow with the length of the list.
func groupWork(c *api.Calibration, q *api.QuestionWork) float64 {
	longer := math.Log2(max(1, float64(q.Listed)/shortList))
	out := float64(2*q.Grouped+q.Hashed) * c.Record["count"] * (1 + longer/2)
	if q.Kind == "histogram" {
		out += c.Record["histogram"] * longer
	}
	return out
}

// shortList is the length up to which lists take as long as one of few values.
const shortList = 64

// timedDigits is the number of decimal places of the rank that is timed.
const timedDigits = 1

// lossBits is about the number of bits of the greatest loss of a quantile.
func lossBits(records float64, digits int) float64 {
	return math.Log2(max(2, records)) + float64(digits)*math.Log2(10)
}

// lossRatio is how many times as long a quantile takes for a record as one of a rank of
// [timedDigits] places in a table of as many records as were timed. It grows with the bits that the rank
// adds to the losses of the same table, and with those that more records add. With fewer records
// than were timed a record takes as long: their losses are smaller, but more of the weights count.
func lossRatio(records float64, digits, timed int) float64 {
	return max(1, lossBits(records, digits)/lossBits(records, timedDigits)) * max(1,
		lossBits(records, timedDigits)/lossBits(float64(timed), timedDigits))
}

// neighbourWork is how many times as long a count of outliers takes for a record as the one that
// was timed in a plane. It looks at the neighbours within twice the radius of the records that have
// about k within the radius: in d columns about k times 2^d for each record, and not more than n.
// It does so for windows of numbers of neighbours up to degrees, which grow as epsilon falls.
// Where there are more than 3 columns it also looks at all pairs of records.
func neighbourWork(n float64, k, d, degrees int) float64 {
	out := max(1, min(n, float64(k)*math.Pow(2, float64(min(d, 32))))/(4*timedNeighbours))
	out *= max(1, float64(degrees-k)/(timedDegrees-timedNeighbours))
	if d > 3 {
		out += n * float64(d) / 2500
	}
	return out
}

// comparedRecords is up to how many records the estimate of a count of outliers was compared with
// measurements on tables that take longest (TestBoundsOfComputations).
const comparedRecords = 2000

// timing warns of a question whose computation may exceed its estimate on some tables: its time may
// then depend on the data (docs/threat-model.md, "Where assumption 1 fails").
func (q *pricedQuestion) timing(a *openSet) []api.Message {
	switch k := q.question.Of.(type) {
	case kinds.Ratio:
		return []api.Message{text.TimeMayTell(k, comparedRecords)}
	case kinds.Outliers:
		if a.Definition.AtMost > comparedRecords {
			return []api.Message{text.TimeMayTell(k, comparedRecords)}
		}
	}
	return nil
}

// countOfOutliers is the name of its kind in a calibration.
const countOfOutliers = "outliers"

// timedNeighbours is the k of the count of outliers that is timed, and timedDegrees the number of
// neighbours up to which it needs exact counts.
const (
	timedNeighbours = 5
	timedDegrees    = 30
)

// assumedTimes are those of a slow machine, for requests before a calibration.
var assumedTimes = api.Calibration{
	Records: 200_000, Base: 0.1, Load: 1e-6, Persons: 1e-5, Cell: 3e-5,
	Record: map[string]float64{
		"count": 1e-7, "sum": 1e-7, "mean": 1e-7, "variance": 1e-7, "histogram": 1e-7, "quantile": 4e-5, countOfOutliers: 5e-4,
		"correlated": 1e-6,
	},
}

// Conditions of the questions that are timed. Every record meets them. The first compares a
// number and a text that each record has for itself: such texts take longest.
const (
	timedTexts   = "age >= 0 and who != 'none'"
	timedNumbers = "age >= 0 and x >= 0"
	timedSingle  = "x >= 0"
)

// calibratedKinds are the questions that are timed, with a condition.
func calibratedKinds(where string) []api.Question {
	pay := &api.Amount{Epsilon: "0.01"}
	return []api.Question{
		{Of: kinds.Count{Where: where}, Pay: pay},
		{Of: kinds.Sum{Column: "x", Where: where}, Pay: pay},
		{Of: kinds.Mean{Column: "x", Where: where}, Pay: pay},
		{Of: kinds.Variance{Column: "x", Where: where}, Pay: pay},
		{Of: kinds.Histogram{Column: "age", Bins: []string{"0", "20", "40", "60", "80", "110"}, Where: where}, Pay: pay},
	}
}

// calibratedQuantiles are the quantiles that are timed. Their epsilon is so small that every
// weight counts. Which grid takes longest depends on the number of records that share a place.
func calibratedQuantiles() []api.Question {
	fine, finest := 21, 30
	var out []api.Question
	for _, bits := range []*int{nil, &fine, &finest} {
		out = append(out, api.Question{
			Of: kinds.Quantile{Column: "x", Where: timedTexts, GridBits: bits}, Pay: &api.Amount{Epsilon: "0.000001"},
		})
	}
	return out
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
	dir, err := tempfile.CreateFolder(r.Dir)
	if err != nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: "dir", What: "no folder can be made in it", Err: err}
	}
	defer dir.Close()
	defer func() { _ = os.RemoveAll(dir.Path) }()
	c := &calibrator{dir: dir.Path, out: &api.Calibration{
		Records: rows, Record: map[string]float64{}, Numbers: map[string]float64{},
		Single: map[string]float64{},
	}}
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
	few := min(rows, 2000)
	for _, d := range []madeUp{
		{name: "one", unit: account.Record, rows: 1},
		{name: "many", unit: account.Record, rows: rows, persons: rows},
		{name: "persons", unit: "who", rows: rows, persons: max(1, rows/8)},
		{name: "person", unit: "who", rows: rows, persons: 1},
		{name: "few", unit: account.Record, rows: few},
		{name: "model", unit: account.Record, rows: few, model: true},
	} {
		if err := c.grant(ctx, book, d); err != nil {
			return err
		}
	}
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)) // it signs made-up answers alone
	c.own = &Service{
		Signer: func() (ed25519.PrivateKey, error) { return key, nil }, Tool: certificate.Tool{Name: "calibration", Version: "1"},
		Analyst: "calibration",
	}
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
	timed := calibratedKinds(timedTexts)
	one, err := c.slowest(ctx, "one", same(timed[0]))
	if err != nil {
		return err
	}
	c.out.Base, c.out.Turn = one.whole, one.turn
	for where, to := range map[string]map[string]float64{timedTexts: c.out.Record, timedNumbers: c.out.Numbers, timedSingle: c.out.Single} {
		for _, q := range calibratedKinds(where) {
			t, err := c.slowest(ctx, "many", same(q))
			if err != nil {
				return err
			}
			// What any request uses is the turn, which a bound has once.
			to[q.Name()] = max(0, t.turn-one.least) / n
		}
	}
	for _, q := range calibratedQuantiles() {
		t, err := c.slowest(ctx, "many", same(q))
		if err != nil {
			return err
		}
		c.out.Record[q.Name()] = max(c.out.Record[q.Name()], t.turn/n)
	}
	return c.others(ctx, rows, few, timed[0])
}

// others measures persons, cells, outliers and correlated records.
func (c *calibrator) others(ctx context.Context, rows, few int, count api.Question) error {
	n := float64(rows)
	for _, name := range []string{"persons", "person"} {
		// Which records count is kept for a number of records and columns: each question has
		// another number, and all persons have more records.
		t, err := c.slowest(ctx, name, func(i int) api.Question { return count.WithMaxRows(int64(1 + i)) })
		if err != nil {
			return err
		}
		c.out.Persons = max(c.out.Persons, t.turn/n)
	}
	by, keys := []string{"sex"}, [][]string{{"f", "m"}}
	for i := range 498 {
		keys[0] = append(keys[0], fmt.Sprintf("key %d", i))
	}
	t, err := c.slowest(ctx, "many", same(api.Question{Of: kinds.Count{Where: count.Where(), By: by, Keys: keys}, Pay: count.Pay}))
	if err != nil {
		return err
	}
	c.out.Cell = max(0, t.turn-n*c.out.Record["count"]/spare) / 500
	medians := api.Question{
		Of:  kinds.Quantile{Column: "x", Where: count.Where(), By: by, Keys: keys, Noise: "smooth"},
		Pay: &api.Amount{Epsilon: "1"},
	}
	if t, err = c.slowest(ctx, "one", same(medians)); err != nil {
		return err
	}
	c.out.Cell = max(c.out.Cell, t.turn/500)
	// The time of a count of outliers grows with the number of neighbours, up to where all have so
	// many that none is nearly an outlier: it is measured in a plane for several radii.
	for _, radius := range []float64{0.03, 0.1, 0.3} {
		t, err = c.slowest(ctx, "few", same(api.Question{
			Of:  kinds.Outliers{Columns: []string{"age", "x"}, K: timedNeighbours, Radius: radius, Scale: "bounds"},
			Pay: &api.Amount{Epsilon: "1"},
		}))
		if err != nil {
			return err
		}
		c.out.Record[countOfOutliers] = max(c.out.Record[countOfOutliers], t.turn/float64(few))
	}
	t, err = c.slowest(ctx, "model", same(api.Question{
		Of:  kinds.Correlated{Query: json.RawMessage(`{"count":"f"}`)},
		Pay: &api.Amount{Epsilon: "1"},
	}))
	if err != nil {
		return err
	}
	c.out.Record["correlated"] = max(c.out.Record["count"], t.turn/float64(few))
	return nil
}

// same asks one question again and again.
func same(q api.Question) func(int) api.Question { return func(int) api.Question { return q } }

// askingTimes are those of some answers, in seconds: whole the longest of the whole request, turn and
// least the longest and the shortest processor time, with its spare, of the part between reading and
// the end of the computation.
type askingTimes struct{ whole, turn, least float64 }

// slowest asks as many questions at once as there are processors, three times each. The first answer, which
// loads the columns, does not count.
func (c *calibrator) slowest(ctx context.Context, name string, question func(i int) api.Question) (askingTimes, error) {
	var asked atomic.Int64
	ask := func() (whole, turn float64, err error) {
		start := time.Now()
		var meter *cputime.Meter
		held := &Held{Read: func() { meter = cputime.Start() }, Computed: func() {
			if meter != nil {
				turn = spare * meter.Used().Seconds()
				meter.Stop()
			}
		}}
		_, err = held.Ask(ctx, c.own, &api.AskRequest{Dataset: name, Questions: []api.Question{question(int(asked.Add(1)) - 1)}})
		return time.Since(start).Seconds(), turn, err
	}
	if _, _, err := ask(); err != nil {
		return askingTimes{}, err
	}
	out := askingTimes{least: math.Inf(1)}
	var mu sync.Mutex
	var group sync.WaitGroup
	var failed error
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for range 3 {
				whole, turn, err := ask()
				mu.Lock()
				out = askingTimes{whole: max(out.whole, whole), turn: max(out.turn, turn), least: min(out.least, turn)}
				failed = cmp.Or(failed, err)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return out, failed
}

// madeUp is a made-up table.
type madeUp struct {
	name, unit    string
	rows, persons int
	model         bool // its records are dependent
}

// grant writes a made-up table and grants it in the ledger of the calibration.
func (c *calibrator) grant(ctx context.Context, book string, m madeUp) error {
	name, rows := m.name, m.rows
	definition := &dataset.Definition{Unit: m.unit, Columns: []dataset.Column{
		{Name: "age", Type: "integer", Bounds: []string{"0", "110"}},
		{Name: "x", Type: "decimal", Bounds: []string{"0", "1"}},
		{Name: "sex", Type: "category", Keys: []string{"f", "m"}},
		{Name: "who", Type: "category"},
	}}
	if m.model {
		half := []float64{0.5, 0.5}
		chain, err := json.Marshal(map[string]any{
			"type": "chain", "states": []string{"f", "m"}, "source": "calibration", "init": half,
			"P": [][]float64{half, half}, "length": rows,
		})
		if err != nil {
			return err
		}
		definition.Neighbours, definition.Records = "replace-one", int64(rows)
		definition.Model = &dataset.Model{Column: "sex", States: []string{"f", "m"}, Distribution: chain}
		definition.Columns[2] = dataset.Column{Name: "sex"}
	}
	d, err := definition.Complete()
	if err != nil {
		return err
	}
	made := dataset.MadeUp{
		Definition: d, Fields: d.Fields(), Rows: rows, Seed: sha256.Sum256([]byte(name)),
		Values: map[string][]string{"who": people(max(1, m.persons)), "sex": {"f", "m"}},
	}
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
		return &noren.Error{Where: noren.File(path), What: "cannot be written", Err: err}
	}
	l, err := ledger.Open(ctx, book, ledger.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	reviewed, err := release.ReviewGrant(ctx, l, release.Candidate{Path: path, Definition: d})
	if err == nil {
		_, err = release.ConfirmGrant(ctx, l, release.Grant{
			Name: name, Cap: account.Cost{Epsilon: 1000 * account.EpsilonUnits},
			OtherPeople: true,
		}, reviewed)
	}
	return err
}

// people are names of persons.
func people(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("p%d", i)
	}
	return out
}
