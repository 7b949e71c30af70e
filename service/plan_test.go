package service_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren/api"
)

func TestAnonymizePlanWritesNothing(t *testing.T) {
	table, dir := visits(t)
	before, err := os.ReadDir(dir)
	must(t, err)
	p, err := bare(t).AnonymizePlan(t.Context(), &api.AnonymizeRequest{Table: table, Output: filepath.Join(dir, "out.csv")})
	must(t, err)
	if p.Rows != 60 || p.K != 3 || p.Unit != "person" || p.Persons == 0 || len(p.Columns) != len(p.Read) || len(p.Undecided) != 0 {
		t.Errorf("%+v", p)
	}
	valid(t, "noren.anonymize.plan-1.json", p)
	after, err := os.ReadDir(dir)
	must(t, err)
	if len(before) != len(after) {
		t.Errorf("%d files before, %d after", len(before), len(after))
	}
}
