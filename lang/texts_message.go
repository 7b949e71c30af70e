package lang

// tableMessages are about tables and their columns. The reasons of types and roles end without a point.
var tableMessages = []MessageText{
	// how a table stands
	{"table-reading", "The table is being read.", "表を読み取っています。"},
	{"table-failed", "The table could not be read.", "表を読み取れませんでした。"},
	{"table-changed", "The file has changed at its source since its columns were confirmed. Confirm them again.", "列を確定した後に、元のファイルが変わりました。もう一度確定してください。"},
	{"table-unconfirmed", "Types and roles are proposals. Check each column and confirm them.", "型と役割は提案です。各列を確かめて、確定してください。"},
	{"table-confirmed", "A steward has confirmed the columns.", "データ管理者が列を確定しました。"},
	{"hidden-open", "The workbook hides {rows} rows and {number} columns of the table. Decide whether they are read or left out.", "ブックに表の非表示の行が {#rows} 行、列が {#number} 列あります。読み取るか除くかを決めてください。"},
	{"hidden-read", "The workbook hides {rows} rows and {number} columns of the table. They are read.", "ブックに表の非表示の行が {#rows} 行、列が {#number} 列あります。これらも読み取ります。"},
	{"hidden-left", "The workbook hides {rows} rows and {number} columns of the table. They are left out.", "ブックに表の非表示の行が {#rows} 行、列が {#number} 列あります。これらは除きます。"},
	{"hierarchy-uncovered", "{uncovered} of {values} values of column {column} have no line in its hierarchy.", "列 {column} の値 {#values} 個のうち {#uncovered} 個が階層にありません。"},
	{"unit-open", "Column {column} seems to name persons who have several records each. With it as the unit, persons are counted.", "列 {column} は、複数のレコードをもつ人を区別しているようです。これをプライバシー単位にすると、人を数えます。"},
	{"no-quasi-identifier", "No column is a quasi-identifier. Name the columns that others may know.", "準識別子の列がありません。他者が知りうる列を指定してください。"},
	// why a type is proposed
	{"type-declared", "the file itself declares it", "ファイル自体がこの型を宣言しています"},
	{"type-empty", "it holds no value", "値がありません"},
	{"type-words", "its values are words", "値は単語です"},
	{"type-odd", "{odd} of its {values} values are no numbers, the first at {at}; if they stand for missing values, say so, and the column is numbers", "{#values} 個の値のうち {#odd} 個が数値ではありません（最初は {at:text}）。それらが欠損値を表すなら、そう指定すると列は数値になります"},
	{"type-zeros", "some of its numbers begin with a zero or a plus, as codes do, and would lose it", "符号のように 0 または + で始まる数値があり、数値として読むとそれが失われます"},
	{"type-code-name", "its values are numbers, but its name says that they are codes", "値は数値ですが、列名は符号であることを示しています"},
	{"type-two", "it has at most two whole numbers as values, as codes do", "整数の値が 2 種類以下で、符号と考えられます"},
	{"type-integer", "all its values are whole numbers", "すべての値が整数です"},
	{"type-decimal", "all its values are numbers, and some are not whole", "すべての値が数値で、整数でないものがあります"},
	{"type-date", "all its values read as {format}", "すべての値を {format} として読み取れます"},
	{"type-date-open", "all its values read as {format}, and as {other} too: no day above the 12th tells which number is the month; say the format", "すべての値を {format} とも {other} とも読み取れます。12 を超える日がないため、どちらの数が月かわかりません。形式を指定してください"},
	{"type-format", "all its values are numbers written as {format}", "すべての値が {format} の形の数値です"},
	{"type-format-open", "all its values are numbers written as {format}, and read as {other} too: no value tells them apart; say the format", "すべての値を {format} の形の数値として読み取れますが、{other} としても読み取れ、区別できる値がありません。形式を指定してください"},
	{"type-scale", "its {values} values are steps of a well-known scale", "{values} 個の値は、よく知られた尺度の段階です"},
	// why a role is proposed
	{"role-index", "it is the row index of the tool that wrote the file, and can link a release to it", "ファイルを書いたツールの行番号で、公開したファイルを元のデータに結び付けることができます"},
	{"role-nested", "it holds lists, maps or groups, which cannot be grouped by: dropped unless it is kept on purpose", "リスト、マップ、または入れ子の値で、グループ分けに使えません。明示して残さないかぎり除きます"},
	{"role-empty", "it holds no value", "値がありません"},
	{"role-person", "its name says that it names a person", "列名が、人を表すことを示しています"},
	{"role-person-unit", "its name says that it names a person; [unique?every value is different|[about?about ]{values} {values|value|values}] among {records} records, so a person has several", "列名が、人を表すことを示しています。{#records} 件のレコードに値が[about?約 | ]{#values} 個[unique?（すべて異なる）]なので、1 人が複数のレコードをもちます"},
	{"role-personal", "[both?its name and its values look like {kind:kind}|[header?its name says that it holds {kind:kind}|its values look like {kind:kind}]][values? ({share} % of the values)]", "[header?列名][both?と][values?値]が、{kind:kind}であることを示しています[values?（値の {share} %）]"},
	{"role-sensitive-name", "its name says that it tells what a person would not want known; [unique?every value is different|[about?about ]{values} {values|value|values}]", "列名が、人に知られたくないことであると示しています。値は[about?約 | ]{#values} 個[unique?（すべて異なる）]です"},
	{"role-number", "its name says that it numbers the records; [unique?every value is different|[about?about ]{values} {values|value|values}]", "列名が、レコードの番号であることを示しています。値は[about?約 | ]{#values} 個[unique?（すべて異なる）]です"},
	{"role-number-unit", "its name says that it numbers something; [unique?every value is different|[about?about ]{values} {values|value|values}] among {records} records, so that several records may be one person's", "列名が、何かの番号であることを示しています。{#records} 件のレコードに値が[about?約 | ]{#values} 個なので、複数のレコードが同じ人のものかもしれません"},
	{"role-number-unique", "its name says that it numbers something; [unique?every value is different|[about?about ]{values} {values|value|values}]", "列名が、何かの番号であることを示しています。値は[about?約 | ]{#values} 個[unique?（すべて異なる）]です"},
	{"role-reaches", "its name says that it names or reaches a person", "列名が、人の名前または連絡先であることを示しています"},
	{"role-address", "its name says that it is an address; [unique?every value is different|[about?about ]{values} {values|value|values}]", "列名が、住所であることを示しています。値は[about?約 | ]{#values} 個[unique?（すべて異なる）]です"},
	{"role-place", "[unique?every value is different|[about?about ]{values} {values|value|values}], typical of what others know (where a person lives)", "値は[about?約 | ]{#values} 個[unique?（すべて異なる）]で、他者がよく知ること（住んでいる場所）です"},
	{"role-quasi-name", "[unique?every value is different|[about?about ]{values} {values|value|values}], typical of what others know by its name", "値は[about?約 | ]{#values} 個[unique?（すべて異なる）]で、列名から見て他者がよく知ることです"},
	{"role-free-text", "it is free text, which can name persons", "自由記述で、人の名前を含むことがあります"},
	{"role-date", "it is a date, and dates are what others know", "日付です。日付は他者に知られていることがあります"},
	{"role-unique-word", "every value is different and it is a word or a code", "すべての値が異なり、単語または符号です"},
	{"role-running", "its numbers rise from record to record, as running numbers do", "通し番号のように、レコードごとに数が増えます"},
	{"role-nearly-unique", "[unique?every value is different|[about?about ]{values} {values|value|values}] among {records} records: nearly every one is different and it is a word or a code", "{#records} 件のレコードに値が[about?約 | ]{#values} 個あり、ほとんどすべてが異なる単語または符号です"},
	{"role-open-below", "[unique?every value is different|[about?about ]{values} {values|value|values}]; nothing tells what they are (see below)", "値は[about?約 | ]{#values} 個[unique?（すべて異なる）]で、内容はわかりません（下を参照）"},
	{"role-open", "[unique?every value is different|[about?about ]{values} {values|value|values}]; nothing tells what they are. If others may know them, make the column a quasi-identifier; if others must not know them, sensitive", "値は[about?約 | ]{#values} 個[unique?（すべて異なる）]で、内容はわかりません。他者が知りうるなら準識別子に、知られてはならないなら機微属性にしてください"},
}

