package publish_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// benchColumns has n records of eight columns, two of each kind of mean and of
// category.
func benchColumns(b *testing.B, n int) []*table.Column {
	rng := rand.New(rand.NewPCG(1, 2))
	var columns []*table.Column
	add := func(f table.Field, value func() string) {
		build, err := table.NewBuilder(f, []string{"NA"})
		if err != nil {
			b.Fatal(err)
		}
		for range n {
			if err := build.Append([]byte(value())); err != nil {
				b.Fatal(err)
			}
		}
		columns = append(columns, build.Column())
	}
	levels := []string{"none", "mild", "severe", "critical"}
	add(table.Field{Name: "age", Type: table.Integer}, func() string { return fmt.Sprint(rng.IntN(90)) })
	add(table.Field{Name: "visits", Type: table.Integer}, func() string {
		if rng.IntN(20) == 0 {
			return "NA"
		}
		return fmt.Sprint(rng.IntN(400))
	})
	add(table.Field{Name: "income", Type: table.Decimal}, func() string { return fmt.Sprintf("%.2f", 1e5*rng.Float64()) })
	add(table.Field{Name: "weight", Type: table.Decimal}, func() string { return fmt.Sprintf("%.1f", 100*rng.Float64()) })
	add(table.Field{Name: "day", Type: table.Date}, func() string { return table.ISODate.Format(rng.Int64N(20000)) })
	add(table.Field{Name: "level", Type: table.Ordered, Levels: levels}, func() string { return levels[rng.IntN(4)] })
	add(table.Field{Name: "sex"}, func() string { return []string{"F", "M"}[rng.IntN(2)] })
	add(table.Field{Name: "zip"}, func() string { return fmt.Sprint("z", rng.IntN(1000)) })
	return columns
}

// BenchmarkPublish publishes 1,000,000 records x 8 columns in groups of five or
// six.
func BenchmarkPublish(b *testing.B) {
	const n, groups = 1_000_000, 180_000
	columns := benchColumns(b, n)
	stored := make([]table.StoredColumn, len(columns))
	for i, c := range columns {
		stored[i].Name = c.Field.Name
	}
	group := make([]uint32, n)
	for i, at := range rand.New(rand.NewPCG(3, 4)).Perm(n) {
		group[at] = uint32(i % groups)
	}
	for _, mode := range []publish.Mode{publish.Aggregate, publish.Generalize} {
		b.Run(mode.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := publish.Publish(context.Background(), columns, stored, group, groups, publish.Options{Mode: mode}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
