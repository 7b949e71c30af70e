// Package membership measures membership inference against k-anonymous releases: how
// well somebody who knows the quasi-identifiers of a person can tell from a release
// whether the person is in its table.
//
// A table is divided at random into members and outsiders. The members are released;
// the attacker scores every record of both halves against the written release, a higher
// score meaning a more likely member:
//
//   - Where every cell shows one value, the score is less the distance to the nearest
//     class: the sum over columns of the squared difference over the range of the
//     column for numbers, and of 0 or 1 for categories.
//   - Where cells show ranges, sets or shares, a record that some class spans scores by
//     the density that the release has at its values: the sum over the classes of
//     their sizes times the probabilities of its values under their cells, a range
//     read evenly, with a mean as the distribution of largest entropy, a set evenly and shares as
//     they say. A record that no class spans is an outsider for certain (the members'
//     own ranges span them); such records come after all others, by distance.
//
// The AUC is the probability that a member scores higher than an outsider, a tie
// counting half: .5 for an attacker who learns nothing.
package membership

import (
	"context"
	"encoding/csv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// Table is a table of quasi-identifiers: n records x d columns of text.
type Table struct {
	Fields []table.Field
	Rows   [][]string
}

// Read reads the named columns of a CSV file. A column of which every value is a number
// is one of numbers. Records with an empty value are left out.
func Read(path string, quasi []string) (*Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &noren.Error{Kind: noren.BadData, Where: path, Err: err}
	}
	defer func() { _ = f.Close() }()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, &noren.Error{Kind: noren.BadData, Where: path, Err: err}
	}
	if len(all) < 2 {
		return nil, &noren.Error{Kind: noren.BadData, Where: path, What: "expected a header and records"}
	}
	at := make([]int, len(quasi))
	for j, name := range quasi {
		at[j] = slices.Index(all[0], name)
		if at[j] < 0 {
			return nil, &noren.Error{Kind: noren.Usage, Where: path, What: "has no column %s", Args: []any{name}}
		}
	}
	t := &Table{Fields: make([]table.Field, len(quasi))}
	for _, row := range all[1:] {
		out := make([]string, len(quasi))
		for j, c := range at {
			out[j] = row[c]
		}
		if !slices.Contains(out, "") {
			t.Rows = append(t.Rows, out)
		}
	}
	for j, name := range quasi {
		f := table.Field{Name: name, Role: table.Quasi, Type: table.Integer}
		for _, row := range t.Rows {
			if _, err := strconv.ParseInt(row[j], 10, 64); err == nil {
				continue
			}
			if _, err := strconv.ParseFloat(row[j], 64); err != nil {
				f.Type = table.Category
				break
			}
			f.Type = table.Decimal
		}
		t.Fields[j] = f
	}
	return t, nil
}

// Split divides the records at random into two halves.
func (t *Table) Split(seed uint64) (members, outsiders *Table) {
	order := rand.New(rand.NewPCG(seed, 16)).Perm(len(t.Rows))
	members, outsiders = &Table{Fields: t.Fields}, &Table{Fields: t.Fields}
	for n, i := range order {
		if n < len(order)/2 {
			members.Rows = append(members.Rows, t.Rows[i])
		} else {
			outsiders.Rows = append(outsiders.Rows, t.Rows[i])
		}
	}
	return members, outsiders
}

// Release releases a table under o and returns the records of the written file.
func Release(ctx context.Context, t *Table, o kanon.Options) ([][]string, error) {
	dir, err := os.MkdirTemp("", "noren-membership-")
	if err != nil {
		return nil, &noren.Error{What: "a temporary folder cannot be made", Err: err}
	}
	defer func() { _ = os.RemoveAll(dir) }()
	in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.csv")
	if err := t.write(in); err != nil {
		return nil, err
	}
	src, err := file.Open(ctx, in, file.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }()
	job := kanon.Job{Source: src, Schema: table.Schema{Fields: t.Fields}, Output: kanon.Output{Path: out}, Options: o}
	if _, err := kanon.Anonymize(ctx, job); err != nil {
		return nil, err
	}
	f, err := os.Open(out)
	if err != nil {
		return nil, &noren.Error{Where: out, Err: err}
	}
	defer func() { _ = f.Close() }()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil || len(all) != len(t.Rows)+1 {
		return nil, &noren.Error{Where: out, What: "expected %d records, got %d lines", Args: []any{len(t.Rows), len(all)}, Err: err}
	}
	return all[1:], nil
}

func (t *Table) write(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return &noren.Error{Where: path, Err: err}
	}
	names := make([]string, len(t.Fields))
	for j, field := range t.Fields {
		names[j] = field.Name
	}
	w := csv.NewWriter(f)
	err = w.Write(names)
	if err == nil {
		err = w.WriteAll(t.Rows)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return &noren.Error{Where: path, Err: err}
	}
	return nil
}

// Outcome is what the attack came to.
type Outcome struct {
	// AUC is the probability that a member scores higher than an outsider.
	AUC float64
	// Advantage is the largest difference of the shares of members and of outsiders that
	// a threshold takes for members.
	Advantage float64
	// Excluded is the share of outsiders that no class spans.
	Excluded float64
}

// Measure attacks a release of the members.
func Measure(ctx context.Context, members, outsiders *Table, release [][]string) (Outcome, error) {
	a, err := newAttack(members, outsiders, release)
	if err != nil {
		return Outcome{}, err
	}
	in, err := a.scores(ctx, members.Rows)
	if err != nil {
		return Outcome{}, err
	}
	out, err := a.scores(ctx, outsiders.Rows)
	if err != nil {
		return Outcome{}, err
	}
	o := Outcome{}
	o.AUC, o.Advantage = compare(in, out)
	if a.spans {
		for _, s := range out {
			if s < 0 {
				o.Excluded++
			}
		}
		o.Excluded /= float64(max(1, len(out)))
	}
	return o, nil
}

// compare is the AUC and the advantage of two sets of scores.
func compare(in, out []float64) (auc, advantage float64) {
	in, out = slices.Clone(in), slices.Clone(out)
	slices.Sort(in)
	slices.Sort(out)
	below, upTo := 0, 0 // outsiders below the score, and up to it
	won := 0.0
	for _, s := range in {
		for below < len(out) && out[below] < s {
			below++
		}
		for upTo < len(out) && out[upTo] <= s {
			upTo++
		}
		won += float64(below) + float64(upTo-below)/2
	}
	i, j := 0, 0
	for i < len(in) || j < len(out) {
		var s float64
		switch {
		case i == len(in):
			s = out[j]
		case j == len(out):
			s = in[i]
		default:
			s = min(in[i], out[j])
		}
		for i < len(in) && in[i] == s {
			i++
		}
		for j < len(out) && out[j] == s {
			j++
		}
		// The threshold is just above s.
		advantage = max(advantage, float64(j)/float64(len(out))-float64(i)/float64(len(in)))
	}
	return won / float64(len(in)) / float64(len(out)), advantage
}
