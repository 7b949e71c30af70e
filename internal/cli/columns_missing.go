package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/infer"
)

// Where neither a specification nor --missing says which texts stand for a
// missing value, those of the sensitive columns are found by looking at these
// columns alone. A release keeps them value for value, so that anonymize, which
// looks at the source, and verify, which looks at the release, find the same.

// missingSaid reports whether it is said which texts stand for a missing value.
func missingSaid(s *spec.Spec) bool { return s.Name() != "" || len(s.Input.Missing) > 0 }

// settleReleased finds what is missing in the sensitive columns of a release.
func settleReleased(ctx context.Context, s *spec.Spec, src table.Source, t *terminal) error {
	if missingSaid(s) {
		return nil
	}
	var sensitive []int
	for i, c := range src.Columns() {
		if s.Columns[c.Name].Role == table.Sensitive.String() {
			sensitive = append(sensitive, i)
		}
	}
	if len(sensitive) == 0 {
		return nil
	}
	found, err := infer.Infer(ctx, src, infer.Options{Columns: sensitive, Progress: t.progress.report})
	if err != nil {
		return err
	}
	tellMissing(t, s, found.Missing)
	return nil
}

// settleSource does the same for the source of a release, beside what was found
// to be missing in its other columns. A text that is missing there and a value
// in a sensitive column must be decided on.
func settleSource(ctx context.Context, s *spec.Spec, src table.Source, schema *table.Schema, t *terminal) error {
	sensitive := schema.WithRole(table.Sensitive)
	if len(sensitive) == 0 {
		return nil
	}
	found, err := infer.Infer(ctx, src, infer.Options{Columns: sensitive, Progress: t.progress.report})
	if err != nil {
		return err
	}
	var others []string
	for _, text := range s.Input.Missing {
		if !slices.Contains(found.Missing, text) {
			others = append(others, text)
		}
	}
	if len(others) > 0 {
		again, err := infer.Infer(ctx, src, infer.Options{Columns: sensitive, Missing: others, Progress: t.progress.report})
		if err != nil {
			return err
		}
		for _, c := range again.Columns {
			for _, token := range c.Tokens {
				if token.Text != "" {
					return &noren.Error{
						Kind: noren.Usage, Where: src.Name() + ": column " + c.Field.Name,
						What: fmt.Sprintf("%q stands for a missing value among numbers or dates elsewhere and is a word here: expected to be told which it is", token.Text),
						Hint: fmt.Sprintf("--missing %q if it is missing everywhere; else name the texts that are missing", token.Text),
					}
				}
			}
		}
	}
	var new []string
	for _, text := range found.Missing {
		if !slices.Contains(s.Input.Missing, text) {
			new = append(new, text)
		}
	}
	tellMissing(t, s, new)
	return nil
}

// tellMissing takes texts for missing values, and says so.
func tellMissing(t *terminal, s *spec.Spec, texts []string) {
	if len(texts) == 0 {
		return
	}
	s.Input.Missing = append(s.Input.Missing, texts...)
	slices.Sort(s.Input.Missing)
	t.note("taken for missing values: %s (say --missing to decide otherwise)", strings.Join(texts, ", "))
}
