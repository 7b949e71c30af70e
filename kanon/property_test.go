package kanon_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// Whatever the table and the options: the release keeps k, all that is not to
// change, and what the result says of it; or it is refused.
func TestAnyRelease(t *testing.T) {
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		n := rapid.IntRange(1, 60).Draw(t, "n")
		rows := makePeople(n, rapid.Uint64().Draw(t, "table"))
		// Fewer different values than records, at times.
		for c, f := range people {
			if f.Role == table.Quasi && rapid.IntRange(0, 2).Draw(t, "few") == 0 {
				for i := range rows {
					rows[i][c] = rows[i%3%n][c]
				}
			}
		}
		fields := slices.Clone(people)
		for i := range fields {
			switch {
			case fields[i].Name == "key" || fields[i].Role == table.Identifier:
			case fields[i].Role == table.Quasi && rapid.IntRange(0, 4).Draw(t, "kept") == 0:
				fields[i].Role = table.Other
			case fields[i].Role == table.Quasi && fields[i].Type.IsNumber() && rapid.Bool().Draw(t, "rounded"):
				fields[i].Round = ptr(rapid.IntRange(-3, 3).Draw(t, "round"))
			}
		}
		fields[2].Role = table.Quasi // one at least
		src := filepath.Join(dir, "in.csv")
		writeCSV(t, src, fields, rows)
		in, err := file.Open(context.Background(), src, file.Options{Delimiter: ',', Encoding: csvio.UTF8})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = in.Close() }()
		j := kanon.Job{
			Kept:   names(people),
			Source: in, Schema: table.Schema{Fields: fields}, Missing: []string{"?"},
			Output: kanon.Output{Path: filepath.Join(dir, fmt.Sprint(run, ".csv"))},
			Options: kanon.Options{
				K:         rapid.IntRange(1, 9).Draw(t, "k"),
				Scale:     rapid.SampledFrom([]space.Scaling{space.MinMax, space.ZScore, space.None}).Draw(t, "scale"),
				Refine:    rapid.SampledFrom([]refine.Effort{refine.Off, refine.Fast}).Draw(t, "refine"),
				Publish:   rapid.SampledFrom([]publish.Mode{publish.Aggregate, publish.Generalize, publish.Matched, publish.Shares}).Draw(t, "publish"),
				KeepOrder: rapid.Bool().Draw(t, "keep"),
				Workers:   rapid.IntRange(0, 3).Draw(t, "workers"),
				Partition: partition.Options{
					Method: partition.Method(rapid.IntRange(int(partition.Auto), int(partition.Tomobiki)).Draw(t, "method")),
				},
			},
		}
		if rapid.IntRange(0, 2).Draw(t, "coarse") == 0 {
			j.Partition.Coarse = j.K + rapid.IntRange(0, 20).Draw(t, "cell")
		}
		if rapid.IntRange(0, 3).Draw(t, "l") == 0 {
			j.Diversity = &privacy.Diversity{L: 2}
		}
		r, err := kanon.Anonymize(context.Background(), j)
		switch {
		case n < j.K:
			if noren.KindOf(err) != noren.BadData {
				t.Fatalf("%d records at k = %d: %v", n, j.K, err)
			}
			return
		case j.Diversity != nil && noren.KindOf(err) == noren.NotMet:
			if illnesses, pays := values(rows, 9), values(rows, 10); len(illnesses) >= 2 && len(pays) >= 2 {
				t.Fatalf("the whole table has %v and %v: %v", illnesses, pays, err)
			}
			return
		case err != nil:
			t.Fatal(err)
		}
		found := check(t, j.K, fields, rows, read(t, j.Output.Path))
		if r.Classes != len(found) || r.Groups < r.Classes || r.Rows != n || r.GroupSize.Min < j.K || r.AchievedK < r.GroupSize.Min {
			t.Fatalf("%d classes, %+v", len(found), r)
		}
		if !(r.Loss >= 0 && r.Loss <= 1+1e-12) || math.IsInf(r.SSE, 0) || r.SST == 0 && r.Loss != 0 || j.Diversity == nil &&
			r.Objective == "sse" && r.Loss > r.RefinedFrom+1e-12 {
			t.Fatalf("loss %v of %v, refined from %v", r.SSE, r.SST, r.RefinedFrom)
		}
		for key, class := range found {
			if j.Diversity != nil && (len(values(class, len(class[0])-2)) < 2 || len(values(class, len(class[0])-1)) < 2) {
				t.Fatalf("class %s is not diverse: %v", key, class)
			}
		}
		if j.KeepOrder {
			if got := keys(t, read(t, j.Output.Path)); !slices.IsSorted(got) {
				t.Fatalf("the order was to be kept: %s", strings.Join(got, " "))
			}
		}
	})
}

// values are the counts of a column without what stands for no value.
func values(rows [][]string, column int) map[string]int {
	c := counts(rows, column)
	delete(c, "")
	delete(c, "?")
	return c
}
