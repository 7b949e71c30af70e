package cli

import (
	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// earlierFlags name an earlier release of the same people.
type earlierFlags struct{ release, source string }

func (f *earlierFlags) register(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.release, "previous", "", "an earlier release (`FILE`) of the same people: count the candidates that remain to somebody who holds both; needs --previous-source")
	s.StringVar(&f.source, "previous-source", "", "the `FILE` that --previous was made from; persons are joined by --unit, otherwise records by equal values")
}

// check refuses one without the other, and both where the page cannot have them.
func (f *earlierFlags) check(possible bool, needs string) error {
	switch {
	case f.release == "" && f.source == "":
		return nil
	case f.release == "" || f.source == "":
		return &noren.Error{Kind: noren.Usage, Where: "--previous", What: "an earlier release is compared by its source: expected --previous and --previous-source, got one of them"}
	case !possible:
		return &noren.Error{Kind: noren.Usage, Where: "--previous", What: "needs " + needs}
	}
	return nil
}

// overlap compares a release, of these classes in the order of its rows, with an
// earlier one.
func (a *assessing) overlap(src table.Source, classes assess.Classes) error {
	if a.earlier.release == "" {
		return nil
	}
	class := a.classOf
	if class == nil {
		class = classes.Of
	}
	own, err := a.allText(a.source)
	if err != nil {
		return err
	}
	// Sheet, header row and query are of the table.
	like := *a.s
	like.Input.Sheet, like.Input.HeaderRow, like.Input.Query = "", 0, ""
	source, err := openTable(a.ctx, a.earlier.source, a.t, &like)
	if err != nil {
		return err
	}
	defer closeSource(source)
	before, err := a.allText(source)
	if err != nil {
		return err
	}
	released, err := openReleased(a.ctx, a.earlier.release, a.t)
	if err != nil {
		return err
	}
	defer closeSource(released)
	shown, err := file.ReadText(a.ctx, released, a.result.Quasi, nil, a.t.progress.report)
	if err != nil {
		return err
	}
	earlier, err := assess.Classify(shown)
	if err != nil {
		return err
	}
	var kept []string
	for _, c := range released.Columns() {
		if i := a.schema.Index(c.Name); i >= 0 && (a.schema.Fields[i].Role == table.Quasi || a.schema.Fields[i].Role == table.Identifier) {
			continue
		}
		if before.Column(c.Name) != nil {
			kept = append(kept, c.Name)
		}
	}
	rest := &table.Table{Rows: shown.Rows}
	if len(kept) > 0 {
		if rest, err = file.ReadText(a.ctx, released, kept, a.s.Input.Missing, a.t.progress.report); err != nil {
			return err
		}
	}
	row, err := assess.PairRows(before, rest)
	if err != nil {
		return at(a.earlier.release, err)
	}
	first, second := assess.Placed{Class: class}, assess.Placed{Class: make([]uint32, len(row))}
	for i, r := range row {
		second.Class[i] = earlier[0].Of[r]
	}
	if unit := a.s.Unit; unit != "" && before.Column(unit) != nil {
		first.Who, second.Who = namesOf(own.Column(unit)), namesOf(before.Column(unit))
	} else {
		first.Who, second.Who = assess.Identities(own, before)
	}
	if len(first.Who) != len(first.Class) {
		return &noren.Error{Kind: noren.BadData, Where: src.Name(), What: "the release has another number of records than its source"}
	}
	o, err := assess.NewOverlap(a.ctx, first, second, max(2, a.k))
	if err != nil {
		return err
	}
	o.Release, o.Source = a.earlier.release, a.earlier.source
	if a.s.Unit != "" && before.Column(a.s.Unit) != nil {
		o.Unit = a.s.Unit
	}
	a.result.Overlap = o
	return nil
}

func (a *assessing) allText(src table.Source) (*table.Table, error) {
	var names []string
	for _, c := range src.Columns() {
		names = append(names, c.Name)
	}
	return file.ReadText(a.ctx, src, names, a.s.Input.Missing, a.t.progress.report)
}

// namesOf are the texts of a column, empty for missing ones.
func namesOf(c *table.Column) []string {
	out := make([]string, c.Len())
	for i := range out {
		if !c.IsMissing(i) {
			out[i] = c.Dict[c.Codes[i]]
		}
	}
	return out
}
