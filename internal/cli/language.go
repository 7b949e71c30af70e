package cli

import (
	"errors"
	"strings"

	"github.com/noren-privacy/noren/lang"
)

// languageFlag is the flag --lang, which sets the language of the terminal.
type languageFlag struct{ t *terminal }

// String is the language that is set.
func (f *languageFlag) String() string {
	if f.t == nil {
		return ""
	}
	return f.t.lang.String()
}

// Set sets the language.
func (f *languageFlag) Set(text string) error {
	for _, l := range lang.All() {
		if l.String() == text {
			f.t.lang = l
			return nil
		}
	}
	return errors.New("expected en or ja")
}

// Type names the value in help.
func (f *languageFlag) Type() string { return "LANGUAGE" }

// asked is the language that arguments ask for by --lang; otherwise l. An argument before it
// may be wrong, which is then said in the language.
func asked(args []string, l lang.Lang) lang.Lang {
	for i, arg := range args {
		text, found := strings.CutPrefix(arg, "--lang=")
		switch {
		case arg == "--":
			return l
		case arg == "--lang" && i+1 < len(args):
			text = args[i+1]
		case !found:
			continue
		}
		for _, one := range lang.All() {
			if one.String() == text {
				l = one
			}
		}
	}
	return l
}
