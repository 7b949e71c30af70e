package records

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/tables"
	"github.com/noren-privacy/noren/spec"
)

// Message is a sentence with a code.
type Message = tables.Message

// Parameters are the parameters of a release.
type Parameters struct {
	K           int             `json:"k" minimum:"1" maximum:"1000000" doc:"The least number of records, or with a unit of persons, that share their quasi-identifiers."`
	Publish     string          `json:"publish" enum:"matched,aggregate,generalize,shares" doc:"How quasi-identifiers are published."`
	Ranges      string          `json:"ranges,omitempty" enum:"tight,fixed" doc:"The ends of the ranges of generalize."`
	L           float64         `json:"l,omitempty" minimum:"1" maximum:"10000" doc:"The l-diversity of every sensitive column."`
	LModel      string          `json:"l_model,omitempty" enum:"distinct,entropy,recursive" doc:"The model of l-diversity."`
	C           float64         `json:"c,omitempty" minimum:"0" maximum:"10000" doc:"The c of recursive l-diversity."`
	T           float64         `json:"t,omitempty" minimum:"0" maximum:"1" doc:"The t-closeness of every sensitive column."`
	Method      string          `json:"method" enum:"auto,mondrian,mondrian-strict,mdav,vmdav,tomobiki,topdown" doc:"The method that makes the groups."`
	Scale       string          `json:"scale" enum:"zscore,minmax,none" doc:"The scaling of the quasi-identifiers."`
	Refine      string          `json:"refine" enum:"off,fast,auto" doc:"The local search after the method."`
	Suppress    string          `json:"suppress,omitempty" maxLength:"20" doc:"The most records to leave out: off, a share such as 1%, or a number."`
	UnitLinkage string          `json:"unit_linkage,omitempty" enum:"one,all" doc:"What others may know of a person's records."`
	Pseudonym   bool            `json:"pseudonym,omitempty" doc:"Whether the unit is replaced by a pseudonym drawn for the release."`
	Formulas    string          `json:"formulas,omitempty" enum:"keep,text" doc:"What becomes of texts of a text file that spreadsheets take for formulas: keep, or text, with an apostrophe before each."`
	Columns     map[string]Role `json:"columns" nullable:"false" doc:"The roles of columns that differ from those of the table."`
}

// Role is the role of a column in a recipe.
type Role struct {
	Role string `json:"role" enum:"identifier,quasi-identifier,sensitive,other,drop" doc:"The role of the column in this release."`
}

// Recipe is the parameters of a release of a table.
type Recipe struct {
	ID         string     `json:"id" doc:"rc_ and 16 characters."`
	Table      string     `json:"table" doc:"The id of the table."`
	Version    int64      `json:"version" doc:"The number of the version, which grows with each change."`
	Saved      time.Time  `json:"saved" doc:"When this version was saved."`
	Parameters Parameters `json:"parameters" doc:"The parameters."`
	Command    string     `json:"command" doc:"The command that makes the release of the table and the file of the recipe."`
	Problems   []Message  `json:"problems" nullable:"false" doc:"What keeps the recipe from being used."`
}

// document is a recipe as it is stored.
type document struct {
	Saved time.Time `json:"saved"`
	By    string    `json:"by"`
	// Maker is the principal who made it; "" in a recipe of before, of which By counts.
	Maker      string     `json:"maker,omitempty"`
	Parameters Parameters `json:"parameters"`
}

// defaults are the parameters of a new recipe.
func defaults(k int) Parameters {
	return Parameters{K: k, Publish: "matched", Method: "auto", Scale: "zscore", Refine: "auto", Columns: map[string]Role{}}
}

// specification is the noren.yaml of a recipe. hierarchy names the file of the hierarchy
// of a column.
func specification(h *tables.Held, p *Parameters, hierarchy func(column string) string) *spec.Spec {
	s := &spec.Spec{Version: spec.Version, Unit: h.Table.Unit, Columns: map[string]spec.Column{}}
	s.Input = h.Part
	s.Input.Missing = append([]string{}, h.Table.Missing...)
	for i := range h.Table.ColumnsDetail {
		c := &h.Table.ColumnsDetail[i]
		column := spec.Column{Role: c.Role, Type: c.Type, Format: c.Format, Order: c.Order, Bounds: c.Bounds, Round: c.Round}
		if own, ok := p.Columns[c.Name]; ok {
			column.Role = own.Role
		}
		if h.Hierarchies[c.Name] != "" {
			column.Hierarchy = hierarchy(c.Name)
		}
		s.Columns[c.Name] = column
	}
	s.Anonymize = spec.Anonymize{
		K: p.K, L: p.L, LModel: p.LModel, C: p.C, T: p.T, Method: p.Method, Scale: p.Scale, Refine: p.Refine, Suppress: p.Suppress,
		Publish: p.Publish, Ranges: p.Ranges, UnitLinkage: p.UnitLinkage, Pseudonym: p.Pseudonym, Formulas: p.Formulas,
	}
	return s
}

