package personal

import (
	"strings"
	"unicode"
)

// Words splits a column's name into words in small letters: at what is no letter
// or digit, and where a capital follows a small letter.
func Words(header string) []string {
	var split strings.Builder
	small := false
	for _, r := range normal(header) {
		if small && unicode.IsUpper(r) {
			split.WriteByte(' ')
		}
		small = unicode.IsLower(r)
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			split.WriteRune(unicode.ToLower(r))
		} else {
			split.WriteByte(' ')
		}
	}
	return strings.Fields(split.String())
}

// headerWords are words and phrases that say of a column what it holds.
// Those in Latin letters must be whole words of the name, others may stand
// anywhere in it.
var headerWords = []struct {
	kind  Kind
	words []string
}{
	{Email, []string{"email", "e mail", "emailaddress", "mail address", "mailaddress", "mail", "メール", "電子メール", "ｅメール"}},
	{IP, []string{"ip", "ipaddress", "ip address", "ipv4", "ipv6", "mac address", "macaddress", "imei", "ipアドレス"}},
	{URL, []string{"url", "website", "homepage", "web page", "facebook", "twitter", "instagram", "linkedin", "ホームページ"}},
	{IBAN, []string{"iban", "bank account", "account number", "account no", "accountnumber", "bic", "口座番号", "銀行口座", "口座"}},
	{Card, []string{"credit card", "creditcard", "card number", "cardnumber", "card no", "クレジットカード", "カード番号"}},
	{MyNumber, []string{"my number", "mynumber", "マイナンバー", "個人番号"}},
	{Insurer, []string{"insurer number", "insurer no", "insurance number", "insurance no", "保険者番号", "被保険者番号", "記号番号", "保険証"}},
	{NationalNumber, []string{
		"ssn", "social security", "national insurance", "nino", "nhs number", "nhs no", "national id", "passport", "passport number",
		"passport no", "tax id",
		"driver license", "drivers license", "driving licence", "driver licence", "license number", "licence number", "license plate",
		"licence plate", "medicare",
		"旅券", "免許", "住民票", "基礎年金番号", "パスポート",
	}},
	{Phone, []string{
		"phone", "telephone", "tel", "mobile", "cell phone", "cellphone", "fax", "phone number", "phonenumber", "telefon", "telephone number",
		"handy", "mobil",
		"電話", "携帯", "ファックス", "連絡先", "ファクス",
	}},
	{Address, []string{
		"street", "street address", "home address", "postal address", "mailing address", "address", "addr", "address1",
		"address2", "adresse", "strasse", "straße", "住所", "番地", "居所", "アドレス",
	}},
	{Initials, []string{"initials", "イニシャル", "頭文字"}},
	{BirthDate, []string{
		"birth", "birthday", "birthdate", "birth date", "date of birth", "dob", "birthyear", "birth year", "year of birth", "yob", "born",
		"bdate", "geburtsdatum", "geburtstag",
		"生年", "誕生", "生まれ", "出生日", "出生年",
	}},
	{Name, []string{
		"firstname", "lastname", "surname", "forename", "fullname", "givenname", "familyname", "middlename", "maidenname", "username", "nickname",
		"login", "screen name", "screenname",
		"family name", "given name", "first name", "last name", "middle name", "maiden name", "full name", "nachname", "vorname", "prenom",
		"apellido", "apellidos",
		"signature", "氏名", "姓名", "お名前", "フリガナ", "ふりがな", "カナ氏名", "患者名", "名前", "署名", "世帯主", "氏名カナ", "顧客名", "会員名", "担当者名", "担当医", "主治医", "医師名",
	}},
	{FreeText, []string{"free text", "freetext", "自由記述", "自由記載"}},
}

// persons are the words beside which "name" is a person's.
var persons = map[string]bool{
	"patient": true, "person": true, "customer": true, "client": true, "member": true, "user": true, "subject": true, "participant": true,
	"respondent": true,
	"employee":   true, "student": true, "insured": true, "contact": true, "mother": true, "father": true, "parent": true, "guardian": true,
	"spouse":  true,
	"husband": true, "wife": true, "child": true, "baby": true, "doctor": true, "physician": true, "nurse": true, "surgeon": true,
	"teacher": true, "staff": true,
	"owner": true, "holder": true, "author": true, "applicant": true, "resident": true, "tenant": true, "driver": true, "passenger": true,
	"guest":   true,
	"display": true, "legal": true, "real": true, "birth": true, "preferred": true, "kanji": true, "kana": true, "romaji": true, "first": true,
	"last": true,
	"full": true, "my": true, "his": true, "her": true, "the": true, "of": true, "and": true,
}

// flags begin names of columns that say only whether, how or how often.
var flags = map[string]bool{
	"has": true, "is": true, "had": true, "num": true, "count": true, "n": true, "no": false, "type": true, "kind": true, "status": true,
	"flag":  true,
	"valid": true, "verified": true, "consent": true, "length": true, "days": true, "weight": true, "order": true, "rate": true,
	"control": true,
	"minutes": true, "cost": true, "costs": true, "provider": true, "plan": true, "usage": true, "contract": true, "opt": true, "ok": true,
	"hospital": true,
	"country":  true, "place": true, "method": true, "mode": true, "attempts": true, "calls": true, "bill": true,
}

// OfHeader is the kind that a column's name says it holds, or [None].
func OfHeader(header string) Kind {
	words := Words(header)
	if len(words) == 0 {
		return None
	}
	whole := strings.Join(words, " ")
	for _, w := range words {
		if flags[w] {
			return None
		}
	}
	for _, h := range headerWords {
		for _, word := range h.words {
			if has(whole, word) {
				return h.kind
			}
		}
	}
	named := false
	for _, w := range words {
		if w == "name" || w == "names" {
			named = true
		} else if !persons[w] {
			return None
		}
	}
	if named {
		return Name
	}
	return None
}

func has(whole, word string) bool {
	if word[0] >= 0x80 || strings.IndexFunc(word, func(r rune) bool { return r >= 0x80 && !unicode.Is(unicode.Latin, r) }) >= 0 {
		return strings.Contains(whole, word)
	}
	return strings.Contains(" "+whole+" ", " "+word+" ")
}
