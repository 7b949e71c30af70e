package apart

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/frames"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/internal/server/limit"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/spec"
)

func TestMain(m *testing.M) {
	switch how := os.Getenv("NOREN_TEST_APART"); how {
	case "":
		os.Exit(m.Run())
	case "cut": // writes a part of its answer and ends
		_, _ = os.Stdout.Write([]byte{9, 0, 0, 0, 'r', 1})
		os.Exit(3)
	default:
		if misbehave(how) {
			os.Exit(0)
		}
	}
	if err := Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func runner(how string) *Runner {
	return &Runner{Tool: certificate.Tool{Name: "noren", Version: "test"}, Command: func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), "NOREN_TEST_APART="+how)
		return cmd
	}}
}

// people writes a table of n records.
func people(t *testing.T, n int) (path string, s *spec.Spec) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "people.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := csv.NewWriter(f)
	_ = w.Write([]string{"age", "ward", "illness"})
	for i := range n {
		_ = w.Write([]string{fmt.Sprint(i * 37 % 90), fmt.Sprint("w", i%5), fmt.Sprint("=illness ", i%7)})
	}
	w.Flush()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path, &spec.Spec{
		Version: spec.Version, Anonymize: spec.Anonymize{K: 5},
		Columns: map[string]spec.Column{
			"age": {Type: "integer", Role: "quasi-identifier"}, "ward": {Type: "category", Role: "quasi-identifier"}, "illness": {
				Type: "category", Role: "sensitive",
			},
		},
	}
}

// What an operation gives in another process is what it gives in this one: the result with all its
// fields, the notes in both languages, the points, the progress, and the released file.
func TestSameApart(t *testing.T) {
	path, s := people(t, 4000)
	type seen struct {
		Release  *api.Release
		Curve    *api.Curve
		Inspect  *api.Inspection
		Points   []api.CurvePoint
		Notes    []string
		File     string
		Page     string
		Hash     string
		Reported bool
	}
	dir := t.TempDir()
	all := func(r *Runner) seen {
		var out seen
		o := r.Operations()
		o.Progress = func(string, int64, int64) { out.Reported = true }
		o.Note = func(n api.Note) {
			out.Notes = append(out.Notes, n.Code, n.In(lang.English), n.In(lang.Japanese), fmt.Sprint(n.Args))
		}
		var err error
		if out.Release, err = o.Anonymize(t.Context(), &api.AnonymizeRequest{
			Table: api.Table{Input: path, Spec: s}, Output: filepath.Join(dir, "out.csv"), Report: filepath.Join(dir, "page.html"), PlainNames: true,
			Assess: true,
			Seed:   strings.Repeat("3b", 16), Force: true,
		}); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, "out.csv"))
		if err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join(dir, "page.html"))
		if err != nil {
			t.Fatal(err)
		}
		out.File, out.Page = string(data), figures.ReplaceAllString(string(page), "") // times and the seed of the counts differ
		if out.Curve, err = o.Curve(t.Context(), &api.CurveRequest{
			Table: api.Table{Input: path, Spec: s}, K: []int{2, 5, 10}, Point: func(p api.CurvePoint) { out.Points = append(out.Points, p) },
		}); err != nil {
			t.Fatal(err)
		}
		if out.Inspect, err = o.Inspect(t.Context(), &api.InspectRequest{Table: api.Table{Input: path}}); err != nil {
			t.Fatal(err)
		}
		if out.Hash, err = o.Hash(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		return out
	}
	here, apart := all(&Runner{Tool: certificate.Tool{Name: "noren", Version: "test"}}), all(runner("1"))
	for _, s := range []*seen{&here, &apart} { // what may differ
		s.Release.Seconds = here.Release.Seconds
		s.Release.Assessment.Queries.Seed = here.Release.Assessment.Queries.Seed
		for i := range s.Points {
			s.Points[i].Seconds, s.Curve.Points[i].Seconds = 0, 0
		}
	}
	for i := range reflect.TypeFor[seen]().NumField() {
		a, b := reflect.ValueOf(here).Field(i), reflect.ValueOf(apart).Field(i)
		if x, y := contents(a), contents(b); x != y {
			t.Errorf("%s differs: %d and %d bytes", reflect.TypeFor[seen]().Field(i).Name, len(x), len(y))
		}
	}
	if len(apart.Points) != 3 || !apart.Reported || len(apart.Notes) == 0 {
		t.Errorf("%d points, progress %t, %d notes", len(apart.Points), apart.Reported, len(apart.Notes))
	}
}

// figures are all numbers of a page.
var figures = regexp.MustCompile(`[0-9.]+`)

// contents are the bytes of what is passed of a value.
func contents(v reflect.Value) string { return string(appendValue(nil, v)) }

