package cli_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/noren-privacy/noren/lang"
)

// seen is what an adversary sees of a request, without noisy figures, ids, times
// and prints.
type seen struct {
	code           int
	stdout, stderr string
	files          string // names and modes, and the masked texts of new files
	length         int    // of stdout
}

// observe plays a request and masks what it gave.
func observe(w *world, args []string) seen {
	w.t.Helper()
	code, stdout, stderr := w.play(args...)
	out := seen{code: code, length: len(stdout), stderr: maskErrors(strings.ReplaceAll(stderr, w.dir, "DIR")), files: w.files()}
	if public := slices.Contains(args, "--dry-run") || slices.Contains(args, "--accuracy") || code != 0; public {
		out.stdout = stdout // from public facts alone
	} else {
		out.stdout = maskText(args, stdout)
	}
	if code == 0 {
		for _, arg := range args {
			for _, flag := range []string{"--output=", "--certificate="} {
				if name, ok := strings.CutPrefix(arg, flag); ok && name != "" {
					out.files += maskFile(w, name)
				}
			}
		}
	}
	// Files are removed before later requests now and then: both worlds hold the same.
	if len(args)%3 == 0 {
		for _, name := range []string{
			"a.json", "b.json", "c.json", "d.json", "w1.csv", "w1.csv.ratio.json", "w2.csv", "w2.csv.ratio.json",
			"w3.parquet", "w3.parquet.ratio.json", "page.html",
		} {
			_ = os.Remove(filepath.Join(w.dir, name))
		}
	}
	return out
}

func compare(args []string, l, r *seen) *difference {
	switch {
	case l.code != r.code:
		return &difference{args, "the exit code", fmt.Sprint(l.code, " ", l.stderr), fmt.Sprint(r.code, " ", r.stderr)}
	case l.stderr != r.stderr:
		return &difference{args, "stderr", l.stderr, r.stderr}
	case l.stdout != r.stdout:
		return &difference{args, "stdout", l.stdout, r.stdout}
	case l.files != r.files:
		return &difference{args, "a file", l.files, r.files}
	}
	return nil
}

// noisy are the members of answers that are made of noisy figures, and random or
// are times: ids, hashes, prints, signatures.
var noisy = map[string]bool{
	// query, ldp edges, outliers, correlated
	"value": true, "text": true, "texts": true, "values": true, "interval": true, "edges": true, "count": true, "expected_interval": true,
	"noisy": true, "sums": true, "answer": true, "rank_within": false,
	// ratio: all that is made of the released sums
	"records": true, "sigma": true, "lambda": true, "ess": true, "max_share": true, "mean_weight": true, "fit_check": true, "warnings": true,
	"tests": true, "off": true, "nearer": true, "verdict": true, "b": true,
	// certificates and ledgers
	"id": true, "head": true, "time": true, "ended": true, "sha256": true, "bytes": true, "size": true, "signature": true, "fingerprint": true,
	"ledger":    true,
	"charge_id": true, "request_sha256": false, "print": true,
}

// maskJSON masks noisy members, and returns the rest in one form.
func maskJSON(text []byte) (string, bool) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil || dec.More() {
		return "", false
	}
	out, _ := json.MarshalIndent(maskValue(v), "", " ")
	return string(out), true
}

func maskValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Collect(maps.Keys(v)) {
			if noisy[name] {
				delete(v, name) // a figure may be absent where noise left too few records
			} else {
				v[name] = maskValue(v[name])
			}
		}
	case []any:
		for i := range v {
			v[i] = maskValue(v[i])
		}
	}
	return v
}

var (
	runs   = regexp.MustCompile(`#+`) // of a day
	blanks = regexp.MustCompile(` +`)
)

// sentences are patterns of what the program says.
type sentences struct {
	figures, spread, merged, method *regexp.Regexp
	exact                           *regexp.Regexp // lines of an answer for people that hold no noisy figure
}

