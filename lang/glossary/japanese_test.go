package glossary

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// japanese are the Japanese texts of the repository by their paths.
func japanese(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	all := map[string]string{}
	for _, place := range []string{"README.ja.md", "docs/ja", "lang/ja", "lang/glossary/ja.md", "internal/cli/help/ja", "web/src/lang"} {
		err := filepath.WalkDir(filepath.Join(root, place), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			all[path] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(all) < 80 {
		t.Fatalf("%d files", len(all))
	}
	return all
}

var katakana = regexp.MustCompile(`[ァ-ヴー]{2,}`)

// A word in katakana is written with a long vowel at its end in all texts, or in none.
func TestVowelsAtEnds(t *testing.T) {
	words := map[string][]string{}
	for path, text := range japanese(t) {
		for _, w := range katakana.FindAllString(text, -1) {
			if !slices.Contains(words[w], path) {
				words[w] = append(words[w], path)
			}
		}
	}
	for w, short := range words {
		if long := words[w+"ー"]; len(long) > 0 {
			t.Errorf("%s in %s, and %sー in %s: write one of them", w, strings.Join(short, ", "), w, strings.Join(long, ", "))
		}
	}
}

// One thing has one word: the others are not in any text.
func TestOneWordForOneThing(t *testing.T) {
	for _, c := range []struct{ wrong, right string }{
		{"仕組み", "機構"},
		{"メカニズム", "機構"},
		{"無作為化", "確率化"},
		{"ランダム化", "確率化"},
		{"主体", "利用者"},
		{"恒久", "永続"},
		{"監査者", "監査人"},
		{"カテゴリ", "区分"},
		{"センシティブ", "機微"},
		{"ユーザー", "利用者"},
		{"アナリスト", "分析者"},
		{"ログイン", "サインイン"},
		{"合成する", "合わせる"},
		{"機微属性", "機微な列"},
		{"他者", "他人"},
		{"件数の誤差", "クエリ誤差"},
		{"最適との差", "最適性ギャップ"},
		{"シード", "種"},
		{"口座を閉じ", "口座を閉鎖する"},
	} {
		for path, text := range japanese(t) {
			text = strings.ReplaceAll(text, "ランダム化応答", "") // a mechanism has this name
			if strings.Contains(text, c.wrong) {
				at, _, _ := strings.Cut(text[strings.LastIndex(text[:strings.Index(text, c.wrong)], "\n")+1:], "\n")
				t.Errorf("%s: %s is %s here: %s", path, c.wrong, c.right, at)
			}
		}
	}
}
