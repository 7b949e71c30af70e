//go:build unix

package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/ledger"
)

// A query that is killed while it reads has cost what it costs, has told nothing
// and leaves a sound ledger.
func TestKilledQuery(t *testing.T) {
	randtest.SkipShort(t)
	dir := t.TempDir()
	people, book := filepath.Join(dir, "people.csv"), filepath.Join(dir, "noren.db")
	// Large enough to be caught at.
	if err := os.WriteFile(people, append([]byte("age,city\n"), bytes.Repeat([]byte("31,Nara\n47,Kobe\n"), 1<<20)...), 0o600); err != nil {
		t.Fatal(err)
	}
	noren := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), "noren", args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "NOREN_LEDGER="+book, "NOREN_KEY="+filepath.Join(dir, "key.pem"), "TMPDIR="+dir)
		return c
	}
	run := func(args ...string) string {
		t.Helper()
		out, err := noren(args...).CombinedOutput()
		if err != nil {
			t.Fatalf("noren %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("ledger", "create")
	run("ledger", "grant", "people", "--file", people, "--type", "age=integer", "--type", "city=category", "--epsilon", "1")
	l, err := ledger.Open(t.Context(), book, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	// states of all charges so far.
	states := func() (out []string) {
		if err := l.History(t.Context(), ledger.HistoryOptions{Dataset: "people"}, func(e ledger.Entry) error {
			out = append(out, e.State)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	// caught starts a query, waits for its charge, and stops it there.
	caught := func(before int) (*exec.Cmd, *bytes.Buffer) {
		c := noren("query", "count", people, "--epsilon", "0.3", "--where", "age >= 40", "-o", "answer.json", "--certificate", "answer.cert",
			"--request-key", "k"+string(rune('0'+before)))
		out := &bytes.Buffer{}
		c.Stdout, c.Stderr = out, out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); len(states()) == before; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				_ = c.Process.Kill()
				t.Fatalf("nothing was charged: %s", out)
			}
		}
		if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		if got := states()[before]; got != "reserved" {
			_ = c.Process.Kill()
			t.Fatalf("the query was %s before it could be caught", got)
		}
		return c, out
	}
	for i, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
		c, out := caught(i)
		if err := errors.Join(c.Process.Signal(signal), c.Process.Signal(syscall.SIGCONT)); err != nil && signal != syscall.SIGKILL {
			t.Fatal(err)
		}
		err := c.Wait()
		if signal == syscall.SIGINT && (c.ProcessState.ExitCode() != 130 || !strings.Contains(out.String(), "charges made so far stay")) {
			t.Errorf("interrupted, it ends with %v: %s", err, out)
		}
		if strings.Contains(out.String(), "count") {
			t.Errorf("it told %s", out)
		}
		for _, name := range []string{"answer.json", "answer.cert"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				t.Errorf("%s is there", name)
			}
		}
		b, err := l.Book(t.Context(), "people")
		if err != nil {
			t.Fatal(err)
		}
		if want := int64(i+1) * 3 * account.EpsilonUnits / 10; b.Spent.Epsilon != want {
			t.Errorf("spent is %s", b.Spent)
		}
		if text := run("ledger", "verify"); !strings.Contains(text, "sound") {
			t.Error(text)
		}
	}
	// Both wait for a request with the same key: neither is forfeited.
	if got := strings.Join(states(), " "); got != "reserved reserved" {
		t.Errorf("the charges are %s", got)
	}
	// What is left is left, and no more.
	c := noren("query", "count", people, "--epsilon", "0.5")
	if out, _ := c.CombinedOutput(); c.ProcessState.ExitCode() != 5 || !strings.Contains(string(out), "0.4 remaining") {
		t.Errorf("%d: %s", c.ProcessState.ExitCode(), out)
	}
	run("query", "count", people, "--epsilon", "0.4")
	if text := run("ledger", "show"); !strings.Contains(text, "epsilon 0 ") {
		t.Error(text)
	}
}

// Commands with a request key are killed at any time between their start and their output.
// Sent again when their lease has run out, each gives one answer with its certificate, for one
// charge, also a third time, and what had been written before has the same bytes. Those without
// a key are forfeited.
func TestLongKilledRequestKeys(t *testing.T) {
	randtest.Long(t)
	dir := t.TempDir()
	people, book := filepath.Join(dir, "people.csv"), filepath.Join(dir, "noren.db")
	if err := os.WriteFile(people, append([]byte("age,city\n"), bytes.Repeat([]byte("31,Nara\n47,Kobe\n"), 1<<17)...), 0o600); err != nil {
		t.Fatal(err)
	}
	noren := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), "noren", args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "NOREN_LEDGER="+book, "NOREN_KEY="+filepath.Join(dir, "key.pem"), "TMPDIR="+dir)
		return c
	}
	run := func(args ...string) {
		t.Helper()
		if out, err := noren(args...).CombinedOutput(); err != nil {
			t.Fatalf("noren %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	run("ledger", "create")
	run("ledger", "grant", "people", "--file", people, "--type", "age=integer", "--type", "city=category", "--epsilon", "1")
	query := func(key, to string) []string {
		args := []string{
			"query", "count", people, "--epsilon", "0.001", "--where", "age >= 40", "-o", to + ".json", "--certificate",
			to + ".cert", "--force",
		}
		if key != "" {
			args = append(args, "--request-key", key)
		}
		return args
	}
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		return string(text)
	}
	begun := time.Now()
	run(query("", "whole")...)
	took := time.Since(begun)
	const trials, unkeyed = 40, 4
	for i := range trials + unkeyed {
		key, at := fmt.Sprint("k", i), i
		if i >= trials {
			key, at = "", 20+3*(i-trials) // in the midst of it
		}
		c := noren(query(key, fmt.Sprint("first", i))...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(took * time.Duration(at) * 5 / 4 / trials)
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	states := func() (waiting, forfeited, all int) {
		l, err := ledger.Open(t.Context(), book, ledger.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		if err := l.History(t.Context(), ledger.HistoryOptions{Dataset: "people"}, func(e ledger.Entry) error {
			all++
			switch e.State {
			case "reserved":
				waiting++
			case "forfeited":
				forfeited++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return waiting, forfeited, all
	}
	time.Sleep(31 * time.Second) // the leases
	waiting, forfeited, _ := states()
	if forfeited > unkeyed {
		t.Errorf("%d are forfeited", forfeited)
	}
	for i := range trials {
		for _, name := range []string{"second", "third"} {
			run(query(fmt.Sprint("k", i), fmt.Sprint(name, i))...)
		}
		for _, end := range []string{".json", ".cert"} {
			first, second, third := read(fmt.Sprint("first", i, end)), read(fmt.Sprint("second", i, end)), read(fmt.Sprint("third", i, end))
			if second == "" || second != third || first != "" && first != second {
				t.Errorf("%d%s: %q, %q, %q", i, end, first, second, third)
			}
		}
	}
	left, lost, all := states()
	l, err := ledger.Open(t.Context(), book, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	b, err := l.Book(t.Context(), "people")
	if err != nil {
		t.Fatal(err)
	}
	if left != 0 || lost != forfeited || all < trials+1 || all > trials+1+unkeyed || b.Spent.Epsilon != int64(all)*account.EpsilonUnits/1000 {
		t.Errorf("%d wait, %d are forfeited, %d charges, spent %s", left, lost, all, b.Spent)
	}
	t.Logf("%d killed, %d waited for their key, %d forfeited without one, %d charges, spent %s", trials+unkeyed, waiting, lost, all, b.Spent)
}

// A release in several files that is interrupted while it writes leaves nothing.
func TestInterruptedSplit(t *testing.T) {
	randtest.SkipShort(t)
	dir := t.TempDir()
	var text bytes.Buffer
	text.WriteString("age,note\n")
	for i := range 60_000 {
		fmt.Fprintf(&text, "%d,%d\n", 20+i%60, i%1000)
	}
	if err := os.WriteFile(filepath.Join(dir, "people.csv"), text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "noren", "anonymize", "people.csv", "-o", "out/", "--split-rows", "50", "--k", "5", "--quasi", "age",
		"--other", "note", "--refine", "off")
	c.Dir = dir
	c.Env = append(os.Environ(), "TMPDIR="+dir)
	out := &bytes.Buffer{}
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if written, _ := filepath.Glob(filepath.Join(dir, ".noren-*.tmp", "*.csv")); len(written) > 2 {
			break
		}
		if time.Now().After(deadline) {
			_ = c.Process.Kill()
			t.Fatalf("nothing was written: %s", out)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Fatalf("%s exists before the release was verified", info.Name())
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if c.ProcessState.ExitCode() != 130 {
		t.Errorf("interrupted, it ends with %d: %s", c.ProcessState.ExitCode(), out)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v %v", entries, err)
	}
}
