package infer

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/personal"
)

// nameWords are the words of a column's name, in small letters.
type nameWords struct {
	whole string
	words []string
}

// wordsOf splits at what is no letter or digit, where a small letter is followed by a capital
// ("dateOfBirth", "date_of_birth"), and between Latin letters and those of other scripts ("患者ID"). Letters and
// digits of full width are those of ASCII.
func wordsOf(name string) nameWords {
	var split strings.Builder
	small, other, latin := false, false, false
	for _, r := range name {
		if r >= '！' && r <= '～' {
			r -= '！' - '!'
		}
		ascii := r < utf8.RuneSelf
		if small && unicode.IsUpper(r) || ascii && unicode.IsLetter(r) && other || !ascii && unicode.IsLetter(r) && latin &&
			!unicode.Is(unicode.Latin, r) {
			split.WriteByte(' ')
		}
		small, other, latin = unicode.IsLower(r), !ascii && unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r), ascii && unicode.IsLetter(r)
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			split.WriteRune(unicode.ToLower(r))
		} else {
			split.WriteByte(' ')
		}
	}
	words := strings.Fields(split.String())
	return nameWords{strings.Join(words, " "), words}
}

// has reports whether the name has one of the hints: a hint of Latin letters as
// a whole word (or words), one of other letters anywhere.
func (n nameWords) has(hints []string) bool {
	for _, h := range hints {
		if h[0] >= 0x80 {
			if strings.Contains(n.whole, h) {
				return true
			}
			continue
		}
		if strings.Contains(" "+n.whole+" ", " "+h+" ") {
			return true
		}
	}
	return false
}

// Names that hint at what a column is.
var (
	codeNames = []string{
		"zip", "zipcode", "postcode", "postal", "plz", "phone", "tel", "mobile", "fax", "code", "icd", "ssn", "fips", "isbn", "sex", "gender",
		"郵便", "電話", "コード", "番号", "性別",
	}
	dateNames = []string{
		"date", "day", "dob", "birthday", "birthdate", "birth", "on", "at", "time", "timestamp", "admission", "discharge", "visit",
		"日", "年月", "時刻",
	}
	personNames = []string{
		"patient", "patientid", "person", "personid", "customer", "customerid", "client", "clientid", "member", "memberid", "user", "userid",
		"subject", "subjectid", "participant", "respondent", "employee", "employeeid", "student", "studentid", "insured", "mrn", "ssn", "nhs",
		"患者", "会員", "顧客", "利用者", "被験者", "対象者", "受診者", "受給者", "申請者", "入居者", "社員", "職員", "従業員", "学生", "生徒", "児童", "園児", "被保険者", "個人",
	}
	numberNames = []string{
		"id", "ids", "no", "nr", "num", "number", "key", "code", "uuid", "guid", "ident", "identifier", "patientid", "personid", "customerid",
		"clientid",
		"memberid", "userid", "subjectid", "employeeid", "studentid", "mrn", "ssn", "nhs", "番号", "コード",
	}
	identifierNames = []string{
		"name", "names", "firstname", "lastname", "surname", "forename", "fullname", "username", "nickname", "login", "email", "mail", "phone",
		"telephone", "tel", "mobile",
		"cellphone", "fax", "url", "website", "ip", "ipaddress", "mac", "passport", "licence", "license", "iban", "account", "creditcard",
		"card number", "photo", "signature",
		"street", "social security", "national insurance", "氏名", "名前", "姓名", "お名前", "フリガナ", "ふりがな", "カナ氏名", "電話", "携帯", "メール", "マイナンバー",
		"個人番号", "保険証", "免許", "旅券", "口座", "署名", "番地",
	}
	placeNames = []string{"address", "location", "residence", "住所", "所在地", "居住"}
	quasiNames = []string{
		"age", "ages", "birth", "birthday", "birthdate", "dob", "birthyear", "yob", "sex", "gender", "zip", "zipcode", "postcode", "postal",
		"plz", "city", "town", "village",
		"municipality", "district", "county", "state", "province", "prefecture", "region", "country", "nation", "nationality", "citizenship",
		"native", "race", "ethnicity",
		"ethnic", "marital", "marriage", "civil status", "education", "degree", "school", "occupation", "job", "profession", "workclass",
		"employer", "industry", "language",
		"household", "children", "dependents", "family size", "height", "weight", "admission", "discharge", "visit", "death", "hospital",
		"clinic", "ward", "department",
		"年齢", "年代", "生年", "誕生", "性別", "郵便", "都道府県", "県", "市区町村", "市町村", "市", "町", "地域", "国籍", "出身", "人種", "民族", "婚姻", "配偶", "学歴", "最終学歴",
		"職業", "職種", "勤務先", "業種", "言語", "世帯", "家族", "子供", "身長", "体重", "入院", "退院", "来院", "受診", "死亡", "病院", "診療科", "病棟",
	}
	sensitiveNames = []string{
		"diagnosis", "diagnoses", "disease", "illness", "condition", "disorder", "icd", "icd10", "icd9", "symptom", "symptoms", "medication",
		"medications", "drug", "drugs",
		"prescription", "treatment", "therapy", "procedure", "surgery", "hiv", "std", "cancer", "tumor", "test result", "result", "lab", "blood",
		"genotype", "mutation", "disability",
		"pregnancy", "abortion", "mental", "depression", "salary", "income", "wage", "wages", "pay", "earnings", "wealth", "assets", "debt",
		"loan", "credit", "score", "balance",
		"tax", "benefit", "religion", "religious", "political", "party", "vote", "union", "sexual", "orientation", "criminal", "crime",
		"conviction", "offence", "offense", "grade",
		"grades", "rating",
		"病名", "診断", "疾患", "疾病", "傷病", "症状", "既往", "投薬", "処方", "薬", "治療", "手術", "検査", "遺伝", "障害", "障がい", "妊娠", "要介護", "収入", "年収", "給与", "給料",
		"賃金", "所得", "資産", "負債", "借入", "残高", "納税", "宗教", "信条", "政党", "支持", "性的", "犯罪", "前科", "成績", "評価",
	}
)

