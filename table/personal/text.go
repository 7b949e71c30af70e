package personal

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Patterns are compiled when they are first used: compiling takes longer than most
// commands take to start.
var (
	latinStreet = pattern(
		`(?i)\b\d{1,5}[a-z]?,? .*\b(street|str|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|close|crescent|way|place|pl|square|sq|terrace|parkway|pkwy|highway|hwy)\b`)
	poBox  = pattern(`(?i)\b(p\.? ?o\.? ?box|postfach|apt\.?|apartment|suite) ?#?\d+`)
	german = pattern(`(?i)(straße|strasse|str\.|weg|platz|allee|gasse|ufer|ring) ?\d{1,4}[a-z]?\b`)
	roman  = pattern(
		`(?i)\b(rue|avenue|boulevard|chemin|impasse|allée|calle|avenida|paseo|via|viale|piazza|corso|rua|praça)\b.*\d|\d.*\b(rue|avenue|boulevard|chemin|impasse|allée|quai)\b`)
	japanese    = pattern(`\d+ ?丁目|\d+ ?番地|\d+番\d+号|[都道府県市区町村郡]\S*\d+[-−ー–]\d+`)
	initials    = pattern(`^\p{Lu}\.(?:[ -]?\p{Lu}\.?){1,4}$`)
	urlAnywhere = pattern(`(?i)\b(https?|ftp)://[a-z0-9]|\bwww\.[a-z0-9-]+\.[a-z]{2,}`)
)

func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// hasEmail reports whether text holds an e-mail address anywhere.
func hasEmail(text string) bool {
	for from := 0; ; {
		at := strings.IndexByte(text[from:], '@')
		if at < 0 {
			return false
		}
		at += from
		if localEnds(text[:at]) && domainBegins(text[at+1:]) {
			return true
		}
		from = at + 1
	}
}

func localEnds(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-+.%'", r))
}

// domainBegins demands labels with a dot between them and a top label of two
// letters or more.
func domainBegins(text string) bool {
	end := strings.IndexFunc(text, func(r rune) bool {
		return r != '.' && r != '-' && !(r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)))
	})
	if end >= 0 {
		text = text[:end]
	}
	text = strings.TrimRight(text, ".-")
	dot := strings.LastIndexByte(text, '.')
	if dot <= 0 || strings.Contains(text, "..") {
		return false
	}
	top := text[dot+1:]
	return len(top) >= 2 && strings.IndexFunc(top, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}

func isAddress(text string) bool {
	if strings.IndexFunc(text, unicode.IsDigit) < 0 || len(text) < 6 {
		return false
	}
	return latinStreet().MatchString(text) || poBox().MatchString(text) || german().MatchString(text) || roman().MatchString(text) ||
		japanese().MatchString(text)
}

func isInitials(text string) bool { return len(text) <= 24 && initials().MatchString(text) }

// match returns the kinds that a single value, normalised, has the form of.
func match(text string) set {
	var s set
	digits := digitsOf(text)
	if digits != "" {
		s.add(Card, isCard(digits))
		s.add(MyNumber, isMyNumber(digits))
		s.add(Insurer, isInsurer(digits))
		s.add(Phone, isPhone(text))
		s.add(NationalNumber, isNational(text))
		return s
	}
	s.add(Email, hasEmail(text))
	s.add(URL, urlAnywhere().MatchString(text))
	if len(text) > 128 { // what follows is a whole value
		return s
	}
	s.add(IBAN, isIBAN(text))
	s.add(IP, isIP(text))
	s.add(NationalNumber, isNational(text))
	s.add(Phone, isPhone(text))
	s.add(Address, isAddress(text))
	s.add(Initials, isInitials(text))
	return s
}

// Match returns a kind of which a single value has the unmistakable form: an
// e-mail address, an IBAN, a web or network address, a telephone number as it is
// written, or a postal address.
func Match(text string) (Kind, bool) {
	s := match(normal(text))
	for _, k := range []Kind{Email, IBAN, URL, IP, NationalNumber, Phone, Address} {
		if s.has(k) {
			return k, true
		}
	}
	return None, false
}
