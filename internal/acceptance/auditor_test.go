package acceptance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/randtest"
)

// Exit codes of noren: a check that found a change, and a file that cannot be read.
const (
	badData = 3
	notMet  = 4
)

// An auditor verifies everything from exported files, after the server is gone, and finds
// each planted change.
func TestAuditor(t *testing.T) {
	short(t)
	testAuditor(t)
}

func TestLongServedAuditor(t *testing.T) {
	randtest.Long(t)
	testAuditor(t)
}

func testAuditor(t *testing.T) {
	s := serve(t)
	u := s.steward(t)
	book := u.add(t, "visits.csv", visits(300, 1), setting{"epsilon": "3"}).book
	analyst := u.analyst(t, "K. Sato", book, setting{"epsilon": "2"})
	for i, q := range timedQuestions {
		if r := analyst.pay(t.Context(), analyst.quote(t, quoting(book, "0.25", q)), fmt.Sprint("request ", i)); r.err != nil || r.status != 200 {
			t.Fatalf("%s", r)
		}
	}
	u.must(t, 200, "POST", "/books/"+book+"/cap", setting{"epsilon": "4"}, nil)
	noren(t, "serve", "principal", "add", "--dir", s.dir, "--name", "Auditor", "--role", "auditor")
	auditor := &user{served: s, name: "Auditor", secret: s.token(t, "Auditor")}
	export := auditor.must(t, 200, "GET", "/books/"+book+"/export", nil, nil).body
	log := auditor.must(t, 200, "GET", "/audit/export", nil, nil).body
	key := u.publicKey(t)
	var answers struct{ Items []struct{ ID string } }
	analyst.must(t, 200, "GET", "/answers", nil, &answers)
	var files [][]byte
	for _, a := range answers.Items {
		files = append(files, analyst.must(t, 200, "GET", "/answers/"+a.ID+"/file", nil, nil).body)
	}
	s.stop(t)
	if err := os.RemoveAll(s.dir); err != nil {
		t.Fatal(err)
	}

	dir := t.TempDir()
	pem, err := certificate.EncodePublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	trust := write("office.pem", pem)
	checks := func(text []byte) (said []byte, err error) {
		return exec.Command("noren", "ledger", "check-export", write("book.jsonl", text), "--key", certificate.KeyID(key)).CombinedOutput()
	}
	if said, err := checks(export); err != nil {
		t.Fatalf("the export does not check: %v\n%s", err, said)
	}
	noren(t, "serve", "audit-check", write("audit.jsonl", log), "--trust", trust)
	if len(files) != len(timedQuestions) {
		t.Errorf("%d answers, expected %d", len(files), len(timedQuestions))
	}
	for _, file := range files {
		checkFile(t, file, key)
	}
	changes := planted(t, export)
	if len(changes) < 20 {
		t.Fatalf("%d changes", len(changes))
	}
	for name, changed := range changes {
		if bytes.Equal(changed, export) {
			t.Errorf("%s: nothing was changed", name)
		}
		said, err := checks(changed)
		if err == nil {
			t.Errorf("%s: the check does not find it", name)
		}
		if e, ok := errors.AsType[*exec.ExitError](err); !ok || e.ExitCode() != notMet && e.ExitCode() != badData {
			t.Errorf("%s: %v\n%s", name, err, said)
		}
	}
	t.Logf("%d lines of the book, %d of the audit log, %d answers; %d planted changes found", bytes.Count(export, []byte("\n")),
		bytes.Count(log, []byte("\n")), len(files), len(changes))
}

