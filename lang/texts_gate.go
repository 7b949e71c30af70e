package lang

// gateTexts are about tables that a ledger has granted, and columns without a decision.
var gateTexts = []Entry{
	{"belongs to data set %s, whose budget does not count what reports of its records tell", "データセット %s のものです。その予算は、レコードの報告から分かることを数えません"},
	{"no ledger that can be reached has granted %s", "届く台帳のどれも %s に予算を与えていません"},
	{"leave it out, or name the ledger that has", "省くか、予算を与えた台帳を指定してください"},
	{"query the data set; the steward may decide that the reports are not charged", "データセットに問い合わせてください。報告を課金しないことは、管理者が決められます"},
	{"A ledger has granted the table that is to be randomised.", "ランダム化する表に、台帳が予算を与えています。"},
	{"ask the data set with noren query, whose budget is charged; --not-charged is for the steward, and the ledger notes it", "noren query でデータセットに尋ねてください。予算から引かれます。--not-charged は管理者のためのもので、台帳に記されます"},
	{"data set %s: its budget does not count what these reports tell; entry %d of its ledger notes it", "データセット %s：予算はこれらの報告から分かることを数えません。台帳の項目 %d に記しました"},
	{"nothing was noted", "何も記しませんでした"},
	{"the steward decided that it is not charged", "管理者が課金しないと決めました"},
	{"No role: nothing tells what they are. If others may know them, write role: quasi-identifier; if others must not know them, sensitive; if they are kept as they are, other.", "役割なし: 何の値か分かりません。他人が知りうるなら role: quasi-identifier、他人に知られてはならないなら sensitive、そのまま残すなら other と書いてください。"},
	{"it holds dates, and dates are what others know", "日付であり、日付は他人が知っているものです"},
	{"it holds words or codes, and nothing tells what they are", "単語か符号であり、何の値か分かりません"},
	{"its name says that it holds places", "名前によれば場所の列です"},
	{"its name says that others know it", "名前によれば他人が知っているものです"},
	{"no role was given, and nothing that others know was recognised in it", "役割の指定がなく、他人が知るものとも認められませんでした"},
}
