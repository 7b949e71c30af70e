// Package names checks names that people give to what the server and the ledger keep, and that others
// read: a name is shown beside others, in lists, logs and reports.
package names

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Seen reports whether a name can be seen as it is: it is valid UTF-8 with at least one
// character that is no space, without controls, line ends, marks of direction or format such
// as U+202E, and characters that draw nothing, such as U+3164. Joiners are taken where they
// change what is seen: between letters of a script that joins them, and in emoji; so are
// the selectors behind an ideograph or emoji.
func Seen(name string) bool {
	if !utf8.ValidString(name) || strings.TrimSpace(name) == "" {
		return false
	}
	before := rune(-1)
	for i, r := range name {
		after, _ := utf8.DecodeRuneInString(name[i+utf8.RuneLen(r):])
		if !seen(before, r, after) {
			return false
		}
		before = r
	}
	return true
}

// seen reports whether a character is seen between two others; there is none before -1.
func seen(before, r, after rune) bool {
	switch {
	case r == 0x200c || r == 0x200d:
		return unicode.In(before, joining...) && unicode.In(after, joining...) || r == 0x200d && emoji(before) && emoji(after)
	case unicode.Is(unicode.Variation_Selector, r):
		return r >= 0xfe00 && (unicode.Is(unicode.Ideographic, before) || emoji(before))
	case r == 0x2800 || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point):
		return false
	}
	return !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
}

// emoji reports whether a character is a part of emoji: a sign, its tone or its selector.
func emoji(r rune) bool { return r == 0xfe0f || r > 0xff && unicode.In(r, unicode.So, unicode.Sk) }

// joining are the scripts in which a joiner, or its opposite, changes the form of letters.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi,
	unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
	unicode.Tibetan, unicode.Myanmar, unicode.Khmer,
}
