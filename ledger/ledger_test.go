package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"

	"github.com/noren-privacy/noren"
)

// The figures of the tests: one epsilon, one thousandth, one billionth.
const (
	one   = 1_000_000_000
	milli = one / 1000
)

// firstTable is the table of the fixture, secondTable its next state.
const (
	firstTable  = "age,sex\n31,F\n"
	secondTable = "age,sex\n31,F\n32,M\n"
)

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// definitionOf is a definition with these columns.
func definitionOf(columns ...string) []byte {
	return []byte(`{"columns":["` + strings.Join(columns, `","`) + `"],"format":"noren.dataset/1"}`)
}

func hashOf(definition []byte) [32]byte {
	return sha256.Sum256(append([]byte("noren.dataset/1\x00"), definition...))
}

func printOf(parts ...string) string {
	return "hmac-sha256:" + hexHash([]byte(strings.Join(parts, "\x00")))
}

// pinned is a grant of the CSV file at path: the print of its table is of its
// rows in any order, those of its columns of the cells in their order.
func pinned(t testing.TB, name, path string, limit Cost) Grant {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(text)), "\n")
	columns := strings.Split(rows[0], ",")
	g := Grant{
		Name: name, Path: path, Cap: limit, Definition: definitionOf(columns...), Prints: map[string]string{}, Size: int64(len(text)),
		Mtime: 7,
	}
	g.DefinitionHash = hashOf(g.Definition)
	g.Contents = &Contents{Values: map[string]Values{}}
	for i, column := range columns {
		cells := []string{column}
		for _, row := range rows[1:] {
			cells = append(cells, strings.Split(row, ",")[i])
		}
		g.Prints[column] = printOf(cells...)
		slices.Sort(cells[1:])
		g.Contents.Values[column] = Values{
			Prints: []string{hexHash([]byte(strings.Join(cells[1:], "\x00")))},
			Many:   len(slices.Compact(slices.Clone(cells[1:]))) > 10,
		}
	}
	sorted := append([]string(nil), rows[1:]...)
	slices.Sort(sorted)
	g.Print = printOf(append([]string{rows[0]}, sorted...)...)
	return g
}

// fixture is a ledger with one granted file.
type fixture struct {
	dir, path, file string
}

