package survey_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/entropy"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/survey"
)

func newSurvey(t testing.TB, spec survey.Spec) *survey.Survey {
	t.Helper()
	s, err := survey.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// row is a record of a survey, person i's.
func row(s *survey.Survey, i int) []string {
	values := make([]string, len(s.Columns()))
	for j := range values {
		values[j] = fmt.Sprint(i % 3)
	}
	return values
}

// Every line that a device makes is counted, for every mechanism, and gives an
// estimate.
func TestLinesComeThrough(t *testing.T) {
	for name, spec := range specs() {
		s := newSurvey(t, spec)
		c, err := s.NewCollector()
		if err != nil {
			t.Fatal(err)
		}
		src := randtest.Source(1)
		var file bytes.Buffer
		for i := range 300 {
			line, err := s.Randomise(src, row(s, i))
			if err != nil {
				t.Fatal(name, err)
			}
			if strings.ContainsAny(line, " \t\r\n") || line == "" {
				t.Fatalf("%s: %q is no report", name, line)
			}
			fmt.Fprintf(&file, "p%d\t%s\r\n", i, line)
		}
		if err := c.AddLines(t.Context(), &file, "file"); err != nil {
			t.Fatal(err)
		}
		if c.N() != 300 || c.Rejected().Total() != 0 {
			t.Errorf("%s: %d counted, %v", name, c.N(), c.Rejected())
		}
		o := survey.Options{}
		if s.Kind() == survey.Words {
			if o.Map, err = s.Rappor().NewMap([]string{"0", "1", "2"}); err != nil {
				t.Fatal(err)
			}
		}
		e, err := c.Estimate(t.Context(), o)
		if err != nil || e.N != 300 {
			t.Errorf("%s: %v", name, err)
			continue
		}
		set := map[survey.Kind]bool{
			survey.Shares: e.Shares != nil, survey.Words: e.Words != nil, survey.Mean: e.Mean != nil,
			survey.Distribution: e.Distribution != nil, survey.Several: len(e.Several) == len(s.Columns()),
		}
		for kind, is := range set {
			if is != (kind == s.Kind()) && (kind != survey.Several || s.Kind() == survey.Several) {
				t.Errorf("%s: an estimate of %s is there: %v", name, kind, is)
			}
		}
	}
}

// Corrupt lines and second reports, anywhere and however many, change no estimate.
func TestCorruptLinesChangeNothing(t *testing.T) {
	all := specs()
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.SampledFrom([]string{"grr", "oue", "subset", "rappor", "basic-rappor", "hybrid", "several"}).Draw(r, "mechanism")
		s, err := survey.New(all[name])
		if err != nil {
			r.Fatal(err)
		}
		clean, _ := s.NewCollector()
		dirty, _ := s.NewCollector()
		src := randtest.Source(rapid.Uint64().Draw(r, "seed"))
		bad, again := int64(0), int64(0)
		for i := range 20 {
			word, err := s.Randomise(src, row(s, i))
			if err != nil {
				r.Fatal(err)
			}
			line := fmt.Sprintf("p%d\t%s", i, word)
			if err := clean.AddLine(line); err != nil {
				r.Fatal(err)
			}
			for range rapid.IntRange(0, 2).Draw(r, "corrupt lines") {
				// A line that is corrupt for all mechanisms, under a name still to come.
				junk := rapid.SampledFrom([]string{"x", "-1", "0,,1", "=", "0=;", "2 2", "\x00", "99999999999999999999", "0,xx", ""}).Draw(r, "junk")
				if dirty.AddLine(fmt.Sprintf("p%d\t%s", i, junk)) == nil {
					r.Fatalf("%s: %q was counted", name, junk)
				}
				bad++
			}
			if err := dirty.AddLine(line); err != nil {
				r.Fatal(err)
			}
			if rapid.Bool().Draw(r, "again") {
				if dirty.AddLine(line) == nil {
					r.Fatal("a second report was counted")
				}
				again++
			}
		}
		got := dirty.Rejected()
		if got.Duplicate != again || got.Total() != bad+again || dirty.N() != clean.N() {
			r.Fatalf("%s: %d counted, %v; want %d corrupt and %d again", name, dirty.N(), got, bad, again)
		}
		o := survey.Options{MaxMalformed: 1}
		if s.Kind() == survey.Words {
			o.Map, _ = s.Rappor().NewMap([]string{"0", "1", "2"})
			o.All = true
		}
		a, err1 := clean.Estimate(context.Background(), o)
		b, err2 := dirty.Estimate(context.Background(), o)
		if err1 != nil || err2 != nil {
			r.Fatal(err1, err2)
		}
		strip(a)
		strip(b)
		if fmt.Sprintf("%v", deep(a)) != fmt.Sprintf("%v", deep(b)) {
			r.Fatalf("%s: %v without, %v with corrupt lines", name, deep(a), deep(b))
		}
	})
}