// checkFile checks the file of an answer by the certificate in it.
func checkFile(t *testing.T, file []byte, key []byte) {
	t.Helper()
	var saved struct{ Answer, Certificate json.RawMessage }
	if err := json.Unmarshal(file, &saved); err != nil {
		t.Fatal(err)
	}
	signed, err := certificate.Parse(saved.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := certificate.Check(t.Context(), signed, bytes.NewReader(saved.Answer), key); err != nil {
		t.Errorf("%v: %s", err, file)
	}
}

// planted are exports with one change each: lines dropped, moved and repeated, the end cut,
// and one text, number or truth value of each line changed, in long trials four.
func planted(t *testing.T, export []byte) map[string][]byte {
	t.Helper()
	lines := bytes.SplitAfter(bytes.TrimSuffix(export, []byte("\n")), []byte("\n"))
	last := len(lines) - 1
	lines[last] = append(bytes.Clone(lines[last]), '\n')
	out := map[string][]byte{}
	with := func(name string, change func(l [][]byte) [][]byte) {
		copied := make([][]byte, len(lines))
		for i := range lines {
			copied[i] = bytes.Clone(lines[i])
		}
		out[name] = bytes.Join(change(copied), nil)
	}
	with("the first line dropped", func(l [][]byte) [][]byte { return l[1:] })
	with("the last line dropped", func(l [][]byte) [][]byte { return l[:last] })
	with("the last two lines dropped", func(l [][]byte) [][]byte { return l[:last-1] })
	with("a middle line dropped", func(l [][]byte) [][]byte { return append(l[:last/2], l[last/2+1:]...) })
	with("two lines exchanged", func(l [][]byte) [][]byte { l[last/2], l[last/2+1] = l[last/2+1], l[last/2]; return l })
	with("a line repeated", func(l [][]byte) [][]byte { return append(l[:last/2+1], l[last/2:]...) })
	with("the end cut", func(l [][]byte) [][]byte { l[last] = l[last][:len(l[last])/2]; return l })
	with("a line added", func(l [][]byte) [][]byte { return append(l, []byte("{}\n")) })
	for i, line := range lines {
		var value any
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.UseNumber()
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
		places := leaves(value, nil)
		all := []int{0, len(places) / 3, 2 * len(places) / 3, len(places) - 1}
		if os.Getenv("NOREN_TRIALS") != "1" {
			all = all[i%4 : i%4+1]
		}
		for _, at := range all {
			changed, err := json.Marshal(altered(value, places[at]))
			if err != nil {
				t.Fatal(err)
			}
			with(fmt.Sprintf("line %d: %s", i+1, strings.Join(places[at], ".")),
				func(l [][]byte) [][]byte { l[i] = append(changed, '\n'); return l })
		}
	}
	return out
}

// leaves are the paths of all texts, numbers and truth values in a JSON value.
func leaves(value any, path []string) (out [][]string) {
	down := func(name string, v any) {
		out = append(out, leaves(v, append(append([]string{}, path...), name))...)
	}
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			down(name, v[name])
		}
	case []any:
		for i, one := range v {
			down(fmt.Sprint(i), one)
		}
	case nil:
	default:
		out = append(out, path)
	}
	return out
}

// altered is a JSON value in which the leaf at a path is another one.
func altered(value any, path []string) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, one := range v {
			out[name] = one
			if name == path[0] {
				out[name] = altered(one, path[1:])
			}
		}
		return out
	case []any:
		var out []any
		for i, one := range v {
			if fmt.Sprint(i) == path[0] {
				one = altered(one, path[1:])
			}
			out = append(out, one)
		}
		return out
	case string:
		return flip(v)
	case json.Number:
		return json.Number("7" + v.String())
	case bool:
		return !v
	}
	return value
}

// flip changes the first letter or digit of a text into another of its kind.
func flip(s string) string {
	for i, c := range []byte(s) {
		switch {
		case c == '9' || c == 'z' || c == 'Z' || c == 'f':
			return s[:i] + string(rune(c-1)) + s[i+1:]
		case c >= '0' && c < '9' || c >= 'a' && c < 'z' || c >= 'A' && c < 'Z':
			return s[:i] + string(rune(c+1)) + s[i+1:]
		}
	}
	return s + "x"
}
