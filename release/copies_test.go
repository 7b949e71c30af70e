package release_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/encoding/japanese"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/table"
)

// columnsOf is a table by columns.
type columnsOf struct {
	names []string
	cells [][]string
	types []dataset.Column // how they are defined
	form  dataset.File
	gap   []string // the missing texts of the definition
}

// hospital is a table of persons: numbers, dates and words, with gaps.
func hospital(rng *rand.Rand) columnsOf {
	out := columnsOf{
		names: []string{"person", "age", "cost", "day"}, cells: make([][]string, 4), gap: []string{"n.d."},
		types: []dataset.Column{{}, {Type: "integer"}, {Type: "decimal"}, {Type: "date"}},
	}
	for i := range 60 {
		row := []string{
			fmt.Sprintf("Person %d-%d", i, rng.IntN(1000)), strconv.Itoa(18 + rng.IntN(80)),
			strconv.FormatFloat(float64(rng.IntN(100_000))/100, 'f', 2, 64), table.ISODate.Format(int64(18000 + rng.IntN(2000))),
		}
		for j := range row {
			if j > 0 && rng.IntN(12) == 0 {
				row[j] = "n.d."
			}
			out.cells[j] = append(out.cells[j], row[j])
		}
	}
	return out
}

func (c *columnsOf) each(column int, change func(string) string) {
	for i, text := range c.cells[column] {
		c.cells[column][i] = change(text)
	}
}

// forms are what two exports of one system may differ by.
var forms = map[string]func(rng *rand.Rand, c *columnsOf){
	"other names": func(rng *rand.Rand, c *columnsOf) {
		for i := range c.names {
			c.names[i] = fmt.Sprintf("列%d", rng.IntN(1000)*10+i)
		}
	},
	"another order of records": func(rng *rand.Rand, c *columnsOf) {
		rng.Shuffle(len(c.cells[0]), func(i, j int) {
			for _, cells := range c.cells {
				cells[i], cells[j] = cells[j], cells[i]
			}
		})
	},
	"fewer columns": func(rng *rand.Rand, c *columnsOf) {
		i := rng.IntN(len(c.names))
		for range i {
			c.names, c.cells, c.types = c.names[1:], c.cells[1:], c.types[1:]
		}
	},
	"texts": func(_ *rand.Rand, c *columnsOf) {
		for i := range c.types {
			c.types[i] = dataset.Column{}
		}
	},
	"letters and blanks": func(_ *rand.Rand, c *columnsOf) {
		for i := range c.cells {
			if c.types[i].Type == "" {
				c.each(i, func(s string) string { return strings.ToUpper(s) + "  " })
			}
		}
	},
	"numbers": func(_ *rand.Rand, c *columnsOf) {
		for i := range c.cells {
			if t := c.types[i].Type; t == "integer" || t == "decimal" {
				c.types[i] = dataset.Column{Type: "decimal"}
				c.each(i, func(s string) string {
					if v, err := strconv.ParseFloat(s, 64); err == nil {
						return "0" + strconv.FormatFloat(v, 'f', 3, 64)
					}
					return s
				})
			}
		}
	},
	"dates": func(rng *rand.Rand, c *columnsOf) {
		layout := []table.Layout{"DD.MM.YYYY", "YYYY/M/D", "MM/DD/YYYY", "YYYY年M月D日", "YYYYMMDD"}[rng.IntN(5)]
		for i := range c.cells {
			if c.types[i].Type == "date" {
				c.types[i].Layout = string(layout)
				c.each(i, func(s string) string {
					if v, err := table.ISODate.Parse(s); err == nil {
						return layout.Format(v)
					}
					return s
				})
			}
		}
	},
	"gaps": func(rng *rand.Rand, c *columnsOf) {
		gap := []string{"", "NULL", "none known"}[rng.IntN(3)]
		c.gap = []string{gap}
		for i := range c.cells {
			c.each(i, func(s string) string {
				if s == "n.d." {
					return gap
				}
				return s
			})
		}
	},
	"encoding":  func(_ *rand.Rand, c *columnsOf) { c.form.Encoding = "shift_jis" },
	"delimiter": func(_ *rand.Rand, c *columnsOf) { c.form.Delimiter = ";" },
	"files":     func(_ *rand.Rand, c *columnsOf) { c.form.Sharded = true },
}

