package lang

// stages are the stages of long work, as they are reported.
var stages = map[string]string{
	"adult": "Adult の表", "arranging": "整列", "asking": "質問", "calibrating": "較正", "chains": "連鎖", "checking": "検査", "comparing": "比較", "copying": "コピー",
	"counterexamples": "反例", "data sets": "データセット", "enforce": "条件の適用", "fingerprint": "指紋",
	"learning": "学習", "looking": "調査", "lower bound": "下界", "matching": "照合", "partition": "分割", "prices": "双対価格", "publishing": "公開",
	"randomising": "確率化", "reading": "読み取り", "refine": "改良", "report": "報告書", "searching": "探索", "setting": "設定", "simulating": "シミュレーション", "unpacking": "展開",
	"verifying": "検証", "writing": "書き込み",
}

// Stage is the name of a stage of long work in the language; another text, such as the name
// of a data set that is a stage, is left as it is.
func (l Lang) Stage(name string) string {
	if said, ok := stages[name]; ok && l == Japanese {
		return said
	}
	return name
}
