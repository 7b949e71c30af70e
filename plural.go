package noren

import (
	"fmt"
	"strconv"
	"strings"
)

// Fill is the format with its arguments, as package fmt writes them.
//
// A format chooses words by a number: "%d {row|rows}" has the first text where the argument that
// is written last before it is 1, and otherwise the second one. The number of another argument, as in
// %[2]d, stands before both: "{2|Is|Are} %s and its %d {row|rows} left out?". There are no verbs and no
// choices within a choice. Package fmt knows no choices: such a format is for what
// calls Fill, as do [Text], [Error] and package lang.
func (f Format) Fill(args ...any) string {
	chosen := f.Choose(func(arg int) bool { return arg >= 0 && arg < len(args) && fmt.Sprint(args[arg]) == "1" })
	return fmt.Sprintf(chosen, args...)
}

// Choose is the format without choices: one says whether an argument, counted from 0, is 1. A choice
// that stands before all verbs and has no number is by argument -1.
func (f Format) Choose(one func(arg int) bool) string {
	format := string(f)
	if !strings.Contains(format, "|") {
		return format
	}
	var b strings.Builder
	last, next := -1, 0
	for i := 0; i < len(format); {
		switch format[i] {
		case '%':
			end := i + 1
			for end < len(format) && strings.IndexByte("+-# 0123456789.[]*", format[end]) >= 0 {
				end++
			}
			end = min(end+1, len(format))
			if verb := format[i:end]; verb[len(verb)-1] != '%' {
				if _, numbered, ok := strings.Cut(verb, "["); ok {
					digits, _, _ := strings.Cut(numbered, "]")
					if n, err := strconv.Atoi(digits); err == nil {
						next = n - 1
					}
				}
				last = next
				next++
			}
			b.WriteString(format[i:end])
			i = end
		case '{':
			arg, words, size := choice(format[i:])
			if size == 0 {
				b.WriteByte('{')
				i++
				continue
			}
			if arg < 0 {
				arg = last
			}
			if one(arg) {
				b.WriteString(words[0])
			} else {
				b.WriteString(words[1])
			}
			i += size
		default:
			b.WriteByte(format[i])
			i++
		}
	}
	return b.String()
}

// choice reads a choice at the beginning of a text: its argument, -1 for that of the verb before it, its
// two texts, and its length; size is 0 where there is none.
func choice(text string) (arg int, words []string, size int) {
	inner, _, closed := strings.Cut(text[1:], "}")
	words = strings.Split(inner, "|")
	if !closed || strings.ContainsAny(inner, "{%") {
		return 0, nil, 0
	}
	switch len(words) {
	case 2:
		return -1, words, len(inner) + 2
	case 3:
		if n, err := strconv.Atoi(words[0]); err == nil && n > 0 {
			return n - 1, words[1:], len(inner) + 2
		}
	}
	return 0, nil, 0
}
