package lang

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Say is a text of English in the language. The text is a whole one, made from the format
// of a key: what stands where the format has verbs is taken over, and said in the
// language too where it is such a text itself. Texts in a row are found one by one where
// they are separated by "; ", ": " or new lines. What has no format is left as it is.
func (l Lang) Say(text string) string { return l.SayKeeping(text) }

// SayKeeping is [Lang.Say] for a text with names of columns, values or files in it, which
// stay as they are even where they read like a text of ours.
func (l Lang) SayKeeping(text string, names ...string) string {
	trimmed := strings.TrimSpace(text)
	if l != Japanese || trimmed == "" {
		return text
	}
	before, after, _ := strings.Cut(text, trimmed)
	s := sayer{japanese(), names}
	return before + s.say(trimmed, deepest) + after
}

// sayer says a text by a catalogue.
type sayer struct {
	*catalogue
	names []string
}

// deepest bounds how many texts can be within each other.
const deepest = 6

// noteAfter and noteBefore find the number of a note, where it is referred to and at the note.
var (
	noteAfter  = regexp.MustCompile(` \[[0-9]+\]$`)
	noteBefore = regexp.MustCompile(`^\[[0-9]+\] `)
)

// say translates a text, or its parts.
func (c *sayer) say(text string, depth int) string {
	if depth == 0 || slices.Contains(c.names, text) || !strings.ContainsFunc(text, unicode.IsLetter) {
		return text
	}
	if depth < deepest && !strings.Contains(strings.TrimSpace(text), " ") {
		return text // a word within a text may be a name or a value
	}
	if mark := noteAfter.FindString(text); mark != "" {
		return c.say(strings.TrimSuffix(text, mark), depth) + mark
	}
	if mark := noteBefore.FindString(text); mark != "" {
		return mark + c.say(strings.TrimPrefix(text, mark), depth)
	}
	if strings.Contains(text, "); ") && strings.HasSuffix(text, ")") { // a list of names, each with a reason
		parts := strings.Split(text, "; ")
		for i, part := range parts {
			parts[i] = c.say(part, depth-1)
		}
		return strings.Join(parts, "; ")
	}
	if said, ok := c.list(text, depth); ok {
		return said
	}
	if head, _, _ := strings.Cut(text, " ("); !strings.Contains(head, " ") { // a name
		if said, ok := c.explained(text, depth); ok {
			return said
		}
	}
	if said, ok := c.whole(text, depth); ok {
		return said
	}
	if head, rest, found := strings.Cut(text, ": "); found && roles[head] != "" { // a role and why
		if why := c.say(rest, depth-1); why != rest {
			return roles[head] + ": " + why
		}
	}
	if body, ends := strings.CutSuffix(text, "."); ends && !strings.Contains(body, ". ") {
		if said, ok := c.whole(body, depth); ok {
			return said + "。"
		}
	}
	if said, ok := c.explained(text, depth); ok {
		return said
	}
	if sentences := strings.SplitAfter(text, ". "); len(sentences) > 1 {
		changed := false
		for i, sentence := range sentences {
			trimmed := strings.TrimSuffix(sentence, " ")
			if said := c.say(trimmed, depth-1); said != trimmed {
				sentences[i], changed = said, true
			}
		}
		if changed {
			return strings.Join(sentences, "")
		}
	}
	if head, hint, found := strings.Cut(text, " ("); found && strings.IndexAny(hint, "()") == len(hint)-1 { // an error and its hint
		hint = strings.TrimSuffix(hint, ")")
		if saidHead, saidHint := c.say(head, depth-1), c.say(hint, depth-1); saidHead != head || saidHint != hint {
			return saidHead + "（" + saidHint + "）"
		}
	}
	for _, between := range []string{"\n", "; ", ": ", ", "} {
		if !strings.Contains(text, between) {
			continue
		}
		parts, changed := strings.Split(text, between), false
		for i, part := range parts {
			if said := c.say(part, depth-1); said != part {
				parts[i], changed = said, true
			}
		}
		if changed {
			if between == ": " {
				parts[0] = Japanese.place(parts[0])
			}
			return strings.Join(parts, between)
		}
	}
	return text
}

// list says a list of names in words: "age, sex and city".
func (c *sayer) list(text string, depth int) (string, bool) {
	head, last, found := cutLast(text, " and ")
	if !found || len(c.names) == 0 {
		return "", false
	}
	parts, kept := append(strings.Split(head, ", "), last), false
	for i, part := range parts {
		if slices.Contains(c.names, part) {
			kept = true
			continue
		}
		if part == "" || part[0] < '0' || part[0] > '9' { // "4 other columns" may end a list
			return "", false
		}
		parts[i] = c.say(part, depth-1)
	}
	return strings.Join(parts, "、"), kept
}

// cutLast is [strings.Cut] around the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// explained translates what stands before a parenthesis at the end of a text, and what is
// in it.
func (c *sayer) explained(text string, depth int) (string, bool) {
	head, inner, opened := strings.Cut(text, " (")
	inner, closed := strings.CutSuffix(inner, ")")
	if !opened || !closed || strings.Contains(text, "; ") {
		return "", false
	}
	said, why := c.say(head, depth-1), c.say(inner, depth-1)
	return said + "（" + why + "）", said != head || why != inner
}

