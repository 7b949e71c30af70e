package cli_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/cli"
	"github.com/noren-privacy/noren/internal/frames"
	"github.com/noren-privacy/noren/internal/randtest"
)

// runNoren runs a command in this process.
func runNoren(t *testing.T, stdin io.Reader, args ...string) (code int, stdout []byte, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = cli.Run(context.Background(), args, stdin, &out, &err)
	return code, out.Bytes(), err.String()
}

// allFrames are the frames of an output that ends as it should.
func allFrames(t *testing.T, text []byte) (all [][]byte) {
	t.Helper()
	for r := frames.NewReader(bytes.NewReader(text)); ; {
		f, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, bytes.Clone(f))
	}
}

func framed(t *testing.T, all [][]byte) io.Reader {
	t.Helper()
	var out bytes.Buffer
	w := frames.NewWriter(&out)
	for _, f := range all {
		if err := w.Write(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &out
}

// visitsBook grants visits of persons in files, and returns the folder.
func visitsBook(t *testing.T, files int) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("NOREN_KEY", filepath.Join(dir, "key.pem"))
	t.Setenv("NOREN_LEDGER", filepath.Join(dir, "noren.db"))
	if err := os.Mkdir("visits", 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range files {
		var b strings.Builder
		b.WriteString("person,cost\n")
		for j := range 60 {
			fmt.Fprintf(&b, "p%d,%d\n", (7*i+3*j)%41, (i+j)%17)
		}
		if err := os.WriteFile(filepath.Join("visits", fmt.Sprintf("%d.csv", i)), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"ledger", "create"},
		{
			"ledger", "grant", "visits", "--file", "visits/", "--sharded", "--type", "person=category", "--type", "cost=integer", "--unit", "person",
			"--epsilon", "1000000", "--yes",
		},
	} {
		if code, _, stderr := runNoren(t, nil, args...); code != 0 {
			t.Fatalf("%v: exit %d, %s", args, code, stderr)
		}
	}
	return dir
}

// charges is the number of charges in the history, and of those that were never answered.
func charges(t *testing.T) (all, forfeited int) {
	t.Helper()
	code, out, stderr := runNoren(t, nil, "ledger", "history", "visits", "--json")
	if code != 0 {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	var h struct {
		Charges []struct {
			State string `json:"state"`
		} `json:"charges"`
	}
	if err := json.Unmarshal(out, &h); err != nil {
		t.Fatal(err)
	}
	for _, c := range h.Charges {
		all++
		if c.State == "forfeited" {
			forfeited++
		}
	}
	return all, forfeited
}

// drive is a driver: it runs the job that a query asks for, and returns the parts. With
// retries every task runs twice, as after a failure, and its first answer is dropped.
func drive(t *testing.T, job []byte, retries bool) [][]byte {
	t.Helper()
	var of struct {
		Kind, Plan      string
		Shards, Buckets int
	}
	if err := json.Unmarshal(job, &of); err != nil || of.Kind != "job" {
		t.Fatalf("%s: %v", job, err)
	}
	if info, err := os.Stat(of.Plan); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the plan: %v, %v", info, err)
	}
	task := func(stdin func() io.Reader, flag string, n int) [][]byte {
		args := []string{"worker", "query-part", "--plan", of.Plan, flag, fmt.Sprint(n)}
		if retries {
			runNoren(t, stdin(), args...)
		}
		code, out, stderr := runNoren(t, stdin(), args...)
		if code != 0 {
			t.Fatalf("%v: exit %d, %s", args, code, stderr)
		}
		return allFrames(t, out)
	}
	var parts [][]byte
	blocks := make([][][]byte, of.Buckets)
	for shard := range of.Shards {
		for _, b := range task(func() io.Reader { return strings.NewReader("") }, "--shard", shard) {
			if of.Buckets == 0 {
				parts = append(parts, b)
				continue
			}
			to := binary.LittleEndian.Uint32(b)
			blocks[to] = append(blocks[to], b)
		}
	}
	for bucket, in := range blocks {
		parts = append(parts, task(func() io.Reader { return framed(t, in) }, "--bucket", bucket)...)
	}
	return parts
}

// ask runs noren worker query against a driver, which gets the job and returns what the
// query reads.
func ask(t *testing.T, driver func(job []byte) io.Reader, args ...string) (code int, answer []byte, stderr string) {
	t.Helper()
	job := filepath.Join(t.TempDir(), "job")
	if err := os.Mkdir(job, 0o700); err != nil {
		t.Fatal(err)
	}
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	var text bytes.Buffer
	done := make(chan int, 1)
	go func() {
		c := cli.Run(context.Background(), append(append([]string{"worker", "query"}, args...), "--job", job), inRead, outWrite, &text)
		_ = outWrite.Close()
		done <- c
	}()
	r := frames.NewReader(outRead)
	for {
		f, err := r.Next()
		if err != nil {
			break // the exit code says why
		}
		if head, rest, ok := bytes.Cut(f, []byte("\n")); ok && string(head) == `{"kind":"answer"}` {
			answer = bytes.Clone(rest)
			continue
		}
		in := driver(bytes.Clone(f))
		go func() {
			_, _ = io.Copy(inWrite, in)
			_ = inWrite.Close()
		}()
	}
	code = <-done
	left, err := os.ReadDir(job)
	if err != nil || len(left) > 0 {
		t.Errorf("the job folder holds %d files: %v", len(left), err)
	}
	return code, answer, text.String()
}

// An answer from parts is that of one process, for 1, 4 and 16 buckets and where every task
// ran twice; each is charged once. Epsilon is so large that the noise is none.
func TestWorkerQuery(t *testing.T) {
	randtest.SkipShort(t)
	visitsBook(t, 3)
	flags := []string{"visits", "--column", "cost", "--bounds", "0,16", "--max-rows", "3", "--epsilon", "1000"}
	code, out, stderr := runNoren(t, nil, append([]string{"query", "sum", "--json"}, flags...)...)
	if code != 0 {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	value := func(text []byte) float64 {
		var a struct{ Value float64 }
		if err := json.Unmarshal(text, &a); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return a.Value
	}
	want := value(out)
	for i, buckets := range []string{"1", "4", "16"} {
		code, answer, stderr := ask(t, func(job []byte) io.Reader { return framed(t, drive(t, job, i == 1)) },
			append([]string{"sum", "--json", "--buckets", buckets}, flags...)...)
		if code != 0 || value(answer) < want-3 || value(answer) > want+3 {
			t.Errorf("%s buckets: exit %d, %s, want %v; %s", buckets, code, answer, want, stderr)
		}
		if all, forfeited := charges(t); all != i+2 || forfeited != 0 {
			t.Errorf("%s buckets: %d charges, %d without an answer", buckets, all, forfeited)
		}
	}
	// A dry run has no job.
	code, answer, _ := ask(t, func([]byte) io.Reader { t.Error("a dry run has a job"); return strings.NewReader("") },
		append([]string{"sum", "--dry-run"}, flags...)...)
	if all, _ := charges(t); code != 0 || !bytes.Contains(answer, []byte("nothing is charged")) || all != 4 {
		t.Errorf("exit %d, %s", code, answer)
	}
	// The same request under a key is answered once.
	for range 2 {
		if code, _, stderr := ask(t, func(job []byte) io.Reader { return framed(t, drive(t, job, false)) },
			append([]string{"sum", "--request-key", "k"}, flags...)...); code != 0 {
			t.Errorf("exit %d, %s", code, stderr)
		}
	}
	if all, _ := charges(t); all != 5 {
		t.Errorf("%d charges", all)
	}
}

// A job that fails is charged once and has one error, whatever failed; a query that cannot
// be answered in parts is refused before.
func TestWorkerQueryFails(t *testing.T) {
	randtest.SkipShort(t)
	visitsBook(t, 2)
	flags := []string{"count", "visits", "--max-rows", "3", "--epsilon", "1", "--buckets", "2"}
	first := ""
	for i, driver := range []func(job []byte) io.Reader{
		func([]byte) io.Reader { return strings.NewReader("") }, // it was killed
		func(job []byte) io.Reader { return framed(t, drive(t, job, false)[:1]) },
		func(job []byte) io.Reader { return framed(t, append(drive(t, job, false), []byte("no part"))) },
		func(job []byte) io.Reader { // a file changes while the job runs
			if err := os.WriteFile(filepath.Join("visits", "1.csv"), []byte("person,cost\np1,2\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			return failing(t, job)
		},
	} {
		code, answer, stderr := ask(t, driver, flags...)
		if code != 3 || answer != nil || !strings.Contains(stderr, "the answer is withheld") {
			t.Errorf("%d: exit %d, %q, %s", i, code, answer, stderr)
		}
		if first == "" {
			first = stderr
		}
		if stderr != first {
			t.Errorf("%d: another error: %s", i, stderr)
		}
		if all, forfeited := charges(t); all != i+1 || forfeited != i+1 {
			t.Errorf("%d: %d charges, %d without an answer", i, all, forfeited)
		}
	}
	// Changed files are found before the charge.
	code, _, stderr := ask(t, func([]byte) io.Reader { t.Error("a job is run"); return strings.NewReader("") }, flags...)
	if all, _ := charges(t); code != 5 || all != 4 {
		t.Errorf("exit %d, %d charges, %s", code, all, stderr)
	}
	if code, _, stderr := runNoren(t, nil, "query", "quantile", "visits", "--column", "cost", "--bounds", "0,16", "--max-rows", "3",
		"--epsilon", "1"); code != 2 || !strings.Contains(stderr, "sharded") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	for _, args := range [][]string{
		{"worker", "query-part", "--plan", "none", "--shard", "0"},
		{"worker", "query-part", "--plan", "noren.db"},
		{"worker", "query", "count", "visits", "--epsilon", "1"},
		{"worker", "query", "count", "visits", "--epsilon", "1", "--job", "visits", "--buckets", "-1"},
	} {
		if code, _, stderr := runNoren(t, nil, args...); code != 2 {
			t.Errorf("%v: exit %d, %s", args, code, stderr)
		}
	}
}

// failing is the answer of a driver whose tasks read the changed file: they fail, and the
// driver gives up.
func failing(t *testing.T, job []byte) io.Reader {
	t.Helper()
	var of struct{ Plan string }
	if err := json.Unmarshal(job, &of); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := runNoren(t, nil, "worker", "query-part", "--plan", of.Plan, "--shard", "1")
	if code != 3 || len(out) != 0 || !strings.Contains(stderr, "a part is withheld") {
		t.Errorf("exit %d, %q, %s", code, out, stderr)
	}
	return strings.NewReader("")
}
