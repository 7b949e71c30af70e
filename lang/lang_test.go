package lang_test

import (
	"errors"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
)

func TestErrorInJapanese(t *testing.T) {
	err := (&noren.Error{Kind: noren.Usage, Where: "--k", What: "expected 1 or more", Hint: "for instance 5,10,50"})
	if got, want := lang.Japanese.Error(err), "--k: 1 以上が必要です（例: 5,10,50）"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	place := &noren.Error{Where: noren.Position{File: "visits.csv", Column: "age"}, What: "expected 1 or more"}
	if got, want := lang.Japanese.Error(place), "visits.csv: 列 age: 1 以上が必要です"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := lang.English.Error(err); got != err.Error() {
		t.Errorf("got %q", got)
	}
}

func TestLanguages(t *testing.T) {
	for text, want := range map[string]lang.Lang{
		"ja_JP.UTF-8": lang.Japanese, "ja": lang.Japanese, "en_US.UTF-8": lang.English,
		"C": lang.English, "C.UTF-8": lang.English, "fr_FR": lang.English,
	} {
		got := lang.FromEnvironment(func(name string) string {
			if name == "LANG" {
				return text
			}
			return ""
		})
		if got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// Arguments are names and values: they are the same in every language.
func TestArgumentsAreNotSaid(t *testing.T) {
	for _, value := range []string{"not known", "over 65", "it holds no value"} {
		if got, want := lang.Japanese.Text("the table has no column %s", value), "表に列 "+value+" がありません"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestPlacesAreSaid(t *testing.T) {
	for _, c := range []struct {
		where         any
		english, want string
	}{
		{
			noren.Position{File: noren.Place{noren.File("people.xlsx"), noren.Textf("sheet %s", "A")}, Row: 3, Field: 2, Column: "age"},
			"people.xlsx: sheet A: row 3, column 2 (age)", "people.xlsx: シート A: 3 行目、2 列目（age）",
		},
		{
			noren.Position{File: "visits.csv", Line: 17, Field: 3, Column: "of at least %d records"},
			"visits.csv: line 17, column 3 (of at least %d records)", "visits.csv: 17 行目、3 列目（of at least %d records）",
		},
		{noren.Position{Record: 2, Column: "none"}, "record 2, column none", "2 件目のレコード、列 none"},
		{noren.Place{noren.File("model.json"), noren.Textf("byte %d", 12)}, "model.json: byte 12", "model.json: 12 バイト目"},
		{noren.Place{noren.File("noren.yaml"), noren.Textf("bounds of %s", "never")}, "noren.yaml: bounds of never", "noren.yaml: never の範囲"},
		{noren.Phrase("signing key"), "signing key", "署名鍵"},
		{noren.Textf("certificate of charge %s", "c1"), "certificate of charge c1", "課金 c1 の証明書"},
		{"signing key", "signing key", "signing key"}, // a field of that name
		{noren.File("cannot be written"), "cannot be written", "cannot be written"},
	} {
		err := &noren.Error{Where: c.where, What: "exists already"}
		if got := lang.Japanese.Error(err); got != c.want+": すでに存在します" {
			t.Errorf("%s: got %q", c.english, got)
		}
		if got := err.Error(); got != c.english+": exists already" {
			t.Errorf("%s: got %q", c.english, got)
		}
	}
	inner := noren.Reasonf("entry %d (%s): %s", 4, "charge", errors.New("is in the wrong place"))
	if got, want := lang.Japanese.Error(inner), "項目 4（charge）: 場所が違います"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A fault of the program itself is English in every language, and is not marked as a text without a translation.
func TestBugs(t *testing.T) {
	for _, l := range lang.All() {
		if got := l.Error(noren.Bug("geom: a squared distance is not negative")); got != "geom: a squared distance is not negative" {
			t.Errorf("%s: %q", l, got)
		}
	}
}