// releaseMessages are about recipes, previews, releases and their comparison.
var releaseMessages = []MessageText{
	// recipes and the gate
	{"least-k", "k is {k}, and the rule of this server is {least} or more.", "k は {k} ですが、このサーバーの規則は {least} 以上です。"},
	{"no-sensitive", "l and t are about sensitive columns, and no column is sensitive.", "l と t は機微属性についてのものですが、機微属性の列がありません。"},
	{"ranges", "Fixed ranges are a way to generalize.", "決まった刻みの範囲は、範囲と集合で公開する場合だけに使えます。"},
	{"pseudonym", "Pseudonyms need the linkage of all records of a person.", "仮名を残すには、ある人のすべてのレコードを知られうるものとする設定が必要です。"},
	{"k-large", "k is {k}, and the table has {n}.", "k は {k} ですが、表には {#n} しかありません。"},
	{"unit-role", "The column that tells persons apart must be an identifier.", "人を区別する列 {column} は識別子でなければなりません。"},
	{"no-preview", "There is no preview. Make one and look at it.", "プレビューがありません。作って内容を確かめてください。"},
	{"preview-stale", "Table or recipe have changed since the preview. Preview again.", "プレビューの後で、表またはレシピが変わりました。作り直してください。"},
	{"preview-other", "The preview is another one than the one that was looked at. Preview again.", "確かめたものとは別のプレビューです。もう一度確かめてください。"},
	{"previous-unstudied", "An earlier release of the same people was not compared with this one: {release}.", "同じ人々の以前の公開（{release}）が、この公開と合わせて検討されていません。"},
	// previews
	{"classes", "{#classes}, of {least} to {most} records", "{#classes} クラス、それぞれ {#least} 件から {#most} 件のレコード"},
	{"persons", "{#persons} by {column}, {least} to {most} in a class, {mean} on average[unassigned?; {#unassigned} records without one]", "列 {column} で {#persons} 人。各クラスに {#least} 人から {#most} 人、平均 {mean} 人[unassigned?。人のわからないレコードが {#unassigned} 件]"},
	{"intersect", "an attacker who knows all records of a person is left with at least {#least} {least|candidate|candidates}, {mean} on average[asked? ({k} required)][below?; {#below} persons have fewer than {k} candidates]", "1 人のすべてのレコードを知る攻撃者に対して、候補は少なくとも {#least} 人、平均 {mean} 人[asked?（求められた人数は {k} 人）][below?。候補が {k} 人未満の人は {#below} 人]"},
	{"pseudonyms", "{#pseudonyms}, each with the sequence of {#least} or more; {#without} records without one", "仮名は {#pseudonyms} 個で、それぞれの系列を少なくとも {#least} 個が共有。仮名のないレコードは {#without} 件"},
	{"free-text", "Free text in {columns}: no check reads sentences; they may name persons, places and what happened. Read them before the release, or drop the column.", "{columns} は自由記述です。文章は検査できず、人や場所の名前、起きたことが書かれていることがあります。公開の前に読むか、その列を除いてください。"},
	{"sensitive-open", "A class may show one sensitive value for all its records: neither l-diversity nor t-closeness was asked for.", "クラスのすべてのレコードが同じ機微属性の値をもつことがあります。l-多様性も t-近接性も求められていません。"},
	{"verified", "The file was read back: each of its {#classes} classes holds {k} {unit} or more.", "ファイルを読み戻しました。{#classes} 個のクラスのそれぞれに、{k} {unit:counted}以上があります。"},
	{"sensitive", "In every class, column {column} has at least {l} different values and is at most {#t} from the whole table.", "どのクラスでも、列 {column} には少なくとも {l} 個の異なる値があり、表全体との距離は {#t} 以下です。"},
	{"suppressed", "{#records} records are left out.", "{#records} 件のレコードを除外しました。"},
	{"formulas-none", "no cell or column name is taken for a formula by spreadsheets", "表計算ソフトが数式とみなすセルも列名もありません"},
	{"formulas", "spreadsheets take {#cells} cells and {names} column names for formulas (columns {columns}); they are written as they are", "表計算ソフトは {#cells} 個のセルと {#names} 個の列名を数式とみなします（列 {columns}）。そのまま書き出します"},
	{"formulas-text", "spreadsheets take {#cells} cells and {names} column names for formulas (columns {columns}); each is written as text, with an apostrophe before it", "表計算ソフトは {#cells} 個のセルと {#names} 個の列名を数式とみなします（列 {columns}）。それぞれの前にアポストロフィを付け、文字列として書き出します"},
	{"identifier-repeats", "records were counted, not persons: column {columns} repeats ({#persons} persons, up to {#most} records each), and by it {#below} of {#classes} classes hold fewer than k = {k} persons ({#records} records), {#one} of them one person", "人ではなくレコードを数えました。列 {columns} は繰り返し現れます（{#persons} 人、1 人あたり最大 {#most} 件）。これで数えると、{#classes} クラスのうち {#below} クラス（{#records} 件）は {k} 人未満で、そのうち {#one} クラスは 1 人だけです"},
	// comparison of two releases
	{"overlap-none", "No {unit} are in both tables.", "両方の表に共通するものはありません。"},
	{"overlap", "{#common} {unit} are in both tables. To a reader of both releases at least {#least} candidates remain for each, {#mean} on average.", "{#common} {unit:counted}が両方の表にあります。両方の公開を読む人に対して、それぞれ少なくとも {#least}、平均 {#mean} の候補が残ります。"},
	{"overlap-below", "For {#below} of them fewer than {k} candidates remain, for {#alone} only one.", "そのうち {#below} では候補が {k} 未満、{#alone} では 1 だけです。"},
}

