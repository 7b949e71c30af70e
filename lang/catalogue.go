package lang

import (
	"cmp"
	"embed"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/noren-privacy/noren/lang/po"
)

// Entry is a text of the catalogue.
type Entry struct {
	// Context is what the text is: "" for one that the code has, [Foreign], [Term], [Stage], or "message"
	// and "word" with a space and the code of the message or the set of the word.
	Context string
	// Key is the format in English.
	Key Key
	// Japanese is the format in Japanese. Its verbs are those of Key, with the numbers of
	// their arguments where the order is another, as in %[2]s.
	Japanese string
}

// Contexts of texts.
const (
	// Foreign is a text that reaches Noren finished: of the system, of a library, or stored by an earlier version.
	Foreign = "foreign"
	// Term is a word of ours that stands alone, such as a role or a label.
	Term = "term"
	// Stage is a stage of long work.
	Stage = "stage"
)

// IsFormat reports whether the text is a format of package fmt.
func (e Entry) IsFormat() bool { return e.Context == "" || e.Context == Foreign }

// files are the translations, as translators open them.
//
//go:embed ja/*.po
var files embed.FS

// read reads the files of translations, which are in the program and which tests have read.
var read = sync.OnceValue(func() []Entry {
	all := make([]Entry, 0, 8000)
	names, _ := fs.Glob(files, "ja/*.po")
	for _, name := range names {
		file, _ := files.ReadFile(name)
		entries, _ := po.Read(string(file))
		for _, e := range entries {
			all = append(all, Entry{e.Context, Key(e.ID), e.Text})
		}
	}
	return all
})

// Catalogue returns all entries.
func Catalogue() []Entry { return slices.Clone(read()) }

// formats finds the translations of formats.
var formats = sync.OnceValue(func() map[string]string {
	found := make(map[string]string, 8000)
	for _, e := range read() {
		if e.IsFormat() {
			found[string(e.Key)] = e.Japanese // keys have no space around them
		}
	}
	return found
})

// translated is a format in Japanese. Space around it is no part of what is looked up.
func translated(format string) (string, bool) {
	core := strings.TrimSpace(format)
	found, ok := formats()[core]
	if !ok {
		return format, false
	}
	before, after, _ := strings.Cut(format, core)
	if strings.HasPrefix(found, "（") { // it holds its own space
		before = strings.TrimRight(before, " ")
	}
	return before + found + after, true
}

// withContext finds the translations of messages, words and terms, by their context and English.
var withContext = sync.OnceValue(func() map[[2]string]string {
	found := map[[2]string]string{}
	for _, e := range read() {
		if !e.IsFormat() {
			found[[2]string{e.Context, string(e.Key)}] = e.Japanese
		}
	}
	return found
})

// translationOf is the translation of a message, a word or a term.
func translationOf(context, english string) string {
	return cmp.Or(withContext()[[2]string{context, english}], english)
}
