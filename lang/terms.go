package lang

import "strings"

// Term is a single word of ours, such as a role, in the language; another word is left as
// it is. A word within a text is not said otherwise, as it may be the name of a column.
func (l Lang) Term(word string) string {
	if l == Japanese {
		if said, ok := terms[word]; ok {
			return said
		}
	}
	return word
}

// terms are the words of the product that stand alone in tables.
var terms = map[string]string{
	"identifier": "識別子", "quasi-identifier": "準識別子", "sensitive": "機微", "other": "その他",
	"dropped": "落とす", "transformed": "変換", "kept": "そのまま", "undecided": "未決定",
	"integer": "整数", "decimal": "小数", "date": "日付", "ordered": "順序", "category": "区分",
	"reserved": "予約", "released": "公開", "forfeited": "没収", "refused": "拒否",
	"record": "記録", "records": "記録", "persons": "人",
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
