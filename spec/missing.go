package spec

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/infer"
)

// Where a specification does not state which texts stand for a missing value, those of
// the sensitive columns are found by looking at these columns alone. A release keeps
// these columns value for value. So a release, which is made by looking at the source,
// and its verification, which looks at the released file, find the same texts.

// settleReleased finds what is missing in the sensitive columns of a release.
func (r *resolution) settleReleased(ctx context.Context, src table.Source) error {
	if r.statesMissing() {
		return nil
	}
	var sensitive []int
	for i, c := range src.Columns() {
		if r.Columns[c.Name].Role == table.Sensitive.String() {
			sensitive = append(sensitive, i)
		}
	}
	if len(sensitive) == 0 {
		return nil
	}
	found, err := infer.Infer(ctx, src, infer.Options{Columns: sensitive, Progress: r.how.Progress})
	if err != nil {
		return err
	}
	r.addMissing(found.Missing)
	return nil
}

// settleSource does the same for the source of a release, in addition to what was found
// to be missing in its other columns. A text that is missing there and a value in a
// sensitive column is an error with the code [CodeMissingUnclear].
func (r *resolution) settleSource(ctx context.Context, src table.Source, schema *table.Schema) error {
	sensitive := schema.WithRole(table.Sensitive)
	if len(sensitive) == 0 {
		return nil
	}
	found, err := infer.Infer(ctx, src, infer.Options{Columns: sensitive, Progress: r.how.Progress})
	if err != nil {
		return err
	}
	var others []string
	for _, text := range r.Input.Missing {
		if !slices.Contains(found.Missing, text) {
			others = append(others, text)
		}
	}
	if len(others) > 0 {
		again, err := infer.Infer(ctx, src, infer.Options{Columns: sensitive, Missing: others, Progress: r.how.Progress})
		if err != nil {
			return err
		}
		for _, c := range again.Columns {
			for _, token := range c.Tokens {
				if token.Text != "" {
					return &noren.Error{
						Kind: noren.Usage, Code: CodeMissingUnclear, Where: table.PlaceOf(src, noren.Textf("column %s", c.Field.Name)),
						What: "%q stands for a missing value among numbers or dates elsewhere and is a word here: expected a decision which it is",
						Args: []any{token.Text},
						Hint: "name this text as missing if it is missing everywhere; else name the texts that are missing",
					}
				}
			}
		}
	}
	var added []string
	for _, text := range found.Missing {
		if !slices.Contains(r.Input.Missing, text) {
			added = append(added, text)
		}
	}
	r.addMissing(added)
	return nil
}