func newFixture(t testing.TB, limit Cost) *fixture {
	t.Helper()
	dir := t.TempDir()
	f := &fixture{dir: dir, path: filepath.Join(dir, "noren.db"), file: filepath.Join(dir, "data.csv")}
	write(t, f.file, firstTable)
	if err := Create(context.Background(), f.path); err != nil {
		t.Fatal(err)
	}
	l := f.open(t)
	defer l.Close()
	if _, err := l.Grant(context.Background(), pinned(t, "adult", f.file, limit)); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) open(t testing.TB) *Ledger {
	t.Helper()
	l, err := Open(context.Background(), f.path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func request(n int, cost Cost) Request {
	return Request{
		Dataset: "adult", Principal: "ana", Key: fmt.Sprint("k", n), Hash: [32]byte{1, byte(n), byte(n >> 8)},
		Mechanism: json.RawMessage(fmt.Sprintf(`{"mechanism":"count","n":%d}`, n)), Cost: cost, Unit: "record",
		Version: 1, Definition: hashOf(definitionOf("age", "sex")),
	}
}

func answer(n int) []byte { return []byte(fmt.Sprintf("answer %d", n)) }

// ask does the whole protocol once.
func ask(ctx context.Context, l *Ledger, q Request, payload []byte) ([]byte, error) {
	r, stored, err := l.Reserve(ctx, q)
	if err != nil {
		return nil, err
	}
	if stored != nil {
		return stored.Payload, nil
	}
	if err := r.Settle(ctx, payload, []byte("signature"), "key"); err != nil {
		return nil, err
	}
	return payload, nil
}

func spent(t testing.TB, l *Ledger) Cost {
	t.Helper()
	b, err := l.Book(context.Background(), "adult")
	if err != nil {
		t.Fatal(err)
	}
	return b.Spent
}

func TestReserveAndSettle(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
	l := f.open(t)
	ctx := t.Context()
	b, err := l.Find(ctx, f.file)
	if err != nil || b.Name != "adult" || b.Unit != "record" || b.Neighbours != AddRemove {
		t.Fatalf("%+v, %v", b, err)
	}
	r, stored, err := l.Reserve(ctx, request(1, Cost{Epsilon: 400 * milli, Delta: 600}))
	if err != nil || stored != nil {
		t.Fatal(stored, err)
	}
	if got := spent(t, l); got != (Cost{Epsilon: 400 * milli, Delta: 600}) {
		t.Errorf("spent %v before the answer", got)
	}
	if c := r.Charge(); c.Ledger != l.ID() || c.Link != 3 || len(c.Accounts) != 1 || c.Cost != (Cost{Epsilon: 400 * milli, Delta: 600}) {
		t.Errorf("charge %+v", c)
	}
	if m := r.Remaining(); len(m) != 1 || m[0].Left != (Cost{Epsilon: 600 * milli, Delta: 400}) {
		t.Errorf("remaining %+v", m)
	}
	// Asked again while it is being answered.
	if _, _, err := l.Reserve(ctx, request(1, Cost{Epsilon: 400 * milli, Delta: 600})); !errors.Is(err, ErrInProgress) {
		t.Error(err)
	}
	if err := r.Settle(ctx, answer(1), []byte("sig"), "kid"); err != nil {
		t.Fatal(err)
	}
	if err := r.Forfeit("deferred"); err != nil {
		t.Error(err)
	}
	if err := r.Settle(ctx, answer(1), nil, ""); err == nil {
		t.Error("settled twice")
	}
	// The same again is free, and the stored bytes.
	_, stored, err = l.Reserve(ctx, request(1, Cost{Epsilon: 400 * milli, Delta: 600}))
	if err != nil || stored == nil || string(stored.Payload) != "answer 1" || string(stored.Signature) != "sig" || stored.KeyID != "kid" {
		t.Fatalf("%+v, %v", stored, err)
	}
	if fmt.Sprint(stored.Charge) != fmt.Sprint(r.Charge()) {
		t.Errorf("stored charge %+v, was %+v", stored.Charge, r.Charge())
	}
	// Another request under the same key.
	other := request(2, Cost{Epsilon: 1, Delta: 0})
	other.Key = "k1"
	if _, _, err := l.Reserve(ctx, other); !errors.Is(err, ErrConflict) || noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	// More than remains, in epsilon, in delta, in both.
	for _, c := range []Cost{{Epsilon: 600*milli + 1, Delta: 0}, {Epsilon: 1, Delta: 401}, {Epsilon: one, Delta: 1000}} {
		_, _, err := l.Reserve(ctx, request(3, c))
		var refusal *Refusal
		if noren.KindOf(err) != noren.Refused || !errors.As(err, &refusal) ||
			refusal.Short[0].Remaining != (Cost{Epsilon: 600 * milli, Delta: 400}) {
			t.Errorf("%v: %v", c, err)
		}
	}
	_, _, err = l.Reserve(ctx, request(3, Cost{Epsilon: 700 * milli, Delta: 0}))
	if want := "data set adult: epsilon 0.7 requested, 0.6 remaining, 0.1 too much"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %s", err, want)
	}
	if got := spent(t, l); got != (Cost{Epsilon: 400 * milli, Delta: 600}) {
		t.Errorf("spent %v after refusals", got)
	}
	// Exactly what remains fits, and then nothing does.
	if _, err := ask(ctx, l, request(3, Cost{Epsilon: 600 * milli, Delta: 400}), answer(3)); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(ctx, l, request(4, Cost{Epsilon: 1, Delta: 0}), answer(4)); noren.KindOf(err) != noren.Refused {
		t.Error(err)
	}
	verifyClean(t, l)
}

func TestForfeitKeepsCost(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	r, _, err := l.Reserve(ctx, request(1, Cost{Epsilon: milli, Delta: 0}))
	if err != nil {
		t.Fatal(err)
	}
	cancel() // the request was interrupted; giving up must work all the same
	if r.Context().Err() == nil {
		t.Error("the reservation's context outlives the request's")
	}
	if err := r.Settle(ctx, answer(1), nil, ""); noren.KindOf(err) != noren.Interrupted {
		t.Errorf("settled under a dead context: %v", err)
	}
	if err := r.Forfeit("interrupted"); err != nil {
		t.Fatal(err)
	}
	if got := spent(t, l); got != (Cost{Epsilon: milli, Delta: 0}) {
		t.Errorf("spent %v", got)
	}
	if err := r.Settle(t.Context(), answer(1), nil, ""); err == nil {
		t.Error("settled after it was given up")
	}
	if _, _, err := l.Reserve(t.Context(), request(1, Cost{Epsilon: milli, Delta: 0})); !errors.Is(err, ErrForfeited) ||
		noren.KindOf(err) != noren.Refused {
		t.Error(err)
	}
	var states []string
	if err := l.History(t.Context(), HistoryOptions{Dataset: "adult"}, func(e Entry) error {
		states = append(states, e.State+" "+e.Reason+" "+e.Principal+" "+decimal(e.Cost.Epsilon, 9))
		return nil
	}); err != nil || fmt.Sprint(states) != "[forfeited interrupted ana 0.001]" {
		t.Error(states, err)
	}
	verifyClean(t, l)
}

// 16 writers against one cap: 1,428 granted, 172 denied, 9,996 spent.
func TestWritersAgainstOneCap(t *testing.T) { testWriters(t, 25) }

func TestLongWritersAgainstOneCap(t *testing.T) {
	randtest.Long(t)
	testWriters(t, 100)
}

// testWriters lets 16 writers make each requests, more than the cap allows.
func testWriters(t *testing.T, each int) {
	const cost, writers = 7, 16
	limit := int64(100 * each)
	f := newFixture(t, Cost{Epsilon: limit, Delta: 0})
	var granted, denied atomic.Int64
	ledgers := []*Ledger{f.open(t), f.open(t)} // two handles, as of two processes
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			l := ledgers[w%2]
			for i := range each {
				_, err := ask(context.Background(), l, request(w*each+i, Cost{Epsilon: cost, Delta: 0}), answer(i))
				switch {
				case err == nil:
					granted.Add(1)
				case noren.KindOf(err) == noren.Refused:
					denied.Add(1)
				default:
					t.Error(err)
				}
				if got := spent(t, l); got.Epsilon > limit {
					t.Errorf("spent %v of %d", got, limit)
				}
			}
		})
	}
	wg.Wait()
	if fit := limit / cost; granted.Load() != fit || denied.Load() != int64(writers*each)-fit || spent(t, ledgers[0]).Epsilon != fit*cost {
		t.Errorf("%d granted, %d denied of %d", granted.Load(), denied.Load(), writers*each)
	}
	if got := spent(t, ledgers[0]); got.Epsilon != granted.Load()*cost {
		t.Errorf("spent %v, granted %d", got, granted.Load())
	}
	verifyClean(t, ledgers[0])
}

// Two requests with one key at once: one is charged.
func TestSameKeyAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := ask(context.Background(), l, request(1, Cost{Epsilon: milli, Delta: 0}), answer(1))
			if err != nil && !errors.Is(err, ErrInProgress) || err == nil && string(got) != "answer 1" {
				t.Error(got, err)
			}
		})
	}
	wg.Wait()
	if got := spent(t, l); got != (Cost{Epsilon: milli, Delta: 0}) {
		t.Errorf("spent %v", got)
	}
}

func TestDecimal(t *testing.T) {
	for want, n := range map[string]int64{
		"0": 0, "0.000000001": 1, "0.5": one / 2, "12": 12 * one, "-0.1": -100 * milli,
		"9223372036.854775807": 1<<63 - 1,
	} {
		if got := decimal(n, 9); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := decimal(1e12, 18); got != "0.000001" {
		t.Error(got)
	}
}

func verifyClean(t testing.TB, l *Ledger) {
	t.Helper()
	r, err := l.Verify(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
}
