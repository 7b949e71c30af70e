package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/service"
	"github.com/noren-privacy/noren/spec"
)

func newRatio(t *terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "ratio",
		Short: "Reweight a public table to match a private one with differential privacy",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newRatioPlan(t), newRatioFit(t), newRatioAnswer(t), newRatioCheck(t))
	return c
}

// spaceFlags say in which space two tables are compared.
type spaceFlags struct {
	columns     []string
	bounds      []string
	categories  []string
	words       []string // the former name of categories
	publicScale string
}

func (f *spaceFlags) register(c *cobra.Command, bounds string) {
	s := c.Flags()
	s.StringSliceVar(&f.columns, "columns", nil, "the `columns` of the space, which both tables have")
	s.StringArrayVar(&f.bounds, "bounds", nil, "`COLUMN=LO,HI`: public bounds (default: those of "+bounds+"); may be repeated")
	s.StringArrayVar(&f.categories, "categories", nil,
		"`COLUMN=CATEGORY,CATEGORY`: the categories that count (default: those of the public table); may be repeated")
	s.StringArrayVar(&f.words, "words", nil, "`COLUMN=CATEGORY,CATEGORY`: the former name of --categories")
	s.Lookup("words").Hidden = true
	s.StringVar(&f.publicScale, "public-scale", "",
		"public `FILE` with one unit of distance for each column that it names: CSV column,scale or column,low,high,scale")
}

func (f *spaceFlags) space(public string) (api.RatioSpace, error) {
	q := api.RatioSpace{Public: public, Columns: f.columns, PublicScale: f.publicScale}
	var err error
	if q.Bounds, err = pairs("--bounds", f.bounds, f.columns); err != nil {
		return q, err
	}
	for _, name := range f.columns {
		if ends, given := q.Bounds[name]; given && len(ends) != 2 {
			return q, noren.Usagef("--bounds "+name, "expected LO,HI, got %d {value|values}", len(ends))
		}
	}
	q.Categories, err = pairs("--categories", append(slices.Clone(f.categories), f.words...), f.columns)
	return q, err
}

// pairs reads COLUMN=VALUE,VALUE of a flag that may be repeated.
func pairs(flag string, list []string, columns []string) (map[string][]string, error) {
	out := map[string][]string{}
	for _, pair := range list {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || value == "" {
			return nil, noren.Usagef(flag, "expected COLUMN=VALUE")
		}
		if !slices.Contains(columns, name) {
			return nil, noren.Usagef(flag, "column %q is not among --columns", name)
		}
		out[name] = splitList(value)
	}
	return out, nil
}

// weightsFlags say which weighted table is read.
type weightsFlags struct{ meta string }

func (f *weightsFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.meta, "meta", "", "the meta data of the weights, a JSON `FILE` (default: WEIGHTS"+service.RatioMetaSuffix+")")
}

// schema states what the flags say of the columns of a public table.
func (f *columnFlags) schema() (*spec.Spec, error) {
	s := &spec.Spec{}
	return s, f.layOver(s)
}

// explainRatio is err with this front end's hint for the commands of weights.
func explainRatio(err error) error {
	e, ok := err.(*noren.Error)
	if !ok || e.Code != "no-meta" {
		return err
	}
	out := *e
	out.Hinted("noren ratio fit writes them beside the weights, as WEIGHTS%s; --meta FILE says where they are now", service.RatioMetaSuffix)
	return &out
}
