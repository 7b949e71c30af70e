package books

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"

	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/tables"
	"github.com/noren-privacy/noren/spec"
)

// FactsRequest asks for public facts of the columns of a table.
type FactsRequest struct {
	Text string `json:"text,omitempty" maxLength:"500000" doc:"A specification, the text of a noren.yaml, whose bounds and keys are proposed."`
}

// Facts are public facts that are proposed for a book. Nothing of them is read from the table.
type Facts struct {
	Columns []Fact   `json:"columns" nullable:"false" doc:"What is known of columns, in the order of the table; columns of which nothing is known are left out."`
	Unknown []string `json:"unknown" nullable:"false" doc:"The columns that the specification states facts of and the table has not, or has with a type to which they do not apply."`
}

// Fact is what is publicly known of one column.
type Fact struct {
	Name   string   `json:"name" doc:"The name of the column."`
	Bounds []string `json:"bounds,omitempty" doc:"The smallest and the largest value that counts."`
	Keys   []string `json:"keys,omitempty" doc:"The values by which questions group."`
	From   string   `json:"from" enum:"spec,table,book,name" doc:"From where it is known: the specification, the confirmed columns of the table, another book, or the name of the column."`
	Book   string   `json:"book,omitempty" doc:"The name of the table of that book."`
}

// Facts proposes public facts for the book of a table: from a specification, else from what
// was stated at its columns, else from the definition of another book that the steward may
// read, the newest first, else from the name of a column. The table itself is not read.
func (b *Books) Facts(ctx context.Context, id string, req *FactsRequest, may func(table string) bool) (*Facts, error) {
	held, err := b.config.Tables.Hold(ctx, id)
	if err != nil {
		return nil, err
	}
	if held.Table.State != tables.Confirmed {
		return nil, problem.New("conflict", "The columns of the table are not confirmed.").Hinted("confirm them first")
	}
	stated := &spec.Spec{}
	if req.Text != "" {
		if stated, err = spec.Parse("noren.yaml", []byte(req.Text)); err != nil {
			return nil, err
		}
	}
	others, err := b.definitions(ctx, id, may)
	if err != nil {
		return nil, err
	}
	out := &Facts{Columns: []Fact{}, Unknown: []string{}}
	used := map[string]bool{}
	for i := range held.Table.ColumnsDetail {
		c := &held.Table.ColumnsDetail[i]
		if c.Name == held.Table.Unit {
			continue
		}
		fact := ofSpec(c, stated)
		if fact != nil {
			used[c.Name] = true
		}
		for _, from := range []func() *Fact{
			func() *Fact {
				if len(c.Bounds) == 2 && ranged(c.Type) {
					return &Fact{Bounds: c.Bounds, From: "table"}
				}
				return nil
			},
			func() *Fact { return ofBooks(c, others) },
			func() *Fact { return ofName(c) },
		} {
			if fact == nil {
				fact = from()
			}
		}
		if fact != nil {
			fact.Name = c.Name
			out.Columns = append(out.Columns, *fact)
		}
	}
	for name, c := range stated.Columns {
		if !used[name] && name != held.Table.Unit && (c.Bounds != nil || c.Keys != nil) {
			out.Unknown = append(out.Unknown, name)
		}
	}
	slices.Sort(out.Unknown)
	return out, nil
}

// ranged reports whether values of a type have bounds.
func ranged(columnType string) bool {
	return columnType == "integer" || columnType == "decimal" || columnType == "date"
}

// ofSpec is what a specification states of a column; nil where it states nothing.
func ofSpec(c *tables.Column, s *spec.Spec) *Fact {
	stated := s.Columns[c.Name]
	switch {
	case ranged(c.Type) && len(stated.Bounds) == 2:
		return &Fact{Bounds: stated.Bounds, From: "spec"}
	case c.Type == "category" && len(stated.Keys) > 0:
		return &Fact{Keys: stated.Keys, From: "spec"}
	case c.Type == "category" && len(stated.Order) > 0:
		return &Fact{Keys: stated.Order, From: "spec"}
	}
	return nil
}

// defined is the public definition of a book.
type defined struct {
	table string
	definition
}

// definitions are the public definitions of the other books that may be read, the newest first.
func (b *Books) definitions(ctx context.Context, except string, may func(table string) bool) ([]defined, error) {
	all := b.listed(open)
	slices.SortFunc(all, func(x, y *document) int { return int(y.row.N - x.row.N) })
	var out []defined
	for _, d := range all {
		if d.Table == except || !may(d.Table) {
			continue
		}
		set, err := b.dataset(ctx, d.Name)
		if err != nil {
			continue // a book that cannot be read proposes nothing
		}
		one := defined{table: d.TableName}
		if err := json.Unmarshal(set.Definition, &one.definition); err != nil {
			return nil, tables.FileError(err)
		}
		out = append(out, one)
	}
	return out, nil
}

// ofBooks is what another book states of a column of the same name and type.
func ofBooks(c *tables.Column, others []defined) *Fact {
	for i := range others {
		for _, o := range others[i].Columns {
			if o.Name != c.Name || o.Type != c.Type {
				continue
			}
			switch {
			case ranged(c.Type) && len(o.Bounds) == 2 && (c.Type != "date" || dateForm(o.Layout) == dateForm(c.Format)):
				return &Fact{Bounds: o.Bounds, From: "book", Book: others[i].table}
			case c.Type == "category" && len(o.Keys) > 0:
				return &Fact{Keys: o.Keys, From: "book", Book: others[i].table}
			}
		}
	}
	return nil
}

// dateForm is how dates are written where a column states it, or states nothing.
func dateForm(stated string) string { return cmp.Or(stated, "YYYY-MM-DD") }

// named are bounds that the name of a column alone makes public: the ages of people, and
// the months of a year.
var named = []struct {
	name   *regexp.Regexp
	bounds []string
}{
	{regexp.MustCompile(`(?i)^(age|age[_ ](in[_ ])?years|age[_ ]at[_ ].*|(patient|person|subject)[_ ]age|.*年齢|.*年令)$`), []string{"0", "120"}},
	{regexp.MustCompile(`(?i)^(month|月)$`), []string{"1", "12"}},
}

// ofName is what the name of a column of numbers tells.
func ofName(c *tables.Column) *Fact {
	if c.Type != "integer" && c.Type != "decimal" {
		return nil
	}
	for _, n := range named {
		if n.name.MatchString(c.Name) {
			return &Fact{Bounds: n.bounds, From: "name"}
		}
	}
	return nil
}
