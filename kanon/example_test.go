package kanon_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// Visits of a clinic are released so that each is one of three at least,
// of whom not all have the same diagnosis.
func Example() {
	const visits = `name,age,day,diagnosis,note
Abe,34,2024-03-01,asthma,
Baba,36,2024-03-05,influenza,"came late, twice"
Chiba,35,2024-03-04,asthma,
Doi,61,2024-06-02,gout,
Endo,66,2024-06-30,gout,called
Fujita,?,2024-06-12,influenza,
Goto,63,2024-06-09,gout,
`
	ctx := context.Background()
	src, err := file.OpenStdin(ctx, strings.NewReader(visits), file.Options{Name: "visits.csv"})
	if err != nil {
		panic(err)
	}
	defer func() { _ = src.Close() }()
	result, err := kanon.Anonymize(ctx, kanon.Job{
		Source: src,
		Schema: table.Schema{Fields: []table.Field{
			{Name: "name", Role: table.Identifier},
			{Name: "age", Role: table.Quasi, Type: table.Integer},
			{Name: "day", Role: table.Quasi, Type: table.Date},
			{Name: "diagnosis", Role: table.Sensitive},
			{Name: "note"},
		}},
		Missing: []string{"?"},
		Kept:    []string{"note"}, // the steward decided
		Output:  kanon.Output{Path: "-", Stdout: os.Stdout},
		Options: kanon.Options{
			K: 3, Diversity: &privacy.Diversity{L: 2}, Publish: publish.Generalize, Refine: refine.Fast,
			KeepOrder: true, // for the example alone: it links the records to the source
		},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Guarantee)
	fmt.Printf("%d classes, the smallest of %d records\n", result.Classes, result.AchievedK)
	// Output:
	// age,day,diagnosis,note
	// [34-36],[2024-03-01-2024-03-05],asthma,
	// [34-36],[2024-03-01-2024-03-05],influenza,"came late, twice"
	// [34-36],[2024-03-01-2024-03-05],asthma,
	// [61-66],[2024-06-02-2024-06-30],gout,
	// [61-66],[2024-06-02-2024-06-30],gout,called
	// [61-66],[2024-06-02-2024-06-30],influenza,
	// [61-66],[2024-06-02-2024-06-30],gout,
	// k-anonymity, k = 3 over age, day; distinct 2-diversity of diagnosis
	// 2 classes, the smallest of 3 records
}
