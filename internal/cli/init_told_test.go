package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/xuri/excelize/v2"
)

// The specification that init writes holds what its flags and its path say of reading: a release
// by it alone reads the same table.
func TestInitRecordsWhatItWasTold(t *testing.T) {
	t.Chdir(t.TempDir())
	records := [][]any{}
	for i := range 12 {
		records = append(records, []any{20 + i/4, "fm"[i%2 : i%2+1], []string{"flu", "cold", "-"}[i%3]})
	}
	names, total := []any{"age", "sex", "diagnosis"}, []any{"合計", nil, 12}
	rows := append([][]any{{"a", "b", "c"}, names}, append(records, total)...)
	book := excelize.NewFile()
	if _, err := book.NewSheet("visits"); err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		if err := book.SetSheetRow("visits", fmt.Sprintf("A%d", i+1), &row); err != nil {
			t.Fatal(err)
		}
	}
	if err := book.SetRowVisible("visits", 4, false); err != nil {
		t.Fatal(err)
	}
	if err := book.SaveAs("book.xlsx"); err != nil {
		t.Fatal(err)
	}
	text := func(name, separator string, rows ...[]any) {
		var b strings.Builder
		for _, row := range rows {
			for i, v := range row {
				if i > 0 {
					b.WriteString(separator)
				}
				if v != nil {
					fmt.Fprint(&b, v)
				}
			}
			b.WriteString("\n")
		}
		if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text("titled.csv", ",", rows...)
	text("bare.csv", ",", records...)
	text("years.csv", ",", append([][]any{{"2024-01-02", "sex", "diagnosis"}}, records...)...)
	text("other.csv", ":", append([][]any{names}, records...)...)
	told := map[string]bool{}
	for _, c := range []struct{ args, want, more string }{
		{"book.xlsx --sheet visits --header-row 2 --totals leave --hidden leave", "11 records", ""},
		{"book.xlsx --sheet visits --header-row 2 --totals read --hidden read", "13 records", ""},
		{"book.xlsx?sheet=visits&header=2&totals=leave&hidden=leave", "11 records", ""},
		{"titled.csv --header-row 2 --totals leave", "12 records", ""},
		{"titled.csv --header-row 2 --totals read", "13 records", ""},
		{"bare.csv --no-header", "12 records", "--quasi=c1 --other=c2,c3"},
		{"years.csv --header", "12 records", "--other=2024-01-02"},
		{"other.csv --delimiter : --encoding latin-1 --missing -", "12 records", ""},
	} {
		args := strings.Fields(c.args)
		for _, a := range args {
			told[strings.TrimPrefix(a, "--")] = true
		}
		if code, _, problems := runIn(t, append([]string{"init", "-o", "noren.yaml", "--force"}, args...)...); code != 0 {
			t.Errorf("init %s: %s", c.args, problems)
			continue
		}
		file, _, _ := strings.Cut(args[0], "?")
		written, err := os.ReadFile("noren.yaml")
		if err != nil {
			t.Fatal(err)
		}
		more := append([]string{"anonymize", file, "-o", "out.csv", "--force", "--spec", "noren.yaml", "--k", "2", "--refine", "off"},
			strings.Fields(c.more)...)
		code, out, problems := runIn(t, more...)
		if code != 0 || !strings.Contains(out, c.want) {
			t.Errorf("anonymize by what init %s wrote: %d %s%s\n%s", c.args, code, problems, out, written)
		}
	}
	// A flag of reading that init gets later belongs into the table above.
	f, c := &columnFlags{}, &cobra.Command{}
	f.registerInput(c)
	f.registerHeader(c)
	c.Flags().VisitAll(func(flag *pflag.Flag) {
		if !told[flag.Name] && flag.Name != "query" { // it needs a database
			t.Errorf("--%s is not tried", flag.Name)
		}
	})
}

func runIn(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, problems bytes.Buffer
	code = Run(t.Context(), args, strings.NewReader(""), &out, &problems)
	return code, out.String(), problems.String()
}
