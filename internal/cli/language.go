package cli

import (
	"errors"

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
