// Package names checks names that people give to what the server keeps, and that others
// read: a name is shown beside others, in lists, logs and reports.
package names

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Seen reports whether all characters of a name are seen, and none changes how those
// beside it are seen: it is valid UTF-8 without controls, line ends, and marks of
// direction or format such as U+202E. The joiners U+200C and U+200D are parts of words.
func Seen(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, unseen)
}

func unseen(r rune) bool {
	switch r {
	case 0x200c, 0x200d:
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
}
