package bigtable_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/examples/bigtable"
	"github.com/noren-privacy/noren/table"
)

func ExampleWrite() {
	err := bigtable.Write(context.Background(), os.Stdout, bigtable.Options{Rows: 3, Seed: 1})
	if err != nil {
		panic(err)
	}
	// Output:
	// age,sex,education,occupation,region,income,height_cm,day
	// 79,male,vocational,,region 35,4578000,163.1,2024-10-16
	// 2,female,none,,region 23,0,72.1,2020-01-08
	// 21,male,lower secondary,occupation 2,region 18,1325000,179.2,2023-07-18
}

func written(t *testing.T, o bigtable.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := bigtable.Write(context.Background(), &b, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The sums were taken on linux/amd64; any other platform must reach them too.
func TestSameBytesEverywhere(t *testing.T) {
	for _, c := range []struct {
		o    bigtable.Options
		want string
	}{
		{bigtable.Options{Rows: 20_000, Seed: 1}, "5bb4236842ae9c32308ef7cad75c83c772421e1e5d8436a0da8cfafadedd3c7a"},
		{bigtable.Options{Rows: 20_000, Seed: 2, Extra: true}, "6e3f80ec2d1fc0433d88f608c0543f462ad61001acf7b13bdbf8dfa48eb866bc"},
	} {
		sum := sha256.Sum256(written(t, c.o))
		if got := hex.EncodeToString(sum[:]); got != c.want {
			t.Errorf("%+v: SHA-256 %s, expected %s", c.o, got, c.want)
		}
	}
}

func TestShorterTableIsThePrefixOfALonger(t *testing.T) {
	for _, extra := range []bool{false, true} {
		long := written(t, bigtable.Options{Rows: 3000, Seed: 4, Extra: extra})
		short := written(t, bigtable.Options{Rows: 1000, Seed: 4, Extra: extra})
		if !bytes.HasPrefix(long, short) {
			t.Errorf("extra %t: the first 1000 rows depend on the number asked for", extra)
		}
		other := written(t, bigtable.Options{Rows: 1000, Seed: 5, Extra: extra})
		if bytes.Equal(short, other) {
			t.Errorf("extra %t: two seeds gave one table", extra)
		}
	}
}

// Every field must be what the schema says it is, and the CSV well formed.
func TestRowsFitTheSchema(t *testing.T) {
	for _, extra := range []bool{false, true} {
		o := bigtable.Options{Rows: 5000, Seed: 9, Extra: extra}
		rows, err := csv.NewReader(bytes.NewReader(written(t, o))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if got := int64(len(rows) - 1); got != o.Rows {
			t.Fatalf("%d records, expected %d", got, o.Rows)
		}
		schema := bigtable.Schema(o)
		if got := len(schema.WithRole(table.Quasi)); got != 8 {
			t.Errorf("%d quasi-identifiers, expected 8", got)
		}
		for j, field := range schema.Fields {
			if rows[0][j] != field.Name {
				t.Errorf("column %d is called %q, expected %q", j, rows[0][j], field.Name)
			}
			builder, err := table.NewBuilder(field, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, row := range rows[1:] {
				if err := builder.Append([]byte(row[j])); err != nil {
					t.Fatalf("column %s, record %d: %v", field.Name, i+1, err)
				}
			}
			if got := builder.Column().Len(); got != len(rows)-1 {
				t.Errorf("column %s holds %d values, expected %d", field.Name, got, len(rows)-1)
			}
		}
	}
}

// The columns depend on each other, or the table would be no match for one of
// real people.
func TestColumnsAreCorrelated(t *testing.T) {
	o := bigtable.Options{Rows: 20_000, Seed: 11}
	rows, err := csv.NewReader(bytes.NewReader(written(t, o))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	schema := bigtable.Schema(o)
	level := map[string]float64{}
	for i, name := range schema.Fields[2].Levels {
		level[name] = float64(i)
	}
	var schooling, income, men, height []float64
	for _, row := range rows[1:] {
		age, err := strconv.Atoi(row[0])
		if err != nil {
			t.Fatal(err)
		}
		if age < 25 || age > 60 || row[1] == "" || row[5] == "" {
			continue
		}
		x, err := strconv.ParseFloat(row[5], 64)
		if err != nil {
			t.Fatal(err)
		}
		h, err := strconv.ParseFloat(row[6], 64)
		if err != nil {
			t.Fatal(err)
		}
		man := 0.0
		if row[1] == "male" {
			man = 1
		}
		schooling, income = append(schooling, level[row[2]]), append(income, x)
		men, height = append(men, man), append(height, h)
	}
	if r := stat.Correlation(schooling, income, nil); r < 0.2 || r > 0.7 {
		t.Errorf("education and income correlate by %.2f, expected 0.2 to 0.7", r)
	}
	// Two bells of deviation 6 cm that stand 13 cm apart: 6.5/sqrt(36+6.5^2).
	if r := stat.Correlation(men, height, nil); r < 0.71 || r > 0.76 {
		t.Errorf("sex and height correlate by %.3f, expected 0.735", r)
	}
}

func TestWriteRefuses(t *testing.T) {
	err := bigtable.Write(context.Background(), io.Discard, bigtable.Options{Rows: -1})
	if noren.KindOf(err) != noren.Usage || err == nil {
		t.Errorf("negative rows: %v, expected an error of kind usage", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err = bigtable.Write(ctx, io.Discard, bigtable.Options{Rows: 1 << 40})
	if noren.KindOf(err) != noren.Interrupted || !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v, expected an error of kind interrupted", err)
	}
	full := errors.New("full")
	if err := bigtable.Write(context.Background(), failing{full}, bigtable.Options{Rows: 10}); !errors.Is(err, full) {
		t.Errorf("failing writer: %v, expected its error", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestNoRowsIsAHeader(t *testing.T) {
	if got := string(written(t, bigtable.Options{})); strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "age,") {
		t.Errorf("no rows gave %q, expected the header alone", got)
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, c := range []struct {
		name  string
		extra bool
	}{{"QI", false}, {"Extra", true}} {
		b.Run(c.name, func(b *testing.B) {
			const rows = 100_000
			var size counter
			for b.Loop() {
				if err := bigtable.Write(context.Background(), &size, bigtable.Options{Rows: rows, Seed: 1, Extra: c.extra}); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(size) / int64(b.N))
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
