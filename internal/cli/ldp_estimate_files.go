package cli

import (
	"context"
	"os"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/survey"
)

// distinctFiles refuses a file that is named twice.
func distinctFiles(paths []string) error {
	var seen []os.FileInfo
	input := false
	for _, path := range paths {
		again := path == "-" && input
		if path == "-" {
			input = true
		} else if info, err := os.Stat(path); err == nil {
			for _, other := range seen {
				again = again || os.SameFile(info, other)
			}
			seen = append(seen, info)
		}
		if again {
			return &noren.Error{Kind: noren.BadData, Where: path, What: "is given twice: its reports would be counted twice", Hint: "name each file of reports once"}
		}
	}
	return nil
}

func addReports(ctx context.Context, t *terminal, c *survey.Collector, path string) error {
	if path == "-" {
		return c.AddLines(ctx, t.stdin, "standard input", t.progress.report)
	}
	in, err := os.Open(path)
	if err != nil {
		return &noren.Error{Kind: noren.Usage, Where: path, What: "the reports cannot be read", Hint: "does the file exist?"}
	}
	defer func() { _ = in.Close() }()
	err = c.AddLines(ctx, in, path, t.progress.report)
	t.progress.clear()
	return err
}

// readCounts adds up counts files.
func readCounts(r *ldp.Rappor, paths []string) (*ldp.RapporCounts, error) {
	var sum *ldp.RapporCounts
	var read []*ldp.RapporCounts
	for i, path := range paths {
		c, err := readFile(path, "the counts", r.ReadCounts)
		if err != nil {
			return nil, err
		}
		for j, other := range read {
			if c.Reports() > 0 && slices.Equal(c.N, other.N) && slices.Equal(c.Bits, other.Bits) {
				return nil, &noren.Error{Kind: noren.BadData, Where: paths[i], What: "has the same counts as " + paths[j], Hint: "name each file of counts once"}
			}
		}
		read = append(read, &ldp.RapporCounts{N: slices.Clone(c.N), Bits: slices.Clone(c.Bits)})
		if sum == nil {
			sum = c
			continue
		}
		for i := range c.N {
			sum.N[i] += c.N[i]
		}
		for i := range c.Bits {
			sum.Bits[i] += c.Bits[i]
		}
	}
	return sum, nil
}
