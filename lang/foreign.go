package lang

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// MostForeign is how many formats with arguments there may be of texts that reach Noren finished. Texts of Noren
// keep their format and arguments until they are shown, and are none of these.
const MostForeign = 120

// original stands behind a text that no translation is known of.
const original = "（原文）"

// finished is a format by which a finished text is found as a whole.
type finished struct {
	form     *regexp.Regexp
	japanese string
}

// written matches what a format writes an argument by, a percent sign, and a choice of words. Group 2 is the letter.
var written = regexp.MustCompile(`%[-+#0-9.]*(\[[0-9]+\])?([sdvqgf%])|\{(?:[0-9]+\|)?([^{}|]*)\|([^{}|]*)\}`)

// formOf is the expression of the texts that a format makes.
func formOf(format string) *regexp.Regexp {
	var b strings.Builder
	from := 0
	for _, at := range written.FindAllStringSubmatchIndex(format, -1) {
		b.WriteString(regexp.QuoteMeta(format[from:at[0]]))
		from = at[1]
		if at[4] < 0 {
			b.WriteString("(?:" + regexp.QuoteMeta(format[at[6]:at[7]]) + "|" + regexp.QuoteMeta(format[at[8]:at[9]]) + ")")
			continue
		}
		switch format[at[4]] {
		case '%':
			b.WriteString("%")
		case 'd':
			b.WriteString("([0-9,]+)")
		case 'q':
			b.WriteString(`(".*?")`)
		default:
			b.WriteString("(.+?)")
		}
	}
	return regexp.MustCompile("^" + b.String() + regexp.QuoteMeta(format[from:]) + "$")
}

// asText is the verb of a translation for an argument that is a text.
func asText(verb string) string {
	if verb == "%%" {
		return verb
	}
	return written.ReplaceAllString(verb, "%${1}s")
}

// finishedTexts are the formats of finished texts.
var finishedTexts = sync.OnceValue(func() (all []finished) {
	for _, e := range read() {
		if e.Context == Foreign && strings.Contains(string(e.Key), "%") {
			all = append(all, finished{formOf(string(e.Key)), written.ReplaceAllStringFunc(e.Japanese, asText)})
		}
	}
	return all
})

// IsKnown reports whether a finished text is one of the closed list.
func IsKnown(text string) bool {
	_, known := Japanese.finished(text)
	return known
}

// finished is a finished text in the language, where it is known.
func (l Lang) finished(text string) (string, bool) {
	if said, ok := l.fixed(text); ok {
		return said, true
	}
	for _, f := range finishedTexts() {
		if found := f.form.FindStringSubmatch(text); found != nil {
			args := make([]any, len(found)-1)
			for i := range args {
				args[i] = found[i+1]
			}
			return fmt.Sprintf(f.japanese, args...), true
		}
	}
	return text, false
}

// Foreign is a text that reaches Noren finished, in the language: one of a library or of the system, or one that an
// earlier version stored. It is found as a whole, by a closed list; the names in it are the same in every language. One that is not
// found is shown in English, and marked.
func (l Lang) Foreign(text string) string {
	if l == English || strings.TrimSpace(text) == "" {
		return text
	}
	if said, ok := l.finished(text); ok {
		return said
	}
	return text + original
}
