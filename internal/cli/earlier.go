package cli

import (
	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
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
		return &noren.Error{Kind: noren.Usage, Where: "--previous", What: "works only with " + needs}
	}
	return nil
}
