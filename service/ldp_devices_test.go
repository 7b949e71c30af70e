package service_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/survey"
)

// home and work are columns of 3,000 persons: the same for half of them.
func homeAndWork(t *testing.T) (path string, home, work []int) {
	t.Helper()
	var text strings.Builder
	text.WriteString("id,home,work\n")
	names := []string{"red", "green", "blue", "black"}
	for i := range 3000 {
		h := i * 7 % 4
		w := h
		if i%2 == 1 {
			w = (h + 1 + i/2%3) % 4
		}
		home, work = append(home, h), append(work, w)
		fmt.Fprintf(&text, "p%d,%s,%s\n", i, names[h], names[w])
	}
	path = filepath.Join(t.TempDir(), "t.csv")
	write(t, path, text.String())
	return path, home, work
}

func oneTime(epsilon float64) api.LDPSurvey {
	return api.LDPSurvey{Spec: survey.Spec{
		Version: 1, Mechanism: "basic-one-time", Epsilon: epsilon,
		Attribute: survey.Attribute{Labels: []string{"red", "green", "blue", "black"}},
	}}
}

// reportsOf are the reports of lines with clients' ids, without the line that names the
// specification.
func reportsOf(lines []byte) (out []string) {
	for line := range strings.Lines(string(lines)) {
		if _, word, named := strings.Cut(strings.TrimSpace(line), "\t"); named {
			out = append(out, word)
		}
	}
	return out
}

// Two surveys of one question with other epsilons have independent answers: a bit that
// rises between the reports is the true label's no more often than independent bits are.
func TestTwoEpsilonsUnderOneKeyTellNoValue(t *testing.T) {
	s := bare(t)
	s.Note = func(api.Note) {}
	path, home, _ := homeAndWork(t)
	r := api.LDPRandomiseRequest{
		Table: api.Table{Input: path}, Columns: []string{"home"}, Client: "id",
		Devices: filepath.Join(t.TempDir(), "key"),
	}
	var rounds [2][]string
	var loss [2]float64
	sum := 0.0
	for i := range rounds {
		r.Survey = oneTime(float64(i + 1))
		out, err := s.LDPRandomise(t.Context(), &r)
		must(t, err)
		rounds[i], loss[i] = reportsOf(out.Lines), *out.Privacy.Lifetime
		sum += out.Privacy.Record // each record of a person reports once: other roundings up than of a lifetime
		if d := out.Devices; d == nil || len(d.Uses) != i+1 || !(*d.Epsilon >= sum) || *d.Epsilon > sum+1e-9 || d.Before {
			t.Fatalf("devices %+v, losses %v", out.Devices, loss)
		}
	}
	// The chance that a bit rises, by the f that runs: (1-x) y, with x and y the chances of
	// a 1 before and after.
	var expected, variance, own, ofOthers float64
	for i, label := range home {
		for bit := range 4 {
			one, two := rounds[0][i][len(rounds[0][i])-1-bit] == '1', rounds[1][i][len(rounds[1][i])-1-bit] == '1'
			chance := func(e float64) float64 {
				half := 1 / (math.Exp(e/2) + 1) // of a wrong bit
				if bit == label {
					return 1 - half
				}
				return half
			}
			p := (1 - chance(loss[0])) * chance(loss[1])
			if !one && two {
				if bit == label {
					own++
				} else {
					ofOthers++
				}
			}
			if bit == label {
				expected += p
				variance += p * (1 - p)
			}
		}
	}
	if math.Abs(own-expected) > 6*math.Sqrt(variance) || ofOthers < own {
		t.Errorf("of the bits that rise %.0f are the true label's and %.0f others; independent answers give %.0f of the first", own, ofOthers,
			expected)
	}
}