// bookMessages are about budget books and the ledger.
var bookMessages = []MessageText{
	{"book-now", "Whether one {unit} {neighbours:neighbours} changes the odds of all answers so far at most {odds} times (epsilon {epsilon}[#delta?, except with a probability of the order of delta {delta}][rho?; rho {rho}]).", "{unit:unit}の一つが{neighbours:neighbours}、これまでのすべての答えのオッズは最大 {odds} 倍しか変わりません（ε {epsilon}[#delta?、δ {delta}][rho?、ρ {rho}]）。"},
	{"book-cap", "Whether one {unit} {neighbours:neighbours} would change the odds of all answers that the cap allows at most {odds} times (epsilon {epsilon}[#delta?, except with a probability of the order of delta {delta}][rho?; rho {rho}]).", "上限まで使っても、{unit:unit}の一つが{neighbours:neighbours}、すべての答えのオッズは最大 {odds} 倍しか変わりません（ε {epsilon}[#delta?、δ {delta}][rho?、ρ {rho}]）。"},
	{"book-model", "The same holds for a person who knows other records and how records depend on each other, as long as the states in column {column} follow the public model of this book.", "ほかのレコードやレコード同士の依存を知る人に対しても、列 {column} の状態がこの予算帳の公開モデルに従うかぎり、同じことが成り立ちます。"},
	{"chain-whole", "The chain is whole.", "チェーンは完全です（記入 {#entries} 件、先頭は {head}）。"},
	{"sums-equal", "What is spent equals the sum of the entries.", "使用量は、{#charges} 件の計上の合計に等しくなっています。"},
	{"ledger-fault", "{fault:text}", "台帳に誤りがあります: {fault:text}。"},
	{"ledger-sealed", "The ledger is behind what is known of it: nothing is paid until it is reconciled.", "台帳は、知られている状態より古くなっています。整合させるまで何も支払われません。"},
}

