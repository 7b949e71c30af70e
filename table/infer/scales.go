package infer

import "strings"

// scales are the ones that are proposed as an order: only such as are said in
// these words the world over.
var scales = [][]string{
	{"none", "very mild", "mild", "moderate", "severe", "very severe"},
	{"none", "mild", "moderate", "severe", "critical"},
	{"very low", "low", "medium", "high", "very high"},
	{"very low", "low", "moderate", "high", "very high"},
	{"low", "middle", "high"},
	{"very small", "small", "medium", "large", "very large"},
	{"never", "rarely", "sometimes", "often", "always"},
	{"never", "rarely", "sometimes", "usually", "always"},
	{"very poor", "poor", "fair", "good", "very good", "excellent"},
	{"very bad", "bad", "average", "good", "very good"},
	{"strongly disagree", "disagree", "neutral", "agree", "strongly agree"},
	{"very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"},
	{"なし", "軽度", "中等度", "重度", "最重度"},
	{"なし", "軽症", "中等症", "重症", "最重症"},
	{"軽", "中", "重"},
	{"低", "中", "高"},
	{"低い", "普通", "高い"},
	{"小", "中", "大"},
	{"悪い", "普通", "良い"},
	{"不可", "可", "良", "優", "秀"},
	{"要支援1", "要支援2", "要介護1", "要介護2", "要介護3", "要介護4", "要介護5"},
}

// scaleOf returns the values in the order of a scale that has them all, as they
// are written, or nil. Two that differ in nothing but capitals have no order,
// and one alone needs none.
func scaleOf(values []Count) []string {
	if len(values) < 2 {
		return nil
	}
next:
	for _, scale := range scales {
		levels := make([]string, len(scale))
		for _, v := range values {
			at := indexFold(scale, v.Text)
			if at < 0 || levels[at] != "" {
				continue next
			}
			levels[at] = v.Text
		}
		found := levels[:0]
		for _, l := range levels {
			if l != "" {
				found = append(found, l)
			}
		}
		return found
	}
	return nil
}

func indexFold(scale []string, word string) int {
	for i, s := range scale {
		if strings.EqualFold(s, word) {
			return i
		}
	}
	return -1
}
