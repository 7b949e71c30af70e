package cli

// japaneseUsages are the usages of flags in English, with those in Japanese. They are pairs
// and no map, because tools that format sources align the values of a map differently where
// texts are of several widths.
var japaneseUsages = [][2]string{
	{"language of results and errors: en or ja (default: that of LC_ALL, LC_MESSAGES or LANG, else en)", "結果とエラーの言語: en か ja（既定: LC_ALL、LC_MESSAGES、LANG の言語、なければ en）"},
	{"leave all files in this new `FOLDER`", "すべてのファイルを、この新しい `FOLDER` に残します"},
	{"print JSON", "JSON を表示します"},

	// what a table is
	{"`COLUMN=TYPE`: integer, decimal, date, ordered or category (inferred when left out); may be repeated", "`COLUMN=TYPE`: 列の型。integer、decimal、date、ordered、category のどれか（省くと推定します）。繰り返せます"},
	{"`COLUMN=LOW<...<HIGH`: the levels of an ordered column; may be repeated", "`COLUMN=LOW<...<HIGH`: 順序のある列の水準。繰り返せます"},
	{"`COLUMN=LAYOUT`: how a date is written, as in YYYY-MM-DD or GE年M月D日, or a number, as in 1,234.5 or 1.234,5; may be repeated", "`COLUMN=LAYOUT`: 日付の書き方（YYYY-MM-DD、GE年M月D日 など）、または数の書き方（1,234.5、1.234,5 など）。繰り返せます"},
	{"`TEXT` that stands for a missing value, beside the empty field; may be repeated", "空の欄のほかに欠損値を表す文字列（`TEXT`）。繰り返せます"},
	{"field delimiter: one `CHARACTER`, or tab (detected when left out)", "区切り文字（`CHARACTER`）: 1 文字、または tab（省くと見つけます）"},
	{"`ENCODING`: utf-8, shift_jis, utf-16le, utf-16be, euc-jp, iso-2022-jp, latin-1, windows-1252 (detected when left out; latin-1 and windows-1252 are never detected)", "文字コード（`ENCODING`）: utf-8、shift_jis、utf-16le、utf-16be、euc-jp、iso-2022-jp、latin-1、windows-1252（省くと見つけます。latin-1 と windows-1252 は見つけません）"},
	{"the first line holds the names of the columns, whatever it looks like", "どう見えても、先頭の行を列名とします"},
	{"the first line is a record: the columns are named c1, c2, ...", "先頭の行をレコードとし、列名を c1, c2, ... とします"},
	{"`ROW` of a worksheet, or line of a text file, from 1, that names the columns (default: the first that is not blank, or fits the table)", "列名のある、ワークシートまたはテキストファイルの行（`ROW`、1 から数えます。既定: 空でない最初の行、または表に合う行）"},
	{"worksheet of a workbook, its `NAME` or number (default: the first that is not hidden)", "ブックのワークシート: `NAME` か番号（既定: 隠れていない最初のシート）"},
	{"what becomes of the rows and columns that a workbook hides: `read|leave`; a release or grant of a workbook that hides some needs it", "ブックの隠れた行と列の扱い（`read|leave`: 読む、除く）。隠れた行や列のあるブックの公開と予算の付与には必要です"},
	{"what becomes of rows that hold totals and no record, such as 合計: `read|leave`; a release of a table that has some needs it, and a grant of a workbook", "レコードでない合計の行の扱い（`read|leave`: 読む、除く）。合計の行のある表の公開と、そのようなブックへの予算の付与には必要です"},
	{"read the result of the SQL query in this `FILE`, from pg: or sqlite:DATABASE", "この `FILE` の SQL の問い合わせの結果を、pg: または sqlite:DATABASE から読みます"},

	// specifications
	{"print one JSON object, noren.inspect/1", "JSON のオブジェクト一つ（noren.inspect/1）を表示します"},
	{"replace the file when it exists", "ファイルがあれば置き換えます"},
	{"write to this `FILE`; - is standard output", "この `FILE` に書きます。- は標準出力です"},
	{"print the JSON schema of noren.yaml instead", "代わりに noren.yaml の JSON スキーマを表示します"},
	{"ask four questions about recipients, knowledge, harm and persons; the answers decide on roles and k", "受け取る人、知られていること、害、人について四つの質問をします。答えが役割と k を決めます"},

	// what to release
	{"write the release to this `FILE`, or - for standard output", "公開表をこの `FILE` に書きます。- は標準出力です"},
	{"smallest number of records, or with --unit of persons, that share their quasi-identifiers", "準識別子の値を共にするレコード（--unit があれば人）の最小の数"},
	{"quasi-identifiers: `columns` an adversary may know, comma-separated", "準識別子: 攻撃者が知っていることのある列（`columns`、コンマで区切ります）"},
	{"identifiers: `columns` that are dropped", "識別子: 落とす列（`columns`）"},
	{"privacy unit: the `COLUMN` that tells persons apart; k, l and t then count persons", "プライバシーの単位: 人を区別する列（`COLUMN`）。k、l、t は人を数えるようになります"},
	{"read roles, types and parameters from this `FILE` (see noren init)", "役割、型、パラメータをこの `FILE` から読みます（noren init を参照）"},
	{"sensitive `columns`: kept, and checked where --l or --t is given", "機微な列（`columns`）: 残します。--l や --t があれば検査します"},
	{"`columns` that are kept untouched, also where they look like identifiers", "識別子のように見えても、そのまま残す列（`columns`）"},
	{"`columns` that are dropped and identify no person", "人を特定しないが、要らないので落とす列（`columns`）"},
	{"matched (one value per class, chosen so that counts over the table stay near those of the source), aggregate (means, medians, modes), generalize (ranges, sets) or shares (values with their shares, ranges with means) (default matched)", "公開の方法: matched（クラスごとに一つの値。表全体での件数が元の表に近くなるように選びます）、aggregate（平均、中央値、最頻値）、generalize（範囲、集合）、shares（値とその割合、範囲と平均）（既定: matched）"},
	{"ends of the ranges of --publish generalize: tight (of the class) or fixed (of a grid of round numbers) (default tight)", "--publish generalize の範囲の端: tight（クラスの端）か fixed（切りのよい数の格子）（既定: tight）"},
	{"`COLUMN=PLACES`: decimal places of published means; may be repeated", "`COLUMN=PLACES`: 公開する平均の小数の桁数。繰り返せます"},
	{"`COLUMN=FILE`: generalisation hierarchy, CSV with one line per value, leaf to root; may be repeated", "`COLUMN=FILE`: 一般化の階層の CSV。1 行が一つの値で、葉から根へ並べます。繰り返せます"},
	{"keep the unit's column, with a pseudonym of each person drawn for this release; needs --unit-linkage all", "単位の列を、この公開のために引いた仮名に置き換えて残します。--unit-linkage all が必要です"},
	{"most records to leave out, those without which the others lose least: off, a share such as 1%, or a number of records (default off)", "除いてよいレコードの上限: off、1% のような割合、またはレコードの数。除けばほかの損失が最も減るものから除きます（既定: off）"},

	// guarantee
	{"l-diversity of every sensitive column", "すべての機微な列の l-多様性"},
	{"distinct, entropy or recursive (default distinct)", "多様性の定義: distinct、entropy、recursive（既定: distinct）"},
	{"the c of recursive (c,l)-diversity (default 3)", "recursive (c,l)-多様性の c（既定: 3）"},
	{"whether a missing sensitive value counts towards l: skip or value (default skip)", "機微な列の欠損値を l に数えるか: skip（数えない）か value（一つの値とする）（既定: skip）"},
	{"t-closeness of every sensitive column, above 0", "すべての機微な列の t-近接性。0 より大きい値"},
	{"what others may know of a person's records: one of them, or all and that they are of one person (default one)", "他人が人のレコードについて知りうること: one（一つ）か all（すべてと、それが同じ人のものであること）（既定: one）"},
	{"an earlier release (`FILE`) of the same people: count the candidates that remain to somebody who holds both; needs --previous-source", "同じ人たちの以前の公開表（`FILE`）: 両方を持つ人に残る候補の数を数えます。--previous-source が必要です"},
	{"the `FILE` that --previous was made from; persons are joined by --unit, otherwise records by equal values", "--previous の元の表（`FILE`）。--unit があれば人を、なければ値の等しいレコードを結び付けます"},
	{"quasi-identifiers of --previous (`COLUMN,...`); by default the columns that differ from --previous-source", "--previous の準識別子（`COLUMN,...`）。省くと、--previous-source と異なる列です"},
	{"certificate (`FILE`) of --previous, which states its quasi-identifiers", "--previous の証明書（`FILE`）。準識別子が書かれています"},

	// output
	{"replace OUTPUT when it exists", "OUTPUT があれば置き換えます"},
	{"write files of at most `N` records into the folder OUTPUT, with a manifest", "`N` 件以下のレコードのファイルを、一覧とともにフォルダ OUTPUT に書きます"},
	{"field delimiter of OUTPUT: one `CHARACTER`, or tab (default: as INPUT)", "OUTPUT の区切り文字（`CHARACTER`）: 1 文字、または tab（既定: INPUT と同じ）"},
	{"`ENCODING` of OUTPUT: utf-8, shift_jis, utf-16le, utf-16be, euc-jp, iso-2022-jp, latin-1, windows-1252 (default: as INPUT)", "OUTPUT の文字コード（`ENCODING`）: utf-8、shift_jis、utf-16le、utf-16be、euc-jp、iso-2022-jp、latin-1、windows-1252（既定: INPUT と同じ）"},
	{"texts of a release in a text file that spreadsheets take for formulas: keep, or text, with an apostrophe before each (default keep)", "表計算ソフトが数式とみなす文字列の扱い（テキストファイルの公開表で）: keep（そのまま）か text（前にアポストロフィを付ける）（既定: keep）"},
	{"keep the order of the rows; it links them to the source", "行の順序を保ちます。順序によって元の表と結び付きます"},
	{"write a signed certificate of the release to this `FILE`", "公開表の署名付き証明書をこの `FILE` に書きます"},
	{"write a page about risk and utility to this `FILE` (private: it shows statistics of the source)", "リスクと有用性の報告をこの `FILE` に書きます（非公開: 元の表の統計を示します）"},

	// effort and running
	{"auto, mondrian, mondrian-strict, mdav, vmdav, tomobiki or topdown (default auto)", "群の作り方: auto、mondrian、mondrian-strict、mdav、vmdav、tomobiki、topdown（既定: auto）"},
	{"local search after the method: off, fast, auto (fast, then exchanges where they pay) or a duration such as 20s (default auto)", "群を作った後の局所探索: off、fast、auto（fast の後、効果があれば交換）、または 20s のような時間（既定: auto）"},
	{"search time for a better lower bound of the loss: off or a duration such as 60s (default off: nearest neighbours only)", "損失の下界をよくする探索の時間: off、または 60s のような時間（既定: off。最近傍だけ）"},
	{"zscore (every column counts alike, categories included), minmax or none (default zscore)", "列の尺度: zscore（区分を含め、どの列も同じ重み）、minmax、none（既定: zscore）"},
	{"least records of a coarse cell: a number, auto or off (default auto)", "粗い区画の最小のレコード数: 数、auto、off（既定: auto）"},
	{"closest pairs by which tomobiki joins a component (default 3)", "tomobiki が成分をつなぐ、最も近い組の数（既定: 3）"},
	{"gain factor of vmdav (default 0.2)", "vmdav の利得の係数（既定: 0.2）"},
	{"parallel workers (default: one per processor); the result does not depend on it", "並列の数（既定: プロセッサの数）。結果はこれによりません"},
	{"about how much memory to use, such as 512MiB or 4GB (default 2GiB); the result does not depend on it", "使うメモリのおおよその量。512MiB、4GB など（既定: 2GiB）。結果はこれによりません"},
	{"say what would be read, dropped, transformed and kept; make no groups and write nothing", "何を読み、落とし、変換し、残すかだけを述べます。群は作らず、何も書きません"},
	{"print the result as one JSON object, noren.anonymize/1, or with --dry-run noren.anonymize.plan/1", "結果を JSON のオブジェクト一つ（noren.anonymize/1、--dry-run では noren.anonymize.plan/1）で表示します"},
	{"`HEX` that fixes the search and, with the table and all parameters, the row order: 32 or more random hexadecimal digits; keep it secret, it reveals the order (default: drawn)", "探索と、表とすべてのパラメータとともに行の順序を決める種（`HEX`）: 32 桁以上の無作為な 16 進数。順序が分かってしまうので秘密にしてください（既定: 毎回引きます）"},
	{"accept a whole number as --seed: the order can then be found by trying seeds; for tests", "--seed に整数を許します。種を試せば順序が分かってしまいます。試験用です"},
	{"print the result as one JSON object, noren.verify/1", "結果を JSON のオブジェクト一つ（noren.verify/1）で表示します"},
	{"smallest number of records, or with --unit of persons, that must share their quasi-identifiers", "準識別子の値を共にしなければならないレコード（--unit があれば人）の最小の数"},
}
