package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// hour runs what a user types, line by line, and logs each line, the number of steps and the
// time. It returns what the last line printed to standard output.
func hour(t *testing.T, dir string, lines ...string) string {
	t.Helper()
	began, env := time.Now(), exampleEnv(t)
	for i, line := range lines {
		script := line + " >stdout 2>stderr || { n=$?; cat stdout stderr; exit $n; }"
		if out, code := shell(t, dir, env, script); code != 0 {
			t.Fatalf("step %d: %s\nexit code %d:\n%s", i+1, line, code, out)
		}
		t.Log(line)
	}
	t.Logf("%d steps, %.1f s", len(lines), time.Since(began).Seconds())
	out, err := os.ReadFile(filepath.Join(dir, "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// shared is the share of a label with its interval, as "noren ldp estimate --json" prints it.
type shared struct {
	Label     string
	Share     float64
	Low, High float64
}

// TestHourOfCityOffice is the hour of an office with 5,000 answers to a question: from the
// plan to intervals in three commands. The plan states the half width of all intervals at
// once, and no interval is wider. The true share, by which the table of the test is made, is
// beyond twice the half width in less than one of a million runs.
func TestHourOfCityOffice(t *testing.T) {
	dir := t.TempDir()
	const people = 5000
	labels, truth := []string{"yes", "no", "undecided"}, map[string]int{"yes": 2300, "no": 1900, "undecided": 800}
	text := "district,satisfied\n"
	n := 0
	for _, label := range labels {
		for range truth[label] {
			text += fmt.Sprintf("D%d,%s\n", n%8, label)
			n++
		}
	}
	if n != people {
		t.Fatalf("the table has %d answers", n)
	}
	if err := os.WriteFile(filepath.Join(dir, "answers.csv"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out := hour(t, dir,
		"noren ldp design --labels yes,no,undecided --epsilon 1 --n 5000 -o question.yaml",
		"noren ldp randomize answers.csv --column satisfied --spec question.yaml -o reports.txt",
		"noren ldp estimate reports.txt --spec question.yaml --json",
	)
	var estimate struct {
		Reports int
		Shares  struct{ Labels []shared }
	}
	if err := json.Unmarshal([]byte(out), &estimate); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	if estimate.Reports != people || len(estimate.Shares.Labels) != len(labels) {
		t.Fatalf("the estimate is of %d reports and %d labels", estimate.Reports, len(estimate.Shares.Labels))
	}
	const worst = 0.0465 // "95 % within" of the plan
	for i, s := range estimate.Shares.Labels {
		half, want := (s.High-s.Low)/2, float64(truth[s.Label])/people
		if s.Label != labels[i] || half <= 0 || half > worst+1e-3 {
			t.Errorf("%s: from %.4f to %.4f; the plan states %.4f to each side", s.Label, s.Low, s.High, worst)
		}
		if want < s.Share-2*half || want > s.Share+2*half {
			t.Errorf("%s: %.4f of the answers, the estimate is %.4f of %.4f to %.4f", s.Label, want, s.Share, s.Low, s.High)
		}
	}
}