// formOrder is the order in which forms are applied: names and types last, as the others
// go by them.
var formOrder = []string{
	"gaps", "numbers", "dates", "letters and blanks", "another order of records", "fewer columns", "texts",
	"other names", "encoding", "delimiter", "files",
}

// grantOf writes the table and grants it.
func grantOf(t *testing.T, l *ledger.Ledger, name string, c columnsOf) error {
	t.Helper()
	d := dataset.Definition{File: c.form, Missing: c.gap}
	var header []string
	for i, column := range c.types {
		column.Name = c.names[i]
		d.Columns, header = append(d.Columns, column), append(header, c.names[i])
	}
	delimiter := ","
	if c.form.Delimiter != "" {
		delimiter = c.form.Delimiter
	}
	path := filepath.Join(t.TempDir(), name)
	files := 1
	if c.form.Sharded {
		files = 3
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for n := range files {
		text := strings.Join(header, delimiter) + "\n"
		for row := n; row < len(c.cells[0]); row += files {
			var cells []string
			for i := range c.cells {
				cells = append(cells, c.cells[i][row])
			}
			text += strings.Join(cells, delimiter) + "\n"
		}
		if c.form.Encoding == "shift_jis" {
			var err error
			if text, err = japanese.ShiftJIS.NewEncoder().String(text); err != nil {
				t.Fatal(err)
			}
		}
		to := path
		if c.form.Sharded {
			to = filepath.Join(path, fmt.Sprint(n, ".csv"))
		}
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reviewed, err := release.ReviewGrant(t.Context(), l, release.Candidate{Path: path, Definition: &d})
	if err == nil {
		_, err = release.ConfirmGrant(t.Context(), l, release.Grant{Name: name, Cap: account.Cost{Epsilon: milli}}, reviewed)
	}
	return err
}

// A copy of a granted table, in any combination of the forms in which two exports of one
// system may differ, needs a declaration under another name.
func TestCopiesNeedADeclaration(t *testing.T) { testCopies(t, 40) }

func TestLongCopiesNeedADeclaration(t *testing.T) {
	randtest.Long(t)
	testCopies(t, 1000)
}

func testCopies(t *testing.T, trials int) {
	dir := t.TempDir()
	book := filepath.Join(dir, "noren.db")
	if err := ledger.Create(t.Context(), book); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), book, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if err := grantOf(t, l, "hospital", hospital(rand.New(rand.NewPCG(1, 2)))); err != nil {
		t.Fatal(err)
	}
	// Another hospital, of the same columns under other names, is other people.
	other := hospital(rand.New(rand.NewPCG(3, 4)))
	forms["other names"](rand.New(rand.NewPCG(5, 6)), &other)
	if err := grantOf(t, l, "other", other); err != nil {
		t.Fatal(err)
	}
	for trial := range trials {
		rng := rand.New(rand.NewPCG(7, uint64(trial)))
		c := hospital(rand.New(rand.NewPCG(1, 2)))
		var with []string
		for _, name := range formOrder {
			if rng.IntN(2) == 0 || name == "other names" {
				with = append(with, name)
				forms[name](rng, &c)
			}
		}
		err := grantOf(t, l, fmt.Sprint("copy", trial), c)
		if code := noren.CodeOf(err); code != "other-people" && code != "same-table" {
			t.Errorf("a copy with %s: %v", strings.Join(with, ", "), err)
		}
	}
	if len(formOrder) != len(forms) || slices.ContainsFunc(formOrder, func(name string) bool { return forms[name] == nil }) {
		t.Error("a form is never tried")
	}
}