// An error of an operation is the same error in both languages, with its kind, its code and what it wraps.
func TestErrorsApart(t *testing.T) {
	path, s := people(t, 40)
	wrong := *s
	wrong.Columns = map[string]spec.Column{
		"age":     {Type: "integer", Role: "quasi-identifier"},
		"unknown": {Type: "category", Role: "quasi-identifier"},
	}
	damaged := filepath.Join(t.TempDir(), "damaged.csv")
	if err := os.WriteFile(damaged, []byte("a,b\n1,2\n1\n\"x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		call func(ctx context.Context, o *Operations) error
	}{
		{"missing file", func(ctx context.Context, o *Operations) error {
			_, err := o.Inspect(ctx, &api.InspectRequest{Table: api.Table{Input: filepath.Join(t.TempDir(), "none.csv")}})
			return err
		}},
		{"wrong specification", func(ctx context.Context, o *Operations) error {
			_, err := o.Anonymize(ctx, &api.AnonymizeRequest{
				Table:  api.Table{Input: path, Spec: &wrong},
				Output: filepath.Join(t.TempDir(), "o.csv"),
			})
			return err
		}},
		{"damaged file", func(ctx context.Context, o *Operations) error {
			_, err := o.Inspect(ctx, &api.InspectRequest{Table: api.Table{Input: damaged}})
			return err
		}},
		{"too large", func(ctx context.Context, o *Operations) error {
			_, err := o.Anonymize(meter.With(ctx, meter.Limits{Held: 100, Unpacked: 100}),
				&api.AnonymizeRequest{Table: api.Table{Input: path, Spec: s}, Output: filepath.Join(t.TempDir(), "o.csv")})
			return err
		}},
	} {
		here, apart := c.call(t.Context(), (&Runner{}).Operations()), c.call(t.Context(), runner("1").Operations())
		if here == nil || apart == nil {
			t.Errorf("%s: %v, apart %v", c.name, here, apart)
			continue
		}
		cut := func(s string) string {
			return strings.NewReplacer("/001/", "/", "/002/", "/", "/003/", "/", "/004/", "/").Replace(s)
		}
		for _, l := range lang.All() {
			if a, b := cut(l.Error(here)), cut(l.Error(apart)); a != b {
				t.Errorf("%s: %q, apart %q", c.name, a, b)
			}
		}
		if noren.KindOf(here) != noren.KindOf(apart) || noren.CodeOf(here) != noren.CodeOf(apart) ||
			errors.Is(here, fs.ErrNotExist) != errors.Is(apart, fs.ErrNotExist) {
			t.Errorf("%s: %#v, apart %#v", c.name, here, apart)
		}
	}
}

// Errors keep what they wrap.
func TestPassedErrors(t *testing.T) {
	inner := &noren.Error{Kind: noren.BadData, Code: "ragged", Where: noren.File("a.csv"), What: "%d fields", Args: []any{3}}
	for _, err := range []error{
		&noren.Error{Kind: noren.Usage, What: "no", Err: inner},
		fmt.Errorf("while: %w", inner),
		errors.Join(inner, context.Canceled),
		spec.Faults{inner, inner},
		&fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission},
		context.Canceled,
	} {
		data, e := encode(pass(err))
		if e != nil {
			t.Fatal(e)
		}
		var p passed
		if e := decode(data, &p); e != nil {
			t.Fatal(e)
		}
		got := p.error()
		if got.Error() != err.Error() || noren.KindOf(got) != noren.KindOf(err) || noren.CodeOf(got) != noren.CodeOf(err) {
			t.Errorf("%v became %v", err, got)
		}
		for _, one := range known() {
			if errors.Is(got, one) != errors.Is(err, one) {
				t.Errorf("%v: is %v: %t", err, one, errors.Is(got, one))
			}
		}
	}
}

// A process that is killed, cut off or of another version is an error, and never an empty result.
func TestProcessThatEnds(t *testing.T) {
	path, _ := people(t, 40)
	if got, err := runner("cut").Operations().Inspect(t.Context(), &api.InspectRequest{Table: api.Table{Input: path}}); err == nil ||
		got != nil {
		t.Errorf("cut off: %v, %v", got, err)
	}
	none := &Runner{Command: func(ctx context.Context) *exec.Cmd {
		return exec.CommandContext(ctx, filepath.Join(t.TempDir(), "none"))
	}}
	got, err := none.Operations().Inspect(t.Context(), &api.InspectRequest{Table: api.Table{Input: path}})
	if err == nil || got != nil {
		t.Errorf("no program: %v, %v", got, err)
	}
	// Memory is not what is missing there.
	if p := problem.From(err); p.Code != "unavailable" || p.Detail != "The process that computes cannot be started." ||
		p.In(lang.Japanese).Detail == p.Detail {
		t.Errorf("no program: %v", p)
	}
}

