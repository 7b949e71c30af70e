package spec

import (
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// nearest is a hint that names the column most like name, or lists them all.
// It prints names of the file only if confirmed, which says that they are names: one
// of the columns that the specification names is among them, or they are not taken
// from the file. The first line of any other file may be a record, even where the
// steward takes it for names.
func nearest(name string, among []string, confirmed bool) noren.Text {
	if !confirmed {
		return noren.Textf("no column that is named is in the file: does its first line hold the names of the columns?")
	}
	if best := table.Nearest(name, among); best != "" {
		return noren.Textf("did you mean %s?", best)
	}
	if len(among) > 20 {
		return noren.Textf("its columns are %s, ...", strings.Join(among[:20], ", "))
	}
	return noren.Textf("its columns are %s", strings.Join(among, ", "))
}
