package lang

import (
	"regexp"
	"strings"
)

// Term is a word of ours that stands alone, such as a role or a label, in the language;
// another word is left as it is. A word within a text is not said otherwise, as it may be the name of a column.
func (l Lang) Term(word string) string {
	if l != Japanese {
		return word
	}
	for _, words := range []map[string]string{roles, terms, statistics} {
		if said, ok := words[word]; ok {
			return said
		}
	}
	return word
}

// roles are the roles and types of columns.
var roles = map[string]string{
	"identifier": "識別子", "quasi-identifier": "準識別子", "sensitive": "機微", "other": "その他", "drop": "除く",
	"integer": "整数", "decimal": "小数", "date": "日付", "ordered": "順序", "category": "区分",
}

// statistics are the answers of queries. They are no terms, which [Lang.Say] says before a
// colon: they may be names of columns there.
var statistics = map[string]string{
	"count": "件数", "sum": "合計", "mean": "平均", "variance": "分散", "histogram": "ヒストグラム", "quantile": "分位点",
}

// terms are the words of the product that stand alone in tables.
var terms = map[string]string{
	"dropped": "落とす", "transformed": "変換", "kept": "そのまま", "undecided": "未決定",
	"not charged": "課金なし", "reserved": "予約", "released": "公開", "forfeited": "没収", "refused": "拒否",
	"k-anonymity": "k-匿名性", "differential privacy": "差分プライバシー", "guarantee": "保証", "intersect": "共通部分", "unique": "一意",
	"at most": "最大", "basis": "根拠", "budget": "予算", "carried": "外からの割合", "charged": "課金", "checks": "検査", "classes": "クラス", "columns": "列", "cost": "費用",
	"declared": "宣言", "expected": "期待値", "free text": "自由記述", "group": "群", "groups": "群", "large": "大", "loss": "損失", "lower bound": "下界", "merged": "併合",
	"method": "方法", "missing": "欠損", "noise": "雑音", "note": "注意", "output": "出力", "outsiders": "表の外の人", "pseudonyms": "仮名", "range": "範囲",
	"seconds": "秒", "share": "割合", "suppressed": "除外", "formulas": "数式", "value": "値", "verdict": "判定", "warning": "警告", "width": "幅", "sample size": "標本の大きさ",
	"histograms": "ヒストグラム", "outside": "範囲外", "mean weight": "重みの平均", "fit check": "当てはまり", "remark": "備考", "misfit": "残差", "sampling": "標本誤差",
	"original": "元の表", "release": "公開表", "record": "レコード", "records": "レコード", "persons": "人", "file": "ファイル",
	"block": "中分類", "chapter": "章", "all": "すべて", "month": "月", "months": "月", "years": "年", "days": "日", "hours": "時", "minutes": "分", "quarter": "四半期", "year": "年", "week": "週", "prefecture": "都道府県", "region": "地方",
	"raw": "元のまま", "generalised": "一般化", "randomised": "確率化", "people": "人", "projected": "射影", "yes": "はい", "no": "いいえ", "median": "中央値",
	"reading": "読み取り", "randomising": "確率化中", "simulating": "シミュレーション", "refining": "改良", "partitioning": "分割", "verifying": "検証", "writing": "書き込み",
	"accuracy": "精度", "dataset": "データセット", "analyst": "分析者", "odds": "オッズ", "would fit": "収まる案", "within": "幅の内", "because": "理由", "not covered": "対象外", "take": "採用",
	"unbounded": "上界なし", "reach": "成り立つ群", "all at once": "同時", "answer": "答え", "alone": "単独", "Program": "プログラム", "Date": "日付", "Command": "コマンド", "Refinement": "改良", "Time": "時間", "both": "両方", "devices": "端末", "attributes": "属性", "left out": "除外", "tried by": "試し方", "guessing": "当て推量", "guess": "推測",
}

// short are texts of a number, with what they are in Japanese.
var short = []struct {
	form *regexp.Regexp
	said string
}{
	{regexp.MustCompile(`^1 in ([0-9,]+)$`), "$1 分の 1"},
	{regexp.MustCompile(`^state ([0-9]+)$`), "状態 $1"},
	{regexp.MustCompile(`^to ([0-9]+) days?$`), "$1 日まで"},
	{regexp.MustCompile(`^to ([0-9]+) hours?$`), "$1 時間まで"},
	{regexp.MustCompile(`^to ([0-9]+) minutes?$`), "$1 分まで"},
	{regexp.MustCompile(`^to ([0-9]+) seconds?$`), "$1 秒まで"},
	{regexp.MustCompile(`^([0-9.]+)-closeness$`), "$1-近接性"},
}

// kinds are kinds of personal identifiers (table/personal) within texts that are no text
// of the catalogue alone.
var kinds = map[string]string{"free text": "自由記述"}

// counters are the words of counted things, in the singular.
var counters = map[string]string{
	"record": "%s 件", "person": "%s 人", "people": "%s 人", "group": "%s 群", "class": "%s クラス", "classe": "%s クラス", "histogram": "ヒストグラム %s 個",
	"cell": "%s セル", "column": "%s 列", "charge": "課金 %s 件", "line": "%s 行", "report": "報告 %s 件", "value": "%s 種類の値", "label": "ラベル %s 個",
	"bin": "%s 区間", "candidate": "候補 %s", "file": "ファイル %s 個", "day": "%s 日", "month": "%s か月", "hour": "%s 時間", "minute": "%s 分", "second": "%s 秒", "public record": "公開のレコード %s 件",
	"private record": "非公開のレコード %s 件", "word": "単語 %s 個", "question": "質問 %s 個", "entrie": "項目 %s 個", "entry": "項目 %s 個", "level": "%s 水準", "repeat": "繰り返し %s 回",
	"malformed": "形の誤り %s 件", "of the wrong length": "長さの違い %s 件", "of a wrong cohort": "コホートの違い %s 件", "second report of a client": "同じ端末の二度目の報告 %s 件",
	"second reports of a client": "同じ端末の二度目の報告 %s 件", "round": "%s 回", "attribute": "属性 %s 個", "missing value": "欠損 %s 件", "hash function": "ハッシュ関数 %s 個",
	"bit": "%s ビット", "point": "%s 点", "part": "%s 部分", "bad lot": "不良ロット %s 個",
}

// counted says a number with what it counts: "1,204 records".
func counted(text string) (string, bool) {
	number, what, ok := strings.Cut(text, " ")
	if !ok || number == "" || strings.Trim(number, "0123456789,.~") != "" {
		return "", false
	}
	format, ok := counters[what]
	if !ok {
		format, ok = counters[strings.TrimSuffix(what, "s")]
	}
	return strings.Replace(format, "%s", number, 1), ok
}

// shareOf says what part of counted things is meant: "3 of 1,204 records", "5% of 1 record".
func shareOf(text string) (string, bool) {
	part, whole, ok := strings.Cut(text, " of ")
	if !ok || part == "" || strings.Trim(part, "0123456789,.%") != "" {
		return "", false
	}
	said, ok := counted(whole)
	return said + "のうち " + part, ok
}
