package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/lang/po"
	"github.com/noren-privacy/noren/lang/sources"
)

// folder is where the translations are, below the root of the module.
const folder = "lang/ja"

// texts are the texts of the code and their translations.
type texts struct {
	code    map[string]sources.Text // by key
	files   map[string][]byte       // as they are
	entries []translation
}

// translation is an entry with the file that it is in; "" for a new one.
type translation struct {
	po.Entry
	file string
}

// load reads the code and the files of translations.
func load(root string) (*texts, error) {
	found, err := sources.Find(root)
	if err != nil {
		return nil, err
	}
	t := &texts{code: map[string]sources.Text{}, files: map[string][]byte{}}
	for _, text := range found {
		t.code[text.Key] = text
	}
	names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*.po"))
	if err != nil {
		return nil, err
	}
	known := map[[2]string]translation{}
	for _, name := range names {
		file, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		base := filepath.Base(name)
		t.files[base] = file
		entries, err := po.ReadAll(string(file))
		if err != nil {
			return nil, fmt.Errorf("%s/%s: %w", folder, base, err)
		}
		for _, e := range entries {
			key := [2]string{e.Context, e.ID}
			if before, twice := known[key]; twice {
				if before.Text != e.Text {
					return nil, fmt.Errorf("%q is in %s as %q and in %s as %q: remove one", e.ID, before.file, before.Text, base, e.Text)
				}
				continue
			}
			known[key] = translation{e, base}
			t.entries = append(t.entries, known[key])
		}
	}
	return t, nil
}

// isOfCode reports whether an entry is of a text that the code has.
func isOfCode(e po.Entry) bool { return e.Context == "" }

// add adds a translation, or gives a text another one.
func (t *texts) add(context, english, japanese string) error {
	english, japanese = strings.TrimSpace(english), strings.TrimSpace(japanese)
	e := translation{Entry: po.Entry{Context: context, ID: english, Text: japanese}}
	if fault := faultOf(lang.Entry{Context: context, Key: lang.Key(english), Japanese: japanese}); fault != "" {
		return fmt.Errorf("%q %s", english, fault)
	}
	if _, ok := t.code[english]; isOfCode(e.Entry) && !ok {
		return fmt.Errorf("no text of the code is %q: write it there first", english)
	}
	for i, before := range t.entries {
		if before.ID == english && before.Context == context {
			t.entries[i].Text = japanese
			return nil
		}
	}
	t.entries = append(t.entries, e)
	return nil
}

// isUnused reports whether an entry is of no text of the code.
func (t *texts) isUnused(e translation) bool {
	_, ok := t.code[e.ID]
	return isOfCode(e.Entry) && !ok
}

// removeUnused removes the entries of no text of the code.
func (t *texts) removeUnused() { t.entries = slices.DeleteFunc(t.entries, t.isUnused) }

// arranged are the files as they are to be: a text is in the file that is called as the first
// package that has it, in the order of the files of the code.
func (t *texts) arranged() map[string][]byte {
	byFile := map[string][]po.Entry{}
	for _, e := range t.entries {
		file := e.file
		e.Places = nil
		switch text, ok := t.code[e.ID]; {
		case isOfCode(e.Entry) && ok:
			e.Places = text.Files
			file = fileOf(text.Files[0])
		case e.Context == lang.Foreign:
			file = "foreign.po"
		case !isOfCode(e.Entry):
			file = "messages.po"
		}
		byFile[file] = append(byFile[file], e.Entry)
	}
	out := map[string][]byte{}
	for file, entries := range byFile {
		slices.SortFunc(entries, func(a, b po.Entry) int {
			if c := strings.Compare(first(a.Places), first(b.Places)); c != 0 {
				return c
			}
			return po.Compare(a, b)
		})
		out[file] = po.Write(entries)
	}
	return out
}

// fileOf is the file of translations for a file of the code: that of its tree of packages.
func fileOf(code string) string {
	parts := strings.Split(path.Dir(code), "/")
	switch {
	case parts[0] == ".":
		return "noren.po"
	case parts[0] == "internal" && len(parts) > 1:
		return parts[1] + ".po"
	}
	return parts[0] + ".po"
}

func first(places []string) string {
	if len(places) == 0 {
		return ""
	}
	return places[0]
}

// write writes the files that differ from what they are to be.
func (t *texts) write(root string) error {
	to := t.arranged()
	for name := range t.files {
		if _, ok := to[name]; !ok {
			if err := os.Remove(filepath.Join(root, filepath.FromSlash(folder), name)); err != nil {
				return err
			}
		}
	}
	for name, file := range to {
		if bytes.Equal(t.files[name], file) {
			continue
		}
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(folder), name), file, 0o644); err != nil {
			return err
		}
	}
	return nil
}