// whole translates a text that was made from one format. Of several formats the one with
// the longest text of its own counts.
func (c *sayer) whole(text string, depth int) (string, bool) {
	if said, ok := c.found(text, depth); ok {
		return said, true
	}
	if len(text) > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a' && text[1] <= 'z' {
		return c.found(string(text[0]|0x20)+text[1:], depth) // it begins a sentence
	}
	return "", false
}

// found is whole for a text whose first letter is as in the catalogue.
func (c *sayer) found(text string, depth int) (string, bool) {
	if p, ok := c.exact[text]; ok {
		return p.translation(), true
	}
	if said, ok := positioned(text); ok {
		return said, true
	}
	if said, ok := counted(text); ok {
		return said, true
	}
	if said, ok := shareOf(text); ok {
		return said, true
	}
	for _, s := range short {
		if s.form.MatchString(text) {
			return s.form.ReplaceAllString(text, s.said), true
		}
	}
	if said, ok := kinds[text]; ok {
		return said, true
	}
	for _, p := range c.patterns {
		args, ok := p.match(text)
		if !ok {
			continue
		}
		if p.numeric && slices.ContainsFunc(args, func(arg string) bool { return notNumber(arg) && !c.isOurs(arg, depth-1) }) {
			continue
		}
		for i, arg := range args {
			args[i] = c.argument(p.verbs[i], arg, depth-1)
		}
		return p.fill(args), true
	}
	return "", false
}

// isOurs reports whether a text within another is one of the catalogue.
func (c *sayer) isOurs(text string, depth int) bool {
	if depth <= 0 || !strings.Contains(text, " ") || slices.Contains(c.names, text) {
		return false
	}
	_, ok := c.whole(text, depth)
	return ok
}

// notNumber reports whether an argument is neither a number, as in "83.3%", nor a count, as
// in "1,204 records", nor an amount, as in "epsilon 0.5".
func notNumber(arg string) bool {
	if _, ok := counted(arg); ok {
		return false
	}
	for _, symbol := range []string{"epsilon ", "delta ", "rho "} {
		arg = strings.TrimPrefix(arg, symbol)
	}
	return !strings.ContainsAny(arg, "0123456789") || strings.Trim(arg, "0123456789.,%~+-−") != ""
}

// argument says what stands where a verb is. What stands where the last argument in braces
// is may go on with other texts of the sentence, which begin with a separator, and with
// the end of the sentence.
func (c *sayer) argument(v verb, arg string, depth int) string {
	if v.name == "" {
		return c.say(arg, depth)
	}
	if body, ends := strings.CutSuffix(arg, "."); ends {
		return c.argument(v, body, depth) + "。"
	}
	for _, between := range []string{"; ", ", "} {
		if head, tail, goesOn := strings.Cut(arg, between); goesOn {
			if said, ok := c.found(between+tail, depth); ok {
				return c.argument(v, head, depth) + said
			}
		}
	}
	return c.say(arg, depth)
}

// match finds what stands where a pattern has verbs.
func (p *pattern) match(text string) (args []string, ok bool) {
	rest, ok := strings.CutPrefix(text, p.literals[0])
	if !ok {
		return nil, false
	}
	return p.matchRest(rest, 0)
}

// matchRest matches what follows the literal before verb n: the shortest text that fits
// the verb and after which the others can be found.
func (p *pattern) matchRest(text string, n int) ([]string, bool) {
	if n == len(p.verbs) {
		return nil, text == ""
	}
	literal := p.literals[n+1]
	if n == len(p.verbs)-1 {
		arg, ok := strings.CutSuffix(text, literal)
		if !ok || !p.verbs[n].fits(arg) || literal == "." && strings.Contains(arg, ". ") { // sentences in a row
			return nil, false
		}
		return []string{arg}, true
	}
	if literal == "" { // two verbs side by side cannot be told apart
		return nil, false
	}
	for at := 0; ; at++ {
		i := strings.Index(text[at:], literal)
		if i < 0 {
			return nil, false
		}
		at += i
		if !p.verbs[n].fits(text[:at]) {
			continue
		}
		if args, ok := p.matchRest(text[at+len(literal):], n+1); ok {
			return append([]string{text[:at]}, args...), true
		}
	}
}

// fits reports whether a text may have been written by a verb.
func (v verb) fits(text string) bool {
	switch v.kind {
	case 'd':
		return text != "" && strings.Trim(text, "-+0123456789, ") == ""
	case 'q':
		return len(text) >= 2 && (text[0] == '"' || text[0] == '`')
	case 'g', 'f', 'e':
		return text != "" && strings.Trim(text, "-+.,0123456789eInfNa ") == ""
	}
	return true
}

// fill writes the translation with arguments, which are texts already.
func (p *pattern) fill(args []string) string {
	var b strings.Builder
	translated := p.translated()
	for i, literal := range translated.literals {
		b.WriteString(literal)
		if i < len(translated.verbs) {
			b.WriteString(args[translated.verbs[i].arg])
		}
	}
	return b.String()
}