// setRole proposes a role: by the name where it tells, else by the values.
func (s *scan) setRole(c *Column) {
	name := wordsOf(s.stored.Name)
	role, reason := s.role(c, name)
	if c.Personal != nil && (role == table.Other || role == table.Sensitive) {
		// What a release refuses to keep is never proposed to be kept.
		role, reason = personalRole(c.Personal)
	}
	c.Field.Role, c.RoleReason = role, reason
}

func (s *scan) role(c *Column, name nameWords) (table.Role, Reason) {
	switch {
	case s.stored.Index:
		return roleReason(table.Identifier, Reason{Code: "role-index"})
	case s.stored.Nested:
		return roleReason(table.Identifier, Reason{Code: "role-nested"})
	}
	f := &c.Field
	if c.Records == 0 {
		return roleReason(table.Drop, Reason{Code: "role-empty"})
	}
	many := float64(c.Distinct) / float64(c.Records)
	count := countOf(c)
	person, number := name.has(personNames), name.has(numberNames)
	switch {
	case person && (number || many > 0.02 && f.Type == table.Category) && c.Distinct > 1:
		if !c.Unique && many < 0.98 {
			c.Unit = true
			return roleReason(table.Identifier, Reason{Code: "role-person-unit", Args: count})
		}
		return roleReason(table.Identifier, Reason{Code: "role-person"})
	case c.Personal != nil && !(c.Personal.Kind == personal.Address && !c.Personal.ByValues):
		return personalRole(c.Personal)
	case name.has(sensitiveNames):
		return roleReason(table.Sensitive, Reason{Code: "role-sensitive-name", Args: count})
	case number && many > 0.5 && c.Records >= fewRecords && f.Type != table.Date && f.Type != table.Decimal && !name.has(quasiNames):
		return roleReason(table.Identifier, Reason{Code: "role-number", Args: count})
	case number && many > 0.02 && c.Distinct >= 100 && f.Type != table.Date && f.Type != table.Decimal && !name.has(quasiNames):
		c.Unit = true
		return roleReason(table.Identifier, Reason{Code: "role-number-unit", Args: count})
	case name.has(identifierNames) && (many > 0.05 || c.Distinct > 100) && !name.has(quasiNames):
		return roleReason(table.Identifier, Reason{Code: "role-reaches"})
	case name.has(placeNames):
		if many > 0.5 {
			return roleReason(table.Identifier, Reason{Code: "role-address", Args: count})
		}
		return roleReason(table.Quasi, Reason{Code: RolePlace, Args: count})
	case c.Unique && number && c.Records >= fewRecords && f.Type != table.Date && f.Type != table.Decimal:
		return roleReason(table.Identifier, Reason{Code: "role-number-unique", Args: count})
	case name.has(quasiNames):
		return roleReason(table.Quasi, Reason{Code: "role-quasi-name", Args: count})
	}
	return s.roleByValues(c, many)
}

// personalRole proposes the role of a column that looks like a kind of personal
// identifier: dates of birth are what others know, all other kinds are dropped.
func personalRole(f *personal.Finding) (table.Role, Reason) {
	role := table.Identifier
	if f.Kind == personal.BirthDate {
		role = table.Quasi
	}
	why := Reason{
		Code: "role-personal",
		Args: args{
			"kind": f.Kind.String(), "header": flag(f.ByHeader), "values": flag(f.ByValues), "both": flag(f.ByHeader && f.ByValues),
			"share": "",
		},
	}
	if f.ByValues {
		why.Args["share"] = strconv.FormatFloat(100*f.Share, 'f', 0, 64)
	}
	return roleReason(role, why)
}

// roleByValues proposes a role where the name tells nothing.
func (s *scan) roleByValues(c *Column, many float64) (table.Role, Reason) {
	count := countOf(c)
	t := c.Field.Type
	enough := c.Records >= fewRecords
	free := t == table.Category && many > 0.5 && s.runes > 20*s.n && 2*s.words > s.n
	switch {
	case free && enough:
		return roleReason(table.Identifier, Reason{Code: "role-free-text"})
	case t == table.Date:
		return roleReason(table.Quasi, Reason{Code: RoleDate})
	case c.TypeReason.Code == oddDate:
		return roleReason(table.Quasi, Reason{Code: "role-near-date"})
	case c.Unique && t == table.Category && enough:
		return roleReason(table.Identifier, Reason{Code: "role-unique-word"})
	case c.Unique && t == table.Integer && s.rising && enough:
		return roleReason(table.Identifier, Reason{Code: "role-running"})
	case t == table.Category && many > 0.9 && (c.Distinct >= 100 || c.Distinct >= 20 && !s.numbers):
		return roleReason(table.Identifier, Reason{Code: "role-nearly-unique", Args: count})
	}
	return roleReason(table.Other, Reason{Code: RoleOpen, Args: count})
}