// strip takes what was rejected out of an estimate.
func strip(e *survey.Estimate) {
	e.Rejected = ldp.Rejected{}
	if e.Shares != nil {
		e.Shares.Rejected = ldp.Rejected{}
	}
	if e.Words != nil {
		e.Words.Rejected = ldp.Rejected{}
	}
	if e.Mean != nil {
		e.Mean.Rejected = ldp.Rejected{}
	}
	for j := range e.Several {
		strip(&e.Several[j])
	}
}

// deep follows the pointers of an estimate, for comparing by text (NaN is NaN).
func deep(e *survey.Estimate) []any {
	var out []any
	v := reflect.ValueOf(*e)
	for i := range v.NumField() {
		f := v.Field(i)
		switch {
		case f.Kind() == reflect.Pointer && !f.IsNil():
			out = append(out, f.Elem().Interface())
		case f.Kind() == reflect.Slice:
			for j := range e.Several {
				out = append(out, deep(&e.Several[j]))
			}
		case f.Kind() != reflect.Pointer:
			out = append(out, f.Interface())
		}
	}
	return out
}

// Reasons are distinguished.
func TestReasons(t *testing.T) {
	for _, c := range []struct {
		mechanism, lines string
		want             ldp.Rejected
	}{
		{"oue", "01001\n0101\n010011\n0100x\n", ldp.Rejected{Malformed: 1, WrongLength: 2}},
		{"rappor", "7,0000000000000001\n8,0000000000000001\n7,01\nx\n", ldp.Rejected{Malformed: 1, WrongLength: 1, BadCohort: 1}},
		{"grr", "a\t0\na\t1\nb\t9\nb\t0\n\n   \n", ldp.Rejected{Malformed: 1, Duplicate: 1}},
		{"grr", "\ufeff4\n" + strings.Repeat("x", 5<<20) + "\n3", ldp.Rejected{Malformed: 1}},
	} {
		s := newSurvey(t, specs()[c.mechanism])
		col, err := s.NewCollector()
		if err != nil {
			t.Fatal(err)
		}
		if err := col.AddLines(t.Context(), strings.NewReader(c.lines), "lines"); err != nil {
			t.Fatal(err)
		}
		if got := col.Rejected(); got != c.want {
			t.Errorf("%s, %.20q...: %v, want %v", c.mechanism, c.lines, got, c.want)
		}
	}
}

