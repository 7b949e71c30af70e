package lang_test

import (
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
)

func TestSay(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"others may know it: published as the median of its class", "他人が知りうる列です。クラスの中央値として公開"},
		{"it tells persons apart: persons were counted by it", "人を区別する列です。これで人を数えました"},
		{"the file has no column age", "ファイルに列 age がありません"},
		{"k is 0: it must be at least 1", "k が 0 です。1 以上にします"},
		{"bad.csv: line 3, column 1 (age)", "bad.csv: 3 行目、1 列目（age）"},
		{"record 7, column 2", "7 件目の記録、2 列目"},
		{"column 4", "4 列目"},
		{"line of text", "line of text"},
		{"ward", "ward"},
		{"id (it looks like a key of persons or records, and its value also tells the value of age, sex); name (its name says that it holds names of persons)", "id（人か記録のキーのようです。また、その値から age, sex の値が分かります）; name（名前からすると人の名前です）"},
		{"over 65 years", "over 65 years"},
		{"3 of 1,204 records", "1,204 件のうち 3"},
		{"[2] not private", "[2] プライバシーを守らない"},
		{"constant weights [12]", "一定の重み [12]"},
		{"male and female", "male and female"},
		{"the file has no column over 65", "ファイルに列 over 65 がありません"},
		{"no such text as this", "no such text as this"},
	} {
		if got := lang.Japanese.Say(c.text); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
		if got := lang.English.Say(c.text); got != c.text {
			t.Errorf("%q in English: %q", c.text, got)
		}
	}
}

func TestErrorInJapanese(t *testing.T) {
	err := (&noren.Error{Kind: noren.Usage, Where: "--k", What: "expected 1 or more", Hint: "for instance 5,10,50"})
	if got, want := lang.Japanese.Error(err), "--k: 1 以上が必要です（例: 5,10,50）"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	place := &noren.Error{Where: "visits.csv: column age", What: "expected 1 or more"}
	if got, want := lang.Japanese.Error(place), "visits.csv: 列 age: 1 以上が必要です"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := lang.English.Error(err); got != err.Error() {
		t.Errorf("got %q", got)
	}
}

func TestLanguages(t *testing.T) {
	for text, want := range map[string]lang.Lang{"ja_JP.UTF-8": lang.Japanese, "ja": lang.Japanese, "en_US.UTF-8": lang.English, "C": lang.English, "C.UTF-8": lang.English, "fr_FR": lang.English} {
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

// An argument of ours is said where it is marked as such.
func TestWordsAreSaid(t *testing.T) {
	got := lang.Japanese.Text("the largest unit has %s; %s without a unit count in no answer", lang.Words("19 records"), lang.Words("1 record"))
	if want := "最も記録の多い単位の記録は 19 件です。単位のない記録は 1 件で、どの答えにも数えません"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := lang.English.Text("%s to check", lang.Words("19 records")); got != "19 records to check" {
		t.Errorf("got %q", got)
	}
}

func TestSayLists(t *testing.T) {
	if got := lang.Japanese.SayKeeping("of the columns age, sex and city", "age", "sex", "city"); got != "列 age、sex、city の" {
		t.Error(got)
	}
	if got := lang.Japanese.Say("of the columns salt and pepper"); got != "列 salt and pepper の" {
		t.Errorf("a name of three words: %s", got)
	}
}
