package cli

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// newVersion is noren version, which prints what noren --version does.
func newVersion(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of the program",
		Example: "  noren version",
		Args:    exactly(),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(t.stdout, "noren %s\n", versionText(buildInfo()))
			return err
		},
	}
}

// Version is the program's version as its build recorded it: a tag, a pseudo-version
// of the commit, or "(devel)".
func Version() string { return version(buildInfo()) }

// buildInfo is what the build recorded; nil where it recorded nothing.
func buildInfo() *debug.BuildInfo {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	return info
}

func version(info *debug.BuildInfo) string {
	if info == nil || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// versionText is what --version prints after the name: the version and the commit that
// was built, with +dirty where the working tree held changes that are not committed.
func versionText(info *debug.BuildInfo) string {
	text := version(info)
	if info == nil {
		return text
	}
	revision, dirty := "", false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if revision == "" {
		return text
	}
	if dirty {
		revision += "+dirty"
	}
	return strings.TrimSuffix(text, "+dirty") + ", commit " + revision
}
