package main

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren/lang"
)

// kind is what may be wrong with texts.
type kind string

// The kinds of findings.
const (
	missing   kind = "missing"   // a text of the code has no translation
	unused    kind = "unused"    // a translation is of no text of the code
	arguments kind = "arguments" // a translation has other arguments than its text
	glued     kind = "glued"     // a text is made of pieces by +, or of a string that is no constant
	plurals   kind = "plurals"   // a text says "1 rows" where a number is 1
	unfilled  kind = "unfilled"  // a text with a choice such as {row|rows} is given to package fmt
	misplaced kind = "misplaced" // a file is not as -write writes it
)

// kinds are all kinds, with what to do.
var kinds = []struct {
	kind kind
	todo string
}{
	{missing, "add each: go run ./lang/check -add 'English' '日本語'"},
	{unused, "go run ./lang/check -remove, or write the texts in the code as they are there"},
	{arguments, "correct each in its file"},
	{glued, "make each one format with arguments"},
	{plurals, "write %d {row|rows} (lang/README.md)"},
	{unfilled, "give it to noren.Textf, an error of package noren or package lang"},
	{misplaced, "go run ./lang/check -write"},
}

// findings are what is wrong, by kind, a line each.
func (t *texts) findings() map[kind][]string {
	found := map[kind][]string{}
	add := func(k kind, format string, args ...any) { found[k] = append(found[k], fmt.Sprintf(format, args...)) }
	translated := map[string]bool{}
	english := map[string]string{} // of messages
	for _, m := range lang.Messages() {
		english["message "+m.Code] = m.English
	}
	words := lang.MessageWords()
	for _, e := range t.entries {
		where := cmp.Or(e.file, "new")
		if fault := faultOf(lang.Entry{Context: e.Context, Key: lang.Key(e.ID), Japanese: e.Text}); fault != "" {
			add(arguments, "%s: %q %s", where, e.ID, fault)
		}
		switch {
		case isOfCode(e.Entry):
			translated[e.ID] = true
			if t.isUnused(e) {
				add(unused, "%s: %q", where, e.ID)
			}
		case e.Context == lang.Foreign, e.Context == lang.Term, e.Context == lang.Stage:
		case english[e.Context] == e.ID && e.ID != "":
			delete(english, e.Context)
		case slices.Contains(words, [2]string{e.Context, e.ID}):
			words = slices.DeleteFunc(words, func(w [2]string) bool { return w == [2]string{e.Context, e.ID} })
		default:
			add(unused, "%s: %s: %q", where, e.Context, e.ID)
		}
	}
	for _, text := range t.code {
		if text.Glued {
			add(glued, "%s: %s", text.Place, text.Key)
			continue
		}
		if !translated[text.Key] && lang.Japanese.Term(text.Key) == text.Key {
			add(missing, "%s: %q", text.Place, text.Key)
		}
		if lacksPlural(text.Key) {
			add(plurals, "%s: %q", text.Place, text.Key)
		}
		if text.Unfilled {
			add(unfilled, "%s: %q", text.Place, text.Key)
		}
	}
	for context, text := range english {
		add(missing, "lang/messages.go: %s: %q", context, text)
	}
	for _, w := range words {
		add(missing, "lang/messages.go: %s: %q", w[0], w[1])
	}
	to := t.arranged()
	for name, file := range to {
		if !bytes.Equal(t.files[name], file) {
			add(misplaced, "%s", name)
		}
	}
	for name := range t.files {
		if _, ok := to[name]; !ok {
			add(misplaced, "%s", name)
		}
	}
	for _, lines := range found {
		slices.Sort(lines)
	}
	return found
}

// countsFile has how many findings of each kind there may be: a kind and a number in each line.
const countsFile = "lang/check/counts.txt"

// readCounts reads the counts.
func readCounts(root string) (map[kind]int, error) {
	file, err := os.Open(filepath.Join(root, filepath.FromSlash(countsFile)))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	counts := map[kind]int{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		name, number, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", countsFile, err)
		}
		counts[kind(name)] = n
	}
	return counts, lines.Err()
}

// writeCounts writes the counts where some have fallen. None rises.
func writeCounts(root string, known map[kind]int, found map[kind][]string) error {
	var b strings.Builder
	for _, k := range kinds {
		if k.kind != misplaced {
			known[k.kind] = min(known[k.kind], len(found[k.kind]))
			fmt.Fprintf(&b, "%s %d\n", k.kind, known[k.kind])
		}
	}
	return os.WriteFile(filepath.Join(root, filepath.FromSlash(countsFile)), []byte(b.String()), 0o644)
}

// shown bounds how many findings of a kind are printed where there are too many.
const shown = 40

// report prints the counts, and the findings of kinds that have more than they may. It returns an
// error where there are some.
func report(w io.Writer, known map[kind]int, found map[kind][]string) error {
	var risen []string
	for _, k := range kinds {
		n := len(found[k.kind])
		fmt.Fprintf(w, "%-10s %5d", k.kind, n)
		switch {
		case n > known[k.kind]:
			fmt.Fprintf(w, "  (at most %d: %s)\n", known[k.kind], k.todo)
			for i, line := range found[k.kind] {
				if i == shown {
					fmt.Fprintf(w, "  and %d more\n", n-shown)
					break
				}
				fmt.Fprintln(w, "  "+line)
			}
			risen = append(risen, string(k.kind))
		case n < known[k.kind]:
			fmt.Fprintf(w, "  (%d before: go run ./lang/check -write)\n", known[k.kind])
		default:
			fmt.Fprintln(w)
		}
	}
	if risen != nil {
		return fmt.Errorf("more than there may be: %s", strings.Join(risen, ", "))
	}
	return nil
}