// questionMessages are about questions, their prices and their answers.
var questionMessages = []MessageText{
	// what is asked
	{"asked.count", "Number of records[by? by {by}][where?, where {where}]", "レコードの件数[by?（{by} 別）][where?、条件 {where}]"},
	{"asked.histogram", "Histogram of {column}[by? by {by}][where?, where {where}]", "{column} のヒストグラム[by?（{by} 別）][where?、条件 {where}]"},
	{"asked.median", "Median of {column}[by? by {by}][where?, where {where}]", "{column} の中央値[by?（{by} 別）][where?、条件 {where}]"},
	{"asked.quantile", "{rank}-quantile of {column}[by? by {by}][where?, where {where}]", "{column} の {rank} 分位点[by?（{by} 別）][where?、条件 {where}]"},
	{"asked.sum", "Sum of {column}[by? by {by}][where?, where {where}]", "{column} の合計[by?（{by} 別）][where?、条件 {where}]"},
	{"asked.mean", "Mean of {column}[by? by {by}][where?, where {where}]", "{column} の平均[by?（{by} 別）][where?、条件 {where}]"},
	{"asked.variance", "Variance of {column}[by? by {by}][where?, where {where}]", "{column} の分散[by?（{by} 別）][where?、条件 {where}]"},
	{"asked.outliers", "Number of records with fewer than {k} others within {radius} in {columns}[by? by {by}][where?, where {where}]", "{columns} で {radius} 以内にほかのレコードが {k} 件未満のレコードの件数[by?（{by} 別）][where?、条件 {where}]"},
	{"asked.ratio_share", "Share of records, estimated from a public table weighted by {columns}[by? by {by}][where?, where {where}]", "公開の表を {columns} で重み付けして推定した、レコードの割合[by?（{by} 別）][where?、条件 {where}]"},
	{"asked.ratio_mean", "Mean of {column}, estimated from a public table weighted by {columns}[by? by {by}][where?, where {where}]", "公開の表を {columns} で重み付けして推定した、{column} の平均[by?（{by} 別）][where?、条件 {where}]"},
	{"asked.ratio_quantile", "Quantile {rank} of {column}, estimated from a public table weighted by {columns}[by? by {by}][where?, where {where}]", "公開の表を {columns} で重み付けして推定した、{column} の {rank} 分位点[by?（{by} 別）][where?、条件 {where}]"},
	{"asked.correlated_count", "Number of records in state {states}, under the model of dependent records[by? by {by}][where?, where {where}]", "状態が {states} のレコードの件数（依存するレコードのモデルでの答え）[by?（{by} 別）][where?、条件 {where}]"},
	{"asked.correlated", "Query {query} under the model of dependent records[by? by {by}][where?, where {where}]", "依存するレコードのモデルでの問い合わせ {query}[by?（{by} 別）][where?、条件 {where}]"},
	// how it is paid
	{"composition.one", "One value.", "値は一つです。"},
	{"composition.persons", "The {cells} values are paid for together: the noise covers up to {rows} records of one {unit}, in whatever groups they are.", "{#cells} 個の値をまとめて支払います。雑音は、どのグループにあっても{unit:unit}一つにつき {#rows} 件までのレコードを覆います。"},
	{"composition.replace", "The {cells} values are paid for together: a record that is replaced can leave one group and enter another, and the noise covers both.", "{#cells} 個の値をまとめて支払います。置き換えられたレコードはあるグループから別のグループに移りえますが、雑音は両方を覆います。"},
	{"composition.parallel", "One record counts in one group only, so that the {cells} values are paid for once.", "1 件のレコードは一つのグループだけに入るため、{#cells} 個の値の支払いは 1 回分です。"},
	// what one unit changes
	{"odds.answer", "Whether one {unit} is in the table changes the odds of this answer at most {times} times (epsilon {epsilon}).", "{unit:unit}の一つが表に含まれるかどうかで、この答えのオッズは最大 {times:times} 倍しか変わりません（ε {epsilon}）。"},
	{"odds.answer_delta", "Whether one {unit} is in the table changes the odds of this answer at most {times} times (epsilon {epsilon}), but for a probability of {delta}.", "{unit:unit}の一つが表に含まれるかどうかで、確率 {delta} の場合を除き、この答えのオッズは最大 {times:times} 倍しか変わりません（ε {epsilon}）。"},
	{"odds_replace.answer", "Whether one {unit} is in the table or another in its place changes the odds of this answer at most {times} times (epsilon {epsilon}).", "{unit:unit}の一つが表にあるか別のものに置き換わるかで、この答えのオッズは最大 {times:times} 倍しか変わりません（ε {epsilon}）。"},
	{"odds_replace.answer_delta", "Whether one {unit} is in the table or another in its place changes the odds of this answer at most {times} times (epsilon {epsilon}), but for a probability of {delta}.", "{unit:unit}の一つが表にあるか別のものに置き換わるかで、確率 {delta} の場合を除き、この答えのオッズは最大 {times:times} 倍しか変わりません（ε {epsilon}）。"},
	// what is not promised
	{"not.small_groups", "The error of a mean or variance holds for groups of at least the stated size: in a group of half that size it is about twice as large. Each answer states its own.", "平均と分散の誤差は、示された大きさ以上のグループについてのものです。半分の大きさのグループでは約 2 倍になります。誤差は答えごとに示されます。"},
	{"not.all_at_once", "Each value lies within its margin with the stated confidence by itself: of many values some lie outside.", "それぞれの値は、示された信頼度で誤差に収まります。値が多いと、収まらないものもあります。"},
	{"not.value", "The error of a quantile is stated as a rank: where few values lie, its value may be far off.", "分位点の誤差は順位で示されます。値の少ないところでは、値そのものが大きくずれることがあります。"},
	{"not.guess", "The error holds if the guess of the local sensitivity is right. The privacy guarantee does not depend on it.", "誤差は、局所感度の推測が正しい場合のものです。プライバシーの保証は推測によりません。"},
	{"not.inference", "What people have in common may be learned, also about those who are not in the table.", "人々に共通することは、表に含まれない人についても知られることがあります。"},
	{"not.others", "The guarantee is for one {unit} and covers answers of this budget only: other files and answers from elsewhere are not counted.", "保証は{unit:unit}の一つについてのもので、この予算の答えだけを対象とします。ほかのファイルや答えは含みません。"},
	// values that are not counted
	{"outside.clamped", "Values below {lo} count as {lo} and values above {hi} as {hi}; records without a value are left out.", "{lo} 未満は {lo}、{hi} を超える値は {hi} として数えます。値のないレコードは除きます。"},
	{"outside.bins", "Values below {lo} and from {hi} up are in no bin; records without a value are left out.", "{lo} 未満と {hi} 以上の値は、どの階級にも入りません。値のないレコードは除きます。"},
	{"outside.listed", "{listed} values count; records with any other value are left out.", "{#listed} 個の値を数えます。ほかの値のレコードは除きます。"},
	{"outside.person", "At most {rows} records of one {column} count; records without one are left out.", "{column} の一つにつき最大 {#rows} 件のレコードを数えます。値のないレコードは除きます。"},
	{"outside.box", "Values below {lo} count as {lo} and values above {hi} as {hi}; a record without a value has no neighbours.", "{lo} 未満は {lo}、{hi} を超える値は {hi} として数えます。値のないレコードには近傍がありません。"},
	{"outside.model", "A value that is no state of its record counts as the record's first state.", "状態でない値は、レコードの最初の状態として数えます。"},
	{"outside.weights", "The public table is weighted so that it matches the private one in this column.", "公開の表を、この列で非公開の表と一致するように重み付けします。"},
	{"outside.condition", "Records that do not meet the condition are left out.", "条件に合わないレコードは除きます。"},
	// the error of sampling
	{"sampling.count", "From the guess of {about} records: a count of people who come independently.", "レコード約 {#about} 件という推測から、人が独立に含まれるとした件数の誤差です。"},
	{"sampling.quartiles", "From the guess of {about} records and a spread of {spread}, by the stated quartiles of a normal distribution.", "レコード約 {#about} 件という推測と、四分位から求めたばらつき {spread} によります。"},
	{"sampling.bounds", "At most this much, from the guess of {about} records and the largest spread between the bounds, {spread}.", "レコード約 {#about} 件という推測と、範囲の中で最大のばらつき {spread} による上限です。"},
	// for which groups a margin holds
	{"reach.one_exact", "The table has {records} records. The margin holds where at least {about} of them count.", "表のレコードは {records} 件です。そのうち {about} 件以上が対象のとき、この幅が成り立ちます。"},
	{"reach.one", "About {records} records of the table count, as its steward states. The margin holds where at least {about} of them count.", "データ管理者の申告では、表のうち約 {records} 件が数えられます。そのうち {about} 件以上が対象のとき、この幅が成り立ちます。"},
	{"reach.groups_exact", "The table has {records} records, on average {mean} in each of {groups} groups. The margin holds for groups of at least {about}; smaller groups have wider ones.", "表のレコードは {records} 件で、{#groups} 個の群に平均 {mean} 件あります。この幅は {about} 件以上の群で成り立ち、それより小さい群の幅は広くなります。"},
	{"reach.groups", "About {records} records of the table count, as its steward states, on average {mean} in each of {groups} groups. The margin holds for groups of at least {about}; smaller groups have wider ones.", "データ管理者の申告では、表のうち約 {records} 件が数えられ、{#groups} 個の群に平均 {mean} 件あります。この幅は {about} 件以上の群で成り立ち、それより小さい群の幅は広くなります。"},
	{"reach.where", "The margin holds for at least {about} records that meet the condition in a group; smaller groups have wider ones. How many meet it is not public.", "この幅は、条件に合うレコードが {about} 件以上の群で成り立ち、それより小さい群の幅は広くなります。条件に合う件数は公開されていません。"},
	{"miss.one_most", "The table has at most {records} records, fewer than the {about} for which the margin holds: the answer will miss it.", "表のレコードは多くても {records} 件で、この幅が成り立つ {about} 件に足りません。答えはこの幅に収まりません。"},
	{"miss.one", "A group of the average size has about {mean} records, fewer than the {about} for which the margin holds: the answer will probably miss it.", "平均的な群のレコードは約 {mean} 件で、この幅が成り立つ {about} 件に足りません。答えはおそらくこの幅に収まりません。"},
	{"miss.groups_most", "The table has at most {records} records: at most {most} of the {groups} groups can have the {about} for which the margin holds, and the others miss it.", "表のレコードは多くても {records} 件です。この幅が成り立つ {about} 件をもてる群は {#groups} 個のうち多くても {#most} 個で、ほかの群は収まりません。"},
	{"miss.groups", "A group of the average size has {mean} records, fewer than the {about} for which the margin holds: at most about {most} of the {groups} groups can keep it, and the others will miss it.", "平均的な群のレコードは {mean} 件で、この幅が成り立つ {about} 件に足りません。収まりうる群は {#groups} 個のうち多くても約 {#most} 個で、ほかの群は収まりません。"},
	{"miss.nothing", "At this cost the noise is as wide as the bounds for a group of {about} records: the answer will say nothing about it.", "この費用では、{about} 件の群に対する雑音が値の範囲と同じ幅になります。答えからは何も分かりません。"},
	{"time.outliers", "The estimate of time of a count of outliers was compared with measurements up to {above} records, and this table may have more: on a server, a reply that misses its time class may tell something about the data that the cost does not cover.", "外れ値の件数を求める時間の見積もりを測定と比べたのは {#above} 件までで、この表のレコードはそれより多い可能性があります。サーバーでは、応答が時間区分に間に合わないことから、費用に含まれないデータの情報が漏れる可能性があります。"},
	{"time.ratio", "The time of this answer is not bounded by a measured estimate: on a server, a reply that misses its time class may tell something about the data that the cost does not cover.", "この答えにかかる時間には、測定に基づく見積もりの上限がありません。サーバーでは、応答が時間区分に間に合わないことから、費用に含まれないデータの情報が漏れる可能性があります。"},
	// how to read an answer
	{"care.bounds", "{count} of {of} values say nothing: their intervals are the whole of the bounds, {lo} to {hi}.", "{#of} 個の値のうち {#count} 個からは何も分かりません。区間が範囲全体（{lo} から {hi}）です。"},
	{"care.none", "{count} of {of} values are missing: too few records for a value.", "{#of} 個の値のうち {#count} 個は、レコードが少なすぎるため値がありません。"},
	{"care.wide", "{count} of {of} values have a wider margin than the {within} that was asked for: their groups are smaller than the guess.", "{#of} 個の値のうち {#count} 個は、求めた誤差 {within} より誤差が大きくなっています。グループが推測より小さいためです。"},
	{"care.negative", "{count} of {of} counts are below 0: noise was added to small counts. Sums of them stay right on average.", "{#of} 個の件数のうち {#count} 個は 0 未満です。小さい件数に雑音が加わったためで、合計は平均的に正しく保たれます。"},
	{"care.hidden_bias", "The error does not contain {what:text}.", "誤差は{what:text}を含みません。"},
	{"care.fit", "{finding:sentence}.", "重みの適合: {finding:sentence}。"},
	{"care.differences", "Two values differ only if they lie further apart than their margins together.", "二つの値に差があると言えるのは、双方の誤差の合計より離れているときだけです。"},
	// changes by which a request would fit
	{"change.margin", "A margin of {to} instead of {from} in question {question}", "質問 {question} の誤差を {from} から {to} にする"},
	{"change.pay", "Pay {to} instead of {from} for question {question}", "質問 {question} の支払いを {from} から {to} にする"},
	{"change.bounds", "Bounds of {lo} to {hi} in question {question}, with the same margin", "質問 {question} の範囲を {lo} から {hi} にする（誤差はそのまま）"},
	{"change.by", "All groups together, without {by}, in question {question}", "質問 {question} を {by} で分けず、全体でまとめる"},
	{"change.drop", "Without question {question}", "質問 {question} を除く"},
}

