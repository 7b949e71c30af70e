//go:build unix

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// operated are the beginnings of the lines of docs/server.md and docs/questions.md that its
// operator types.
var operated = []string{"noren ", "(umask ", "systemctl ", "tar ", "mv ", "curl "}

// operatorLines are the commands of all blocks of a document but those with a language, in order.
func operatorLines(text string) (lines []string) {
	fenced, language, continued := false, false, false
	for line := range strings.SplitSeq(text, "\n") {
		if after, found := strings.CutPrefix(line, "```"); found {
			fenced, language = !fenced, !fenced && after != ""
			continue
		}
		body, indented := strings.CutPrefix(line, "    ")
		switch {
		case language, !fenced && !indented:
			continue
		case fenced:
			body = line
		}
		if continued {
			lines[len(lines)-1] = strings.TrimSuffix(lines[len(lines)-1], `\`) + strings.TrimSpace(body)
		} else if slices.ContainsFunc(operated, func(begin string) bool { return strings.HasPrefix(body, begin) }) {
			lines = append(lines, body)
		} else {
			continue
		}
		continued = strings.HasSuffix(body, `\`)
	}
	return lines
}

// asSteward sends JSON with a token, for the state of the tag where there is one, and decodes
// the reply. It returns the tag of the reply.
func asSteward(t *testing.T, token, method, url, tag string, body, into any) (etag string) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}
	if tag != "" {
		req.Header.Set("If-Match", tag)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	reply, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 || json.Unmarshal(reply, into) != nil {
		t.Fatalf("%s %s: %d %s", method, url, res.StatusCode, reply)
	}
	return res.Header.Get("ETag")
}

// wards adds the table of the documents to a server, confirms it, and returns its id.
func wards(t *testing.T, s *served, dir string) string {
	t.Helper()
	run(t, "serve", "principal", "add", "--dir", dir, "--name", "Importer", "--role", "steward")
	token := run(t, "serve", "token", "--dir", dir, "--principal", "Importer", "--name", "import", "--days", "1")
	var reply struct {
		Table struct{ ID, State string }
	}
	api := s.base + "/api/v1/tables"
	asSteward(t, token, "POST", api, "", map[string]any{"source": map[string]string{"kind": "root", "root": "in", "path": "wards.csv"}},
		&reply)
	added, tag := reply.Table, ""
	for deadline := time.Now().Add(2 * time.Minute); added.State != "proposed"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) || added.State == "failed" {
			t.Fatalf("the table is %s", added.State)
		}
		tag = asSteward(t, token, "GET", api+"/"+added.ID, "", nil, &added)
	}
	asSteward(t, token, "PUT", api+"/"+added.ID+"/columns", tag, map[string]any{"confirm": true, "missing": []string{}, "columns": []any{
		map[string]any{"name": "ward", "role": "quasi-identifier", "type": "category"}, map[string]any{
			"name": "age", "role": "quasi-identifier", "type": "integer", "bounds": []string{"0", "110"},
		},
	}}, &struct{}{})
	return added.ID
}

// TestServeDocument runs what docs/server.md and docs/questions.md let an operator type, in
// order, on one folder: only the folder, the address, the day of the copy and the id of the
// table are others. systemctl starts and stops the server. Servers for other machines, and a
// calibration, which takes its time, are parsed; the demonstration has a test of its own.
func TestServeDocument(t *testing.T) {
	work := t.TempDir()
	home := filepath.Join(work, "lib", "noren")
	for _, name := range []string{"backup", "in"} {
		if err := os.Mkdir(filepath.Join(work, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	rows := "ward,age\n" + strings.Repeat("A,40\nB,41\n", 50)
	if err := os.WriteFile(filepath.Join(work, "in", "wards.csv"), []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	dir, env := filepath.Join(home, "server"), exampleEnv(t)
	var s *served
	start := func() { s = serve(t, "--dir", dir, "--root", "in="+filepath.Join(work, "in")) }
	stop := func() {
		s.signal(t, syscall.SIGTERM)
		if code := s.end(t); code != 0 {
			t.Fatalf("it stopped with exit code %d\n%s", code, s.stderr)
		}
	}
	table, ran := "", 0
	for _, name := range []string{"docs/server.md", "docs/questions.md"} {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, typed := range operatorLines(string(text)) {
			line := strings.NewReplacer("/var/lib/noren", home, "/backup", filepath.Join(work, "backup"), "/mnt/other", work,
				"noren-2026-11-27.tar.gz", "noren-"+time.Now().Format(time.DateOnly)+".tar.gz", "tb_abcdefgh23456777", table).Replace(typed)
			ran++
			switch {
			case strings.HasPrefix(typed, "noren serve --demo"), strings.Contains(typed, "--dir demo "):
				continue
			case typed == "noren serve --dir /var/lib/noren/server":
				start()
				table = wards(t, s, dir)
				continue
			case typed == "systemctl start noren":
				start()
				continue
			case typed == "systemctl stop noren":
				stop()
				continue
			case strings.HasPrefix(typed, "noren serve --"), strings.HasPrefix(typed, "noren serve calibrate"):
				if out, code := parse(t, work, env, line); code != 0 {
					t.Errorf("%s: %s\nexit code %d:\n%s", name, typed, code, out)
				}
				continue
			case strings.HasPrefix(typed, "curl "):
				line = fmt.Sprintf("TOKEN=$(cat token); %s -f", strings.ReplaceAll(line, "https://noren.example.org", s.base))
			case strings.Contains(typed, "audit-check"):
				run(t, "serve", "principal", "add", "--dir", dir, "--name", "Auditor", "--role", "auditor")
				token := run(t, "serve", "token", "--dir", dir, "--principal", "Auditor", "--name", "export", "--days", "1")
				_, export := get(t, s.base+"/api/v1/audit/export", http.Header{"Authorization": {"Bearer " + token}})
				writeExample(t, filepath.Join(work, "audit.jsonl"), []byte(export))
			}
			if out, code := shell(t, work, env, line); code != 0 {
				t.Fatalf("%s: %s\nexit code %d:\n%s", name, typed, code, out)
			}
		}
	}
	if info, err := os.Stat(filepath.Join(work, "token")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of the token: %v, %v", info, err)
	}
	if ran < 25 {
		t.Errorf("the documents have only %d commands", ran)
	}
	stop()
}
