package questions

import (
	"slices"
	"testing"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/books"
)

// Of a book with a model of dependent records its column alone can be asked about, and no public table is weighted.
func TestKindsUnderAModel(t *testing.T) {
	book := &books.Book{
		Unit: "record", Accounting: "epsilon", Cap: api.Amount{Epsilon: "4"},
		Columns: []books.DefinedColumn{
			{Name: "state", Type: "category", Keys: []string{"on", "off"}}, {Name: "age", Type: "integer", Bounds: []string{"0", "110"}},
		},
		Publics: []books.PublicTable{{Table: "census", Name: "census", Columns: []string{"state"}}},
	}
	names := func() (out []string) {
		for _, k := range Kinds(book) {
			out = append(out, k.Kind)
		}
		return out
	}
	if got := names(); slices.Contains(got, "correlated") || !slices.Contains(got, "ratio") || !slices.Contains(got, "mean") {
		t.Errorf("without a model: %v", got)
	}
	book.Model = &books.Modelled{Column: "state", States: []string{"on", "off"}}
	if got := names(); !slices.Equal(got, []string{"count", "histogram", "correlated"}) {
		t.Errorf("under a model: %v", got)
	}
	book.Unit = "person"
	book.Model = nil
	if got := names(); slices.Contains(got, "ratio") || slices.Contains(got, "outliers") {
		t.Errorf("of persons: %v", got)
	}
}
