package lang

import (
	"regexp"
	"strings"
)

// places are the forms of places that are made of several texts, with what they are in
// Japanese.
var places = []struct {
	form *regexp.Regexp
	said string
}{
	{regexp.MustCompile(`^record ([0-9]+), column (.+)$`), "レコード $1、列 $2"},
	{regexp.MustCompile(`^sheet (.+), row ([0-9]+), column ([A-Z]+) \((.*)\)$`), "シート $1 の $2 行目、列 $3（$4）"},
	{regexp.MustCompile(`^sheet (.+), row ([0-9]+), column ([A-Z]+)$`), "シート $1 の $2 行目、列 $3"},
	{regexp.MustCompile(`^sheet (.+), row ([0-9]+)$`), "シート $1 の $2 行目"},
	{regexp.MustCompile(`^sheet (.+), column ([A-Z]+)( \((.*)\))?$`), "シート $1、列 $2$3"},
	{regexp.MustCompile(`^row ([0-9]+)$`), "$1 行目"},
	{regexp.MustCompile(`^entry ([0-9]+)$`), "項目 $1"},
	{regexp.MustCompile(`^bound ([0-9]+)$`), "境界 $1"},
	{regexp.MustCompile(`^query ([0-9]+)$`), "質問 $1"},
	{regexp.MustCompile(`^entry ([0-9]+) \(([a-z-]+)\)$`), "項目 $1（$2）"},
	{regexp.MustCompile(`^column (.+)$`), "列 $1"},
}

// placed says a place by these forms, or by the texts of places.
func (c *catalogue) placed(text string) (string, bool) {
	if said, ok := positioned(text); ok {
		return said, true
	}
	for _, p := range places {
		if p.form.MatchString(text) {
			return p.form.ReplaceAllString(text, p.said), true
		}
	}
	for _, p := range c.places {
		if args, ok := p.match(text); ok {
			return p.fill(args), true
		}
	}
	return "", false
}

// place says where something is wrong: the parts of a text such as "people.csv: line 3".
// What is none of the known places, such as a file, is said by [Lang.Say].
func (l Lang) place(text string) string {
	if l != Japanese {
		return text
	}
	if said, ok := japanese().exact[text]; ok {
		return said.translation()
	}
	parts := strings.Split(text, ": ")
	for i, part := range parts {
		if said, ok := japanese().placed(part); ok {
			parts[i] = said
		} else {
			parts[i] = l.Say(part)
		}
	}
	return strings.Join(parts, ": ")
}
