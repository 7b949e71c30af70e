package release_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/cputime"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/table"
)

func TestAnswer(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	m := ask(300)
	a, err := release.Run(t.Context(), d.request(t, m))
	if err != nil {
		t.Fatal(err)
	}
	m.asked(t, 1)
	d.spent(t, 300, "released")
	if canonical, err := certificate.Canonical(a.Payload); err != nil || !bytes.Equal(canonical, a.Payload) {
		t.Errorf("the payload is not canonical: %v", err)
	}
	var payload struct{ Records int }
	if err := json.Unmarshal(a.Payload, &payload); err != nil || payload.Records != 3 {
		t.Errorf("payload %s, %v", a.Payload, err)
	}
	if a.Repeated || a.Charge == nil || len(a.Remaining) != 1 || a.Remaining[0].Left.Epsilon != 700*milli {
		t.Errorf("%+v", a)
	}
	// The certificate states what was charged, and for what.
	c := a.Certificate.Certificate
	if c.Accounting != certificate.Charged || c.Source == nil || c.Source.Dataset != "people" || c.Charge == nil ||
		c.Charge.ID != a.Charge.ID || c.Charge.EpsilonNano != 300*milli || c.Mechanism.Name != "test.count" ||
		c.Guarantee.Epsilon != 0.3 || c.Guarantee.Unit != account.Record || c.Released.Kind != "answer" {
		t.Errorf("%+v", c)
	}
	if held, err := d.ledger.Contains(t.Context(), *a.Charge); err != nil || !held {
		t.Errorf("the charge is not in the ledger: %v", err)
	}
}

