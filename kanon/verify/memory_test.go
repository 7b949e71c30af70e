package verify_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/table/file"
)

// A file of more classes than may be held is counted in parts, and what is found
// is the same.
func TestMemoryChangesNothing(t *testing.T) {
	var rows [][]string
	for i := range 20_000 {
		rows = append(rows, []string{fmt.Sprint("class ", i%7001), fmt.Sprint(i % 7001 % 3)})
	}
	path := writeCSV(t, t.TempDir(), []string{"a", "b"}, rows)
	src, err := file.Open(context.Background(), path, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	var want *verify.Result
	for _, memory := range []int64{0, 1 << 30, 300_000, 1} {
		got, err := verify.Verify(context.Background(), src, verify.Options{
			Quasi: []string{"a", "b"}, Requirement: privacy.Requirement{K: 3},
			Memory: memory,
		})
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
			if want.Classes != 7001 || want.Rows != 20_000 || want.BelowK.Classes != 7001*3-20_000 || want.AchievedK != 2 ||
				want.ClassSize.Max != 3 {
				t.Fatalf("%+v", want)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("with %d bytes:\n%s", memory, d)
		}
	}
}
