package cli

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/spec"
)

// patience bounds the time that a completion may take.
const patience = 2 * time.Second

// values are the words that flags take, beside those of the parameters of a release, by the
// names of the flags. A command completes those that the help of its flag names.
var values = map[string][]string{
	"accounting":  {"epsilon", "zcdp"},
	"adversaries": {"all", "empty", "full"},
	"bins":        {"equal-frequency", "equal-width"},
	"correction":  {"holm", "bonferroni"},
	"coverage":    {"auto", "core", "exact"},
	"encoding":    {"utf-8", "shift_jis", "utf-16le", "utf-16be", "euc-jp", "iso-2022-jp", "latin-1", "windows-1252"},
	"features":    {"kernels", "marginals", "both"},
	"kind":        {"number", "month", "week", "fiscal", "postal", "municipality", "icd10"},
	"mechanism": {
		"lomax", "student-t", "laplace", "gaussian", "global-laplace", "exponential", "smooth", "rkhs-pure", "rkhs-gaussian",
		"parametric", "noisy-centres", "grr", "oue", "sue", "rappor", "olh", "duchi", "piecewise", "hybrid", "square-wave",
	},
	"method":          {"exact", "quilt", "tanh", "range"},
	"neighbours":      {"add-remove", "replace-one"},
	"output-encoding": {"utf-8", "shift_jis", "utf-16le", "utf-16be", "euc-jp", "iso-2022-jp", "latin-1", "windows-1252"},
	"population":      {"zipf", "uniform", "geometric", "normal", "bimodal"},
	"post":            {"plain", "entropy", "nnls", "clip"},
	"public-encoding": {"utf-8", "shift_jis"},
	"scale":           {"bounds"},
}

// wordsOf are the words of a flag: those of the parameter of a release of that name, then values.
func wordsOf(flag string) []string {
	return slices.Concat(spec.ParameterNamed(flag).Words, values[flag])
}

// lists are the flags whose values are comma-separated, by the flag of one value.
var lists = map[string]string{"methods": "method"}

// columnTypes are what --type COLUMN= takes.
var columnTypes = []string{"integer", "decimal", "date", "ordered", "category"}

// newColumn are the flags whose column the command makes: there is nothing to complete.
var newColumn = map[string]bool{"client": true, "weight-column": true}

// complete makes c and its commands complete data sets, columns and the words of flags.
func complete(c *cobra.Command, t *terminal) {
	if args := completeArgs(c, t); args != nil {
		c.ValidArgsFunction = args
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if fn := completeFlag(f, t); fn != nil {
			_ = c.RegisterFlagCompletionFunc(f.Name, fn) // it fails for a flag that c lacks
		}
	})
	for _, sub := range c.Commands() {
		complete(sub, t)
	}
}

