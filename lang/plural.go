package lang

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
)

// choosers are the arguments by which a format chooses words, counted from 0. [noren.Format.Fill]
// says how it does.
func choosers(format string) []int {
	var found []int
	noren.Format(format).Choose(func(arg int) bool {
		if !slices.Contains(found, arg) {
			found = append(found, arg)
		}
		return false
	})
	return found
}

// chosen are an entry's texts without choices: a pair for each set of arguments that may be 1.
func (e Entry) chosen() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		by := choosers(string(e.Key))
		for ones := range uint(1) << len(by) {
			one := func(arg int) bool {
				i := slices.Index(by, arg)
				return i >= 0 && ones>>i&1 == 1
			}
			if !yield(noren.Format(e.Key).Choose(one), noren.Format(e.Japanese).Choose(one)) {
				return
			}
		}
	}
}

// mostChoosers is by how many arguments a format may choose.
const mostChoosers = 4

// parsed takes a text of the entry apart, without its choices. fault says what is wrong with
// these: each is by a verb of the text that writes a number, or a number as a text.
func (e Entry) parsed(text, what string) (p *pattern, fault string) {
	plain := noren.Format(text).Choose(func(int) bool { return false })
	p = parse(plain)
	if strings.Contains(plain, "|") && strings.ContainsAny(plain, "{}") {
		return nil, what + " has a choice that is not {one|other} or {1|one|other}"
	}
	if len(choosers(text)) > mostChoosers {
		return nil, what + " chooses by more than " + strconv.Itoa(mostChoosers) + " arguments"
	}
	for _, arg := range choosers(text) {
		if !slices.ContainsFunc(p.verbs, func(v verb) bool { return v.arg == arg && strings.IndexByte("dsgv", v.kind) >= 0 }) {
			return nil, what + " chooses by argument " + strconv.Itoa(arg+1) + ", which is no number of it"
		}
	}
	return p, ""
}
