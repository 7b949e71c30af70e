package records

import (
	"testing"

	"github.com/noren-privacy/noren/lang"
)

// A remark that begins with a file keeps its name.
func TestSentenceKeepsNames(t *testing.T) {
	for said, want := range map[string]string{
		"hospital.xlsx: row 3 names the columns": "hospital.xlsx: row 3 names the columns.",
		"ages are rounded.":                      "Ages are rounded.",
		"":                                       "",
	} {
		if got := sentence(lang.English, said); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
