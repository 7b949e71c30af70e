package noren_test

import (
	"testing"

	"github.com/noren-privacy/noren"
)

// A sentence begins with a capital letter, unless it begins with a name or a number.
func TestSentence(t *testing.T) {
	for _, c := range []struct {
		text noren.Text
		want string
	}{
		{noren.Textf("the spread is kept"), "The spread is kept."},
		{noren.Textf("%s", noren.Foreign("none was rejected")), "None was rejected."},
		{
			noren.Textf("%s", noren.Texts{noren.Textf("ranges are counted"), noren.Textf("the rest is not")}),
			"Ranges are counted; the rest is not.",
		},
		{noren.Textf("%s; %s", noren.Textf("élan is kept"), "x"), "Élan is kept; x."},
		{noren.Textf("%s is left out", "age"), "age is left out."},
		{noren.Textf("%d records", 3), "3 records."},
	} {
		if got := noren.Sentence(c.text).String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
