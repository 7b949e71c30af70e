package tables

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/names"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
)

// shown is a table as it is shown.
func (t *Tables) shown(ctx context.Context, r *store.Resource) (*Table, error) {
	d, err := decode(r)
	if err != nil {
		return nil, err
	}
	last, err := t.config.LastRelease(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	state := d.State
	if state == Confirmed && !t.unchanged(d) {
		state = Changed
	}
	out := &Table{
		Line: Line{
			ID: r.ID, Name: d.Name, Source: Origin{Kind: d.Source.Kind, Label: d.Label}, State: state, Unit: d.Unit, Rows: d.Rows,
			Persons: d.Persons,
			Columns: len(d.Columns), Added: d.Added, Confirmed: d.Confirmed, LastRelease: last,
		},
		ColumnsDetail: append([]Column{}, d.Columns...), Missing: append([]string{}, d.Missing...), Failure: d.Failure,
		FailureTexts: d.FailureTexts, Hidden: d.Hidden, HealthList: []Health{}, Version: r.Version,
	}
	if c := d.Confirmed; c != nil && t.config.Name != nil {
		out.Confirmed = &Confirmation{At: c.At, By: c.By, Name: t.config.Name(ctx, c.By)}
	}
	if state != Reading && state != Failed {
		out.Read = d.Read
	}
	if f := d.Form; !reflect.ValueOf(f).IsZero() || d.Sheet != "" {
		f.Sheet = d.sheet()
		out.Form = &f
	}
	if state == Failed { // what an earlier reading found is not known to hold
		out.Rows, out.Persons, out.Columns, out.Unit, out.ColumnsDetail = 0, 0, 0, "", []Column{}
	}
	if state == Reading {
		out.Job = d.Job
	}
	out.judge()
	return out, nil
}

// judge says what the health of a table is.
func (t *Table) judge() {
	add := func(level, code string, args map[string]any) {
		t.HealthList = append(t.HealthList, Health{level, api.Say(code, args)})
	}
	switch t.State {
	case Reading:
		add("attention", "table-reading", nil)
	case Failed:
		add("stop", "table-failed", nil)
	case Changed:
		add("attention", "table-changed", nil)
	case Proposed:
		add("attention", "table-unconfirmed", nil)
	default:
		add("ok", "table-confirmed", nil)
	}
	if h := t.Hidden; h != nil {
		t.judgeHidden(h, add)
	}
	quasi := 0
	for i := range t.ColumnsDetail {
		c := &t.ColumnsDetail[i]
		if c.Role == "quasi-identifier" {
			quasi++
		}
		if h := c.Hierarchy; h != nil && h.Uncovered > 0 {
			add("attention", "hierarchy-uncovered", map[string]any{"column": c.Name, "uncovered": h.Uncovered, "values": h.Values})
		}
		if c.Unit && t.Unit == "" {
			add("attention", "unit-open", map[string]any{"column": c.Name})
		}
	}
	if quasi == 0 && len(t.ColumnsDetail) > 0 {
		add("attention", "no-quasi-identifier", nil)
	}
	t.Health = "sound"
	switch t.State {
	case Failed:
		t.Health = "stopped"
	case Reading, Proposed, Changed:
		t.Health = "waiting"
	}
	if t.Health != "sound" {
		first := t.HealthList[0].Message
		t.Reason = &first
	}
}

// judgeHidden says what a workbook hides of the table, and what became of it.
func (t *Table) judgeHidden(h *Hidden, add func(level, code string, args map[string]any)) {
	args := map[string]any{"rows": h.Rows, "number": len(h.Columns), "columns": strings.Join(h.Columns, ", ")}
	switch h.Policy {
	case "read":
		add("attention", "hidden-read", args)
	case "leave":
		add("ok", "hidden-left", args)
	default:
		add("stop", "hidden-open", args)
	}
}

// Stand is a message that says why a table cannot be released, nil where it can.
func (t *Table) Stand() *Message {
	if t.State == Confirmed {
		return nil
	}
	return &t.HealthList[0].Message
}

// tableName checks the name of a table.
func tableName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if names.Connection(name) {
		p := problem.New("invalid", "expected the name of a table, got a connection string, which is not repeated because it may hold a password")
		p.Where = "name"
		return "", p
	}
	if name == "" || utf8.RuneCountInString(name) > 200 || !names.Seen(name) {
		p := problem.New("invalid", "expected a name of 1 to 200 characters")
		p.Where = "name"
		return "", p
	}
	return name, nil
}

// endings are those of files that tables are made of.
var endings = []string{".csv", ".tsv", ".txt", ".csv.gz", ".csv.zst", ".tsv.gz", ".tsv.zst", ".txt.gz", ".txt.zst", ".parquet", ".xlsx"}

// Forms are the endings of files that tables are made of.
func Forms() []string { return slices.Clone(endings) }

// fileName is the name of a copy: that of the source, with letters, digits, points,
// dashes and underscores alone, so that it is a plain word on a command line and names
// neither a folder, a pattern, a worksheet nor a database.
func fileName(name string) (string, error) {
	ending := ""
	for _, e := range endings {
		if strings.HasSuffix(strings.ToLower(name), e) && len(e) > len(ending) {
			ending = e
		}
	}
	if ending == "" {
		p := problem.New("invalid", "expected a file whose name ends with one of %s", strings.Join(endings, ", "))
		p.Where = "source"
		return "", p
	}
	base := plain(name[:len(name)-len(ending)])
	return base + ending, nil
}

// plain is a word of letters, digits, dashes and underscores.
func plain(name string) string {
	word := strings.Trim(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, strings.ToValidUTF8(name, "_")), "-_")
	for len(word) > 80 {
		_, last := utf8.DecodeLastRuneInString(word)
		word = word[:len(word)-last]
	}
	if word == "" {
		return "table"
	}
	return word
}
