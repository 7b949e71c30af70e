package po_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/leonelquinteros/gotext"

	"github.com/noren-privacy/noren/lang/po"
)

// What is written is read again, and written the same.
func TestWriteAndRead(t *testing.T) {
	want := []po.Entry{
		{ID: "%d of \"%s\" \\ \t%% {a} [b?c]", Text: "「%[2]s」の \"\\\t%d", Places: []string{"a/b.go", "c.go"}},
		{ID: "two\nlines", Text: "2\n行\n", Comments: []string{"of a page", "and more"}},
		{Context: "place", ID: "line %d", Text: "%d 行目"},
		{Context: "message a-b", ID: "line %d", Text: "行"},
		{ID: "line %d", Text: "行数"},
	}
	file := po.Write(want)
	got, err := po.ReadAll(string(file))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if again := po.Write(got); string(again) != string(file) {
		t.Errorf("written again:\n%s", again)
	}
	for i := range want {
		want[i].Comments, want[i].Places = nil, nil
	}
	short, err := po.Read(string(file))
	if diff := cmp.Diff(want, short); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// A file of another program, with wrapped lines, is read.
func TestWrapped(t *testing.T) {
	got, err := po.ReadAll("# Noren\nmsgid \"\"\nmsgstr \"\"\n\"Language: ja\\n\"\r\n\r\n#: a.go:1 b.go\n#, go-format\n#| msgid \"old\"\n" +
		"msgid \"\"\n\"one \"\n\"two\"\nmsgstr \"\"\n\"一\"\n\"二\"\n# next\nmsgid \"b\"\nmsgstr \"\"\n\n#~ msgid \"gone\"\n#~ msgstr \"無\"\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []po.Entry{{ID: "one two", Text: "一二", Places: []string{"a.go:1", "b.go"}}, {ID: "b", Comments: []string{"next"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What a hand has broken is an error with its line.
func TestBroken(t *testing.T) {
	const good = "msgid \"a b\"\nmsgstr \"あ\"\n"
	for _, c := range []struct{ file, want string }{
		{good + "\n#, fuzzy\nmsgid \"b\"\nmsgstr \"い\"\n", "line 4: the translation is marked as fuzzy"},
		{good + "\n<<<<<<< HEAD\nmsgid \"b\"\nmsgstr \"い\"\n", "line 4: no msgctxt"},
		{good + "\nmsgid \"b\"\n", "at the end: \"b\" has no msgstr"},
		{"msgid \"b\"\n" + good, "line 2: \"b\" has no msgstr"},
		{good + "msgstr \"い\"\n", "line 3: no msgctxt"},
		{good + "\n" + strings.ReplaceAll(good, "あ", "い"), "at the end: \"a b\" is there twice"},
		{good + "\nmsgid b\"\nmsgstr \"い\"\n", "line 4: b\" is no text in quotation marks"},
		{good + "\nmsgid \"b\"c\"\nmsgstr \"い\"\n", "line 4: \"b\"c\" is no text in quotation marks"},
		{good + "\nmsgid\nmsgstr \"い\"\n", "line 4:  is no text in quotation marks"},
		{good + "\nmsgid `b`\nmsgstr \"い\"\n", "line 4: `b` is no text in quotation marks"},
		{"\"b\"\n", "line 1: a text stands before"},
	} {
		if _, err := po.ReadAll(c.file); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.file, err, c.want)
		}
	}
	if got, err := po.ReadAll(good + "\n" + good); err != nil || len(got) != 1 {
		t.Errorf("the same entry twice: %v, %v", got, err)
	}
}

// The files of translations are read as gotext reads them.
func TestAsGotext(t *testing.T) {
	names, err := filepath.Glob("../ja/*.po")
	if err != nil || len(names) < 20 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		parsed := gotext.NewPo()
		parsed.Parse(file)
		all := parsed.GetDomain().GetCtxTranslations()
		all[""] = parsed.GetDomain().GetTranslations()
		want := 0
		for _, of := range all {
			delete(of, "") // the header, and what gotext begins an entry with
			want += len(of)
		}
		got, err := po.Read(string(file))
		if err != nil || len(got) != want || want == 0 {
			t.Errorf("%s: %d entries, want %d: %v", name, len(got), want, err)
		}
		for _, e := range got {
			if other := all[e.Context][e.ID]; other == nil || other.Trs[0] != e.Text {
				t.Errorf("%s: %q: %v, want %q", name, e.ID, other, e.Text)
			}
		}
	}
}