func TestNothingCounted(t *testing.T) {
	for name, spec := range specs() {
		s := newSurvey(t, spec)
		c, err := s.NewCollector()
		if err != nil {
			t.Fatal(err)
		}
		_ = c.AddLine("nothing at all")
		_, err = c.Estimate(t.Context(), survey.Options{})
		if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), "excluded: 1 ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadingFailsAndStops(t *testing.T) {
	s := newSurvey(t, specs()["grr"])
	c, _ := s.NewCollector()
	broken := errors.New("broken")
	err := c.AddLines(t.Context(), io.MultiReader(strings.NewReader("1\n"), iotest.ErrReader(broken)), "file")
	if !errors.Is(err, broken) {
		t.Errorf("%v, want the reader's failure", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := c.AddLines(ctx, strings.NewReader("1\n"), "file"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's end", err)
	}
}

// No error of a value holds the value, and none that could stand is refused.
func TestValuesStayOutOfErrors(t *testing.T) {
	src := randtest.Source(1)
	for _, c := range []struct {
		spec  survey.Spec
		value string
		ok    bool
	}{
		{survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: survey.Attribute{Labels: []string{"a", "b"}}}, "secret77", false},
		{survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: survey.Attribute{Labels: []string{"a", "b"}, Other: "b"}}, "secret77", true},
		{survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: survey.Attribute{Labels: []string{"a", "b"}, Other: "b"}}, "", true},
		{survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: labels(5)}, "77", false},
		{survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: labels(5)}, "4", true},
		{survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: survey.Attribute{Edges: []float64{0, 1, 2}}}, "77", true},
		{survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: survey.Attribute{Edges: []float64{0, 1, 2}}}, "secret77", false},
		{survey.Spec{Mechanism: "hybrid", Epsilon: 1, Attribute: number}, "secret77", false},
		{survey.Spec{Mechanism: "hybrid", Epsilon: 1, Attribute: number}, "NaN", false},
		{survey.Spec{Mechanism: "square-wave", Epsilon: 1, Attribute: number}, "", false},
		{survey.Spec{Epsilon: 1, Attributes: []survey.Attribute{{Column: "a", Size: 3}}}, "77", false},
	} {
		_, err := newSurvey(t, c.spec).Randomise(src, []string{c.value})
		if (err == nil) != c.ok {
			t.Errorf("%s, %q: %v", c.spec.Mechanism, c.value, err)
		}
		if err != nil && (strings.Contains(err.Error(), "77") || noren.KindOf(err) != noren.BadData) {
			t.Errorf("%s: %v", c.spec.Mechanism, err)
		}
	}
}

