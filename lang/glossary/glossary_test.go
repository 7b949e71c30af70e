package glossary

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/lang"
)

// Every language has the same terms in the same order, and each says what it is and has an
// example with a number or a command.
func TestTermsOfAllLanguages(t *testing.T) {
	var want []string
	for _, term := range Terms(lang.English) {
		want = append(want, term.ID)
	}
	if len(want) < 20 {
		t.Fatalf("%d terms", len(want))
	}
	inNumbers := regexp.MustCompile("[0-9]|`noren |`--")
	for _, l := range lang.All() {
		var got []string
		seen := map[string]string{}
		for _, term := range Terms(l) {
			got = append(got, term.ID)
			if term.Name == "" || term.Text == "" || !inNumbers.MatchString(term.Example) {
				t.Errorf("%s: %q lacks a text or an example in numbers: %+v", l, term.ID, term)
			}
			if first := term.First(); first == "" || first == term.Text && strings.Count(term.Text, "。") > 1 {
				t.Errorf("%s: %q has the first sentence %q", l, term.ID, first)
			}
			for _, word := range append([]string{term.Name}, term.Also...) {
				if other := seen[plain(word)]; other != "" {
					t.Errorf("%s: %q is a word for %s and for %s", l, word, other, term.ID)
				}
				seen[plain(word)] = term.ID
				if found, ok := Find(l, word); !ok || found.ID != term.ID {
					t.Errorf("%s: %q finds %q, expected %q", l, word, found.ID, term.ID)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has the terms %q, expected %q", l, got, want)
		}
	}
}

// A term is found by its word in another language, in another case, and with other blanks.
func TestFind(t *testing.T) {
	for _, c := range []struct {
		l          lang.Lang
		word, name string
	}{
		{lang.English, "Prosecutor Risk", "prosecutor risk"},
		{lang.English, "sse/sst", "information loss"},
		{lang.English, "プロセキューターリスク", "prosecutor risk"},
		{lang.Japanese, "prosecutor-risk", "プロセキューターリスク"},
		{lang.Japanese, "epsilon", "イプシロン"},
		{lang.Japanese, "ε", "イプシロン"},
		{lang.English, "k anonymity", "k-anonymity"},
		{lang.English, "median", "quantile"},
		{lang.English, "rank", "rank"},
		{lang.Japanese, "median", "分位点"},
		{lang.Japanese, "rank", "順位"},
	} {
		if got, ok := Find(c.l, c.word); !ok || got.Name != c.name {
			t.Errorf("%s: %q is %q, expected %q", c.l, c.word, got.Name, c.name)
		}
	}
	if got, ok := Find(lang.English, "nothing of ours"); ok {
		t.Errorf("found %q", got.Name)
	}
}
