// Package po reads and writes translations in files of gettext (PO), without plurals.
package po

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Entry is a text with its translation.
type Entry struct {
	// Context tells texts with the same English apart; "" for none.
	Context string
	// ID is the text in English.
	ID string
	// Text is the translation.
	Text string
	// Comments are those of translators, a line each. [Read] leaves them out.
	Comments []string
	// Places are the files of the code that have the text, sorted. [Read] leaves them out.
	Places []string
}

// Compare sorts entries by their context, then by their English.
func Compare(a, b Entry) int {
	return cmp.Or(strings.Compare(a.Context, b.Context), strings.Compare(a.ID, b.ID))
}

// Read reads the entries of a file in their order. Texts share the memory of file.
func Read(file string) ([]Entry, error) {
	r := reader{entries: make([]Entry, 0, strings.Count(file, "\nmsgid "))}
	err := r.read(file)
	return r.entries, err
}

// ReadAll reads the entries of a file with comments and places, for those who change it. It
// returns an error also for an entry that a translator has marked as doubtful (fuzzy), and for a
// text that is there twice with different translations.
func ReadAll(file string) ([]Entry, error) {
	r := reader{whole: true, known: map[[2]string]string{}}
	err := r.read(file)
	return r.entries, err
}

// reader reads a file line by line.
type reader struct {
	entries []Entry
	now     Entry
	last    byte    // of the entry now: what was read last, c for msgctxt, i for msgid, s for msgstr; 0 for nothing
	field   *string // where that is
	whole   bool    // reads comments and places as well
	known   map[[2]string]string
}

func (r *reader) read(file string) error {
	for number := 1; file != ""; number++ {
		var line string
		line, file, _ = strings.Cut(file, "\n")
		if err := r.line(strings.TrimSuffix(line, "\r")); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := r.end(); err != nil {
		return fmt.Errorf("at the end: %w", err)
	}
	return nil
}

func (r *reader) line(line string) error {
	switch {
	case line == "":
		return nil
	case line[0] == '#':
		return r.comment(line)
	case line[0] == '"':
		if r.field == nil {
			return fmt.Errorf("a text stands before the first msgid")
		}
		text, err := unquoted(line)
		*r.field += text
		return err
	}
	keyword, text, _ := strings.Cut(line, " ")
	switch {
	case keyword == "msgctxt":
		return r.begin('c', &r.now.Context, text)
	case keyword == "msgid" && r.last == 'c':
		return r.next('i', &r.now.ID, text)
	case keyword == "msgid":
		return r.begin('i', &r.now.ID, text)
	case keyword == "msgstr" && r.last == 'i':
		return r.next('s', &r.now.Text, text)
	}
	return fmt.Errorf("no msgctxt, msgid or msgstr is expected here: %q", line)
}

// begin begins an entry.
func (r *reader) begin(what byte, field *string, text string) error {
	if err := r.end(); err != nil {
		return err
	}
	return r.next(what, field, text)
}

// next reads the text after a keyword.
func (r *reader) next(what byte, field *string, text string) (err error) {
	r.last, r.field = what, field
	*field, err = unquoted(text)
	return err
}

// end takes the entry that was read. The one without English is the header of the file.
func (r *reader) end() error {
	e := r.now
	switch {
	case r.last == 0:
		return nil
	case r.last != 's':
		return fmt.Errorf("%q has no msgstr", e.ID)
	}
	r.now, r.last, r.field = Entry{}, 0, nil
	if e.ID == "" {
		return nil
	}
	if r.whole {
		key := [2]string{e.Context, e.ID}
		if text, twice := r.known[key]; twice {
			if text != e.Text {
				return fmt.Errorf("%q is there twice, as %q and as %q", e.ID, text, e.Text)
			}
			return nil
		}
		r.known[key] = e.Text
	}
	r.entries = append(r.entries, e)
	return nil
}

// comment reads a line that begins with #.
func (r *reader) comment(line string) error {
	if !r.whole {
		return nil
	}
	if r.last == 's' {
		if err := r.end(); err != nil {
			return err
		}
	}
	switch rest := line[1:]; {
	case strings.HasPrefix(rest, ":"):
		r.now.Places = append(r.now.Places, strings.Fields(rest[1:])...)
	case strings.HasPrefix(rest, " "):
		r.now.Comments = append(r.now.Comments, rest[1:])
	case strings.HasPrefix(rest, ",") && strings.Contains(rest, "fuzzy"):
		return fmt.Errorf("the translation is marked as fuzzy: check it and remove the mark")
	}
	return nil
}

// unquoted is a text without its quotation marks and escapes.
func unquoted(text string) (string, error) {
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		inner := text[1 : len(text)-1]
		if strings.IndexByte(inner, '\\') < 0 && strings.IndexByte(inner, '"') < 0 {
			return inner, nil
		}
	}
	inner, err := strconv.Unquote(text)
	if err != nil || text[0] != '"' {
		return "", fmt.Errorf("%s is no text in quotation marks, with a backslash before a quotation mark in it", text)
	}
	return inner, nil
}