// So many proposals and checks run at once as there are places, and who waits for one ends with its
// context. A job waits for none: the checks of one principal do not stop the jobs of others.
func TestPlaces(t *testing.T) {
	path, s := people(t, 40)
	r := runner("1")
	places := limit.NewPlaces(1, 1)
	r.Place = func(ctx context.Context) (func(), error) { return places.Take(ctx, "one") }
	check := func(ctx context.Context) error {
		_, err := r.Operations().Fit(ctx, &api.FitRequest{Table: api.Table{Input: path, Spec: s}})
		return err
	}
	back, err := places.Take(t.Context(), "another")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := check(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without a place: %v", err)
	}
	if _, err := r.Operations().Inspect(t.Context(), &api.InspectRequest{Table: api.Table{Input: path}}); err != nil {
		t.Errorf("a job: %v", err)
	}
	back()
	for range 2 { // it gives its place back
		if err := check(t.Context()); err != nil {
			t.Errorf("with one: %v", err)
		}
	}
}

// A request or result that exceeds what an operation may hold is said to be too large, on both sides.
func TestTooLargeApart(t *testing.T) {
	var sent bytes.Buffer
	back := newSender(&sent)
	back.parts([]byte{isPart}, make([]byte, 100))
	if err := back.close(); err != nil {
		t.Fatal(err)
	}
	parts := sent.Bytes()
	_, _, err := (&Operations{runner: &Runner{}}).receive(bytes.NewReader(parts), 99, nil)
	if err = ended(t.Context(), err); noren.CodeOf(err) != "too-large" {
		t.Errorf("a result: %v", err)
	}
	if _, err := gather(frames.NewReader(bytes.NewReader(parts)), 99); !errors.Is(err, errLarge) {
		t.Errorf("a request: %v", err)
	}
	if err := pass(large()).error(); noren.CodeOf(err) != "too-large" {
		t.Errorf("as it is passed: %v", err)
	}
}

// A cancelled operation ends its process and leaves no file.
func TestCancelledApart(t *testing.T) {
	path, s := people(t, 60000)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	var cmd *exec.Cmd
	r := runner("1")
	start := r.Command
	r.Command = func(ctx context.Context) *exec.Cmd { cmd = start(ctx); return cmd }
	o := r.Operations()
	o.Progress = func(string, int64, int64) { cancel() }
	_, err := o.Anonymize(ctx, &api.AnonymizeRequest{Table: api.Table{Input: path, Spec: s}, Output: filepath.Join(dir, "o.csv")})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() < 0 {
		t.Errorf("the process was killed: %v", cmd.ProcessState)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// The process has the lowest priority, and ends with its standard input.
func TestPriorityAndEnd(t *testing.T) {
	cmd := runner("1").Command(t.Context())
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "linux" {
		idle := false
		for range 200 { // field 41 is the policy: 5 is SCHED_IDLE
			data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
			if err != nil {
				t.Fatal(err)
			}
			_, rest, _ := strings.Cut(string(data), ") ")
			if fields := strings.Fields(rest); fields[38] == "5" && fields[16] == "19" {
				idle = true
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if !idle {
			t.Error("the process has not the lowest priority")
		}
	}
	if runtime.GOOS == "linux" { // where memory is short, it ends before the server does
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", cmd.Process.Pid))
		if err != nil || strings.TrimSpace(string(data)) != "1000" {
			t.Errorf("oom_score_adj is %q: %v", data, err)
		}
	}
	_ = in.Close()
	_, _ = io.Copy(io.Discard, out)
	if err := cmd.Wait(); err == nil {
		t.Error("a process without a request ended well")
	}
}

// All that is exchanged can be passed, and the print of it is a function of its types.
func TestForm(t *testing.T) {
	if a, b := form(), form(); a != b || len(a) != 64 {
		t.Errorf("%s and %s", a, b)
	}
	var got settings
	data, err := encode(&settings{Form: "x", Limits: meter.Limits{Held: 3}})
	if err != nil || decode(data, &got) != nil || got.Limits.Held != 3 {
		t.Errorf("%v, %v", got, err)
	}
	for n := range data {
		if decode(data[:n], &got) == nil {
			t.Errorf("%d of %d bytes were taken", n, len(data))
		}
	}
	one := struct{ At time.Time }{time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}
	two := one
	two.At = time.Time{}
	if data, err = encode(&one); err != nil || decode(data, &two) != nil || !one.At.Equal(two.At) {
		t.Errorf("%v became %v: %v", one, two, err)
	}
}

// Bytes that are none of ours are refused, not believed.
func FuzzDecode(f *testing.F) {
	data, err := encode(pass(&noren.Error{What: "%s", Args: []any{noren.Names{"a", "b"}}, Err: context.Canceled}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		metertest.Hold(t, len(data))
		var p passed
		if decode(data, &p) == nil {
			_ = p.error()
		}
	})
}
