package lang

import (
	"strconv"
	"strings"
)

// Accepted is the language of the header Accept-Language of a request (RFC 9110, section
// 12.5.4): Japanese where it names Japanese and prefers English no more, otherwise English.
func Accepted(header string) Lang {
	japanese, english, other := 0.0, -1.0, 0.0
	for item := range strings.SplitSeq(header, ",") {
		tag, quality, _ := strings.Cut(item, ";")
		q, ok := qualityOf(quality)
		if !ok {
			continue
		}
		tag, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(tag)), "-")
		switch tag {
		case "ja":
			japanese = max(japanese, q)
		case "en":
			english = max(english, q)
		case "*":
			other = max(other, q)
		}
	}
	if english < 0 {
		english = other
	}
	if japanese > 0 && japanese >= english {
		return Japanese
	}
	return English
}

// qualityOf reads the weight of a language, as in "q=0.8"; 1 where there is none.
func qualityOf(text string) (q float64, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 1, true
	}
	value, ok := strings.CutPrefix(strings.ToLower(text), "q=")
	q, err := strconv.ParseFloat(value, 64)
	return q, ok && err == nil && q >= 0 && q <= 1
}
