package lang

// foreignTexts are texts that are in no source of this module by themselves: those of the
// system and of libraries that become parts of errors, and parts of texts.
var foreignTexts = []Entry{
	{"no such file or directory", "そのようなファイルやフォルダはありません"},
	{"file does not exist", "ファイルがありません"},
	{"file exists", "同じ名前のものがすでにあります"},
	{"permission denied", "権限がありません"},
	{"is a directory", "フォルダです"},
	{"not a directory", "フォルダではありません"},
	{"no space left on device", "ディスクに空きがありません"},
	{"unknown flag: %s", "知られていないフラグです: %s"},
	{"unknown shorthand flag: %q in %s", "知られていないフラグです: %[2]s の %[1]q"},
	{"unknown command %q for %q", "%[2]q に知られていないコマンドです: %[1]q"},
	{"flag needs an argument: %s", "フラグに値が必要です: %s"},
	{"invalid argument %q for %q flag: %s", "フラグ %[2]q の値 %[1]q は正しくありません: %[3]s"},
	{"unknown field %q", "知られていない項目 %q"},
	{"wrong number of fields", "欄の数が違います"},
	{"invalid syntax", "数として読めません"},
	{"value out of range", "範囲の外の数です"},
	// Words of the glossary, and headings of one word.
	{"Errors", "誤差"},
	{"k-anonymity", "k-匿名性"},
	{"Correlation", "相関"},
	{"Discernibility", "識別可能性"},
	// Parts of the captions of noren reproduce ratio, which begin with the name of a setting.
	{"the paper's", "論文の設定"},
	{"D half N(0,.09)", "D は半分が N(0,.09)"},
	{"half N(2,.16)", "半分が N(2,.16)"},
}