func TestCertificate(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	a, err := release.Run(t.Context(), d.request(t, ask(1)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := a.Certificate.Encode()
	if err != nil {
		t.Fatal(err)
	}
	check := func(text []byte, payload string) (certificate.Result, error) {
		signed, err := certificate.Parse(text)
		if err != nil {
			return certificate.Result{}, err
		}
		return certificate.Check(t.Context(), signed, strings.NewReader(payload), d.key.Public().(ed25519.PublicKey))
	}
	if r, err := check(text, string(a.Payload)); err != nil || !r.Trusted {
		t.Errorf("%+v, %v", r, err)
	}
	for name, payload := range map[string]string{
		"other":  strings.Replace(string(a.Payload), "3", "4", 1),
		"longer": string(a.Payload) + "\n",
		"empty":  "",
	} {
		if _, err := check(text, payload); noren.KindOf(err) != noren.NotMet {
			t.Errorf("payload %s: %v", name, err)
		}
	}
	for _, change := range [][2]string{
		{`"epsilon": 0.001`, `"epsilon": 0.0001`}, {"people", "others"}, {`"of": "age"`, `"of": "agf"`}, {"charged", "unaccounted"},
	} {
		forged := bytes.Replace(text, []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(forged, text) {
			t.Fatalf("the certificate has no %s: %s", change[0], text)
		}
		if _, err := check(forged, string(a.Payload)); err == nil {
			t.Errorf("%s became %s unseen", change[0], change[1])
		}
	}
}

func TestRefused(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	m := ask(700)
	if _, err := release.Run(t.Context(), d.request(t, m)); err != nil {
		t.Fatal(err)
	}
	_, err := release.Run(t.Context(), d.request(t, m))
	var short *ledger.Refusal
	if noren.KindOf(err) != noren.Refused || !errors.As(err, &short) {
		t.Fatal(err)
	}
	if want := []ledger.Shortfall{{
		Kind: "dataset", Name: "people", Requested: m.cost,
		Remaining: account.Cost{Epsilon: 300 * milli},
	}}; fmt.Sprint(short.Short) != fmt.Sprint(want) {
		t.Errorf("%v", short.Short)
	}
	for _, words := range []string{"0.7 requested", "0.3 remaining", "0.4 too much"} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("%v: does not say %q", err, words)
		}
	}
	m.asked(t, 1)
	d.spent(t, 700, "released")
}

// What the budget does not cover reads nothing.
func TestRefusedBeforeReading(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	m := ask(1001)
	_, err := release.Run(t.Context(), d.request(t, m))
	quiet(t, err, noren.Refused)
	d.spent(t, 0)
	m.asked(t, 0)
}

// A query that types a column otherwise than the definition does is refused
// before the charge.
func TestAnotherType(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	for _, f := range []table.Field{{Name: "city", Type: table.Integer}, {Name: "age"}, {Name: "age", Type: table.Date}, {Name: "absent"}} {
		m := ask(1)
		m.fields[0] = f
		_, err := release.Run(t.Context(), d.request(t, m))
		quiet(t, err, noren.Usage)
		m.asked(t, 0)
	}
	m := ask(1)
	m.most = 1000 // the definition allows more records
	_, err := release.Run(t.Context(), d.request(t, m))
	quiet(t, err, noren.Usage)
	d.spent(t, 0)
}

// When Answer runs, another handle on the ledger sees the charge.
func TestChargedBeforeReading(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	m := ask(300)
	m.do = func(context.Context, *table.Table) (any, error) {
		d.spent(t, 300, "reserved")
		return struct{}{}, nil
	}
	if _, err := release.Run(t.Context(), d.request(t, m)); err != nil {
		t.Fatal(err)
	}
	m.asked(t, 1)
	d.spent(t, 300, "released")
}

// Failures after the charge tell nothing of the data, and give nothing back.
func TestQuietFailures(t *testing.T) {
	detail := errors.New("line 2: the value " + secret + " of Kobe")
	answer := func(v any, err error) func(*fake) {
		return func(m *fake) { m.do = func(context.Context, *table.Table) (any, error) { return v, err } }
	}
	var none []int
	for name, change := range map[string]func(*fake){
		"plain":                 answer(nil, detail),
		"with a kind":           answer(nil, &noren.Error{Kind: noren.Usage, Where: "line 2", What: secret}),
		"as if interrupted":     answer(nil, fmt.Errorf("%w: %w", detail, context.Canceled)),
		"as if refused":         answer(nil, &noren.Error{Kind: noren.Refused, What: secret, Err: ledger.ErrForfeited}),
		"no JSON":               answer(map[string]any{secret: make(chan int)}, nil),
		"JSON with broken text": answer(map[string]any{secret: "\xff"}, nil),
		"too large an integer":  answer(map[string]any{secret: int64(1) << 60}, nil),
		"JSON that fails":       answer(marshaller{detail}, nil),
		"panic":                 func(m *fake) { m.do = func(context.Context, *table.Table) (any, error) { panic(detail) } },
		"panic of the runtime": func(m *fake) {
			m.do = func(_ context.Context, t *table.Table) (any, error) { return none[98765+t.Rows], nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, 1000, ledger.Options{})
			m := ask(300)
			change(m)
			a, err := release.Run(t.Context(), d.request(t, m))
			quiet(t, err, noren.BadData)
			// One message for all failures after the charge.
			if a != nil || noren.CodeOf(err) != release.CodeWithheld || !strings.Contains(err.Error(), "data set people: the answer is withheld") {
				t.Errorf("%+v, %v", a, err)
			}
			d.spent(t, 300, "forfeited")
			_, err = release.Run(t.Context(), d.unaccounted(t, m, dataset.Definition{}))
			quiet(t, err, noren.BadData)
		})
	}
}

// A certificate is of the time of the charge, and the ledger hears of the end of the
// computation when the caller lets it: neither depends on how long the computation takes.
func TestNothingTellsWhenTheComputationEnded(t *testing.T) {
	randtest.SkipShort(t)
	for _, failure := range []error{nil, errors.New(secret)} {
		d := open(t, 1000, ledger.Options{})
		m := ask(300)
		answer := m.do
		m.do = func(ctx context.Context, table *table.Table) (any, error) {
			time.Sleep(1100 * time.Millisecond)
			if failure != nil || answer == nil {
				return map[string]int{}, failure
			}
			return answer(ctx, table)
		}
		q := d.request(t, m)
		var charged time.Time
		var steps []string
		q.Budget.Charged = func() { charged, steps = time.Now(), append(steps, "charged") }
		q.Budget.Computed = func() {
			d.spent(t, 300, "reserved")
			steps = append(steps, "computed")
		}
		begun := time.Now()
		a, err := release.Run(t.Context(), q)
		if (err == nil) != (failure == nil) || !slices.Equal(steps, []string{"charged", "computed"}) {
			t.Fatalf("%v after %v", err, steps)
		}
		if err == nil {
			if at := a.Certificate.Certificate.Time; at < certificate.Time(begun) || at > certificate.Time(charged) {
				t.Errorf("charged between %s and %s, the certificate is of %s", certificate.Time(begun), certificate.Time(charged), at)
			}
		}
	}
}

