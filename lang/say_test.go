package lang_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
)

func TestSay(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"others may know it: published as the mean of its class, to multiples of 2.5, the grid of its values: at least 4 sums of a class of 5 values are possible; 62% of its values lie on a coarser grid (multiples of 1000), and where all of a class do, the sum of a class of 5 values can be computed from it", "他人が知りうる列です。クラスの平均として公開、値の格子である 2.5 の倍数まで。5 個の値のクラスの合計としてありうる値は 4 個以上あります。値の 62% はより粗い格子（1000 の倍数）の上にあり、クラスのすべての値がそうなら、5 個の値のクラスの合計が計算できます"},
		{"others may know it: published as the mean of its class, to 3 months, the grid of its values: at least 5 sums of a class of 5 values are possible", "他人が知りうる列です。クラスの平均として公開、値の格子である 3 か月の倍数まで。5 個の値のクラスの合計としてありうる値は 5 個以上あります"},
		{"published as the mean of its class, to 99 and multiples of 100 from there, the grid of its values: the sum of a class of 2 values can be computed from it", "クラスの平均として公開、値の格子である、99 から 100 おきの値まで。2 個の値のクラスの合計が計算できます"},
		{"others may know it: published as the median of its class", "他人が知りうる列です。クラスの中央値として公開"},
		{"it tells persons apart: persons were counted by it", "人を区別する列です。これで人を数えました"},
		{"the file has no column age", "ファイルに列 age がありません"},
		{"k is 0: it must be at least 1", "k が 0 です。1 以上にします"},
		{"bad.csv: line 3, column 1 (age)", "bad.csv: 3 行目、1 列目（age）"},
		{"record 7, column 2", "7 件目のレコード、2 列目"},
		{"column 4", "4 列目"},
		{"line of text", "line of text"},
		{"ward", "ward"},
		{"id (it looks like a key of persons or records, and its value also tells the value of age, sex); name (its name says that it holds names of persons)", "id（人かレコードのキーのようです。また、その値から age, sex の値が分かります）; name（名前からすると人の名前です）"},
		{"over 65 years", "over 65 years"},
		{"1 row of totals is left out", "合計の 1 行を除きます"},
		{"3 rows of totals are left out", "合計の 3 行を除きます"},
		{"3 of 1,204 records", "1,204 件のうち 3"},
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
	place := &noren.Error{Where: noren.Position{File: "visits.csv", Column: "age"}, What: "expected 1 or more"}
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

func TestSayLists(t *testing.T) {
	if got := lang.Japanese.SayKeeping("of the columns age, sex and city", "age", "sex", "city"); got != "列 age、sex、city の" {
		t.Error(got)
	}
	if got := lang.Japanese.Say("of the columns salt and pepper"); got != "列 salt and pepper の" {
		t.Errorf("a name of three words: %s", got)
	}
}

// Texts of which parts are texts of ours, and warnings that only some draws of noise make.
func TestSayComposed(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{
			"words that are no candidates have a share of 0.0312 in the reports (standard error 0.0051): name more candidates to find them",
			"候補にない単語が報告に占める割合は 0.0312 です（標準誤差 0.0051）。見つけるには候補を増やしてください",
		},
		{
			"12 of 100 lines are no reports of this mechanism, more than 1 %: excluded: 10 malformed, 2 of the wrong length (reports.txt: line 5, 6, and 3 more)",
			"100 行のうち 12 行がこの仕組みの報告ではなく、1 % を超えています: 除いた報告: 形の誤り 10 件, 長さの違い 2 件（reports.txt: 5 行目, 6, ほか 3 件）",
		},
		{"of 1,000 lines, excluded: 3 malformed", "1,000 行 の 除いた報告: 形の誤り 3 件"},
		{"epsilon 0.2 is spent; unit, relation and model are fixed", "epsilon 0.2 を使用済みです。単位、隣接関係、モデルは変えられません"},
		{"the chain is damaged: entry 4 (charge): is in the wrong place", "鎖が壊れています: 項目 4（charge）: 場所が違います"},
		{"it was changed from outside: account 3 (visits) is not as it was granted; 2 accounts are missing", "外から変えられています: 口座 3（visits）が付与されたときと違います; 口座が 2 個ありません"},
		{"here should stand a list of numbers, and it is true or false", "ここには数のリストが必要ですが、true か false です"},
		{"the request needs a mechanism, a data set", "要求には仕組み, データセットが必要です"},
		{"the scale of Laplace noise is too large for 64-bit results", "ラプラス雑音の尺度 が大きすぎて、64 ビットの結果に収まりません"},
		{"estimated as a chain from 400 steps of visits; all bounds hold together with 95% confidence", "visits の400 段階からの鎖として推定。すべての範囲が同時に 95% の信頼水準で成り立ちます"},
		{"people.csv: read as shift_jis text; lines end with a carriage return alone", "people.csv: shift_jis の文字列として読みました; 行が復帰（CR）だけで終わっています"},
		{"bytes that are not UTF-8 or Shift_JIS", "UTF-8 か Shift_JIS ではないバイトがあります"},
		{"2 faults:\n  k is 0: it must be at least 1", "誤りが 2 件あります:\n  k が 0 です。1 以上にします"},
		{
			"the reports are unlikely for this mechanism (p = 1e-05): a cohort in 3 of 400 reports, where the mechanism gives at most 25 % of them, apart from chance; check that the specification is the one they were made by",
			"報告はこの仕組みでは起こりにくいものです（p = 1e-05）: 一つのコホートに入るのは 400 件の報告のうち 3 件で、この仕組みでは偶然を除いて 25 % 以下になります。報告を作ったときの仕様書か確かめてください",
		},
		{"published as the mean of its class, to multiples of 1000: at least 499 sums of a class of 5 values are possible", "クラスの平均として公開、1000 の倍数まで。5 個の値のクラスの合計としてありうる値は 499 個以上あります"},
		{"published as the range of its class, with the mean where that leaves each value open, to months, the grid of its values: at least 5 sums of a class of 5 values are possible", "クラスの範囲として公開。各値が定まらない場合は平均も示します。平均は値の格子である月まで。5 個の値のクラスの合計としてありうる値は 5 個以上あります"},
		{"published as the range of its class, with the mean where that leaves each value open, to 100 days: at least 16 sums of a class of 5 values are possible", "クラスの範囲として公開。各値が定まらない場合は平均も示します。平均は100 日まで。5 個の値のクラスの合計としてありうる値は 16 個以上あります"},
		{"published as the mean of its class, to 2 decimal places", "クラスの平均として公開、小数 2 桁まで"},
		{"usage while answering", "答える間に失敗: usage"},
	} {
		if got := lang.Japanese.Say(c.text); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestPlacesAreSaid(t *testing.T) {
	for _, c := range []struct {
		where         any
		english, want string
	}{
		{noren.Position{File: noren.Place{noren.File("people.xlsx"), noren.Textf("sheet %s", "A")}, Row: 3, Field: 2, Column: "age"}, "people.xlsx: sheet A: row 3, column 2 (age)", "people.xlsx: シート A: 3 行目、2 列目（age）"},
		{noren.Position{File: "visits.csv", Line: 17, Field: 3, Column: "of at least %d records"}, "visits.csv: line 17, column 3 (of at least %d records)", "visits.csv: 17 行目、3 列目（of at least %d records）"},
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
	inner := fmt.Errorf("entry %d (%s): %w", 4, "charge", errors.New("is in the wrong place"))
	if got, want := lang.Japanese.Error(inner), "項目 4（charge）: 場所が違います"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
