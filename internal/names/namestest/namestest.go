// Package namestest has names that read like texts of Noren, for tests that compare what is said of them with what is
// said of plain ones.
package namestest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Odd are names that read like texts of Noren, formats of package fmt, templates of messages or words of a terminal.
var Odd = []string{
	"none", "of at least %d records", "analyst 7", "cannot be written", "{column}", "%s", "%!d(BADVERB)", "%[1]s", "なし", "表", "original",
	"record 3", "the column is named twice", "{row|rows}", "100 %", "%% of", "2 records", "median", "集計", "other", "not found", "column x",
	"line 3", "[kind?x|y]", "（原文）", "is a directory", "no such file or directory", "private", "quasi-identifier",
	"{#n}", "%v or %v", "total",
	"average", "row 2", "cannot be read", "a folder", "最大", "unit", "values", "answer",
}

// Plain are as many names, of no language, in the order of their bytes, and none is near another.
var Plain = []string{
	"bikorjax", "dulampet", "fempovig", "gaxitwoc", "hovulzed", "jecranub", "kysphoal", "lurthmeq", "mobzigak", "nacktfir", "pugolsav",
	"quvetdyn", "rizmophu", "sylkabew", "tovnuxil", "vezhadro", "wuplocty", "xigrafen", "yombsuka", "zomtuerv",
	"zzahdilp", "zzefkoru", "zzigmuna", "zzocpyta",
	"zzudrevi", "zzybnalo", "zzzalixo", "zzzenbur", "zzzikdap", "zzzomfeg", "zzzutsih", "zzzyvroj",
	"zzzzafpu", "zzzzebri", "zzzzigny", "zzzzokta", "zzzzulme", "zzzzydos", "zzzzzagu", "zzzzzewi",
}

// slot is the place of a name in a text.
var slot = regexp.MustCompile(`«(\w+)»`)

// Slots are the slots of a script, each once.
func Slots(script string) []string {
	all := map[string]bool{}
	for _, found := range slot.FindAllStringSubmatch(script, -1) {
		all[found[1]] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// Of are replacers of slots by odd names and by plain ones, and of the plain names by the odd ones of the same slots.
// Odd names and plain ones have the same order. Another turn gives a slot another name.
func Of(slots []string, turn int) (odd, plain, back *strings.Replacer) {
	names := make([]string, len(slots))
	for i := range slots {
		names[i] = Odd[(i+turn)%len(Odd)]
	}
	return replacers(slots, names)
}

// Formats are as [Of], and each odd name has the place of an argument: one that is joined into a format is found wherever it
// stands.
func Formats(slots []string) (odd, plain, back *strings.Replacer) {
	names := make([]string, len(slots))
	for i := range slots {
		names[i] = Plain[i] + formats
	}
	return replacers(slots, names)
}

const formats = "%d"

func replacers(slots, names []string) (odd, plain, back *strings.Replacer) {
	sorted := slices.Sorted(slices.Values(names))
	var toOdd, toPlain, toBack []string
	for i, s := range slots {
		name := Plain[slices.Index(sorted, names[i])]
		toOdd = append(toOdd, "«"+s+"»", names[i])
		toPlain = append(toPlain, "«"+s+"»", name)
		toBack = append(toBack, name, names[i])
	}
	return strings.NewReplacer(toOdd...), strings.NewReplacer(toPlain...), strings.NewReplacer(toBack...)
}

var (
	around = regexp.MustCompile("[\"'`\\\\]+")
	spaces = regexp.MustCompile(`[\s─—-]+`)
	places = regexp.MustCompile(`(\.yaml:\d+):\d+|(character )\d+|\d+( 文字目)|\d+( bytes| バイト)|(sizes|バイト数).*`)
)

// Bare is a text without quotation marks, widths, sizes and places in a line, which follow from the length of a name. A
// name that is cut is whole.
func Bare(text string) string {
	text = spaces.ReplaceAllString(places.ReplaceAllString(around.ReplaceAllString(text, ""), "$1$2$3$4"), " ")
	for _, name := range Odd {
		runes := []rune(name)
		for n := len(runes) - 1; n > 2 && strings.Contains(text, "…"); n-- {
			text = strings.ReplaceAll(strings.ReplaceAll(text, string(runes[:n])+"… "+name, name), string(runes[:n])+"…", name)
		}
	}
	return text
}

// unfilled is a place of an argument, or a choice of words, that nothing filled in.
var unfilled = regexp.MustCompile(`%(\[\d\])?[sdqvg]|\{[a-z0-9]*\|`)

// Unfilled reports whether a text that has no odd names but those of a session itself shows a format: what was filled in
// has no places of arguments and no choices of words.
func Unfilled(text string) bool {
	for _, name := range Odd {
		text = strings.ReplaceAll(text, name, "")
	}
	return unfilled.MatchString(text)
}

// Parted is where two texts differ.
func Parted(a, b string) string {
	x, y := []rune(a), []rune(b)
	i := 0
	for i < len(x) && i < len(y) && x[i] == y[i] {
		i++
	}
	from := max(0, i-100)
	return fmt.Sprintf("want …%s\ngot  …%s", string(x[from:min(len(x), i+160)]), string(y[from:min(len(y), i+160)]))
}
