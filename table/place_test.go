package table_test

import (
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

type named struct{ table.Source }

func (named) Name() string { return "in.csv" }

type sheet struct{ named }

func (sheet) Place() noren.Place {
	return noren.Place{noren.File("in.xlsx"), noren.Textf("sheet %s", "患者")}
}

// The place of a table in a workbook has the sheet as a text, which is shown in the language of the reader.
func TestPlaceOf(t *testing.T) {
	if at := table.PlaceOf(named{}, noren.Textf("column %s", "age")).String(); at != "in.csv: column age" {
		t.Error(at)
	}
	at := table.PlaceOf(sheet{}, noren.Textf("column %s", "age"))
	if _, is := at[1].(noren.Text); !is || at.String() != "in.xlsx: sheet 患者: column age" {
		t.Error(at)
	}
}
