package lang

import "strings"

// Term is a word of ours that stands alone, such as a role or a label, in the language;
// another word is left as it is. A word within a text is not said otherwise, as it may be the name of a column.
func (l Lang) Term(word string) string {
	if l == Japanese {
		if said, ok := terms[word]; ok {
			return said
		}
		if said, ok := statistics[word]; ok {
			return said
		}
	}
	return word
}

// statistics are the answers of queries. They are no terms, which [Lang.Say] says before a
// colon: they may be names of columns there.
var statistics = map[string]string{
	"count": "件数", "sum": "合計", "mean": "平均", "variance": "分散", "histogram": "ヒストグラム", "quantile": "分位点",
}

// terms are the words of the product that stand alone in tables.
var terms = map[string]string{
	"identifier": "識別子", "quasi-identifier": "準識別子", "sensitive": "機微", "other": "その他",
	"dropped": "落とす", "transformed": "変換", "kept": "そのまま", "undecided": "未決定",
	"integer": "整数", "decimal": "小数", "date": "日付", "ordered": "順序", "category": "区分",
	"reserved": "予約", "released": "公開", "forfeited": "没収", "refused": "拒否",
	"k-anonymity": "k-匿名性", "differential privacy": "差分プライバシー", "guarantee": "保証", "intersect": "共通部分", "unique": "一意",
	"at most": "最大", "basis": "根拠", "budget": "予算", "carried": "外からの割合", "charged": "課金", "checks": "検査", "classes": "クラス", "columns": "列", "cost": "費用",
	"declared": "宣言", "expected": "期待値", "free text": "自由記述", "group": "群", "groups": "群", "large": "大", "loss": "損失", "lower bound": "下界", "merged": "併合",
	"method": "方法", "missing": "欠損", "noise": "雑音", "note": "注意", "output": "出力", "outsiders": "表の外の人", "pseudonyms": "仮名", "range": "範囲",
	"seconds": "秒", "share": "割合", "suppressed": "除外", "value": "値", "verdict": "判定", "warning": "警告", "width": "幅", "sample size": "標本の大きさ",
	"histograms": "ヒストグラム", "outside": "範囲外", "mean weight": "重みの平均", "fit check": "当てはまり", "remark": "備考", "misfit": "残差", "sampling": "標本誤差",
	"record": "記録", "records": "記録", "persons": "人", "file": "ファイル",
	"accuracy": "精度", "odds": "オッズ", "within": "範囲内", "would fit": "収まる案", "dataset": "データセット", "analyst": "分析者",
}

// kinds are the kinds of personal identifiers (table/personal), as parts of texts.
var kinds = map[string]string{
	"e-mail addresses": "メールアドレス", "bank account numbers (IBAN)": "銀行口座番号（IBAN）", "web addresses": "ウェブのアドレス", "network addresses": "ネットワークのアドレス",
	"national identification numbers": "国の個人番号", "Japanese individual numbers (My Number)": "マイナンバー", "payment card numbers": "クレジットカードなどの番号",
	"Japanese insurer numbers": "保険者番号", "telephone numbers": "電話番号", "postal addresses": "住所", "names of persons": "人の名前",
	"dates of birth": "生年月日", "contact data of several kinds": "複数の種類の連絡先", "free text": "自由記述",
}

// counters are the words of counted things, in the singular.
var counters = map[string]string{
	"record": "%s 件", "person": "%s 人", "people": "%s 人", "group": "%s 群", "class": "%s クラス", "classe": "%s クラス", "histogram": "ヒストグラム %s 個",
	"cell": "%s セル", "column": "%s 列", "charge": "課金 %s 件", "line": "%s 行", "report": "報告 %s 件", "value": "%s 種類の値", "label": "ラベル %s 個",
	"attribute": "属性 %s 個", "bin": "%s 区間", "candidate": "候補 %s", "file": "ファイル %s 個", "day": "%s 日", "public record": "公開の記録 %s 件",
	"private record": "非公開の記録 %s 件", "word": "単語 %s 個", "question": "質問 %s 個", "entrie": "項目 %s 個", "entry": "項目 %s 個", "level": "%s 水準", "repeat": "繰り返し %s 回",
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
