package lang

import (
	"regexp"
	"strings"
	"testing"
)

// typical is what a verb may write: a number where it is the only one of a short format, and
// a text of ours where it is one of several.
func typical(v verb, short, only bool) string {
	switch v.kind {
	case 'd':
		return "7"
	case 'g', 'f', 'e':
		return "0.5"
	case 'q':
		return `"§"`
	}
	switch {
	case !short:
		return "§"
	case only:
		return "7"
	}
	return "3 records"
}

// written are formats that are too short to be found in a text. Each is said where it is
// written, by [Lang.Text] and its like.
var written = map[string]bool{
	"it ends %s": true, "Mean of {column}": true, "Sum of {column}": true, "by %s": true, "within %s": true, "most in: %s": true,
	"%s left": true, "%s%s after it": true, "%s at least": true, "%s (proposed)": true, "%s: NOT sound": true,
	", where %s": true, "by\t%s %s": true, "edges       %s": true, "note\t%s": true, "note: %s": true, "next: %s": true,
	"of\t%s": true, "read\t%s": true, "take\t%s": true, "worst       %s": true, "Type: %s": true, "Role: %s": true, "none: %s": true,
	"%s%s of %s {record|records} (%s)": true,
	"%s%s; 95 %% interval: %s either way, if private records are like the public ones beside them, and the tables differ in what was not released at most as much as in what was": true,
	"%s to %s%s": true,
	// by package report, with what a figure or a curve is of
	"%s, original": true, "%s, release": true, "%s, expected": true, "Share, %s": true,
	// by report/text.Subject
	"mean of %s": true, "sum of %s": true,
	// with their type
	"entry %d": true,
	// parts of longer texts, which are found as a whole
	"one of %s": true, "about %s": true, "to %s": true, "over %s": true, "of one %s": true,
}

// Every text of the catalogue is found again where it stands alone, with typical
// arguments in it: what is said has no word of English that its translation does not have.
func TestEveryTextIsSaid(t *testing.T) {
	places := map[Key]bool{}
	for _, e := range Catalogue() {
		if e.Context == Place {
			places[e.Key] = true
		}
	}
	for _, e := range Catalogue() {
		if e.Context != "" && e.Context != Place {
			continue
		}
		for english, japanese := range e.chosen() {
			isSaid(t, e.Key, places[e.Key], english, japanese)
		}
	}
}

// english finds the words of English.
var english = regexp.MustCompile(`[A-Za-z]{2,}`)

// isSaid checks one format of an entry, which has no choices, and its translation.
func isSaid(t *testing.T, of Key, place bool, format, japanese string) {
	t.Helper()
	key := parse(strings.TrimSpace(format))
	key.japanese = strings.TrimSpace(japanese)
	n := key.own
	short := n < leastOwn && (n < leastBeginning || key.literals[0] == "" && key.verbs[0].kind != 'd')
	var text strings.Builder
	var args []string
	for i, literal := range key.literals {
		text.WriteString(literal)
		if i < len(key.verbs) {
			args = append(args, typical(key.verbs[i], short && !place, len(key.verbs) == 1))
			text.WriteString(args[i])
		}
	}
	got := Japanese.Say(text.String())
	if place {
		got = Japanese.place(text.String())
	}
	for i, arg := range args {
		args[i] = Japanese.Say(arg)
	}
	allowed := map[string]bool{}
	for _, word := range english.FindAllString(key.fill(args), -1) {
		allowed[word] = true
	}
	found := true
	for _, word := range english.FindAllString(got, -1) {
		found = found && allowed[word]
	}
	if found == written[string(of)] {
		t.Errorf("%q: got %q, want %q: it is found: %v", text.String(), got, key.fill(args), found)
	}
}
