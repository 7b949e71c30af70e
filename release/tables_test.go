package release_test

import (
	"context"
	"testing"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/table"
)

// What is kept of a version ends when a later one is asked, also what a request of the
// earlier one computes afterwards. A memo has what was put into it for one version alone.
func TestKeptEndsWithItsVersion(t *testing.T) {
	d := open(t, 1000, ledger.Options{})
	tables := release.NewTables(1 << 20)
	asked := func(data *release.Dataset) (memo table.Memo) {
		t.Helper()
		data.Keep(tables)
		m := ask(1)
		m.do = func(_ context.Context, read *table.Table) (any, error) {
			memo = read.Memo
			return map[string]int{"records": read.Rows}, nil
		}
		r := d.request(t, m)
		r.Dataset = data
		if _, err := release.Run(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		return memo
	}
	has := func(m table.Memo, name string) bool {
		_, ok := m.Get(name)
		return ok
	}
	first := d.find(t, "people")
	memo := asked(first)
	before := tables.Used()
	memo.Put("rows", []bool{true}, 1)
	if !has(memo, "rows") || !has(asked(d.find(t, "people")), "rows") || tables.Used() <= before {
		t.Fatalf("nothing was kept in %d bytes", tables.Used())
	}

	// The same rows in another order are another version: the table print is the same.
	d.write(t, "age,city\n47,Kobe\n52,Nara\n31,"+secret+"\n")
	reviewed, err := release.ReviewGrant(t.Context(), d.ledger, release.Candidate{Path: d.file, Definition: first.Definition})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := release.ConfirmGrant(t.Context(), d.ledger, release.Grant{
		Name: "people", Cap: account.Cost{Epsilon: 1000 * milli},
		Changed: true,
	}, reviewed); err != nil {
		t.Fatal(err)
	}
	next := asked(d.find(t, "people"))
	if has(next, "rows") || has(memo, "rows") || tables.Used() != before {
		t.Errorf("something of the earlier version is kept: %d bytes, %d before", tables.Used(), before)
	}
	memo.Put("late", []bool{true}, 1)
	if has(next, "late") || has(memo, "late") || tables.Used() != before {
		t.Error("an earlier version keeps what was computed after it ended")
	}
}