// marginMessages say how far the noise moves an answer, by all that a margin depends on.
func marginMessages() []MessageText {
	all := []MessageText{
		{"promise.none", "No bound on the error is known before the answer.", "答えの前に、誤差の上限はわかりません。"},
	}
	about, aboutJapanese := ", in a group of at least {about} records", "{about} 件以上のグループでは、"
	guess, guessJapanese := ", if the guess of the local sensitivity is right", "局所感度の推測が正しければ、"
	each, eachJapanese := "; each of the {cells} values by itself, all at once with confidence {all_at}", "（{#cells} 個の値のそれぞれについて。すべて同時には信頼度 {all_at}）"
	for _, of := range []MessageText{
		{"promise.value", "Off by at most {within} with confidence {at}", "誤差は信頼度 {at} で {within} 以下です"},
		{"promise.rank", "Its rank is off by at most {within} records with confidence {at}", "順位の誤差は信頼度 {at} で {within} 件以下です"},
	} {
		for bits := range 8 {
			m := of
			before := ""
			if bits&1 != 0 {
				m.Code, m.English, before = m.Code+"_about", m.English+about, aboutJapanese
			}
			if bits&2 != 0 {
				m.Code, m.English, before = m.Code+"_guess", m.English+guess, before+guessJapanese
			}
			if bits&4 != 0 {
				m.Code, m.English, m.Japanese = m.Code+"_each", m.English+each, m.Japanese+eachJapanese
			}
			m.English, m.Japanese = m.English+".", before+m.Japanese+"。"
			all = append(all, m)
		}
	}
	return all
}

