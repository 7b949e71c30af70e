package service

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// earlier names an earlier release of the same people and its source.
type earlier struct{ release, source string }

// check refuses one without the other, and both where they cannot be compared.
func (e earlier) check(possible bool, needs string) error {
	switch {
	case e.release == "" && e.source == "":
		return nil
	case e.release == "" || e.source == "":
		return noren.Usagef("previous", "an earlier release is compared by its source: expected both, got one of them")
	case !possible:
		return noren.Usagef("previous", "needs %s", needs)
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
	like := *a.spec
	like.Input.Sheet, like.Input.HeaderRow, like.Input.Query = "", 0, ""
	source, err := a.service.openTable(a.ctx, a.earlier.source, &like)
	if err != nil {
		return err
	}
	defer closeTable(source)
	before, err := a.allText(source)
	if err != nil {
		return err
	}
	released, err := a.service.openRelease(a.ctx, a.earlier.release)
	if err != nil {
		return err
	}
	defer closeTable(released)
	shown, err := file.ReadText(a.ctx, released, a.result.Quasi, file.ReadOptions{Progress: a.service.Progress})
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
		if rest, err = file.ReadText(a.ctx, released, kept, file.ReadOptions{Missing: a.missing, Progress: a.service.Progress}); err != nil {
			return err
		}
	}
	row, err := assess.PairRows(before, rest)
	if err != nil {
		return about(a.earlier.release, err)
	}
	first, second := assess.Placed{Class: class}, assess.Placed{Class: make([]uint32, len(row))}
	for i, r := range row {
		second.Class[i] = earlier[0].Of[r]
	}
	if unit := a.unit; unit != "" && before.Column(unit) != nil {
		first.Who, second.Who = namesOf(own.Column(unit)), namesOf(before.Column(unit))
	} else {
		first.Who, second.Who = assess.Identities(own, before)
	}
	if len(first.Who) != len(first.Class) {
		return &noren.Error{Kind: noren.BadData, Where: src.Name(), What: "the release has another number of records than its source"}
	}
	for i, c := range first.Class {
		if c == kanon.LeftOut {
			first.Who[i] = "" // in no class of the release
		}
	}
	o, err := assess.NewOverlap(a.ctx, first, second, max(2, a.k))
	if err != nil {
		return err
	}
	o.Release, o.Source = a.earlier.release, a.earlier.source
	if a.unit != "" && before.Column(a.unit) != nil {
		o.Unit = a.unit
	}
	a.result.Overlap = o
	return nil
}

func (a *assessing) allText(src table.Source) (*table.Table, error) {
	var names []string
	for _, c := range src.Columns() {
		names = append(names, c.Name)
	}
	return file.ReadText(a.ctx, src, names, file.ReadOptions{Missing: a.missing, Progress: a.service.Progress})
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