// A computation whose processor time is measured has one thread: other goroutines would compute
// outside of its bound.
func TestMeasuredComputationHasOneThread(t *testing.T) {
	for _, want := range []int{1, runtime.GOMAXPROCS(0)} {
		d, workers := open(t, 1000, ledger.Options{}), 0
		m := ask(300)
		m.do = func(ctx context.Context, _ *table.Table) (any, error) {
			workers = cputime.Workers(ctx)
			return map[string]int{}, nil
		}
		q := d.request(t, m)
		if want == 1 {
			q.Budget.Read = func() {}
		}
		if _, err := release.Run(t.Context(), q); err != nil || workers != want {
			t.Errorf("%d goroutines, want %d: %v", workers, want, err)
		}
	}
}

type marshaller struct{ error }

func (m marshaller) MarshalJSON() ([]byte, error) { return nil, m.error }

// What a failure was charged for is not answered later either.
func TestForfeitedKey(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	m := ask(300)
	m.do = func(context.Context, *table.Table) (any, error) { return nil, errors.New(secret) }
	q := d.request(t, m)
	q.Budget.Key = "monday"
	_, err := release.Run(t.Context(), q)
	quiet(t, err, noren.BadData)
	m.do = nil
	_, err = release.Run(t.Context(), q)
	quiet(t, err, noren.Refused)
	if !errors.Is(err, ledger.ErrForfeited) {
		t.Error(err)
	}
	m.asked(t, 1)
	d.spent(t, 300, "forfeited")
}

func TestChangedFile(t *testing.T) {
	randtest.SkipShort(t)
	t.Run("before", func(t *testing.T) {
		d := open(t, 1000, ledger.Options{})
		d.write(t, people+"60,Kobe\n")
		_, err := release.Run(t.Context(), d.request(t, ask(300)))
		quiet(t, err, noren.Refused)
		if noren.CodeOf(err) != release.CodeChanged || !strings.Contains(err.Error(), "nothing was charged") {
			t.Error(err)
		}
		d.spent(t, 0)
		// Touched, and the same: the prints say so.
		d.write(t, people)
		if _, err := release.Run(t.Context(), d.request(t, ask(300))); err != nil {
			t.Error(err)
		}
	})
	// Written to, or replaced, between charge and reading.
	for name, text := range map[string]string{
		"in between":      people + "60,Kobe\n",
		"beyond reading":  "age,city\n31,\"" + secret + "\n",
		"another type":    "age,city\nold," + secret + "\n47,Kobe\n52,Nara\n",
		"another header":  "city,ages\nKobe,1\n",
		"emptied":         "",
		"of the same age": strings.Replace(people, "31", "13", 1),
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, 1000, ledger.Options{})
			m := ask(300)
			m.late = func() {
				if r, err := d.ledger.Book(t.Context(), "people"); err == nil && r.Spent.Epsilon > 0 {
					d.write(t, text)
				}
			}
			_, err := release.Run(t.Context(), d.request(t, m))
			quiet(t, err, noren.BadData)
			d.spent(t, 300, "forfeited")
		})
	}
}

