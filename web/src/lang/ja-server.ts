// Sentences of the server in Japanese, by the code of the message.

export const jaServer: Record<string, string> = {
  "page.stale": "プレビューが古くなっています。作り直してください。",
  "page.none": "プレビューがまだありません。",

  // Tables
  "table-reading": "表を読み取っています。",
  "table-failed": "表を読み取れませんでした。",
  "table-changed": "列を確定した後に、元のファイルが変わりました。もう一度確定してください。",
  "table-unconfirmed": "型と役割は提案です。各列を確かめて、確定してください。",
  "table-confirmed": "データ管理者が列を確定しました。",
  "hierarchy-uncovered": "列`{column}`の値{values}個のうち{uncovered}個が階層にありません。",
  "unit-open": "列`{column}`は、複数のレコードをもつ人を区別しているようです。これをプライバシー単位にすると、人を数えます。",
  "no-quasi-identifier": "準識別子の列がありません。他者が知りうる列を指定してください。",

  // Recipes and the gate
  "least-k": "kは{k}ですが、このサーバーの規則は{least}以上です。",
  "no-sensitive": "lとtは機微属性についてのものですが、機微属性の列がありません。",
  ranges: "決まった刻みの範囲は、範囲と集合で公開する場合だけに使えます。",
  pseudonym: "仮名を残すには、ある人のすべてのレコードを知られうるものとする設定が必要です。",
  "k-large": "kは{k}ですが、表には{n}しかありません。",
  "unit-role": "人を区別する列`{column}`は識別子でなければなりません。",
  sealed: "サーバーは封印中です。",
  "preview-failed": "プレビューを作れませんでした。",
  "no-preview": "プレビューがありません。作って内容を確かめてください。",
  "preview-stale": "プレビューの後で、表またはレシピが変わりました。作り直してください。",
  "preview-other": "確かめたものとは別のプレビューです。もう一度確かめてください。",
  "previous-unstudied": "同じ人々の以前の公開（`{release}`）が、この公開と合わせて検討されていません。",

  // Previews
  promise: "k-匿名性：{columns}の組み合わせについて、k = {k}。",
  classes: "{classes}クラス、それぞれ{least}件から{most}件のレコード。",
  unique: "残した列のどれかの値がほかにないレコードは、{records}件のうち{alone}件です。どれか二つの列の組み合わせでは{in_pairs}件です。その値を知る人は、kにかかわらずレコードを見つけられます。",
  "free-text": "{columns}は自由記述です。文章には何でも書かれうるため、内容を確かめてください。",
  "sensitive-open": "クラスのすべてのレコードが同じ機微属性の値をもつことがあります。l-多様性もt-近接性も求められていません。",
  verified: "ファイルを読み戻しました。{classes}個のクラスのそれぞれに、少なくとも{k}があります。",
  sensitive: "どのクラスでも、列`{column}`には少なくとも{l}個の異なる値があり、表全体との距離は{t}以下です。",
  suppressed: "{records}件のレコードを除外しました。",

  // Comparison of two releases
  "overlap-none": "両方の表に共通する人はいません。",
  overlap: "{common}件が両方の表にあります。両方の公開を読む人に対して、それぞれ少なくとも{least}、平均{mean}の候補が残ります。",
  "overlap-below": "そのうち{below}件では候補が{k}未満、{alone}件では1だけです。",
};
