package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/cli"
)

// What standard input is redirected from is never replaced, nor is a hierarchy.
func TestInputsAreNeverReplaced(t *testing.T) {
	dir := t.TempDir()
	table, tree := filepath.Join(dir, "table.csv"), filepath.Join(dir, "tree.csv")
	for name, text := range map[string]string{table: "town,age\na,30\na,31\nb,32\nb,33\n", tree: "a,all\nb,all\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		target string
		args   []string
	}{
		{table, []string{"anonymize", "-", "-o", table, "--k", "2", "--quasi", "age"}},
		{table, []string{"anonymize", "-", "-o", filepath.Join(dir, "o.csv"), "--report", table, "--k", "2", "--quasi", "age"}},
		{table, []string{"assess", "-", "--quasi", "age", "--report", table}},
		{table, []string{"assess", "curve", "-", "--quasi", "age", "--report", table}},
		{table, []string{"init", "-", "-o", table}},
		{tree, []string{"assess", table, "--quasi", "town", "--hierarchy", "town=" + tree, "--report", tree}},
		{tree, []string{"assess", "curve", table, "--quasi", "town", "--hierarchy", "town=" + tree, "--report", tree}},
	} {
		before, err := os.ReadFile(c.target)
		if err != nil {
			t.Fatal(err)
		}
		in, err := os.Open(table)
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		code := cli.Run(context.Background(), append(c.args, "--force"), in, &bytes.Buffer{}, &stderr)
		_ = in.Close()
		if code != 2 || !strings.Contains(stderr.String(), "the output is an input of the same run") {
			t.Errorf("%v: exit %d, %s", c.args, code, &stderr)
		}
		if after, err := os.ReadFile(c.target); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%v: %s was replaced", c.args, c.target)
		}
	}
}
