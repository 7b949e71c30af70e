package personal_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/table/personal"
)

// find looks at a column of these values.
func find(header string, values ...string) (personal.Finding, bool) {
	s := personal.NewSample()
	for _, v := range values {
		s.Add([]byte(v))
	}
	return s.Find(header)
}

// times repeats values until there are n.
func times(n int, values ...string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = values[i%len(values)]
	}
	return out
}

// Each kind is found by its values under a name that says nothing, however few
// the different values are.
func TestFoundByValues(t *testing.T) {
	for _, c := range []struct {
		kind   personal.Kind
		values []string
	}{
		{personal.Email, []string{"a.b@example.org", "x_y+1@mail.example.co.jp"}},
		{personal.Email, append(times(80, "fine", "call back", "no answer"), "write to kim@example.com please")},
		{personal.URL, []string{"https://example.org/~kim", "http://example.com/a?b=1"}},
		{personal.URL, []string{"www.example.org", "WWW.EXAMPLE.COM/x"}},
		{personal.IP, []string{"192.0.2.1", "198.51.100.23", "203.0.113.7"}},
		{personal.IP, []string{"2001:db8::1", "2001:db8:0:1::2"}},
		{personal.IP, []string{"00:1a:2b:3c:4d:5e", "66:77:88:99:aa:bb"}},
		{personal.IBAN, []string{"DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432"}},
		{personal.Card, []string{"4111 1111 1111 1111", "5500-0000-0000-0004", "378282246310005"}}, // Amex begins with 3
		{personal.MyNumber, []string{"123456789018", "987654321000", "111111111118"}},
		{personal.Insurer, []string{"01130012", "06139463", "39131156"}},
		{personal.NationalNumber, []string{"123-45-6789", "078-05-1120"}},
		{personal.Phone, []string{"090-1234-5678", "03-1234-5678", "(06) 6123-4567"}},
		{personal.Phone, []string{"+81 90 1234 5678", "+44 20 7946 0958"}},
		{personal.Phone, []string{"(212) 555-0123", "415-555-0199", "1-800-555-0101"}},
		{personal.Phone, []string{"09012345678", "08098765432", "07011112222"}},
		{personal.Phone, []string{"０９０－１２３４－５６７８", "０３－１２３４－５６７８"}},
		{personal.Address, []string{"12 Elm Street", "7 Station Rd, Apt 3"}},
		{personal.Address, []string{"Hauptstraße 5", "Gartenweg 12a", "Am Ring 3"}},
		{personal.Address, []string{"12, rue de la Paix", "Calle Mayor 7", "Via Roma 12"}},
		{personal.Address, []string{"東京都千代田区丸の内1-1-1", "大阪市北区梅田3丁目1番3号"}},
		{personal.Initials, []string{"J.S.", "K. T.", "A.B.C."}},
		{personal.Name, []string{"John Smith", "Mary Jones", "Wei Zhang"}},
		{personal.Name, []string{"SMITH, JOHN", "JONES, MARY"}},
		{personal.Name, []string{"Dr. Xyzzy", "Mrs Plugh", "Prof. Quux"}},
		{personal.Name, []string{"Müller", "Schmidt", "Schneider"}},
		{personal.Name, []string{"Yamada Taro", "Suzuki Hanako", "Kobayashi Ken"}},
		{personal.Name, []string{"山田太郎", "鈴木 花子", "佐々木健"}},
		{personal.Name, []string{"佐藤", "高橋", "渡辺"}},
		{personal.Name, []string{"ヤマダ タロウ", "スズキ　ハナコ", "サトウ ケン"}},
		{personal.Name, []string{"ﾔﾏﾀﾞ ﾀﾛｳ", "ｽｽﾞｷ ﾊﾅｺ"}},
		{personal.Name, []string{"やまだ たろう", "すずき はなこ"}},
		{personal.Name, []string{"山本様", "中村様", "木村さん"}},
		{personal.Name, []string{"김민준", "이서연", "박지훈"}},
		{personal.Name, []string{"Иванов Сергей", "Петрова Ольга"}},
		{personal.Name, []string{"王伟", "李娜", "张敏", "刘洋", "陈静"}},
		{personal.BirthDate, []string{
			"1931-02-03", "1950-07-01", "1948-01-30", "1965-11-12", "1970-05-05", "1982-08-08", "1990-12-24",
			"1999-03-03", "2004-04-04", "2010-10-10",
		}},
		{personal.BirthDate, []string{
			"昭和6年2月3日", "昭和25年7月1日", "S23.1.30", "昭和40年11月12日", "昭和45年5月5日", "昭和57年8月8日", "平成2年12月24日", "H11.3.3",
			"平成16年4月4日", "平成元年1月10日",
		}},
		{personal.FreeText, []string{
			"The patient says that the pain began in May.", "She came with her sister, who works at the school.",
			"No change since the last visit, asks for a letter.",
			"Fell from a ladder at work, brought by a colleague.", "Wants to talk about the move to another town.",
			"Called twice, did not answer the telephone.",
			"Sleeps badly since the accident on the bridge.", "Asked for the results of the test in April.", "Lost the card, a new one was made.",
			"Will travel to see his brother next week.",
		}},
		{personal.FreeText, []string{
			"昨日から頭が痛く、吐き気がある。", "仕事で階段から落ちて、腰を打った。", "娘さんと一緒に来院、紹介状を希望。", "前回から変化なし、薬を継続する。", "夜眠れないとの訴え、引っ越しの影響か。",
			"駅前の店で倒れたと妻が話す。", "検査の結果を聞きたいとのこと。", "来月から海外に行くため相談。", "転んで手首を痛めた、固定する。", "会社の健診で異常を指摘された。",
		}},
		{personal.Contact, []string{"kim at home, 5 Elm Street", "090-1234-5678", "9 rue Bleue", "no", "no", "no", "no", "03-1234-5678"}},
	} {
		name := fmt.Sprintf("%s/%s", c.kind, c.values[0])
		for _, n := range []int{len(c.values), 20 * len(c.values)} {
			if c.kind == personal.FreeText && n > 10 || c.kind == personal.Contact {
				n = len(c.values)
			}
			f, ok := find("c7", times(n, c.values...)...)
			if c.kind == personal.Contact {
				ok = ok && (f.Kind == personal.Contact || f.Kind == personal.Phone)
				f.Kind = c.kind
			}
			if !ok || f.Kind != c.kind || !f.ByValues || f.ByHeader {
				t.Errorf("%s, %d values: %+v, %v", name, n, f, ok)
			}
		}
	}
}

