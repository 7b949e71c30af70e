package cli

import (
	"bytes"
	"context"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	const commit = "aaf4341d3e757f8bbc50002663a18c049739c1d9"
	build := func(version string, settings ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{Main: debug.Module{Path: "github.com/noren-privacy/noren", Version: version}}
		for i := 0; i < len(settings); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
		}
		return info
	}
	for name, c := range map[string]struct {
		info          *debug.BuildInfo
		version, text string
	}{
		"no build information": {nil, "(devel)", "(devel)"},
		"go run":               {build("(devel)"), "(devel)", "(devel)"},
		"no version":           {build(""), "(devel)", "(devel)"},
		"installed by its tag": {build("v1.2.3"), "v1.2.3", "v1.2.3"},
		"built of a tag":       {build("v1.2.3", "vcs.revision", commit, "vcs.modified", "false"), "v1.2.3", "v1.2.3, commit " + commit},
		"built of a commit": {
			build("v0.0.0-20261122033524-aaf4341d3e75", "vcs.modified", "false", "vcs.revision", commit),
			"v0.0.0-20261122033524-aaf4341d3e75", "v0.0.0-20261122033524-aaf4341d3e75, commit " + commit,
		},
		"built of changed files": {
			build("v0.0.0-20261122033524-aaf4341d3e75+dirty", "vcs.revision", commit, "vcs.modified", "true"),
			"v0.0.0-20261122033524-aaf4341d3e75+dirty", "v0.0.0-20261122033524-aaf4341d3e75, commit " + commit + "+dirty",
		},
		"an older build": {build("(devel)", "vcs.revision", commit, "vcs.modified", "true"), "(devel)", "(devel), commit " + commit +
			"+dirty"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := version(c.info); got != c.version {
				t.Errorf("version %q, want %q", got, c.version)
			}
			if got := versionText(c.info); got != c.text {
				t.Errorf("text %q, want %q", got, c.text)
			}
		})
	}
	var out bytes.Buffer
	if code := Run(context.Background(), []string{"--version"}, strings.NewReader(""), &out, &out); code != 0 || out.String() != "noren "+
		versionText(buildInfo())+"\n" {
		t.Errorf("exit %d, %q", code, out.String())
	}
}
