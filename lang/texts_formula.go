package lang

// formulaTexts are about texts that spreadsheets take for formulas.
var formulaTexts = []Entry{
	{"expected a release with formulas as they are, got one with an apostrophe before them", "数式をそのまま書いた公開表が必要ですが、数式の前にアポストロフィがあります"},
	{"is for text files: in a table of a database, a text is no formula", "テキストファイルのためのものです。データベースの表では、文字列は数式になりません"},
	{"state formulas as text", "数式を文字列として書いたこと（formulas: text）を指定してください"},
	{"(--formulas text writes them as text)", "（--formulas text で文字列として書き出せます）"},
	{"begins as a formula, expected an apostrophe before it", "数式のように始まりますが、前にアポストロフィが必要です"},
	{"A file that was written with formulas as text holds a text that begins as a formula.", "数式を文字列として書いたファイルに、数式のように始まる文字列があります。"},
	{"A release was written with formulas as text, and the request does not say so.", "数式を文字列として書いた公開表ですが、そのことが指定されていません。"},
	{"formulas", "数式"},
	{"keep or text", "keep か text"},
	{"the file was not written with formulas as text: read it with formulas kept", "数式を文字列として書いたファイルではありません。formulas: keep で読んでください"},
	{"%s: spreadsheets take %s cells and %d column names in it for formulas; they stay as they are, as in the public table", "%s：表計算ソフトは、この中の %s 個のセルと %d 個の列名を数式とみなします。公開表と同じく、そのまま書き出します"},
}
