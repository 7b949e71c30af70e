package ledger

import (
	"strings"
	"testing"
)

// The files of a data set are known when it is granted again and after the rows of the ledger were
// made anew from its chain, which leaves out what refers to accounts that the chain does not have.
func TestFilesOfDatasets(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
	l := f.open(t)
	g := pinned(t, "adult", f.file, Cost{Epsilon: one, Delta: 1000})
	for _, print := range []string{"hmac-sha256:a", "hmac-sha256:b"} { // the same version, read from another file
		g.Files = []string{print}
		if _, err := l.Grant(t.Context(), g); err != nil {
			t.Fatal(err)
		}
	}
	known := func(when string) {
		t.Helper()
		for print, want := range map[string]string{"hmac-sha256:a": "adult", "hmac-sha256:b": "adult", "hmac-sha256:c": "", g.Print: "adult"} {
			if name, err := l.KnowsFile(t.Context(), print); err != nil || name != want {
				t.Errorf("%s: %s is of %q, %v; want %q", when, print, name, err, want)
			}
		}
		if name, err := l.KnowsPrint(t.Context(), "hmac-sha256:a"); err != nil || name != "" {
			t.Errorf("%s: bytes are taken for a table of %q, %v", when, name, err)
		}
	}
	known("granted")
	verifyClean(t, l)
	for _, forbidden := range []string{"DELETE FROM dataset_file", "UPDATE dataset_file SET print = 'x'"} {
		if _, err := l.db.ExecContext(t.Context(), forbidden); err == nil {
			t.Errorf("not forbidden: %s", forbidden)
		}
	}
	names, err := schemaText(t.Context(), l.db)
	if err != nil {
		t.Fatal(err)
	}
	exec := ""
	for name := range names {
		if trigger, ok := strings.CutPrefix(name, "trigger "); ok {
			exec += "DROP TRIGGER " + trigger + ";"
		}
	}
	exec += `INSERT INTO account (id, parent, kind, name, unit, neighbours, fingerprint, path, cap_eps_nano, spent_eps_nano, cap_delta, spent_delta, closed)
			SELECT 9, NULL, kind, 'more', unit, neighbours, 'x', path, 5, 0, 5, 0, 0 FROM account;
		INSERT INTO dataset_file VALUES ('hmac-sha256:c', 9);
		INSERT INTO dataset_contents VALUES (9, 1, '{}', x'')`
	if _, err := l.db.ExecContext(t.Context(), exec); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reconcile(t.Context(), ReconcileOptions{}); err != nil {
		t.Fatal(err)
	}
	known("reconciled")
	verifyClean(t, l)
}