// completeArgs completes the arguments that the usage of c calls a data set or lists as
// a|b|c; nil where it does neither.
func completeArgs(c *cobra.Command, t *terminal) cobra.CompletionFunc {
	var places []string
	for _, word := range strings.Fields(c.Use)[1:] {
		if strings.HasPrefix(word, "-") || strings.HasPrefix(word, "[-") {
			break
		}
		places = append(places, strings.Trim(word, "[]"))
	}
	ours := false
	for _, p := range places {
		ours = ours || p == "DATASET" || p == "NAME" || strings.Contains(p, "|")
	}
	if !ours {
		return nil
	}
	return func(c *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		switch {
		case len(args) >= len(places):
			return nil, cobra.ShellCompDirectiveNoFileComp
		case places[len(args)] == "NAME":
			return starting(datasets(c, t), prefix), cobra.ShellCompDirectiveNoFileComp
		case places[len(args)] == "DATASET": // a data set is named by its file, too
			return starting(datasets(c, t), prefix), cobra.ShellCompDirectiveDefault
		case strings.Contains(places[len(args)], "|"):
			return starting(strings.Split(places[len(args)], "|"), prefix), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
}

// completeFlag completes columns and words; nil for all other flags.
func completeFlag(f *pflag.Flag, t *terminal) cobra.CompletionFunc {
	place, _ := pflag.UnquoteUsage(f)
	name, value, pair := strings.Cut(place, "=")
	many := strings.Contains(f.Value.Type(), "Slice")
	if (name == "COLUMN" || name == "columns") && !newColumn[f.Name] {
		return func(c *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if column, typed, ok := strings.Cut(prefix, "="); ok && pair {
				if value != "TYPE" {
					return nil, cobra.ShellCompDirectiveDefault
				}
				return prefixed(column+"=", starting(columnTypes, typed)), cobra.ShellCompDirectiveNoFileComp
			}
			found := columns(c, t, args)
			if pair {
				return suffixed(starting(found, prefix), "="), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
			}
			return listed(found, prefix, many), cobra.ShellCompDirectiveNoFileComp
		}
	}
	name = f.Name
	if one, known := lists[f.Name]; known {
		name, many = one, true
	}
	var words []string
	for _, w := range wordsOf(name) {
		if mentions(f.Usage, w) {
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		return nil
	}
	return func(_ *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return listed(words, prefix, many), cobra.ShellCompDirectiveNoFileComp
	}
}

// mentions reports whether text holds word by itself.
func mentions(text, word string) bool {
	part := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' }
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !part(r) }) {
		if w == word {
			return true
		}
	}
	return false
}

// datasets are the names of the data sets of the ledger; none where it cannot be read.
func datasets(c *cobra.Command, t *terminal) []string {
	ctx, stop := context.WithTimeout(c.Context(), patience)
	defer stop()
	s := t.service(ledgerOf(c))
	s.Note = nil
	out, err := s.LedgerShow(ctx, &api.LedgerShowRequest{})
	if err != nil {
		return nil
	}
	var names []string
	for i := range out.Datasets {
		names = append(names, out.Datasets[i].Name)
	}
	return names
}

// columns are the columns of the table that the command line names: of a data set those
// of its schema, of another file those of its header.
func columns(c *cobra.Command, t *terminal, args []string) []string {
	r := &api.ColumnsRequest{Table: argument(args), Delimiter: stringFlag(c, "delimiter"), Encoding: stringFlag(c, "encoding")}
	if path := stringFlag(c, "file"); path != "" {
		r.Table = path
	}
	ctx, stop := context.WithTimeout(c.Context(), patience)
	defer stop()
	s := t.service(ledgerOf(c))
	s.Note, s.Progress = nil, nil
	out, err := s.Columns(ctx, r)
	if err != nil {
		return nil
	}
	return out.Names
}

func ledgerOf(c *cobra.Command) *ledgerFlag { return &ledgerFlag{path: stringFlag(c, "ledger")} }

// stringFlag is the value of a flag of c, "" where c has none of the name.
func stringFlag(c *cobra.Command, name string) string {
	if f := c.Flags().Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// listed completes the last part of a comma-separated list, or a single word.
func listed(all []string, prefix string, many bool) []cobra.Completion {
	before := ""
	if i := strings.LastIndexByte(prefix, ','); many && i >= 0 {
		before, prefix = prefix[:i+1], prefix[i+1:]
	}
	given := map[string]bool{}
	for _, w := range strings.Split(before, ",") {
		given[w] = true
	}
	var found []cobra.Completion
	for _, w := range starting(all, prefix) {
		if !given[w] {
			found = append(found, before+w)
		}
	}
	return found
}

// starting are the words that begin with prefix and hold no line break, which would end
// a completion.
func starting(all []string, prefix string) []cobra.Completion {
	var found []cobra.Completion
	for _, w := range all {
		if strings.HasPrefix(w, prefix) && !strings.ContainsFunc(w, unicode.IsControl) {
			found = append(found, w)
		}
	}
	return found
}

func prefixed(prefix string, words []string) []cobra.Completion {
	for i := range words {
		words[i] = prefix + words[i]
	}
	return words
}

func suffixed(words []string, suffix string) []cobra.Completion {
	for i := range words {
		words[i] += suffix
	}
	return words
}
