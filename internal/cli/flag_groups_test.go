package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// Every flag of noren anonymize is in one group of its help, and every group names flags
// that exist.
func TestFlagGroups(t *testing.T) {
	c := newAnonymize(newTerminal(nil, &strings.Builder{}, &strings.Builder{}))
	c.InitDefaultHelpFlag()
	var named []string
	for _, g := range releaseGroups() {
		for _, name := range g.flags {
			if c.Flags().Lookup(name) == nil {
				t.Errorf("group %q names --%s, which is no flag", g.heading, name)
			}
			if slices.Contains(named, name) {
				t.Errorf("--%s is in two groups", name)
			}
			named = append(named, name)
		}
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && !slices.Contains(named, f.Name) {
			t.Errorf("--%s is in no group", f.Name)
		}
	})
	if first := releaseGroups()[0].flags; len(first) > 6 || first[0] != "output" {
		t.Errorf("the first group is %q", first)
	}
}

// No help shows a default where there is none.
func TestEmptyDefaultsAreLeftOut(t *testing.T) {
	var out strings.Builder
	root, shown := helpTree(newTerminal(strings.NewReader(""), &out, &out))
	root.SetOut(&out)
	for _, c := range shown {
		out.Reset()
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		for _, empty := range []string{"(default )", "(default [])"} {
			if strings.Contains(out.String(), empty) {
				t.Errorf("%s --help has an empty default: %s", c.CommandPath(), empty)
			}
		}
	}
}
