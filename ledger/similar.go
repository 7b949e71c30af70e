package ledger

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/noren-privacy/noren"
)

// ByNames are versions of a data set that were granted before the values of columns were
// compared, or whose [Contents] were lost, and that have not been read since.
type ByNames struct {
	Dataset  string
	Versions []int
}

// similar returns the names of the other data sets that may hold the same people, and
// whose relation to this one no grant has declared: those with a version that shares at
// least half of the names of columns of the smaller table, or that has a column with the
// same values as one of g's with many different values. Names are compared as
// [columnName] has them. Without the declaration in g they are an error. Versions without
// contents are compared by names alone, and noted in g.byNames.
//
// A declaration holds for later versions too, as far as their names go. It does not hold for values
// that came into the two data sets after it: isNew says that g makes a version of another
// table, and a column with the values of another data set's needs the declaration again, unless
// an earlier version had a column with these values.
func (g *Grant) similar(ctx context.Context, tx *sql.Tx, own int64, isNew bool) ([]string, error) {
	all, err := accounts(ctx, tx, "kind = ?", kindDataset)
	if err != nil {
		return nil, err
	}
	declared, err := declarations(ctx, tx)
	if err != nil {
		return nil, err
	}
	g.byNames = nil
	ours := g.likeness()
	later, err := ours.since(ctx, tx, own)
	if err != nil {
		return nil, err
	}
	var names []string
	worst := likeness{}
	for _, a := range all {
		compared := ours
		if slices.Contains(declared[own], a.name) || own != 0 && slices.Contains(declared[a.id], g.Name) {
			compared = later
		}
		if a.id == own || compared.declared && !isNew {
			continue
		}
		found, err := g.compareWith(ctx, tx, &a, compared)
		if err != nil {
			return nil, err
		}
		if found.what.IsZero() {
			continue
		}
		names = append(names, a.name)
		if found.weight > worst.weight {
			worst = found
		}
	}
	if len(names) > 0 && !g.OtherPeople {
		return nil, &noren.Error{
			Kind: noren.Usage, Code: "other-people", Where: noren.File(g.Path), What: worst.what.Format, Args: worst.what.Args,
			Hint: "if no person is in both, the steward declares so; a new table of the same people is a new version of that data set",
		}
	}
	return names, nil
}

// own are the columns of a grant as they are compared.
type own struct {
	names    map[string]bool   // see columnName
	values   map[string]string // a print of values -> the column
	declared bool              // another data set was declared to hold other people
}

// since are the columns with values that no earlier version of the account has.
func (o own) since(ctx context.Context, tx *sql.Tx, account int64) (own, error) {
	out := own{values: maps.Clone(o.values), declared: true}
	before, err := contentsRows(ctx, tx, "account = ?", account)
	if err != nil {
		return out, err
	}
	for i := range before {
		columns, err := before[i].prints()
		if err != nil {
			return out, err
		}
		for _, prints := range columns {
			for _, print := range prints {
				delete(out.values, print)
			}
		}
	}
	return out, nil
}

func (g *Grant) likeness() own {
	out := own{names: map[string]bool{}, values: map[string]string{}}
	for name := range g.Prints {
		out.names[columnName(name)] = true
	}
	if g.Contents == nil {
		return out
	}
	for name, v := range g.Contents.Values {
		if !v.Many {
			continue // equal values are as many, so that the other column has few too
		}
		for _, print := range v.Prints {
			if first, ok := out.values[print]; !ok || name < first {
				out.values[print] = name
			}
		}
	}
	return out
}

// likeness says in what two data sets are alike; of several, the one of most weight.
type likeness struct {
	what   noren.Text
	weight int
}

// compareWith compares the columns of g with those of all versions of a.
func (g *Grant) compareWith(ctx context.Context, tx *sql.Tx, a *account, ours own) (found likeness, err error) {
	rows, err := versions(ctx, tx, "account = ?", a.id)
	if err != nil {
		return found, err
	}
	of, err := contentsRows(ctx, tx, "account = ?", a.id)
	if err != nil {
		return found, err
	}
	byNames := ByNames{Dataset: a.name}
	for i := range rows {
		theirs, err := rows[i].prints()
		if err != nil {
			return found, err
		}
		others, common := map[string]bool{}, 0
		for name := range theirs {
			name = columnName(name)
			if !others[name] && ours.names[name] {
				common++
			}
			others[name] = true
		}
		if smaller := min(len(ours.names), len(others)); !ours.declared && common > found.weight && 2*common >= smaller {
			found = likeness{noren.Textf("shares %d of %d {column|columns} with data set %s", common, smaller, a.name), common}
		}
		at := slices.IndexFunc(of, func(r contentsRow) bool { return r.version == rows[i].number })
		if at < 0 || g.Contents == nil {
			byNames.Versions = append(byNames.Versions, int(rows[i].number))
			continue
		}
		values, err := of[at].prints()
		if err != nil {
			return found, err
		}
		if !found.what.IsZero() {
			continue
		}
		if mine, other := ours.sameValues(values); mine != "" {
			found = likeness{noren.Textf("its column %q has the values of column %q of data set %s", mine, other, a.name), 1}
		}
	}
	if len(byNames.Versions) > 0 && !ours.declared {
		g.byNames = append(g.byNames, byNames)
	}
	return found, nil
}

// sameValues is the first pair of columns with the same values; "" where there is none.
func (o own) sameValues(theirs map[string][]string) (mine, other string) {
	for name, prints := range theirs {
		for _, print := range prints {
			if of, ok := o.values[print]; ok && (mine == "" || of < mine || of == mine && name < other) {
				mine, other = of, name
			}
		}
	}
	return mine, other
}

// columnName is a name in the form in which names are compared: NFKC, without blanks at
// its ends, in folded case.
func columnName(name string) string {
	return norm.NFKC.String(cases.Fold().String(strings.TrimSpace(norm.NFKC.String(name))))
}

// checkContents refuses contents of other columns than g's, or prints that are none.
func (g *Grant) checkContents() error {
	if g.Contents == nil {
		return nil
	}
	bad := noren.Usagef(noren.Textf("data set %s", g.Name), "the prints of the values of a column are not those of its columns")
	if len(g.Contents.Values) != len(g.Prints) {
		return bad
	}
	for name, v := range g.Contents.Values {
		if _, ok := g.Prints[name]; !ok || slices.ContainsFunc(v.Prints, func(p string) bool { return checkName("", p) != nil }) {
			return bad
		}
	}
	for _, of := range g.Contents.Files {
		for name := range g.Prints {
			if _, ok := of[name]; !ok || len(of) != len(g.Prints) {
				return bad
			}
		}
	}
	return nil
}
