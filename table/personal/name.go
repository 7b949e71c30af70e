package personal

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normal is text in one form of its characters (full-width letters and digits
// and half-width kana as usual ones), without blanks at its ends.
func normal(text string) string { return strings.TrimSpace(norm.NFKC.String(text)) }

// shape says what a value looks like as a name.
type shape struct {
	form   bool // letters alone, as many as a name may have
	parts  int  // words
	hit    bool // one of them is in a list
	titled bool // a form of address stands with it
}

var titles = map[string]bool{
	"mr": true, "mrs": true, "ms": true, "miss": true, "mx": true, "dr": true, "prof": true, "sir": true, "herr": true, "frau": true,
	"mme": true, "mlle": true, "sr": true, "sra": true, "srta": true, "sig": true, "dott": true,
}

// particles stand between names.
var particles = map[string]bool{
	"von": true, "van": true, "der": true, "den": true, "de": true, "del": true, "della": true, "di": true, "da": true, "dos": true,
	"la": true, "le": true, "bin": true, "ibn": true, "al": true, "el": true, "st": true, "y": true,
}

// nameShape looks at a value, normalised.
func nameShape(text string) shape {
	if text == "" || len(text) > 80 {
		return shape{}
	}
	first, _ := utf8.DecodeRuneInString(text)
	switch {
	case unicode.Is(unicode.Latin, first):
		return latinShape(text)
	case unicode.Is(unicode.Han, first), unicode.Is(unicode.Hiragana, first), unicode.Is(unicode.Katakana, first):
		return japaneseShape(text)
	case unicode.Is(unicode.Hangul, first):
		runes := []rune(strings.ReplaceAll(text, " ", ""))
		form := len(runes) >= 2 && len(runes) <= 4 && all(runes, unicode.Hangul)
		return shape{form: form, parts: 2, hit: form && len(runes) == 3 && known().hangul[runes[0]]}
	case unicode.Is(unicode.Cyrillic, first):
		return cyrillicShape(text)
	}
	return shape{}
}

func all(runes []rune, script *unicode.RangeTable) bool {
	return !slices.ContainsFunc(runes, func(r rune) bool { return !unicode.Is(script, r) && r != 'ー' && r != '々' })
}

func latinShape(text string) shape {
	var s shape
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '.' })
	for _, w := range words {
		lower := strings.ToLower(w)
		if titles[lower] {
			s.titled = true
			continue
		}
		for _, r := range w {
			if !unicode.Is(unicode.Latin, r) && r != '-' && r != '\'' && r != '’' {
				return shape{}
			}
		}
		if particles[lower] {
			continue
		}
		s.parts++
		s.hit = s.hit || inList(lower)
	}
	s.form = s.parts >= 1 && s.parts <= 5
	return s
}

// inList looks for a word, or for a part of a word with a hyphen.
func inList(lower string) bool {
	lower = strings.ReplaceAll(lower, "’", "'")
	if known().latin[lower] {
		return true
	}
	for part := range strings.SplitSeq(lower, "-") {
		if len(part) > 2 && part != lower && known().latin[part] {
			return true
		}
	}
	return false
}

// notNames end what begins with a surname and is no name: places, offices,
// schools, illnesses.
const notNames = "県市区町村郡都府道駅線院店社科部課室病会学校症炎薬剤系型性区域川山島港橋丁目号"

func japaneseShape(text string) shape {
	for _, suffix := range []string{"様", "さん", "殿", "氏", "先生"} {
		if name, found := strings.CutSuffix(text, suffix); found && name != "" {
			s := japaneseShape(name)
			s.titled = s.form
			return s
		}
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '・' || r == '=' })
	runes := []rune(strings.Join(words, ""))
	if len(words) > 3 || len(runes) < 1 || len(runes) > 14 {
		return shape{}
	}
	kana := true
	for _, r := range runes {
		switch {
		case unicode.Is(unicode.Katakana, r), unicode.Is(unicode.Hiragana, r), r == 'ー':
		case unicode.Is(unicode.Han, r), r == '々', r == 'ヶ':
			kana = false
		default:
			return shape{}
		}
	}
	n := known()
	if kana {
		s := shape{form: true, parts: len(words)}
		for _, w := range words {
			w = katakana(w)
			s.hit = s.hit || n.kana[w] || n.given[w]
		}
		if len(words) == 1 { // written without a blank
			s.hit = s.hit || splits([]rune(katakana(words[0])), n.kana, n.given)
		}
		return s
	}
	if len(runes) > 8 || strings.ContainsRune(notNames, runes[len(runes)-1]) && !n.kanji[string(runes)] {
		return shape{form: false}
	}
	s := shape{form: true, parts: len(words)}
	if len(words) > 1 {
		s.hit = n.kanji[words[0]] || n.given[words[len(words)-1]] || n.han[runes[0]] && len(runes) <= 4
		return s
	}
	s.hit = n.kanji[string(runes)] || n.given[string(runes)]
	for cut := 1; cut <= min(n.longestKanji, len(runes)-1) && !s.hit; cut++ {
		rest := len(runes) - cut
		s.hit = n.kanji[string(runes[:cut])] && rest <= 3 && (cut > 1 || n.given[string(runes[cut:])]) || n.given[string(runes[cut:])]
	}
	if s.hit && len(runes) > 2 {
		s.parts = 2
	}
	return s
}

// splits reports whether a word is a surname followed by a given name.
func splits(word []rune, surname, given map[string]bool) bool {
	for cut := 2; cut <= len(word)-2; cut++ {
		if surname[string(word[:cut])] && given[string(word[cut:])] {
			return true
		}
	}
	return false
}

// katakana writes hiragana as katakana.
func katakana(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'ぁ' && r <= 'ゖ' {
			return r + 'ァ' - 'ぁ'
		}
		return r
	}, text)
}

var cyrillicEnds = []string{"ов", "ова", "ев", "ева", "ин", "ина", "ский", "ская", "вич", "вна", "енко", "ук"}

func cyrillicShape(text string) shape {
	var s shape
	for w := range strings.FieldsSeq(strings.ToLower(text)) {
		for _, r := range strings.Trim(w, ".,") {
			if !unicode.Is(unicode.Cyrillic, r) && r != '-' {
				return shape{}
			}
		}
		s.parts++
		s.hit = s.hit || len([]rune(w)) > 4 && slices.ContainsFunc(cyrillicEnds, func(end string) bool { return strings.HasSuffix(w, end) })
	}
	s.form = s.parts >= 1 && s.parts <= 4
	return s
}

// chinese reports whether a value has the form of a Chinese name: a surname of
// one character and one or two more.
func chinese(text string) bool {
	runes := []rune(strings.ReplaceAll(text, " ", ""))
	return (len(runes) == 2 || len(runes) == 3) && all(runes, unicode.Han) && known().han[runes[0]]
}