// spoken makes the patterns when they are first needed: this program is also every noren
// command of the scripts, which need no catalogue of Japanese.
var spoken = sync.OnceValue(func() sentences {
	return sentences{
		figures: regexp.MustCompile(`-?[0-9][0-9,]*(\.[0-9]+)?(e[-+]?[0-9]+)?|` + said("none: too few records")),
		spread: regexp.MustCompile(` (` + said("%s to %s", "#", "#") + `|` + said("its rank is off by at most %s records", "…") + `|` +
			said("none") + `)$`),
		merged: regexp.MustCompile(`(?m)^.*` + said("%d of %d bins are left: some edges coincide", "…", "…") + `.*\n`),
		method: regexp.MustCompile(`^  ` + said("method") + ` `),
		exact: regexp.MustCompile(`^  (` + strings.Join([]string{
			said("guarantee"), said("charged"), said("noise"), said("basis"), said("mechanism"), said("method"),
		}, "|") + `) `),
	}
})

// said is a pattern of a text in all languages. An argument … stands for anything.
func said(key lang.Key, args ...argument) string {
	all := make([]any, len(args))
	for i, arg := range args {
		all[i] = arg
	}
	var texts []string
	for _, l := range []lang.Lang{lang.English, lang.Japanese} {
		texts = append(texts, strings.ReplaceAll(regexp.QuoteMeta(l.Text(key, all...)), "…", ".*"))
	}
	return "(" + strings.Join(texts, "|") + ")"
}

// argument is written as it is, whatever the verb.
type argument string

func (a argument) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, string(a)) }

// maskErrors leaves out the one message that is made of a noisy answer.
func maskErrors(text string) string { return spoken().merged.ReplaceAllString(text, "") }

func maskText(args []string, text string) string {
	if out, ok := maskJSON([]byte(text)); ok {
		return out
	}
	// What is said of weights and edges is made of noisy figures, line by line.
	only := args[0] == "ratio" || args[0] == "ldp"
	says := spoken()
	var out strings.Builder
	for _, line := range strings.Split(text, "\n") {
		switch {
		case says.exact.MatchString(line) && !(only && says.method.MatchString(line)):
			fmt.Fprintln(&out, line)
		case !only:
			line = blanks.ReplaceAllString(runs.ReplaceAllString(says.figures.ReplaceAllString(line, "#"), "#"), " ")
			fmt.Fprintln(&out, says.spread.ReplaceAllString(line, " #"))
		}
	}
	return out.String()
}

// maskFile shows a released file without noisy figures.
func maskFile(w *world, name string) string {
	text, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		return name + ": not written\n"
	}
	if out, ok := maskJSON(text); ok {
		return name + ": " + out + "\n"
	}
	if !strings.HasSuffix(name, ".csv") {
		return ""
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return name + ": " + err.Error()
	}
	for _, row := range rows[1:] {
		row[len(row)-1] = "#" // the weight
	}
	return fmt.Sprint(name, ": ", rows, "\n")
}

// ledgerRows are the rows of a world's ledger without ids, times and prints.
func ledgerRows(w *world) string {
	w.t.Helper()
	var out strings.Builder
	random := regexp.MustCompile(`random-[0-9a-f]+`)
	for _, args := range [][]string{{"ledger", "show", "--json"}, {"ledger", "history", "visits", "--json"}} {
		code, stdout, stderr := w.playTruly(args)
		if code != 0 {
			w.t.Fatalf("noren %v: %s", args, stderr)
		}
		var v any
		dec := json.NewDecoder(strings.NewReader(stdout))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			w.t.Fatal(err)
		}
		text, _ := json.MarshalIndent(maskRow(v), "", " ")
		out.WriteString(strings.ReplaceAll(random.ReplaceAllString(string(text), "random"), w.dir, "DIR"))
	}
	return out.String()
}

// playTruly runs the program itself, whatever is planted.
func (w *world) playTruly(args []string) (int, string, string) {
	w.t.Helper()
	if err := os.Chdir(w.dir); err != nil {
		w.t.Fatal(err)
	}
	return noren(args)
}

// maskRow masks ids, times and prints of a ledger, and nothing else: there are no
// noisy figures in it.
func maskRow(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Collect(maps.Keys(v)) {
			switch name {
			case "charge", "id", "ledger", "head", "time", "ended", "since", "granted", "fingerprint", "print", "prints":
				if _, isText := v[name].(string); isText {
					v[name] = "#"
					continue
				}
			}
			v[name] = maskRow(v[name])
		}
	case []any:
		for i := range v {
			v[i] = maskRow(v[i])
		}
	}
	return v
}
