package lang

import (
	"regexp"
	"strings"
)

// places are the forms of where something is wrong, with what they are in Japanese.
var places = []struct {
	form *regexp.Regexp
	said string
}{
	{regexp.MustCompile(`^record ([0-9]+), column (.+)$`), "記録 $1、列 $2"},
	{regexp.MustCompile(`^predicate, character ([0-9]+)$`), "条件の $1 文字目"},
	{regexp.MustCompile(`^sheet (.+), row ([0-9]+)$`), "シート $1 の $2 行目"},
	{regexp.MustCompile(`^sheet (.+)$`), "シート $1"},
	{regexp.MustCompile(`^row ([0-9]+)$`), "$1 行目"},
	{regexp.MustCompile(`^step ([0-9]+)$`), "刻み $1"},
	{regexp.MustCompile(`^axis ([0-9]+) \((.*)\)$`), "軸 $1（$2）"},
	{regexp.MustCompile(`^column (.+)$`), "列 $1"},
	{regexp.MustCompile(`^idempotency key (.+)$`), "冪等キー $1"},
}

// place says where something is wrong: the parts of a text such as "people.csv: line 3".
// What is none of the known places, such as a file, is said by [Lang.Say].
func (l Lang) place(text string) string {
	if l != Japanese {
		return text
	}
	if said, ok := japanese().exact[text]; ok {
		return said.translation
	}
	parts := strings.Split(text, ": ")
	for i, part := range parts {
		if said, ok := positioned(part); ok {
			parts[i] = said
			continue
		}
		known := false
		for _, p := range places {
			if p.form.MatchString(part) {
				parts[i], known = p.form.ReplaceAllString(part, p.said), true
				break
			}
		}
		if !known {
			parts[i] = l.Say(part)
		}
	}
	return strings.Join(parts, ": ")
}
