package csvio

import (
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

func openDetected(t *testing.T, text string, o Options) (*Source, error) {
	t.Helper()
	o.Name = "in.csv"
	src, err := Open(t.Context(), put(t, "in.csv", text), o)
	if err == nil {
		t.Cleanup(func() { _ = src.Close() })
	}
	return src, err
}

// The line of the names is found below titles, and no record is taken for names.
func TestTitlesAreFound(t *testing.T) {
	long := "a,b\n" + strings.Repeat("1,2\n", 200) + "1,2,3\n"
	for name, c := range map[string]struct {
		text, want string // the names, or a part of the error
		row        int
	}{
		"no title":               {"age,sex\n20,F\n", "age sex", 1},
		"a title":                {"入院患者一覧\n\n患者番号,年齢,病名\np1,70,肺炎\n", "患者番号 年齢 病名", 3},
		"a padded title":         {"入院患者一覧,,\n,,\n患者番号,年齢,病名\np1,70,肺炎\n", "患者番号 年齢 病名", 3},
		"a blank line":           {"\nage,sex\n20,F\n", "age sex", 2},
		"a title in the middle":  {",Report,\nage,sex,ward\n20,F,A\n", "age sex ward", 2},
		"another delimiter":      {"Report, of all wards\nage;sex;ward\n20;F;A\n30;M;B\n", "age sex ward", 2},
		"a title of two lines":   {"\"Report\nof 2026\"\nage,sex\n20,F\n", "age sex", 3},
		"two levels of names":    {"person,,stay,\nid,age,days,ward\np1,70,3,A\n", "id age days ward", 2},
		"an empty last column":   {"age,sex,\n20,F,\n", "age sex", 1},
		"numbers, not names":     {"Report\n1,2\n3,4\n", "line 2: 2 fields, expected 1", 0},
		"dates, not names":       {"Report\nx,2026-04-01\ny,2026-04-02\n", "line 2: 2 fields", 0},
		"addresses, not names":   {"Report\nx,a@example.org\ny,b@example.org\n", "line 2: 2 fields", 0},
		"words of records":       {"Report\nNara,flu\nKobe,flu\nNara,cold\n", "looks like a record", 0},
		"a record that is long":  {long, "a b", 1},
		"names that occur twice": {"Report\na,a\n1,2\n", "line 2: 2 fields", 0},
		"nothing below":          {"Report\na,b\n", "line 2: 2 fields", 0},
	} {
		src, err := openDetected(t, c.text, Options{Header: HeaderChecked})
		if err == nil && c.row == 0 {
			_, _, err = readSource(src, nil)
		}
		if err != nil {
			if c.row > 0 || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var names []string
		for _, column := range src.Columns() {
			names = append(names, column.Name)
		}
		if got := strings.Join(names, " "); got != c.want || src.HeaderRow() != c.row {
			t.Errorf("%s: line %d names %s, want line %d and %s", name, src.HeaderRow(), got, c.row, c.want)
		}
		if said := strings.Contains(noren.Texts(src.Notes()).String(), "names the columns"); said != (c.row > 1) {
			t.Errorf("%s: the notes are %v", name, src.Notes())
		}
	}
	// What was said of the first line stands, and the strict form has no titles.
	for _, o := range []Options{{}, {Header: HeaderAbsent}, {Header: HeaderChecked, Plain: true}, {Header: HeaderChecked, HeaderRow: 1}} {
		src, err := openDetected(t, "Report\nage,sex\n20,F\n", o)
		if err == nil {
			if _, _, err = readSource(src, nil); err == nil {
				t.Errorf("%+v: found names below a title", o)
			}
		}
	}
}

// A row of totals may have several sums and a number of records beside its name, and half of its cells are empty.
func TestTotalsOfSeveralColumns(t *testing.T) {
	for row, is := range map[string]bool{
		"合計,,,,,7791,40251300": true, "合計（400名）,,,,,7791,": true, "合計 400件,,,,,,40251300": true, "平均,,,,,19.5,1000": true,
		",Total (400),,,,7,9":     true,
		"合計,女,,43,,7791,40251300": false, "小計画,,,,,7,9": false, "Sumika,,,,,7,9": false,
	} {
		src, err := openDetected(t, "id,sex,born,age,ward,stay,cost\np1,F,1970-01-01,40,A,4,9\n"+row+"\np2,M,1980-01-01,41,B,8,9\n",
			Options{Totals: TotalsLeft})
		if err != nil {
			t.Fatal(err)
		}
		_, rows, err := readSource(src, nil)
		if err != nil {
			t.Fatal(err)
		}
		if left := len(rows) == 2; left != is {
			t.Errorf("%s: left out: %t", row, left)
		}
	}
}

// Rows of totals are refused, read or left out as it was decided, whatever columns are read.
func TestTotals(t *testing.T) {
	for row, is := range map[string]bool{
		"合計,,12": true, `," 総 計 ",12`: true, "計：,,": true, "Grand Total,,12": true,
		"合計,A,12": false, "合計額,,12": false, ",,12": false,
	} {
		text := "id,ward,stay\np1,A,4\n" + row + "\np2,B,8\n"
		for policy, want := range map[Totals]int{TotalsRead: 3, TotalsLeft: 2, TotalsRefused: 0} {
			if !is {
				want = 3
			}
			src, err := openDetected(t, text, Options{Totals: policy})
			if err != nil {
				t.Fatal(err)
			}
			for _, columns := range [][]int{nil, {2}} {
				_, rows, err := readSource(src, columns)
				if refused := noren.CodeOf(err) == table.CodeTotals; refused != (want == 0) || !refused && err != nil {
					t.Fatalf("%s: %v: %v", row, policy, err)
				}
				if want > 0 && len(rows) != want {
					t.Errorf("%s: %v: %d records, want %d", row, policy, len(rows), want)
				}
			}
			if n, err := src.CountTotals(t.Context()); err != nil || n > 0 != is || n != src.Totals() || src.TotalsNote().IsZero() == is {
				t.Errorf("%s: %d totals: %v", row, n, err)
			}
		}
	}
	two, err := openDetected(t, "ward,beds\nA,4\n合計,4\n", Options{Totals: TotalsRefused})
	if err != nil {
		t.Fatal(err)
	}
	if _, rows, err := readSource(two, nil); err != nil || len(rows) != 2 {
		t.Errorf("a table of two columns: %d records, %v", len(rows), err) // its records look no different
	}
	strict, err := openDetected(t, "id,ward,stay\np1,A,4\n合計,,12\n", Options{Plain: true, Totals: TotalsRefused})
	if err != nil {
		t.Fatal(err)
	}
	if _, rows, err := readSource(strict, nil); err != nil || len(rows) != 2 {
		t.Errorf("the strict form: %d records, %v", len(rows), err)
	}
	if _, err := openDetected(t, "id,ward,stay\np1,A,4\n", Options{Plain: true, Totals: TotalsLeft}); noren.KindOf(err) != noren.Usage {
		t.Errorf("the strict form leaves totals out: %v", err)
	}
}
