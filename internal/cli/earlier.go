package cli

import (
	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
)

// earlierFlags name an earlier release of the same people.
type earlierFlags struct {
	release, source string
	quasi           []string
	certificate     string
}

func (f *earlierFlags) register(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.release, "previous", "",
		"an earlier release (`FILE`) of the same people: count the candidates that remain to somebody who holds both; needs --previous-source")
	s.StringVar(&f.source, "previous-source", "",
		"the `FILE` that --previous was made from; persons are joined by --unit, otherwise records by equal values")
	s.StringSliceVar(&f.quasi, "previous-quasi", nil,
		"quasi-identifiers of --previous (`COLUMN,...`); by default the columns that differ from --previous-source")
	s.StringVar(&f.certificate, "previous-certificate", "", "certificate (`FILE`) of --previous, which states its quasi-identifiers")
}

// check refuses one without the other, and both where the page cannot have them.
func (f *earlierFlags) check(possible bool, needs noren.Phrase) error {
	switch {
	case f.release == "" && f.source == "" && len(f.quasi) == 0 && f.certificate == "":
		return nil
	case f.release == "" || f.source == "":
		return &noren.Error{
			Kind: noren.Usage, Where: "--previous",
			What: "an earlier release is compared by its source: expected --previous and --previous-source, got one of them",
		}
	case len(f.quasi) > 0 && f.certificate != "":
		return &noren.Error{Kind: noren.Usage, Where: "--previous", What: "expected --previous-quasi or --previous-certificate, got both"}
	case !possible:
		return &noren.Error{Kind: noren.Usage, Where: "--previous", What: "works only with %s", Args: []any{needs}}
	}
	return nil
}