// hierarchyFolder is the folder of hierarchies beside a noren.yaml.
const hierarchyFolder = "hierarchies"

// Hierarchy is the name by which the noren.yaml of a recipe names the hierarchy of a
// column.
func hierarchyName(h *tables.Held, column string) string {
	return hierarchyFolder + "/" + filepath.Base(h.Hierarchies[column])
}

// recipeText is the noren.yaml of a recipe, with its hierarchies in a folder beside it.
func recipeText(h *tables.Held, p *Parameters) string {
	return specification(h, p, func(column string) string { return hierarchyName(h, column) }).Encode()
}

// input is the table as the command line names it.
func input(h *tables.Held) string {
	if h.Table.Source.Kind == tables.FromDatabase {
		return "pg:" + h.Table.Source.Label
	}
	return h.FileName
}

// outputName is the name of the file of a release: its format is that of the table. A
// table of a database is released as CSV.
func outputName(h *tables.Held, k int) string {
	base, ending, _ := strings.Cut(h.FileName, ".")
	if h.Table.Source.Kind == tables.FromDatabase {
		ending = "csv"
	}
	return fmt.Sprintf("%s-k%d.%s", base, k, ending)
}

// command is the command that makes a release. A seed is a secret.
func command(h *tables.Held, k int, seed string) string {
	words := []string{"noren", "anonymize", quoted(input(h)), "-o", quoted(outputName(h, k)), "--spec", "noren.yaml"}
	if seed != "" {
		words = append(words, "--seed", seed)
	}
	return strings.Join(words, " ")
}

// quoted is a word for a shell.
func quoted(word string) string {
	if strings.IndexFunc(word, func(r rune) bool {
		return !(r == '.' || r == '_' || r == '-' || r == ':' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z')
	}) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// check refuses parameters that cannot be of the table.
func check(h *tables.Held, p *Parameters) error {
	out := problem.New("invalid", "The recipe names columns that the table does not have.")
	known := map[string]bool{}
	for i := range h.Table.ColumnsDetail {
		known[h.Table.ColumnsDetail[i].Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(p.Columns)) {
		if !known[name] {
			out.Errors = append(out.Errors, problem.At("/parameters/columns", noren.Textf("expected columns of the table")))
			break
		}
	}
	if len(out.Errors) > 0 {
		return out
	}
	return nil
}

// problems says what keeps a recipe from being used.
func problems(h *tables.Held, p *Parameters, leastK int) []Message {
	out := []Message{}
	if m := h.Table.Stand(); m != nil {
		out = append(out, *m)
	}
	if p.K < leastK {
		out = append(out, api.Say("least-k", map[string]any{"k": p.K, "least": leastK}))
	}
	s := specification(h, p, func(column string) string { return h.Hierarchies[column] })
	quasi, sensitive := 0, 0
	for _, c := range s.Columns {
		switch c.Role {
		case "quasi-identifier":
			quasi++
		case "sensitive":
			sensitive++
		}
	}
	if quasi == 0 {
		out = append(out, api.Say("no-quasi-identifier", nil))
	}
	if (p.L != 0 || p.T != 0) && sensitive == 0 {
		out = append(out, api.Say("no-sensitive", nil))
	}
	if p.Ranges == "fixed" && p.Publish != "generalize" {
		out = append(out, api.Say("ranges", nil))
	}
	if p.Pseudonym && p.UnitLinkage != "all" {
		out = append(out, api.Say("pseudonym", nil))
	}
	if n := cmp.Or(h.Table.Persons, h.Table.Rows); int64(p.K) > n {
		out = append(out, api.Say("k-large", map[string]any{"k": p.K, "n": n}))
	}
	if s.Unit != "" && s.Columns[s.Unit].Role != "identifier" {
		out = append(out, api.Say("unit-role", map[string]any{"column": s.Unit}))
	}
	if _, err := s.Options(); err != nil {
		for _, f := range faults(err) {
			out = append(out, Message{Code: "parameter", Text: f.Detail, Args: map[string]any{"where": f.Pointer}, Said: f.In})
		}
	}
	return out
}

// faults are the faults of a specification.
func faults(err error) []problem.Fault {
	p := problem.From(err)
	if len(p.Errors) > 0 {
		return p.Errors
	}
	return []problem.Fault{p.AsFault()}
}

// interrupted reports whether work ended because its context did.
func interrupted(err error) bool { return noren.KindOf(err) == noren.Interrupted }
