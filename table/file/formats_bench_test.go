package file_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// BenchmarkFormats opens and reads 1,000,000 records of 8 columns into memory, from each
// format: workbooks and databases are read when they are opened. PostgreSQL needs
// NOREN_PG_DSN.
func BenchmarkFormats(b *testing.B) {
	rows := benchRows
	if testing.Short() {
		rows = 20_000
	}
	fields := []table.Field{
		{Name: "id", Type: table.Integer},
		{Name: "age", Type: table.Integer},
		{Name: "sex"},
		{Name: "date", Type: table.Date},
		{Name: "amount", Type: table.Decimal},
		{Name: "class"},
		{Name: "code"},
		{Name: "zip"},
	}
	day := table.Logical{Of: table.Day}
	columns := make([]table.StoredColumn, len(fields))
	for i := range fields {
		columns[i] = table.StoredColumn{Name: fields[i].Name}
		switch fields[i].Type {
		case table.Integer:
			columns[i].Kind = table.Int
		case table.Decimal:
			columns[i].Kind = table.Float
		case table.Date:
			columns[i].Kind, columns[i].Logical, columns[i].AppendText = table.Int, day, day.Show()
		}
	}
	ctx := context.Background()
	dir := b.TempDir()
	paths := []string{filepath.Join(dir, "bench.csv"), filepath.Join(dir, "bench.parquet"), filepath.Join(dir, "bench.xlsx")}
	for _, path := range paths {
		sink, err := file.Create(path, columns, csvio.Dialect{})
		if err != nil {
			b.Fatal(err)
		}
		fillBench(b, sink, columns, rows)
	}
	if dsn := os.Getenv("NOREN_PG_DSN"); dsn != "" {
		c, err := pgconn.ParseConfig(dsn)
		if err != nil {
			b.Fatal(err)
		}
		for name, value := range map[string]string{
			"PGHOST": c.Host, "PGPORT": strconv.Itoa(int(c.Port)), "PGUSER": c.User,
			"PGDATABASE": c.Database, "PGPASSWORD": c.Password,
		} {
			b.Setenv(name, value)
		}
		path := "pg:noren_bench"
		target, err := file.NewTarget(ctx, path, true, "")
		if err != nil {
			b.Fatal(err)
		}
		sink, err := target.Create(ctx, columns)
		if err != nil {
			b.Fatal(err)
		}
		fillBench(b, sink, columns, rows)
		if err := target.Commit(ctx); err != nil {
			b.Fatal(err)
		}
		defer func() {
			if conn, err := pgconn.ConnectConfig(ctx, c); err == nil {
				_ = conn.Exec(ctx, "DROP TABLE noren_bench").Close()
				_ = conn.Close(ctx)
			}
		}()
		paths = append(paths, path)
	}
	for _, path := range paths {
		name := filepath.Ext(path)
		if file.IsDatabase(path) {
			name = "pg"
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				src, err := file.Open(ctx, path, file.Options{})
				if err != nil {
					b.Fatal(err)
				}
				t, err := table.Read(ctx, src, fields, table.ReadOptions{})
				if err != nil || t.Rows != rows {
					b.Fatal(t, err)
				}
				if err := src.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// fillBench writes the records of the benchmark, the same to every sink.
func fillBench(b *testing.B, sink table.Sink, columns []table.StoredColumn, rows int) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := []string{"Private", "State-gov", "Self-emp-not-inc", "Local-gov", "Never-worked"}
	for from := 0; from < rows; from += 4000 {
		n := min(4000, rows-from)
		c := &table.Chunk{First: int64(from), Rows: n, Cols: make([]table.Vector, len(columns))}
		for j := range c.Cols {
			c.Cols[j].Kind = columns[j].Kind
		}
		for i := range n {
			c.Cols[0].Ints = append(c.Cols[0].Ints, int64(from+i))
			c.Cols[1].Ints = append(c.Cols[1].Ints, rng.Int64N(90))
			c.Cols[3].Ints = append(c.Cols[3].Ints, 10957+rng.Int64N(8000))
			c.Cols[4].Floats = append(c.Cols[4].Floats, float64(rng.Int64N(100_000))/100)
			for j, text := range map[int]string{
				2: []string{"M", "F"}[rng.IntN(2)], 5: words[rng.IntN(5)], 6: fmt.Sprintf("%04d", rng.IntN(10000)),
				7: fmt.Sprintf("z%d", rng.IntN(1000)),
			} {
				c.Cols[j].Texts = append(c.Cols[j].Texts, []byte(text))
			}
		}
		if err := sink.Write(c); err != nil {
			b.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		b.Fatal(err)
	}
}
