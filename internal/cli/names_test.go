package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/names/namestest"
	"github.com/noren-privacy/noren/internal/randtest"
)

// Names come out of every command as they went in, in both languages: the session of testdata/names says the same of odd names as of plain
// ones, apart from the names.
func TestNames(t *testing.T) {
	randtest.SkipShort(t)
	namesInTurns(t, len(namestest.Odd))
}

// TestLongNames has each name in more places.
func TestLongNames(t *testing.T) {
	randtest.Long(t)
	namesInTurns(t, 4)
}

func namesInTurns(t *testing.T, step int) {
	t.Helper()
	session, err := os.ReadFile(filepath.Join("testdata", "names", "session.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	script := string(session) + personsOf(40)
	slots := namestest.Slots(script)
	for turn := 0; turn < len(namestest.Odd); turn += step {
		t.Run(namestest.Odd[turn], func(t *testing.T) {
			toOdd, toPlain, back := namestest.Of(slots, turn)
			sameNames(t, script, toOdd, toPlain, back)
		})
	}
	t.Run("formats", func(t *testing.T) {
		toOdd, toPlain, back := namestest.Formats(slots)
		sameNames(t, script, toOdd, toPlain, back)
	})
}

// personsOf is a table of n records with slots for its words.
func personsOf(n int) string {
	var b strings.Builder
	b.WriteString("«id»,«age»,«sex»,«ward»,«cost»,«ill»,«day»\n")
	pick := func(i int, of ...string) string { return of[i%len(of)] }
	for i := range n {
		sex, ward, ill := pick(i, "«f»", "«m»"), pick(i/2, "«a»", "«b»", "«c»", "«gap»"), pick(i/3, "«flu»", "«cold»", "«gap»")
		fmt.Fprintf(&b, "P%02d,%d,%s,%s,%d.5,%s,2024-%02d-%02d\n", i/2, 20+i*7%50, sex, ward, i*3%11, ill, i%12+1, i%28+1)
	}
	return b.String()
}

// sameNames compares a session with odd names with the same of plain names.
func sameNames(t *testing.T, script string, toOdd, toPlain, back *strings.Replacer) {
	t.Helper()
	english := map[int]string{}
	for _, l := range []string{"en", "ja"} {
		run := func(names *strings.Replacer) []recorded {
			return (&recorder{t: t, lang: l, numbered: true}).record([]byte(names.Replace(script)))
		}
		plain, strange := run(toPlain), run(toOdd)
		for i := range plain {
			if strings.Contains(plain[i].printed, "%!") || namestest.Unfilled(plain[i].printed) {
				t.Errorf("%s: %s: %s", l, plain[i].command, plain[i].printed)
			}
			want, got := namestest.Bare(back.Replace(plain[i].printed)), namestest.Bare(strange[i].printed)
			if measured.MatchString(plain[i].command) {
				want, got = figures.ReplaceAllString(want, "0"), figures.ReplaceAllString(got, "0")
			}
			if want != got {
				t.Errorf("%s: %s:\n%s", l, strange[i].command, namestest.Parted(want, got))
			}
			if l == "en" {
				english[i] = plain[i].printed
				continue
			}
			for _, name := range namestest.Plain {
				if n, want := strings.Count(plain[i].printed, name), strings.Count(english[i], name); n < want {
					t.Errorf("%s: %s stands %d times, %d in English:\n%s", plain[i].command, name, n, want, plain[i].printed)
				}
			}
		}
	}
}

var (
	measured = regexp.MustCompile(`^noren assess curve|--rehearse`) // seconds, and rows that are made of names
	figures  = regexp.MustCompile(`[0-9][0-9,.]*`)
)
