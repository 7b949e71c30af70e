package bigtable_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/noren-privacy/noren/examples/bigtable"
)

func ExampleWriteSensors() {
	err := bigtable.WriteSensors(context.Background(), os.Stdout, bigtable.Options{Rows: 3, Seed: 1})
	if err != nil {
		panic(err)
	}
	// Output:
	// x,y
	// 49.066,67.105
	// 61.223,47.305
	// 36.602,75.282
}

// Nearly all readings are in the discs, evenly, and about one in a hundred is
// anywhere: what lies in no disc has hardly anything near it.
func TestSensorsAreInThreeDiscs(t *testing.T) {
	const n = 20_000
	var b bytes.Buffer
	if err := bigtable.WriteSensors(context.Background(), &b, bigtable.Options{Rows: n, Seed: 3}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != n+1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	counts := [3]int{}
	inner, outside := 0, 0
	for _, row := range rows[1:] {
		at := [2]float64{}
		for j, text := range row {
			if at[j], err = strconv.ParseFloat(text, 64); err != nil || at[j] < 0 || at[j] > 100 {
				t.Fatalf("%q, %v", text, err)
			}
		}
		disc := -1
		for c, centre := range [...][2]float64{{30, 30}, {65, 40}, {45, 70}} {
			r := math.Hypot(at[0]-centre[0], at[1]-centre[1])
			if r <= 10 {
				disc = c
			}
			if r <= 5 {
				inner++
			}
		}
		if disc < 0 {
			outside++
			continue
		}
		counts[disc]++
	}
	// 1% of which 1 - 3 pi/100 are outside of the discs: 181 of 20,000, sd 13.
	if outside < 125 || outside > 240 {
		t.Errorf("%d readings are in no disc, expected about 181", outside)
	}
	for c, got := range counts {
		if got < 6300 || got > 6910 { // 6606, sd 67
			t.Errorf("disc %d has %d readings, expected about 6606", c, got)
		}
	}
	// A quarter of the area has a quarter of the readings: 4955, sd 61.
	if inner < 4680 || inner > 5230 {
		t.Errorf("%d readings are within half of a radius, expected about 4955", inner)
	}
}
