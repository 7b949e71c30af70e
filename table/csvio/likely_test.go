package csvio

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/transform"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
)

// shortHeaders are names of columns of two characters.
const shortHeaders = "性別 年齢 氏名 名前 住所 職業 病名 病棟 診療 地域 区分 年度 月日 金額 学歴 収入 国籍 身長 体重 血圧 電話 番号 備考 日付 時刻 曜日 費用 点数 傷病 主訴 薬剤 入院 退院 手術 保険 負担 世帯 続柄 " +
	"婚姻 産業 雇用 賃金 所得 資産 負債 支出 電力 水道 料金 契約 施設 学校 学年 学級 成績 科目 出身 本籍 都市 町村 番地 建物 部屋 面積 温度 湿度 速度 距離 緯度 経度 車種 色彩 素材 品名 単価 数量 合計 平均 最大 最小 有無 可否 種別 " +
	"分類 状態 結果 理由 内容 件数 割合 回数 人数 男女 父母 子供 会社 部署 役職 店舗 顧客 商品 注文 配送 返品 在庫 売上 利益 税率 税込 口座 残高 振込 引落 通帳 年収 月給 時給 賞与 かな ふり カナ 読み くに むら"

// In every encoding a table whose only Japanese is a header of two characters is read as
// what it is.
func TestShortHeaders(t *testing.T) {
	for _, header := range strings.Fields(shortHeaders) {
		for e := UTF8; e < endOfEncodings; e++ {
			if e == Latin1 || e == Windows1252 {
				continue
			}
			for _, text := range []string{header + "\n1\n2\n", "id," + header + ",n\n1,M,3\n2,F,5\n"} {
				o := Options{}
				if e.wide() {
					text = "\ufeff" + text
				}
				encoded := text
				if enc := e.encoder(); enc != nil {
					b, _, err := transform.Bytes(enc, []byte(text))
					if err != nil {
						t.Fatal(err)
					}
					encoded = string(b)
				}
				names, _, err := read(put(t, "in.csv", encoded), o)
				if err != nil || !strings.Contains(strings.Join(names, " "), header) {
					t.Errorf("%s in %v: read as %q, %v", header, e, names, err)
				}
			}
		}
	}
}

// Any two kanji of the first level, which holds those of everyday texts, are read as what they are in
// UTF-8 and Shift_JIS, and in EUC-JP but for those that are two letters of one foreign script
// in UTF-8, as 老弔 is ϷĤ. Half-width katakana are read as such where EUC-JP does not fit.
func TestPairsOfKanji(t *testing.T) {
	var level []string
	for row := byte(0xb0); row < 0xd0; row++ {
		for cell := byte(0xa1); cell < 0xff; cell++ {
			if text, _, err := transform.Bytes(japanese.EUCJP.NewDecoder(), []byte{row, cell}); err == nil &&
				!strings.Contains(string(text), "\ufffd") {
				level = append(level, string(text))
			}
		}
	}
	if len(level) != 2965 {
		t.Fatalf("%d kanji, want the 2,965 of the first level", len(level))
	}
	r := rand.New(rand.NewPCG(1, 2))
	wrong := map[Encoding]int{}
	pairs := randtest.Size(2000, 20000)
	for range pairs {
		text := level[r.IntN(len(level))] + level[r.IntN(len(level))]
		for _, e := range []Encoding{UTF8, ShiftJIS, EUCJP} {
			b := []byte(text)
			if enc := e.encoder(); enc != nil {
				var err error
				if b, _, err = transform.Bytes(enc, b); err != nil {
					t.Fatal(err)
				}
			}
			got, _, err := likely(context.Background(), b, true, strings.NewReader(""))
			if err != nil {
				t.Fatal(err)
			}
			if got != e {
				wrong[e]++
			}
		}
	}
	if wrong[UTF8] > 0 || wrong[ShiftJIS] > 0 || wrong[EUCJP] > pairs/500 {
		t.Errorf("of %d pairs these were read as something else: %v", pairs, wrong)
	}
}

// What tells the encoding may stand far below the header.
func TestEncodingByAllCells(t *testing.T) {
	encode := func(e Encoding, text string) string {
		b, _, err := transform.Bytes(e.encoder(), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	plain := strings.Repeat("1,2\n", 200000)
	for _, c := range []struct {
		name, text string
		want       Encoding
		note       string
	}{
		{"kanji before half-width katakana", "a,b\n\xb1\xb2,1\n", EUCJP, "read as euc-jp"},
		{"named in doubt", "a,b\n\xb1\xb2,1\n", EUCJP, "shift_jis too"},
		{"half-width katakana of the end", encode(ShiftJIS, "ｶﾅ,b\n"+plain+"ｻｶﾅ,1\n"), ShiftJIS, "read as shift_jis"},
		{"kanji of the end", encode(EUCJP, "性別,b\n"+plain+"男性,1\n"), EUCJP, "read as euc-jp"},
		{"Shift_JIS of the end", "\xb1\xb2,b\n" + plain + encode(ShiftJIS, "男性,1\n"), ShiftJIS, "read as shift_jis"},
		{"accents in UTF-8", "café,b\n" + plain, UTF8, ""},
		{"accents many times", "id,drink\n" + strings.Repeat("1,café\n2,cold\n", 60), UTF8, ""},
		{
			"accents of many words", "id,drink\n" + strings.Repeat("1,café à la crème\n2,thé glacé\n3,Müller Straße\n4,São João\n5,niño\n", 60),
			UTF8, "",
		},
		{"one accented letter", "a,b\n" + strings.Repeat("1,é\n2,à\n", 60), UTF8, ""},
		{"Greek many times", "a,b\n" + strings.Repeat("1,να\n2,το\n", 60), UTF8, ""},
		{"Greek in UTF-8", "να,b\n" + plain, UTF8, ""},
		{"Russian in UTF-8", "он,b\n" + plain, UTF8, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			src, err := Open(context.Background(), put(t, "in.csv", c.text), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = src.Close() }()
			if got := src.Dialect().Encoding; got != c.want || !strings.Contains(noren.Texts(src.Notes()).String(), c.note) {
				t.Errorf("got %v, notes %q, want %v and a note %q", got, src.Notes(), c.want, c.note)
			}
		})
	}
}

// A definition of a data set does not take EUC-JP for Shift_JIS.
func TestPlainRefusesEUC(t *testing.T) {
	_, _, err := read(put(t, "in.csv", "\xc0\xad\xca\xcc,n\nM,1\n"), Options{Plain: true})
	if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), "euc-jp") {
		t.Errorf("got %v, want an error that names euc-jp", err)
	}
	if names, _, err := read(put(t, "in.csv", "\xc0\xad\xca\xcc,n\nM,1\n"), Options{Plain: true, Encoding: ShiftJIS}); err != nil ||
		names[0] != "ﾀｭﾊﾌ" {
		t.Errorf("as shift_jis: got %q, %v", names, err)
	}
}
