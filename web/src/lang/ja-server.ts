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
  promise: "{columns}の組み合わせについてのk-匿名性、k = {k}。",
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

/** The assumptions of guarantees, by the sentence that stands in certificates. */
export const jaSentences: Record<string, string> = {
  "An attacker who looks for a person in the table knows at most the quasi-identifiers named here about that person; no other column is known to the attacker or can be linked to another source.":
    "表の中の人を探す攻撃者は、その人について、ここに挙げた準識別子までしか知りません。ほかの列は攻撃者に知られておらず、別の情報源とも結び付けられません。",
  "Every record belongs to a different person; where several records belong to one person, k records may stand for fewer than k persons.":
    "レコードはそれぞれ別の人のものです。1人が複数のレコードをもつ場合、k件のレコードがk人未満のことがあります。",
  "These records are released once; releases that overlap can be compared, and together they tell more than each alone.":
    "これらのレコードの公開は一度だけです。重なりのある公開は比較でき、合わせるとそれぞれより多くのことがわかります。",
  "A missing value is a value like any other: what is not recorded is seen not to be recorded.":
    "欠損値もひとつの値として扱います。記録されていないことは、そのまま見えます。",
  "What all records of a class have in common is known of each of them: k-anonymity hides which record is whose, not a value that a whole class shares.":
    "クラスのすべてのレコードに共通することは、そのどれについても知られます。k-匿名性が隠すのはどのレコードがだれのものかであり、クラス全体が共有する値ではありません。",
  "The distribution of a sensitive column over the whole table is no secret; closeness bounds only what a class tells beyond it.":
    "表全体での機微属性の分布は秘密ではありません。近接性が制限するのは、クラスがそれ以上に明かすことだけです。",
  "Each sensitive column is protected by itself: an attacker who already knows one of them about a person may learn another from it.":
    "機微属性の列はそれぞれ単独で保護されます。ある人についてそのひとつを知る攻撃者は、そこから別のものを知ることがあります。",
  "The attacker cannot rule out values of a sensitive column by other knowledge, and values that differ are not alike in meaning.":
    "攻撃者は、ほかの知識によって機微属性の値を除外できません。また、異なる値は意味も異なります。",
  "The attacker cannot rule out any value of a sensitive column by other knowledge, and values that differ are not alike in meaning.":
    "攻撃者は、ほかの知識によって機微属性のどの値も除外できません。また、異なる値は意味も異なります。",
  "An attacker who looks for a person in the table knows at most the quasi-identifiers of one record of that person, and not how many records the person has; together, several records of a person may fit fewer than k persons.":
    "表の中の人を探す攻撃者は、その人の1件のレコードの準識別子までしか知らず、レコードの数も知りません。1人の複数のレコードを合わせると、当てはまる人がk人未満のことがあります。",
  "An attacker may know the quasi-identifiers of all records of a person, but not how many records of the person are in a class.":
    "攻撃者は、ある人のすべてのレコードの準識別子を知りえますが、その人のレコードがクラスに何件あるかは知りません。",
  "An attacker may know the quasi-identifiers of all records of a person, and sees which of the released records show the same pseudonym; the records without a pseudonym are linked to no person.":
    "攻撃者は、ある人のすべてのレコードの準識別子を知りえます。また、公開されたどのレコードが同じ仮名をもつかを見ることができます。仮名のないレコードは、だれとも結び付きません。",
  "Records with the same text in the unit's column, and no others, are of one person; a record without a text there counts for no person, and whose it is must not be known.":
    "プライバシー単位の列に同じ文字列をもつレコードだけが、同じ人のものです。そこが空のレコードはだれにも数えられず、だれのものかを知られてはなりません。",
  "Diversity counts the records with a value: a missing value of a sensitive column is none of its values.":
    "多様性は値のあるレコードを数えます。機微属性の欠損値は、どの値にも数えません。",
  "A missing value of a sensitive column may be any of the values of its class: diversity counts its person for each of them.":
    "機微属性の欠損値は、クラスのどの値でもありえます。多様性は、その人をどの値にも数えます。",
};