// Columns that are no identifiers are left alone.
func TestNotFound(t *testing.T) {
	for name, values := range map[string][]string{
		"states": {"AK", "AL", "NY", "CA"},
		"countries": {
			"United-States", "Mexico", "Philippines", "Germany", "Puerto-Rico", "El-Salvador", "South", "Holand-Netherlands",
			"Jamaica", "Cuba",
		},
		"us states":   {"Georgia", "Virginia", "Washington", "North Carolina", "New York", "Texas"},
		"cities":      {"Kyoto", "Nara", "Osaka", "Kobe", "Tokyo", "Nagoya"},
		"more cities": {"London", "Paris", "Berlin", "Madrid", "San Francisco", "Los Angeles", "Santa Fe", "New Orleans"},
		"prefectures": {"北海道", "青森県", "岩手県", "宮城県", "秋田県", "山形県", "福島県", "千葉県", "東京都", "山口県", "石川県"},
		"bare prefecture": {
			"青森", "岩手", "秋田", "山形", "福島", "茨城", "栃木", "群馬", "埼玉", "千葉", "東京", "神奈川", "新潟", "富山", "石川", "福井", "山梨", "長野", "岐阜",
			"静岡", "愛知", "山口",
		},
		"wards":        {"内科", "外科", "小児科", "皮膚科", "整形外科", "眼科"},
		"illness":      {"高血圧", "糖尿病", "喘息", "胃炎", "高脂血症", "林病"},
		"diagnoses":    {"hypertension", "type 2 diabetes", "asthma", "pregnancy care", "back pain", "Parkinson"},
		"jobs":         {"Exec-managerial", "Adm-clerical", "Other-service", "Craft-repair", "Sales", "Tech-support"},
		"races":        {"White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"},
		"colours":      {"Red", "Green", "Brown", "White", "Black", "Gray"},
		"months":       {"January", "April", "May", "June", "August"},
		"weekdays":     {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"},
		"blood":        {"A", "B", "O", "AB"},
		"drugs":        {"アスピリン", "ロキソニン", "ムコスタ", "カロナール", "メトホルミン"},
		"marital":      {"Never-married", "Married-civ-spouse", "Divorced", "Widowed"},
		"amounts":      {"60.225", "12.5", "0.123456789", "1e5"},
		"sizes":        {"1204", "530", "78", "45500"},
		"postcodes":    {"0610070", "0500000", "1000001", "5300001"},
		"zips":         {"10001", "94105-1234", "60601", "02139"},
		"six digits":   {"270914", "250802", "303910", "187204", "245521", "112233"},
		"eight digits": {"20240115", "20240220", "20240301", "20231231"},
		"visits": {
			"2024-01-01", "2024-02-02", "2024-03-03", "2024-04-04", "2024-05-05", "2024-06-06", "2024-07-07", "2024-08-08",
			"2024-09-09", "2025-01-10",
		},
		"instants":       {"2024-01-01 10:00:00", "2024-02-02 11:30:00", "2024-02-03T01:02:03Z"},
		"versions":       {"1.2.3", "2.0.1", "10.4.2"},
		"part numbers":   {"12-345", "99-001", "47-114"},
		"twelve digits":  {"123456789012", "234567890123", "345678901234", "456789012345"},
		"sixteen digits": {"4111111111111112", "4111111111111113", "4111111111111114"},
		"ranges":         {"[10-20]", "[20-30]", "30-40"},
		"yes and no":     {"yes", "no"},
		"a handle":       {"@home", "user@host", "a@b"},
		"icd":            {"E11.9", "I10", "J45.909", "M54.5"},
		"phrases": times(400, "first visit", "follow-up in two weeks", "blood test ordered", "referred, letter sent", "no change",
			"advised to rest", "improved", "see above", "declined treatment", "seen by a colleague, all well"),
	} {
		if f, ok := find("c7", values...); ok {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestOfHeader(t *testing.T) {
	for header, want := range map[string]personal.Kind{
		"name": personal.Name, "Name": personal.Name, "patient_name": personal.Name, "FirstName": personal.Name, "last name": personal.Name,
		"氏名": personal.Name, "患者氏名": personal.Name,
		"フリガナ": personal.Name, "name_kana": personal.Name, "主治医": personal.Name, "user name": personal.Name,
		"email": personal.Email, "E-Mail": personal.Email, "mail_address": personal.Email, "メールアドレス": personal.Email, "phone": personal.Phone,
		"Tel.":         personal.Phone,
		"mobile_phone": personal.Phone, "電話番号": personal.Phone, "携帯": personal.Phone, "連絡先": personal.Phone, "address": personal.Address,
		"street": personal.Address, "住所": personal.Address,
		"ip_address": personal.IP, "IPアドレス": personal.IP, "url": personal.URL, "iban": personal.IBAN, "口座番号": personal.IBAN,
		"credit_card": personal.Card, "マイナンバー": personal.MyNumber,
		"個人番号": personal.MyNumber, "保険者番号": personal.Insurer, "ssn": personal.NationalNumber, "passport_no": personal.NationalNumber,
		"initials": personal.Initials, "イニシャル": personal.Initials,
		"birth_date": personal.BirthDate, "DOB": personal.BirthDate, "dateOfBirth": personal.BirthDate, "birth_year": personal.BirthDate,
		"生年月日": personal.BirthDate, "生年": personal.BirthDate,

		"age": personal.None, "product_name": personal.None, "drug name": personal.None, "hospital_name": personal.None,
		"UTILNAME": personal.None, "has_phone": personal.None, "phone_type": personal.None,
		"email_consent": personal.None, "birth_weight": personal.None, "birth_country": personal.None, "native-country": personal.None,
		"sex": personal.None, "zip": personal.None, "postcode": personal.None,
		"note": personal.None, "telemetry": personal.None, "shipping": personal.None, "titles": personal.None, "department": personal.None,
		"郵便番号": personal.None, "病名": personal.None, "": personal.None, "--": personal.None,
	} {
		if got := personal.OfHeader(header); got != want {
			t.Errorf("%q: %s, want %s", header, got, want)
		}
	}
}

// A header alone finds a column, whatever its values, unless they say yes and no.
func TestFoundByHeader(t *testing.T) {
	f, ok := find("patient_name", "x1", "x2", "x1")
	if !ok || f.Kind != personal.Name || !f.ByHeader || f.ByValues {
		t.Errorf("%+v, %v", f, ok)
	}
	if f, ok := find("email", "yes", "no", "no"); ok {
		t.Errorf("yes and no: %+v", f)
	}
	if f, ok := find("email"); ok {
		t.Errorf("no value: %+v", f)
	}
	if f, ok := find("phone", "090-1234-5678", "03-1234-5678"); !ok || !f.ByHeader || !f.ByValues {
		t.Errorf("%+v, %v", f, ok)
	}
}

// A reason names the kind and no value.
func TestReasons(t *testing.T) {
	f, _ := find("c7", "s3cr3t@example.org")
	if got := f.Reason().String(); got != "its values look like e-mail addresses" || strings.Contains(got, "s3cr3t") {
		t.Error(got)
	}
	f, _ = find("email", "s3cr3t@example.org")
	if got := f.Reason().String(); got != "its name and its values look like e-mail addresses" {
		t.Error(got)
	}
	f, _ = find("email", "1", "2", "5")
	if got := f.Reason().String(); got != "its name says that it holds e-mail addresses" {
		t.Error(got)
	}
}

// Check digits tell a wrong digit: no other digit in its place passes.
func TestCheckDigits(t *testing.T) {
	for kind, digits := range map[personal.Kind][]string{
		personal.MyNumber: {"123456789018", "987654321000", "111111111118"},
		personal.Card:     {"4111111111111111", "5555555555554444", "4012888888881881"},
		personal.Insurer:  {"01130012", "06139463", "39131156"},
	} {
		if f, ok := find("c", digits...); !ok || f.Kind != kind {
			t.Fatalf("%s: %+v, %v", kind, f, ok)
		}
		for d := 1; d < 10; d++ {
			wrong := make([]string, len(digits))
			for i, n := range digits {
				last := (n[len(n)-1]-'0'+byte(d))%10 + '0'
				wrong[i] = n[:len(n)-1] + string(last)
			}
			if f, ok := find("c", wrong...); ok && f.Kind == kind {
				t.Errorf("%s: every last digit raised by %d passes", kind, d)
			}
		}
	}
}

// A column of more values than are held is sampled, and found all the same.
func TestColumnOfManyValues(t *testing.T) {
	s := personal.NewSample()
	for i := range 10 * personal.SampleSize {
		if i%20 == 0 {
			s.Add(fmt.Appendf(nil, "see person%d@example.org", i))
		} else {
			s.Add([]byte("nothing"))
		}
	}
	if f, ok := s.Find("remark"); !ok || f.Kind != personal.Email || f.Share < 0.04 || f.Share > 0.06 {
		t.Errorf("%+v, %v", f, ok)
	}
}

// The order of the values does not matter while all are held.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := []string{
			"John Smith", "090-1234-5678", "a@b.example", "x", "12", "山田太郎", "1970-01-01", "4111111111111111",
			"no news, all well. Really.", "",
		}
		values := rapid.SliceOfN(rapid.SampledFrom(pool), 1, 60).Draw(t, "values")
		again := rapid.Permutation(values).Draw(t, "again")
		f, ok := find("c", values...)
		g, also := find("c", again...)
		if f != g || ok != also {
			t.Fatalf("%+v %v, then %+v %v", f, ok, g, also)
		}
	})
}

// Nothing that a file can hold upsets the detectors, and what they find is a
// share.
func FuzzFind(f *testing.F) {
	for _, text := range []string{
		"a@b.example", "DE89 3704 0044 0532 0130 00", "昭和45年3月2日", "山田太郎", "+81 90", "1.2.3.4", "\xff\xfe", "0",
		"J.S.", "[::1]:80", "S.", "令和", "12 a st",
	} {
		f.Add("name", text, text+"1")
	}
	f.Fuzz(func(t *testing.T, header, a, b string) {
		metertest.Hold(t, len(header)+len(a)+len(b))
		found, ok := find(header, a, b, a)
		if ok && (found.Share < 0 || found.Share > 1 || found.Kind == personal.None || !found.ByHeader && !found.ByValues) {
			t.Fatalf("%q %q %q: %+v", header, a, b, found)
		}
		if ok && len(a) > 12 && strings.Contains(found.Reason().String(), a) {
			t.Fatalf("the reason holds a value: %s", found.Reason())
		}
		personal.Match(a)
		personal.IsDate(b)
	})
}