// Two columns of one table under one key have answers of their own: whether a person's
// two values are equal does not show. The question is the column's name.
func TestTwoColumnsUnderOneKeyShareNoAnswers(t *testing.T) {
	s := bare(t)
	s.Note = func(api.Note) {}
	path, home, work := homeAndWork(t)
	r := api.LDPRandomiseRequest{Table: api.Table{Input: path}, Client: "id", Devices: filepath.Join(t.TempDir(), "key")}
	for _, spec := range []api.LDPSurvey{
		oneTime(2),
		{Spec: survey.Spec{Version: 1, Mechanism: "rappor-one-time", K: 32, H: 2, M: 64, F: new(float64)}},
	} {
		if spec.Spec.F != nil {
			*spec.Spec.F = 0.25
		}
		r.Survey = spec
		var alike [2]float64 // reports that are equal, of persons with unequal and equal values
		var columns [2][]string
		for i, column := range []string{"home", "work"} {
			r.Columns = []string{column}
			out, err := s.LDPRandomise(t.Context(), &r)
			must(t, err)
			if out.Question != column {
				t.Errorf("question %q of column %q", out.Question, column)
			}
			columns[i] = reportsOf(out.Lines)
		}
		same := 0
		for i := range home {
			if columns[0][i] == columns[1][i] {
				alike[btoi(home[i] == work[i])]++
			}
			same += btoi(home[i] == work[i])
		}
		shared := alike[1] / float64(same)
		if shared > 0.3 {
			t.Errorf("%s: reports agree for %.2f of the persons with equal values", spec.Spec.Mechanism, shared)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A key of the first version of the streams, and what it answered then by
// rappor-one-time (k=32, h=2, m=64, f=0.5), without a question.
const (
	oldKey   = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"
	oldTable = "id,v\na,0\nb,1\nc,2\nd,0\n"
	oldWords = "12,10000100000101001000100000011000 3,00101010100000000000110001110001 59,11010100100100000000000000000011 " +
		"52,00110110010000010001010000000100"
)

// An old key is read. Before its first answer by the second version it is said that a
// survey under way costs its lifetime again; or it finishes one, with the answers of then.
func TestOldKeyOfDevices(t *testing.T) {
	s := bare(t)
	var notes []string
	s.Note = func(n api.Note) { notes = append(notes, n.Code) }
	dir := t.TempDir()
	table := filepath.Join(dir, "t.csv")
	write(t, table, oldTable)
	f := 0.5
	words := api.LDPSurvey{Spec: survey.Spec{Version: 1, Mechanism: "rappor-one-time", K: 32, H: 2, M: 64, F: &f}}
	other := words
	other.Spec.K = 16
	key := filepath.Join(dir, "key")
	ask := func(of api.LDPSurvey, finish string) (*api.LDPRandomise, error) {
		t.Helper()
		notes = nil
		return s.LDPRandomise(t.Context(), &api.LDPRandomiseRequest{
			Table: api.Table{Input: table}, Survey: of, Columns: []string{"v"},
			Client: "id", Devices: key, Finish: finish,
		})
	}
	write(t, key, oldKey)
	out, err := ask(words, "v")
	must(t, err)
	if got := strings.Join(reportsOf(out.Lines), " "); got != oldWords || len(notes) != 0 {
		t.Errorf("finished with\n%s, notes %v, want\n%s", got, notes, oldWords)
	}
	if d := out.Devices; !d.Before || len(d.Uses) != 1 || !d.Uses[0].Finishing || *d.Epsilon < *out.Privacy.Lifetime ||
		*d.Epsilon > *out.Privacy.Lifetime*1.0001 {
		t.Errorf("%+v", d)
	}
	if out, err = ask(words, "v"); err != nil || *out.Devices.Epsilon > *out.Privacy.Lifetime*1.0001 || out.Devices.Uses[0].Rounds != 2 {
		t.Errorf("a second round of the survey costs one lifetime: %+v, %v", out.Devices, err)
	}
	_, err = ask(other, "v")
	where(t, err, noren.Usage, "finish") // one survey for a key
	_, err = ask(words, "w")
	where(t, err, noren.Usage, "finish") // another name
	out, err = ask(words, "")
	must(t, err)
	if strings.Join(notes, " ") != "devices-anew" || strings.Join(reportsOf(out.Lines), " ") == oldWords || len(out.Devices.Uses) != 2 {
		t.Errorf("notes %v, %+v", notes, out.Devices)
	}
	if _, err = ask(words, ""); err != nil || len(notes) != 0 {
		t.Errorf("said again: %v, %v", notes, err)
	}
	_, err = ask(words, "v")
	where(t, err, noren.Usage, "finish") // two lifetimes

	write(t, key, oldKey)
	if _, err = ask(words, ""); err != nil || strings.Join(notes, " ") != "devices-anew" {
		t.Errorf("an old key without a word: %v, %v", notes, err)
	}
	must(t, os.Remove(key))
	_, err = ask(words, "v")
	where(t, err, noren.Usage, "finish") // a new key has no survey under way
	if _, err := os.Stat(key); err == nil {
		t.Error("a refused request left a key")
	}
	for _, damaged := range []string{
		"", "00", oldKey + "{", oldKey + `{"version":3}`,
		oldKey + `{"version":2,"uses":[{"stream":"a","rounds":0,"records":1,"epsilon":1,"lifetime":1}]}`,
		oldKey + `{"version":2,"uses":[{"stream":"a","rounds":1,"records":1,"epsilon":-1,"lifetime":1}]}`,
	} {
		write(t, key, damaged)
		_, err = ask(words, "")
		where(t, err, noren.Usage, key)
	}
}

// Runs at once under one key lose none of its uses, and the file stays its owner's alone.
func TestUsesOfAKeyAtOnce(t *testing.T) {
	s := bare(t)
	s.Note = func(api.Note) {}
	dir := t.TempDir()
	table, key := filepath.Join(dir, "t.csv"), filepath.Join(dir, "key")
	write(t, table, oldTable)
	link := key
	ask := func(question string) (*api.LDPRandomise, error) {
		of := api.LDPSurvey{Spec: survey.Spec{
			Version: 1, Question: question, Mechanism: "longitudinal-grr", Epsilon: 1, Lifetime: 2,
			Attribute: survey.Attribute{Size: 3},
		}}
		return s.LDPRandomise(t.Context(), &api.LDPRandomiseRequest{
			Table: api.Table{Input: table}, Survey: of, Columns: []string{"v"},
			Client: "id", Devices: link,
		})
	}
	_, err := ask("first")
	must(t, err)
	link = filepath.Join(dir, "link")
	must(t, os.Symlink(key, link))
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			if _, err := ask(fmt.Sprint(i)); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	out, err := ask("first")
	must(t, err)
	// Nine surveys: of one all reports of a lifetime, of the others one report each.
	if d := out.Devices; len(d.Uses) != 9 || math.Abs(*d.Epsilon-10) > 1e-9 {
		t.Errorf("%+v", d)
	}
	info, err := os.Lstat(link)
	must(t, err)
	file, err := os.Stat(key)
	must(t, err)
	text, err := os.ReadFile(key)
	must(t, err)
	if info.Mode()&os.ModeSymlink == 0 || file.Mode().Perm() != 0o600 || bytes.Count(text, []byte("\n")) != 2 {
		t.Errorf("link %v, key %v", info.Mode(), file.Mode())
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.lock")); left != nil {
		t.Errorf("left %v", left)
	}
}

// A person with two records pays for each; the sum says so.
func TestSumOfARepeatedClient(t *testing.T) {
	s := bare(t)
	s.Note = func(api.Note) {}
	dir := t.TempDir()
	table := filepath.Join(dir, "t.csv")
	write(t, table, "id,v\na,0\na,1\na,2\nb,1\n")
	of := api.LDPSurvey{Spec: survey.Spec{
		Version: 1, Mechanism: "longitudinal-grr", Epsilon: 1, Lifetime: 2,
		Attribute: survey.Attribute{Size: 3},
	}}
	r := api.LDPRandomiseRequest{
		Table: api.Table{Input: table}, Survey: of, Columns: []string{"v"}, Client: "id",
		Devices: filepath.Join(dir, "key"),
	}
	for _, want := range []float64{3, 6, 6} {
		out, err := s.LDPRandomise(t.Context(), &r)
		must(t, err)
		if math.Abs(*out.Devices.Epsilon-want) > 1e-9 {
			t.Errorf("sum %g, want %g", *out.Devices.Epsilon, want)
		}
	}
}

// Two equal values of a person have one permanent answer, and two reports of it can cost
// more than twice what one costs.
func TestSumOfEqualValuesOfAClient(t *testing.T) {
	s := bare(t)
	var notes []string
	s.Note = func(n api.Note) { notes = append(notes, n.Code) }
	dir := t.TempDir()
	table := filepath.Join(dir, "t.csv")
	write(t, table, "id,v\na,0\na,0\nb,1\n")
	of := api.LDPSurvey{Spec: survey.Spec{
		Version: 1, Mechanism: "longitudinal-grr", Epsilon: 0.5, Lifetime: 4,
		Attribute: survey.Attribute{Size: 1000},
	}}
	r := api.LDPRandomiseRequest{
		Table: api.Table{Input: table}, Survey: of, Columns: []string{"v"}, Client: "id",
		Devices: filepath.Join(dir, "key"),
	}
	out, err := s.LDPRandomise(t.Context(), &r)
	must(t, err)
	m, err := ldp.NewLongitudinalGRR(1000, 4, 0.5)
	must(t, err)
	if want := m.After(2); want < 2 || *out.Devices.Epsilon < want || *out.Devices.Epsilon > want*1.001 {
		t.Errorf("sum %g, want %g", *out.Devices.Epsilon, want)
	}
	if strings.Join(notes, " ") != "repeated-values devices-key" && strings.Join(notes, " ") != "devices-key repeated-values" {
		t.Errorf("notes %v: nothing says that equal values of a person are seen", notes)
	}
	out, err = s.LDPRandomise(t.Context(), &r)
	must(t, err)
	if math.Abs(*out.Devices.Epsilon-8) > 1e-9 {
		t.Errorf("sum %g of two rounds, want a lifetime for each of two records", *out.Devices.Epsilon)
	}
	// A hundred records of one person: bounded without trying all numbers.
	write(t, table, "id,v\n"+strings.Repeat("a,0\n", 100))
	r.Devices = filepath.Join(dir, "key100")
	out, err = s.LDPRandomise(t.Context(), &r)
	must(t, err)
	if e := *out.Devices.Epsilon; e < m.After(100) || e > 400 {
		t.Errorf("sum %g of 100 records", e)
	}
}

// A mechanism without a permanent answer has a key for its cohorts. Its loss over two
// rounds is not bounded, which the file and the sum say.
func TestKeyOfAnUnboundedSurvey(t *testing.T) {
	s := bare(t)
	s.Note = func(api.Note) {}
	dir := t.TempDir()
	table := filepath.Join(dir, "t.csv")
	write(t, table, oldTable)
	f, p, q := 0.0, 0.25, 0.75
	of := api.LDPSurvey{Spec: survey.Spec{Version: 1, Mechanism: "rappor", K: 8, H: 1, M: 4, F: &f, P: &p, Q: &q}}
	r := api.LDPRandomiseRequest{
		Table: api.Table{Input: table}, Survey: of, Columns: []string{"v"}, Client: "id",
		Devices: filepath.Join(dir, "key"),
	}
	out, err := s.LDPRandomise(t.Context(), &r)
	must(t, err)
	if d := out.Devices; d.Epsilon == nil || math.Abs(*d.Epsilon-out.Privacy.Record) > 1e-9 {
		t.Errorf("one round: %+v", d)
	}
	out, err = s.LDPRandomise(t.Context(), &r)
	must(t, err)
	if d := out.Devices; d.Epsilon != nil || d.Uses[0].Epsilon != nil {
		t.Errorf("two rounds: %+v", d)
	}
}

// Two columns under one question and key share their answers: it is said.
func TestTwoColumnsUnderOneQuestion(t *testing.T) {
	s := bare(t)
	path, _, _ := homeAndWork(t)
	r := api.LDPRandomiseRequest{Table: api.Table{Input: path}, Client: "id", Devices: filepath.Join(t.TempDir(), "key"), Survey: oneTime(1)}
	r.Survey.Spec.Question = "where"
	for i, column := range []string{"home", "home", "work"} {
		var said []string
		s.Note = func(n api.Note) { said = append(said, n.Code) }
		r.Columns = []string{column}
		_, err := s.LDPRandomise(t.Context(), &r)
		must(t, err)
		if want := i == 2; slices.Contains(said, "other-column") != want {
			t.Errorf("round %d, column %s: notes %v", i, column, said)
		}
	}
}

// An old key finishes a survey under one question as it was stated: the first version drew
// other answers for another, also where the question is the column's name today.
func TestOldKeyFinishesOneQuestion(t *testing.T) {
	s := bare(t)
	s.Note = func(api.Note) {}
	dir := t.TempDir()
	table, key := filepath.Join(dir, "t.csv"), filepath.Join(dir, "key")
	write(t, table, oldTable)
	write(t, key, oldKey)
	ask := func(question string) error {
		of := api.LDPSurvey{Spec: survey.Spec{
			Version: 1, Question: question, Mechanism: "longitudinal-grr", Epsilon: 1, Lifetime: 2,
			Attribute: survey.Attribute{Size: 3},
		}}
		_, err := s.LDPRandomise(t.Context(), &api.LDPRandomiseRequest{
			Table: api.Table{Input: table}, Survey: of, Columns: []string{"v"},
			Client: "id", Devices: key, Finish: "v",
		})
		return err
	}
	must(t, ask("v"))
	where(t, ask(""), noren.Usage, "finish")
	must(t, ask("v"))
	write(t, key, oldKey)
	must(t, ask(""))
	where(t, ask("v"), noren.Usage, "finish")
}
