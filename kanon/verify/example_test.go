package verify_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

func Example() {
	const release = `age,sex,diagnosis
[30-39],F,asthma
[30-39],F,influenza
[30-39],F,asthma
[40-49],M,influenza
[40-49],M,influenza
`
	ctx := context.Background()
	src, err := file.OpenStdin(ctx, strings.NewReader(release), file.Options{Name: "release.csv"})
	if err != nil {
		panic(err)
	}
	defer func() { _ = src.Close() }()
	for _, req := range []privacy.Requirement{
		{K: 2},
		{K: 3, Diversity: &privacy.Diversity{L: 2}},
	} {
		result, err := verify.Verify(ctx, src, verify.Options{
			Quasi:       []string{"age", "sex"},
			Sensitive:   []table.Field{{Name: "diagnosis"}},
			Requirement: req,
		})
		if err != nil {
			panic(err)
		}
		fmt.Printf("%d records in %d classes, the smallest of %d\n", result.Rows, result.Classes, result.AchievedK)
		fmt.Println(result.Err())
	}
	// Output:
	// 5 records in 2 classes, the smallest of 2
	// <nil>
	// 5 records in 2 classes, the smallest of 2
	// release.csv: 1 of 2 classes has fewer than k = 3 records (2 records in them, the smallest class has 2); 1 of 2 classes is not diverse in diagnosis as asked for (distinct 2-diversity)
}