// A device under a key gives the same permanent answer every time, another client
// or question another: of one-time reports nothing else is left to chance.
func TestDevices(t *testing.T) {
	spec := specs()["rappor-one-time"]
	spec.Question = "one"
	spec.M = 1 << 20 // so that two devices hardly share a cohort
	s := newSurvey(t, spec)
	spec.Question = "another"
	other := newSurvey(t, spec)
	src := randtest.Source(1)
	key, err := survey.NewKey(src)
	if err != nil {
		t.Fatal(err)
	}
	d, err := survey.NewDevices(key)
	if err != nil {
		t.Fatal(err)
	}
	report := func(s *survey.Survey, client, value string) string {
		line, err := s.RandomiseFor(src, d, client, []string{value})
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	first := report(s, "anna", "word")
	if again := report(s, "anna", "word"); again != first {
		t.Errorf("the device reported %s and %s of the same word", first, again)
	}
	if report(s, "ben", "word") == first {
		t.Error("two devices reported alike")
	}
	if report(other, "anna", "word") == first {
		t.Error("two questions were answered alike")
	}
	cohort, _, _ := strings.Cut(first, ",")
	if c, _, _ := strings.Cut(report(s, "anna", "another word"), ","); c != cohort {
		t.Errorf("the cohort depends on the value: %s and %s", cohort, c)
	}
	if _, err := survey.NewDevices(key[1:]); noren.KindOf(err) != noren.Usage {
		t.Errorf("a short key: %v", err)
	}
}

// Cohorts of many devices are uniform: 4 cohorts of 4,000 devices, chi-squared of 3
// degrees below 25 but once in 60,000.
func TestCohortsAreUniform(t *testing.T) {
	spec := specs()["rappor"]
	spec.M = 4
	s := newSurvey(t, spec)
	src := randtest.Source(2)
	var count [4]float64
	for range 4000 {
		line, err := s.Randomise(src, []string{"word"})
		if err != nil {
			t.Fatal(err)
		}
		count[line[0]-'0']++
	}
	chi := 0.0
	for _, n := range count {
		chi += (n - 1000) * (n - 1000) / 1000
	}
	if chi > 25 || chi == 0 {
		t.Errorf("cohorts %v: chi-squared %.1f", count, chi)
	}
}

// The joint distribution is found again: from one file of two attributes, from two
// files by clients' ids, by order where there are none. Truth: y is x but for 1 in 5.
func TestAssociate(t *testing.T) {
	both := newSurvey(t, survey.Spec{Epsilon: 6, Sample: 2, Attributes: []survey.Attribute{{Column: "x", Size: 2}, {Column: "y", Size: 2}}})
	one := newSurvey(t, survey.Spec{Mechanism: "grr", Epsilon: 3, Attribute: labels(2)})
	two := newSurvey(t, survey.Spec{Mechanism: "basic-rappor", F: p(0.25), P: p(0.1), Q: p(0.9), Attribute: labels(2)})
	words := newSurvey(t, survey.Spec{Mechanism: "rappor", K: 8, H: 1, M: 4, F: p(0.125), P: p(0.05), Q: p(0.95)})
	wordMap, err := words.Rappor().NewMap([]string{"0", "1"})
	if err != nil {
		t.Fatal(err)
	}
	collector := func(s *survey.Survey, m *ldp.Map) *survey.Collector {
		c, err := s.NewCollector()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Keep(m); err != nil {
			t.Fatal(err)
		}
		return c
	}
	cBoth, cOne, cTwo, cWords := collector(both, nil), collector(one, nil), collector(two, nil), collector(words, wordMap)
	plainOne, plainTwo := collector(one, nil), collector(two, nil)
	src := randtest.Source(3)
	send := func(c *survey.Collector, s *survey.Survey, client string, values ...string) {
		line, err := s.Randomise(src, values)
		if err != nil {
			t.Fatal(err)
		}
		if client != "" {
			line = client + "\t" + line
		}
		if err := c.AddLine(line); err != nil {
			t.Fatal(err)
		}
	}
	const n = 8000
	for i := range n {
		x := fmt.Sprint(i % 2)
		y := x
		if i%10 >= 8 {
			y = fmt.Sprint(1 - i%2)
		}
		send(cBoth, both, "", x, y)
		send(cOne, one, fmt.Sprint(i), x)
		send(cTwo, two, fmt.Sprint(n-1-i), y) // in another order, by a name of its own
		send(plainOne, one, "", x)
		send(plainTwo, two, "", y)
		send(cWords, words, fmt.Sprint(i), x)
	}
	// cTwo names person i as n-1-i, and so does this file, in the order of x.
	reversed := collector(one, nil)
	for i := range n {
		send(reversed, one, fmt.Sprint(n-1-i), fmt.Sprint(i%2))
	}
	want := [2][2]float64{{0.4, 0.1}, {0.1, 0.4}}
	for name, pair := range map[string]struct {
		c, d *survey.Collector
		i, j int
	}{
		"one file": {cBoth, cBoth, 0, 1}, "by ids": {reversed, cTwo, 0, 0}, "by order": {plainOne, plainTwo, 0, 0},
	} {
		j, err := pair.c.Associate(t.Context(), pair.i, pair.d, pair.j)
		if err != nil {
			t.Fatal(name, err)
		}
		if j.N != n || !j.Converged {
			t.Errorf("%s: of %d people, converged %v", name, j.N, j.Converged)
		}
		for x := range want {
			for y := range want[x] {
				if math.Abs(j.Share[x][y]-want[x][y]) > 5*j.StdErr[x][y] || j.StdErr[x][y] > 0.05 {
					t.Errorf("%s: share of (%d, %d) is %.3f ± %.3f, want %.1f", name, x, y, j.Share[x][y], j.StdErr[x][y], want[x][y])
				}
			}
		}
	}
	if j, err := cWords.Associate(t.Context(), 0, cOne, 0); err != nil || math.Abs(j.Share[0][0]+j.Share[1][1]-1) > 0.1 {
		t.Errorf("words with labels: %+v, %v", j, err)
	}
	// What cannot be associated.
	short := collector(two, nil)
	send(short, two, "", "0")
	strangers := collector(two, nil)
	send(strangers, two, "no one else", "0")
	for name, err := range map[string]error{
		"with itself":       second(cOne.Associate(t.Context(), 0, cOne, 0)),
		"another number":    second(plainOne.Associate(t.Context(), 0, short, 0)),
		"no person in both": second(cOne.Associate(t.Context(), 0, strangers, 0)),
		"no such attribute": second(cBoth.Associate(t.Context(), 0, cBoth, 2)),
	} {
		if err == nil || noren.KindOf(err) == noren.Internal {
			t.Errorf("%s: %v", name, err)
		}
	}
	mean, _ := newSurvey(t, specs()["hybrid"]).NewCollector()
	if err := mean.Keep(nil); noren.KindOf(err) != noren.Usage {
		t.Errorf("numbers were kept to be associated: %v", err)
	}
	unnamed, _ := words.NewCollector()
	if err := unnamed.Keep(nil); noren.KindOf(err) != noren.Usage {
		t.Errorf("words without candidates were kept: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// Whatever the lines are, they are counted or excluded.
func FuzzLines(f *testing.F) {
	all := specs()
	names := survey.Mechanisms()
	names = append(names, "several")
	for i := range names {
		f.Add(uint8(i), []byte("a\t0\n01001\n0,0000000000000001\n0=1;1=3\n"))
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		metertest.Hold(t, len(data))
		s := newSurvey(t, all[names[int(which)%len(names)]])
		c, err := s.NewCollector()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddLines(t.Context(), bytes.NewReader(data), "lines"); err != nil {
			t.Fatal(err)
		}
		lines := int64(0)
		for _, l := range bytes.Split(data, []byte("\n")) {
			if len(bytes.TrimSpace(l)) > 0 {
				lines++
			}
		}
		if got := c.N() + c.Rejected().Total(); got > lines || got < lines-1 { // a byte order mark alone is no line
			t.Errorf("%d of %d lines were counted or excluded", got, lines)
		}
	})
}

func Example() {
	spec, err := survey.Parse("ldp.yaml", []byte("{version: 1, mechanism: grr, epsilon: 40, labels: [red, green, blue]}"))
	if err != nil {
		panic(err)
	}
	s, err := survey.New(*spec)
	if err != nil {
		panic(err)
	}
	c, err := s.NewCollector()
	if err != nil {
		panic(err)
	}
	src := randtest.Source(1) // noise.NewSource() where it protects somebody
	for _, colour := range []string{"red", "red", "blue", "red"} {
		line, err := s.Randomise(src, []string{colour}) // on each device
		if err != nil {
			panic(err)
		}
		_ = c.AddLine(line) // at the collector
	}
	e, err := c.Estimate(context.Background(), survey.Options{})
	if err != nil {
		panic(err)
	}
	projected := e.Shares.Projected()
	for l, name := range s.Labels(0) {
		fmt.Printf("%s %.2f\n", name, projected[l])
	}
	// Output:
	// red 0.75
	// green 0.00
	// blue 0.25
}

// The lines themselves, as an attacker sees them: what they show of two values is
// close to the stated epsilon of a report and not above it.
func TestLinesKeepTheStatedEpsilon(t *testing.T) {
	randtest.SkipShort(t)
	for name, spec := range map[string]survey.Spec{
		"grr":              {Mechanism: "grr", Epsilon: 1, Attribute: labels(3)},
		"longitudinal-grr": {Mechanism: "longitudinal-grr", Epsilon: 1, Lifetime: 2, Attribute: labels(3)},
		"basic-rappor":     {Mechanism: "basic-rappor", F: p(0.5), P: p(0.25), Q: p(0.75), Attribute: labels(2)},
		"basic-one-time":   {Mechanism: "basic-one-time", Epsilon: 1, Attribute: labels(2)},
		"duchi":            {Mechanism: "duchi", Epsilon: 1, Attribute: survey.Attribute{Range: []float64{0, 1}}},
	} {
		s := newSurvey(t, spec)
		number := map[string]int64{}
		for i, line := range []string{"0", "1", "2", "0,00", "0,01", "0,10", "0,11"} {
			number[line] = int64(i)
		}
		mechanism := func(value string) randtest.Mechanism {
			return func(src *entropy.Source) (int64, error) {
				line, err := s.Randomise(src, []string{value})
				return number[line], err
			}
		}
		stated := s.Loss().Report
		b, err := randtest.EpsilonLowerBound(t.Context(), randtest.Audit{Runs: 40_000, Seed: 5}, mechanism("0"), mechanism("1"))
		if err != nil {
			t.Fatal(err)
		}
		if b.Epsilon > stated || b.Epsilon < 0.75*stated {
			t.Errorf("%s: an attack shows %.4f at %v, stated is %.4f", name, b.Epsilon, b.Event, stated)
		}
	}
}

// Bad lines are numbered, too many of them are an error, and so is a file that is
// given twice.
func TestBadLinesAndRepeatedFiles(t *testing.T) {
	s := newSurvey(t, survey.Spec{Version: 1, Mechanism: "longitudinal-grr", Epsilon: 1, Attribute: labels(3)})
	good := strings.Repeat("0\n1\n2\n", 60)
	c, err := s.NewCollector()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddLines(t.Context(), strings.NewReader("x\n"+good+"7\n"), "a.txt"); err != nil {
		t.Fatal(err)
	}
	if got := c.BadLines(); len(got) != 2 || got[0] != (survey.BadLine{File: "a.txt", Line: 1}) || got[1].Line != 182 {
		t.Errorf("%v", got)
	}
	if _, err := c.Estimate(t.Context(), survey.Options{}); noren.KindOf(err) != noren.BadData ||
		!strings.Contains(err.Error(), "a.txt: line 1, 182") {
		t.Errorf("2 of 182 bad lines: %v", err)
	}
	if _, err := c.Estimate(t.Context(), survey.Options{MaxMalformed: 0.02}); err != nil {
		t.Error(err)
	}
	if _, err := c.Estimate(t.Context(), survey.Options{MaxMalformed: 2}); noren.KindOf(err) != noren.Usage {
		t.Errorf("a share of 2: %v", err)
	}
	if err := c.AddLines(t.Context(), strings.NewReader("x\n"+good+"7\n"), "b.txt"); noren.KindOf(err) != noren.BadData ||
		!strings.Contains(err.Error(), "same content as a.txt") {
		t.Errorf("the same content again: %v", err)
	}
	// In rounds, files may be alike, and every line names its client.
	r, err := s.NewCollector()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		if err := r.StartRound(); err != nil {
			t.Fatal(err)
		}
		lines := "0\n"
		for i := range 150 {
			lines += fmt.Sprintf("p%d\t%d\n", i, i%3)
		}
		if err := r.AddLines(t.Context(), strings.NewReader(lines+"p1\t1\n"), name); err != nil {
			t.Fatal(err)
		}
	}
	e, err := r.Estimate(t.Context(), survey.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e.Rounds != 2 || e.Shares.N != 150 || e.N != 300 || e.Rejected.Malformed != 2 || e.Rejected.Duplicate != 2 ||
		e.Shares.Rejected != e.Rejected {
		t.Errorf("%+v", e)
	}
	// Rounds of words: every person counts once, and a device keeps its cohort.
	words := newSurvey(t, specs()["rappor"])
	w, err := words.NewCollector()
	if err != nil {
		t.Fatal(err)
	}
	m, err := words.Rappor().NewMap([]string{"red", "green"})
	if err != nil {
		t.Fatal(err)
	}
	src := randtest.Source(12)
	for round := range 2 {
		if err := w.StartRound(); err != nil {
			t.Fatal(err)
		}
		for i := range 200 {
			moved := round == 1 && i == 3
			cohort := uint32(i % 8)
			if moved {
				cohort++
			}
			device, err := words.Rappor().Device(fmt.Appendf(nil, "the secret of device %05d", i), cohort)
			if err != nil {
				t.Fatal(err)
			}
			report, err := device.Encode(src, []byte("red"))
			if err != nil {
				t.Fatal(err)
			}
			if err := w.AddLine(fmt.Sprintf("p%d\t%d,%016b", i, report.Cohort, report.Bits)); (err != nil) != moved {
				t.Fatal(err)
			}
		}
	}
	e, err = w.Estimate(t.Context(), survey.Options{Map: m, All: true})
	if err != nil {
		t.Fatal(err)
	}
	if e.Rounds != 2 || e.Words.N != 200 || e.N != 399 || e.Rejected != (ldp.Rejected{BadCohort: 1}) || e.Words.Rejected != e.Rejected {
		t.Errorf("%+v", e)
	}
	if mean := newSurvey(t, specs()["hybrid"]); mean != nil {
		m, _ := mean.NewCollector()
		if err := m.StartRound(); noren.KindOf(err) != noren.Usage {
			t.Errorf("rounds of a mean: %v", err)
		}
	}
}
