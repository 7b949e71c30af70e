package spec

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
)

// Parameter is a parameter of a release: a field of [Anonymize], whose tags state its key in
// noren.yaml and its description in the schema, and a flag of noren anonymize.
type Parameter struct {
	// Name is the key, and the name of the flag.
	Name string
	// After is the flag, or the heading, after which the help of noren anonymize lists the flag.
	After string
	// Words are words that the parameter takes; with Only it takes no other text.
	Words []string
	Only  bool
	// Help is the help of the flag.
	Help string
	// set sets what is stated in the options of a release; nil where another function reads the
	// field, such as [Anonymize.Requirement].
	set func(o *kanon.Options, stated any) error
}

// Parameters are the parameters of a release, in the order in which their faults are listed.
func Parameters() []Parameter { return slices.Clone(parameters) }

// A new parameter is an entry here, a field of [Anonymize] and what uses it: a field of
// [kanon.Options]. It stands behind the parameter that its help is listed after.
var parameters = []Parameter{
	parameter("k", "output", plain(func(o *kanon.Options) *int { return &o.K }),
		"smallest number of records, or with --unit of persons, that share their quasi-identifiers"),
	parameter("method", "Effort", text(partition.ParseMethod, func(o *kanon.Options) *partition.Method { return &o.Partition.Method }),
		"auto, mondrian, mondrian-strict, mdav, vmdav, tomobiki or topdown (default auto)",
		"auto", "mondrian", "mondrian-strict", "mdav", "vmdav", "tomobiki"),
	parameter("gamma", "method", plain(func(o *kanon.Options) *float64 { return &o.Partition.Gamma }),
		"gain factor of vmdav (default 0.2)"),
	parameter("m", "method", plain(func(o *kanon.Options) *int { return &o.Partition.M }),
		"closest pairs by which tomobiki joins a component (default 3)"),
	parameter("coarse", "method", text(parseCoarse, func(o *kanon.Options) *int { return &o.Partition.Coarse }),
		"least records of a coarse cell: a number, auto or off (default auto)", "auto", "off"),
	parameter("refine", "method", text(refine.ParseEffort, func(o *kanon.Options) *refine.Effort { return &o.Refine }),
		"local search after the method: off, fast, auto (fast, then exchanges where they pay) or a duration such as 20s (default auto)",
		"off", "fast", "auto"),
	parameter("suppress", "hierarchy", text(kanon.ParseSuppression, func(o *kanon.Options) *kanon.Suppression { return &o.Suppress }),
		"most records to leave out, those without which the others lose least: off, a share such as 1%, or a number of records (default off)"),
	parameter("gap", "refine", text(ParseGap, func(o *kanon.Options) *time.Duration { return &o.Gap }),
		"search time for a better lower bound of the loss: off or a duration such as 60s (default off: nearest neighbours only)", "off"),
	choice("scale", "gap", text(space.ParseScaling, func(o *kanon.Options) *space.Scaling { return &o.Scale }),
		"zscore (every column counts alike, categories included), minmax or none (default zscore)", "minmax", "zscore", "none"),
	choice("publish", "drop", text(publish.ParseMode, func(o *kanon.Options) *publish.Mode { return &o.Publish }),
		"matched (one value per class, chosen so that counts over the table stay near those of the source), aggregate (means, medians, "+
			"modes), generalize (ranges, sets) or shares (values with their shares, ranges with means) (default matched)",
		"matched", "aggregate", "generalize", "shares"),
	choice("ranges", "publish", text(publish.ParseRanges, func(o *kanon.Options) *publish.Ranges { return &o.Ranges }),
		"ends of the ranges of --publish generalize: tight (of the class) or fixed (of a grid of round numbers) (default tight)",
		"tight", "fixed"),
	choice("unit-linkage", "Guarantee", text(kanon.ParseLinkage, func(o *kanon.Options) *kanon.Linkage { return &o.Linkage }),
		"what others may know of a person's records: one of them, or all and that they are of one person (default one)", "one", "all"),
	parameter("pseudonym", "hierarchy", plain(func(o *kanon.Options) *bool { return &o.Pseudonym }),
		"keep the unit's column, with a pseudonym of each person drawn for this release; needs --unit-linkage all"),
	parameter("keep-order", "output-encoding", plain(func(o *kanon.Options) *bool { return &o.KeepOrder }),
		"keep the order of the rows; it links them to the source"),
	parameter("formulas", "output-encoding", nil,
		"texts of a release in a text file that spreadsheets take for formulas: keep, or text, with an apostrophe before each "+
			"(default keep)", "keep", "text"),
	parameter("l", "Guarantee", nil, "l-diversity of every sensitive column"),
	choice("l-model", "l", nil, "distinct, entropy or recursive (default distinct)", "distinct", "entropy", "recursive"),
	parameter("c", "l-model", nil, "the c of recursive (c,l)-diversity (default 3)"),
	choice("l-missing", "c", nil,
		"whether a missing sensitive value counts towards l: skip or value (default skip)", "skip", "value"),
	parameter("t", "l-missing", nil, "t-closeness of every sensitive column, above 0"),
}

// parameter is one that takes other texts than these words too, or is no text.
func parameter(name, after string, set func(*kanon.Options, any) error, help string, words ...string) Parameter {
	return Parameter{Name: name, After: after, Help: help, Words: words, set: set}
}

// choice is one that takes these words.
func choice(name, after string, set func(*kanon.Options, any) error, help string, words ...string) Parameter {
	return Parameter{Name: name, After: after, Help: help, Words: words, Only: true, set: set}
}

// ParameterNamed is the parameter of a name, the zero value where there is none.
func ParameterNamed(name string) Parameter {
	for _, p := range parameters {
		if p.Name == name {
			return p
		}
	}
	return Parameter{}
}

// Field is the field of a that holds the parameter.
func (p *Parameter) Field(a *Anonymize) reflect.Value {
	v := reflect.ValueOf(a).Elem()
	for i := range v.NumField() {
		if key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ","); key == p.Name {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}

// plain sets a number or a choice of yes or no.
func plain[T any](field func(*kanon.Options) *T) func(*kanon.Options, any) error {
	return func(o *kanon.Options, stated any) error {
		*field(o) = stated.(T)
		return nil
	}
}

// text sets what a text says, and leaves the default where there is none.
func text[T any](parse func(string) (T, error), field func(*kanon.Options) *T) func(*kanon.Options, any) error {
	return func(o *kanon.Options, stated any) (err error) {
		if stated != "" {
			*field(o), err = parse(stated.(string))
		}
		return err
	}
}
