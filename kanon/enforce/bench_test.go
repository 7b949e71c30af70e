package enforce_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/noren-privacy/noren/kanon/enforce"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/space"
)

// adult is the Adult table in the paper's code space without its occupation,
// which is the sensitive column.
func adult(b *testing.B) (*space.Space, sensitive) {
	b.Helper()
	dir := os.Getenv("NOREN_DATA")
	if dir == "" {
		dir = "../../../shared/data"
	}
	f, err := os.Open(filepath.Join(dir, "adult.csv"))
	if err != nil {
		b.Skip("the reference data sets are not here: set NOREN_DATA to their folder")
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		b.Fatal(err)
	}
	header, rows := rows[0], rows[1:]
	var columns [][]float64
	occupation := sensitive{name: "occupation"}
	for a, name := range header {
		words := make([]string, len(rows))
		for i, row := range rows {
			words[i] = row[a]
		}
		switch name {
		case "salary-class":
			continue
		case "occupation":
			occupation.values = words
			continue
		}
		distinct := slices.Compact(slices.Sorted(slices.Values(words)))
		column := make([]float64, len(rows))
		for i, w := range words {
			if name == "age" {
				if column[i], err = strconv.ParseFloat(w, 64); err != nil {
					b.Fatal(err)
				}
				continue
			}
			at, _ := slices.BinarySearch(distinct, w)
			column[i] = float64(at)
		}
		columns = append(columns, column)
	}
	s, err := space.FromMatrix(columns, space.MinMax)
	if err != nil {
		b.Fatal(err)
	}
	return s, occupation
}

func benchmark(b *testing.B, s *space.Space, p space.Partition, column sensitive, req privacy.Requirement) {
	b.Run(fmt.Sprint(req), func(b *testing.B) {
		attribute := []*privacy.Attribute{column.attribute(b)}
		var q space.Partition
		var err error
		b.ReportAllocs()
		for b.Loop() {
			if q, _, err = enforce.Enforce(context.Background(), s, p, req, attribute, enforce.Options{}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(p.Groups), "groups-before")
		b.ReportMetric(float64(q.Groups), "groups")
		b.ReportMetric(s.Loss(p), "loss-before")
		b.ReportMetric(s.Loss(q), "loss")
	})
}

func requirements(k int) []privacy.Requirement {
	return []privacy.Requirement{
		{K: k, Diversity: &privacy.Diversity{L: 3}},
		{K: k, Diversity: &privacy.Diversity{Model: privacy.Entropy, L: 3}},
		{K: k, Diversity: &privacy.Diversity{Model: privacy.Recursive, L: 2, C: 2}},
		{K: k, Closeness: &privacy.Closeness{T: 0.4}},
		{K: k, Closeness: &privacy.Closeness{T: 0.2}},
	}
}

// Adult, 30,162 x 7 with the occupation sensitive, in Tomobiki's groups of 5.
func BenchmarkAdult(b *testing.B) {
	s, occupation := adult(b)
	p, _, err := partition.Partition(context.Background(), s, partition.Options{K: 5, Method: partition.Tomobiki})
	if err != nil {
		b.Fatal(err)
	}
	for _, req := range requirements(5) {
		benchmark(b, s, p, occupation, req)
	}
}

// 100,000 records with a sensitive column that goes with the place: most groups
// fail.
func BenchmarkLarge(b *testing.B) {
	s, p, column := line(b, 100_000, 5)
	for _, req := range requirements(5) {
		benchmark(b, s, p, column, req)
	}
}
