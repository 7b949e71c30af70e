package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren/examples/bigtable"
	"github.com/noren-privacy/noren/internal/cli"
)

// BenchmarkAnonymizeAdult is the whole command on the 30,162 records and 8
// quasi-identifiers of Adult, from its arguments to the verified file.
func BenchmarkAnonymizeAdult(b *testing.B) {
	data := os.Getenv("NOREN_DATA")
	if data == "" {
		data = "../../../shared/data"
	}
	input := filepath.Join(data, "adult.csv")
	if _, err := os.Stat(input); err != nil {
		b.Skip("adult.csv is not there: name its folder in NOREN_DATA")
	}
	for _, method := range [][]string{
		{"default"},
		{"mondrian", "--method", "mondrian", "--refine", "off"},
		{"mdav", "--method", "mdav", "--refine", "off"},
		{"tomobiki", "--method", "tomobiki", "--refine", "off"},
	} {
		b.Run(method[0], func(b *testing.B) {
			anonymize(b, input, "age,workclass,education,marital-status,occupation,race,sex,native-country", method[1:]...)
		})
	}
}

// BenchmarkAnonymizeMillion is the whole command on 1,000,000 records of mixed
// numbers and categories with 8 quasi-identifiers.
func BenchmarkAnonymizeMillion(b *testing.B) {
	if testing.Short() {
		b.Skip("takes half a minute")
	}
	input := filepath.Join(b.TempDir(), "million.csv")
	f, err := os.Create(input)
	if err != nil {
		b.Fatal(err)
	}
	if err := bigtable.Write(context.Background(), f, bigtable.Options{Rows: 1_000_000, Seed: 1}); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	anonymize(b, input, "age,sex,education,occupation,region,income,height_cm,day")
}

func anonymize(b *testing.B, input, quasi string, more ...string) {
	output := filepath.Join(b.TempDir(), "out.csv")
	args := append([]string{"anonymize", input, "-o", output, "--force", "--k", "5", "--quasi", quasi}, more...)
	for b.Loop() {
		var out, err bytes.Buffer
		if code := cli.Run(context.Background(), args, nil, &out, &err); code != 0 {
			b.Fatalf("exit code %d: %s", code, &err)
		}
	}
}