func TestRequestKey(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	m := ask(700)
	q := d.request(t, m)
	q.Budget.Key = "monday"
	first, err := release.Run(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	// The budget would not cover it again: it is free.
	again, err := release.Run(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if !again.Repeated || !bytes.Equal(again.Payload, first.Payload) || again.Charge.ID != first.Charge.ID {
		t.Errorf("%+v", again)
	}
	text1, err1 := first.Certificate.Encode()
	text2, err2 := again.Certificate.Encode()
	if err1 != nil || err2 != nil || !bytes.Equal(text1, text2) {
		t.Errorf("another certificate: %v, %v", err1, err2)
	}
	m.asked(t, 1)
	// Anything else under the key is another request.
	for name, change := range map[string]func(*release.Request, *fake){
		"parameters": func(_ *release.Request, m *fake) { m.parameters = map[string]any{"of": "city"} },
		"name":       func(_ *release.Request, m *fake) { m.name = "test.sum" },
	} {
		other := ask(1)
		q := d.request(t, other)
		q.Budget.Key = "monday"
		change(&q, other)
		if _, err := release.Run(t.Context(), q); !errors.Is(err, ledger.ErrConflict) || noren.KindOf(err) != noren.Usage {
			t.Errorf("another %s: %v", name, err)
		}
		other.asked(t, 0)
	}
	// The key is one analyst's own.
	q.Mechanism, q.Budget.Principal = ask(1), "sato"
	if a, err := release.Run(t.Context(), q); err != nil || a.Repeated {
		t.Errorf("%+v, %v", a, err)
	}
	d.spent(t, 701, "released", "released")
}

// Without a key every answer is a fresh one.
func TestFresh(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	m := ask(300)
	first, err1 := release.Run(t.Context(), d.request(t, m))
	second, err2 := release.Run(t.Context(), d.request(t, m))
	if err1 != nil || err2 != nil || bytes.Equal(first.Payload, second.Payload) {
		t.Errorf("%v, %v", err1, err2)
	}
	m.asked(t, 2)
	d.spent(t, 600, "released", "released")
}

func TestUnaccounted(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	m := ask(5000)
	m.only = account.ReplaceOne
	a, err := release.Run(t.Context(), d.unaccounted(t, m, dataset.Definition{Neighbours: "replace-one", Unit: "city"}))
	if err != nil {
		t.Fatal(err)
	}
	c := a.Certificate.Certificate
	if c.Accounting != certificate.Unaccounted || c.Charge != nil || c.Source.Dataset != "" || !c.StatesSchema() || a.Charge != nil ||
		a.Remaining != nil ||
		c.Guarantee.Neighbours != "replace-one" || c.Guarantee.Unit != "city" || c.Guarantee.Epsilon != 5 {
		t.Errorf("%+v", a)
	}
	if _, err := certificate.Check(t.Context(), a.Certificate, bytes.NewReader(a.Payload)); err != nil {
		t.Error(err)
	}
	d.spent(t, 0)
}

// A file that a ledger holds or held is refused, in whatever form it comes.
func TestUnaccountedKnown(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	like := dataset.Definition{Columns: []dataset.Column{{Name: "age", Type: "integer"}, {Name: "city"}}}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(people)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"people.csv":     people,
		"copy.csv":       people,
		"copy.csv.gz":    packed.String(),
		"bars.csv":       strings.ReplaceAll(people, ",", "|"),
		"semicolons.csv": strings.ReplaceAll(people, ",", ";"),
		"crlf.csv":       "\ufeff" + strings.ReplaceAll(people, "\n", "\r\n"),
		"shuffled.csv":   "city,age\nNara,52\nKobe,47\n" + secret + ",31\n",
		"blank.csv":      people + "\n",
	} {
		path := filepath.Join(d.dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		// The form of the asker hides nothing, and its faults do not come first.
		for _, delimiter := range []string{"", ";", "|", "x"} {
			def := like
			def.File.Delimiter = delimiter
			if _, err := release.Unaccounted(t.Context(), path, &def, []*ledger.Ledger{d.ledger}); noren.CodeOf(err) != release.CodeKnown {
				t.Errorf("%s, delimiter %q: %v", name, delimiter, err)
			}
		}
	}
	link := filepath.Join(d.dir, "link.csv")
	if err := os.Symlink(d.file, link); err != nil {
		t.Fatal(err)
	}
	d.write(t, "age,city\n1,Kobe\n") // other content at the path that the ledger holds
	if _, err := release.Unaccounted(t.Context(), link, &like, []*ledger.Ledger{d.ledger}); noren.CodeOf(err) != release.CodeKnown {
		t.Error(err)
	}
}

func TestPublish(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	m := ask(300)
	q := d.request(t, m)
	q.Publish = func(ctx context.Context, payload []byte) (certificate.Released, error) {
		d.spent(t, 300, "reserved")
		d.write(t, people) // the private file is not the published one
		return certificate.HashReader(ctx, strings.NewReader("made of "+string(payload)))
	}
	a, err := release.Run(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := certificate.Check(t.Context(), a.Certificate, strings.NewReader("made of "+string(a.Payload))); err != nil {
		t.Error(err)
	}
	if _, err := certificate.Check(t.Context(), a.Certificate, bytes.NewReader(a.Payload)); noren.KindOf(err) != noren.NotMet {
		t.Error(err)
	}
	if a.Certificate.Certificate.Released.Kind != "file" {
		t.Errorf("%+v", a.Certificate.Certificate.Released)
	}
	// Its error is passed on unchanged, and costs as much.
	full := &noren.Error{Kind: noren.Usage, Where: "out.csv", What: "exists"}
	q.Publish = func(context.Context, []byte) (certificate.Released, error) { return certificate.Released{}, full }
	if a, err := release.Run(t.Context(), q); !errors.Is(err, full) || a != nil {
		t.Error(a, err)
	}
	d.spent(t, 600, "released", "forfeited")
}

func TestInterrupted(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	m := ask(300)
	m.do = func(inner context.Context, _ *table.Table) (any, error) {
		cancel()
		<-inner.Done()
		return nil, fmt.Errorf("%s: %w", secret, inner.Err())
	}
	_, err := release.Run(ctx, d.request(t, m))
	quiet(t, err, noren.Interrupted)
	d.spent(t, 300, "forfeited")
	// An answer that comes all the same is not given.
	ctx, cancel = context.WithCancel(t.Context())
	m.do = func(context.Context, *table.Table) (any, error) {
		cancel()
		return struct{}{}, nil
	}
	a, err := release.Run(ctx, d.request(t, m))
	quiet(t, err, noren.Interrupted)
	if a != nil {
		t.Errorf("%+v", a)
	}
	d.spent(t, 600, "forfeited", "forfeited")
	// Before it began nothing is charged.
	_, err = release.Run(ctx, d.request(t, m))
	quiet(t, err, noren.Interrupted)
	d.spent(t, 600, "forfeited", "forfeited")
}

// A reservation that another process took over while this one was silent is no
// longer this one's to answer.
func TestLostLease(t *testing.T) {
	randtest.SkipShort(t)
	d := open(t, 1000, ledger.Options{Lease: 1}) // runs out at once
	m := ask(300)
	m.do = func(ctx context.Context, _ *table.Table) (any, error) {
		for ctx.Err() == nil {
			other, err := ledger.Open(t.Context(), d.book, ledger.Options{})
			if err != nil {
				return nil, err
			}
			if err := other.Close(); err != nil {
				return nil, err
			}
		}
		return nil, ctx.Err()
	}
	_, err := release.Run(t.Context(), d.request(t, m))
	quiet(t, err, noren.Refused)
	if !errors.Is(err, ledger.ErrForfeited) {
		t.Error(err)
	}
	d.spent(t, 300, "forfeited")
}

// Many ask at once: granted and refused are all that asked, and what is spent is
// what was granted.
func TestManyAtOnce(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	const askers = 12
	m := ask(150) // six fit
	errs := make([]error, askers)
	var wg sync.WaitGroup
	for i := range askers {
		wg.Go(func() { _, errs[i] = release.Run(t.Context(), d.request(t, m)) })
	}
	wg.Wait()
	granted := 0
	for _, err := range errs {
		if err == nil {
			granted++
		} else if noren.KindOf(err) != noren.Refused {
			t.Error(err)
		}
	}
	if granted != 6 {
		t.Errorf("%d were granted", granted)
	}
	m.asked(t, 6)
	d.spent(t, 900, "released", "released", "released", "released", "released", "released")
}

// A file of a data set is no public input, at whatever path; other files are.
func TestPublicInput(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	hard, public := filepath.Join(d.dir, "hard.csv"), filepath.Join(d.dir, "public.csv")
	if err := os.Link(d.file, hard); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(public, []byte("age,city\n1,Nara\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, code := range map[string]string{
		d.file: release.CodePrivate, hard: release.CodePrivate, public: "", filepath.Join(d.dir, "none.csv"): "", d.dir: "", `{"count":"on"}`: "",
	} {
		err := release.Public(t.Context(), path, d.ledger)
		if noren.CodeOf(err) != code || code == "" && err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
