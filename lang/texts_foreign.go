package lang

// foreignTexts are texts of the system and of libraries that become parts of errors. They are
// in no source of this module.
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
}