// messageWords are the sets of words of ours that are arguments, by the set and the word. A unit
// is never a column of the name record.
var messageWords = map[string][2]string{
	"kind.e-mail addresses":                        {"e-mail addresses", "メールアドレス"},
	"kind.bank account numbers (IBAN)":             {"bank account numbers (IBAN)", "銀行口座番号（IBAN）"},
	"kind.web addresses":                           {"web addresses", "ウェブアドレス"},
	"kind.network addresses":                       {"network addresses", "ネットワークアドレス"},
	"kind.national identification numbers":         {"national identification numbers", "国民識別番号"},
	"kind.Japanese individual numbers (My Number)": {"Japanese individual numbers (My Number)", "マイナンバー"},
	"kind.payment card numbers":                    {"payment card numbers", "支払カードの番号"},
	"kind.Japanese insurer numbers":                {"Japanese insurer numbers", "保険者番号"},
	"kind.telephone numbers":                       {"telephone numbers", "電話番号"},
	"kind.postal addresses":                        {"postal addresses", "住所"},
	"kind.initials":                                {"initials", "イニシャル"},
	"kind.names of persons":                        {"names of persons", "人の名前"},
	"kind.dates of birth":                          {"dates of birth", "生年月日"},
	"kind.contact data of several kinds":           {"contact data of several kinds", "複数の種類の連絡先"},
	"kind.free text":                               {"free text", "自由記述"},
	"unit.record":                                  {"record", "レコード"},
	"counted.records":                              {"records", "件のレコード"},
	"counted.persons":                              {"persons", "人"},
	"times.over 1,000,000":                         {"over 1,000,000", "1,000,000 を超える"},
	"neighbours.add-remove":                        {"is in the table or not", "表に含まれるかどうかで"},
	"neighbours.replace-one":                       {"is in the table or another in its place", "表にあるか別のものに置き換わるかで"},
}
