package infer

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

func TestNumberFormats(t *testing.T) {
	plain := strings.Repeat("1.5\n2\n", 10)
	for _, c := range []struct {
		name, values string
		kind         table.Type
		format       table.NumberFormat
		reason       string
	}{
		{"thousands", "\"25,657\"\n999\n\"1,000,000\"\n", table.Integer, "1,234", ""},
		{"thousands in doubt", "\"25,657\"\n999\n", table.Integer, "1,234", "say the format"},
		{"German", "\"1.234,5\"\n\"0,25\"\n7\n", table.Decimal, "1.234,5", ""},
		{"German thousands", "1.234.567\n1.234\n", table.Integer, "1.234", ""},
		{"plain and German", plain + "\"1.234,5\"\n", table.Category, "", ""},
		{"French", "\"12 345,5\"\n\"1 000,25\"\n", table.Decimal, "1 234,5", ""},
		{"Swiss", "12'345.5\n1'000\n", table.Decimal, "1'234.5", ""},
		{"full-width", "１２\n３４．５\n5\n", table.Decimal, "1234.5", ""},
		{"per cent", "12%\n3.5%\n", table.Decimal, "1234.5%", ""},
		{"per cent and none", "12%\n3\n", table.Category, "", ""},
		{"yen", "\"¥1,200\"\n￥900\n", table.Integer, "¥1,234", "say the format"},
		{"yen behind", "1200円\n9円\n", table.Integer, "1234円", ""},
		{"codes", "０３１２\n１２３４\n", table.Category, "", ""},
		{"words", "\"1,234\"\nabc\n", table.Category, "", ""},
		{"plain", plain, table.Decimal, "", ""},
		{"missing", "\"1,234,567\"\nunknown\n\"1,000\"\n", table.Integer, "1,234", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, look := range []bool{true, false} {
				src, err := file.OpenStdin(context.Background(), strings.NewReader("amount,b\n"+strings.ReplaceAll(c.values, "\n", ",x\n")),
					file.Options{Delimiter: ','})
				if err != nil {
					t.Fatal(err)
				}
				report, err := Infer(context.Background(), src, Options{Formats: look})
				_ = src.Close()
				if err != nil {
					t.Fatal(err)
				}
				got := report.Columns[0]
				want, format := c.kind, c.format
				if !look && format != "" {
					want, format = table.Category, ""
				}
				if got.Field.Type != want || got.Field.Number != format {
					t.Errorf("look %v: got %v %q (%s), want %v %q", look, got.Field.Type, got.Field.Number, got.TypeReason.Text, want, format)
				}
				if look && strings.Contains(got.TypeReason.Text, "say the format") != (c.reason != "") {
					t.Errorf("got the reason %q", got.TypeReason.Text)
				}
			}
		})
	}
}

// The format is found wherever in the column the first formatted number stands.
func TestLateNumberFormat(t *testing.T) {
	var b strings.Builder
	b.WriteString("amount,b\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "%d,x\n", i%1000)
	}
	b.WriteString("\"1,234,567\",x\n")
	src, err := file.OpenStdin(context.Background(), strings.NewReader(b.String()), file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	report, err := Infer(context.Background(), src, Options{Formats: true})
	if err != nil {
		t.Fatal(err)
	}
	if c := report.Columns[0]; c.Field.Number != "1,234" || c.Smallest != "0" || c.Largest != "1,234,567" {
		t.Errorf("got %q, from %s to %s", c.Field.Number, c.Smallest, c.Largest)
	}
}
