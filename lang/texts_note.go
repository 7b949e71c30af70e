package lang

// noteTexts are notes and warnings.
var noteTexts = []Entry{
	{"%s has no column %s: its persons cannot be counted, records are counted instead", "%s に列 %s がないため、人ではなくレコードを数えました"},
	{"%d of %d bins are left: some edges coincide", "%d / %d 区間が残りました。境界の一部が重なっています"},
	{"%d of %d records were drawn to learn from", "%[2]d 件のレコードから %[1]d 件を学習用に抽出しました"},
	{"%s has no column %s: its persons are not known; they are counted when a release is made", "%s に列 %s がありません。人の数は分からず、公開のときに数えられます"},
	{"%s holds values of %s: it is private", "%s には %s の値があります。非公開です"},
	{"%s is copied to %s, which is private; data set %s reads it from now on", "%s を %s に複写しました。これは非公開です。データセット %s は今後これを読みます"},
	{"analyst %s is granted %s, and data set %s has %s left: the data set's budget holds", "分析者 %s に %s を付与しました。データセット %s の残りは %s で、データセットの予算が優先します"},
	{"charges made so far stay in the history of the ledger", "これまでの課金は台帳の履歴に残ります"},
	{"column %s is left out: %s", "列 %s を除きます: %s"},
	{"column %s of %s: %s", "列 %s（%s）: %s"},
	{"data set %s no longer reads %s", "データセット %s は %s をもう読みません"},
	{"data set %s, version %s: compared by the names of its columns alone; the values are compared after its file was read as the granted version", "データセット %s、版 %s: 列の名前だけで比べました。値は、ファイルが付与された版として読まれてから比べます"},
	{"it ends %s", "終了は %s です"},
	{"kind %s, levels: %s", "種類 %s、水準: %s"},
	{"made the key of the devices, %s: keep it, and keep it secret", "端末の鍵 %s を作りました。保管し、秘密にしてください"},
	{"not charged to any ledger: the guarantee covers this answer only and does not compose with others", "どの台帳にも課金していません。保証はこの答えだけのもので、他の答えと合成されません"},
	{"of %s, %s", "%s の %s"},
	{"the certificate is signed by a key that is unknown here: ask the publisher of the file for the public key", "証明書は、ここでは知られていない鍵で署名されています。ファイルの発行者に公開鍵を求めてください"},
	{"the certificate states no schema: its guarantee holds for the column types that its query declared", "証明書にスキーマがありません。保証は質問が宣言した列の型について成り立ちます"},
	{"this is another file than the one that was certified: other weights were made of the same release; the guarantee is the same", "証明されたファイルとは別のファイルです。同じ公開から別の重みが作られました。保証は同じです"},
	{"this was asked before: the stored answer, free of charge", "前に尋ねられた質問です。保存された答えを無料で返します"},
	{"wrote %s, from %d observations", "%s を %d 件の観測から書きました"},
	{"wrote %s: read it, correct the roles, then noren anonymize %s -o OUTPUT --spec %s", "%s を書きました。読んで役割を直してから、次を実行してください: noren anonymize %s -o OUTPUT --spec %s"},
}
