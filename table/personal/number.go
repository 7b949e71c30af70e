package personal

import (
	"net/netip"
	"strings"
)

// digitsOf returns the digits of text where it holds nothing but digits and
// single blanks or hyphens between them, and "" otherwise.
func digitsOf(text string) string {
	var b strings.Builder
	gap := true // a separator may not come here
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			b.WriteByte(c)
			gap = false
		case (c == ' ' || c == '-') && !gap:
			gap = true
		default:
			return ""
		}
	}
	if gap {
		return ""
	}
	return b.String()
}

// luhn is the check of ISO/IEC 7812-1: from the right every second digit
// doubled, its digits added, the sum a multiple of ten.
func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			d *= 2
			if d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// isCard reports whether digits are a payment card's: 13 to 19 of them, a first
// digit of the payment networks, and Luhn's check.
func isCard(digits string) bool {
	return len(digits) >= 13 && len(digits) <= 19 && digits[0] >= '2' && digits[0] <= '6' && luhn(digits)
}

// isMyNumber checks the Japanese individual number: 12 digits, the last of which
// is 11 - (sum of P_n Q_n mod 11), 0 where that sum leaves 0 or 1; P_n is the
// n-th digit from the right without the check digit, Q_n is n+1 up to 6 and n-5
// from 7 on (ordinance 85 of the Ministry of Internal Affairs, 2014, article 5).
func isMyNumber(digits string) bool {
	if len(digits) != 12 {
		return false
	}
	sum := 0
	for n := 1; n <= 11; n++ {
		q := n + 1
		if n > 6 {
			q = n - 5
		}
		sum += int(digits[11-n]-'0') * q
	}
	check := 0
	if rest := sum % 11; rest > 1 {
		check = 11 - rest
	}
	return int(digits[11]-'0') == check
}

// insurerSchemes are the first two digits of Japanese insurer numbers of eight
// digits, by scheme.
var insurerSchemes = map[string]bool{
	"01": true, "02": true, "03": true, "04": true, "06": true, "07": true, "31": true, "32": true, "33": true, "34": true,
	"39": true, "63": true, "67": true, "72": true, "73": true, "74": true, "75": true,
}

// isInsurer checks the number of a Japanese health insurer: eight digits (scheme,
// prefecture, insurer, check digit), or six without the scheme, as municipalities
// have. The check digit is Luhn's.
func isInsurer(digits string) bool {
	switch len(digits) {
	case 8:
		if !insurerSchemes[digits[:2]] {
			return false
		}
	case 6:
	default:
		return false
	}
	at := len(digits) - 6
	prefecture := 10*int(digits[at]-'0') + int(digits[at+1]-'0')
	return prefecture >= 1 && prefecture <= 47 && luhn(digits)
}

// ibanLengths is the length of an IBAN by country (ISO 13616 registry).
var ibanLengths = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28, "CH": 21, "CR": 22,
	"CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22,
	"GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30,
	"KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31,
	"MU": 30, "NL": 18, "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SC": 31, "SE": 24,
	"SI": 19, "SK": 24, "SM": 27, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}

// isIBAN checks the country's length and ISO 7064 mod 97-10: the number with its
// first four characters moved to the end, letters as 10 to 35, leaves 1.
func isIBAN(text string) bool {
	text = strings.ToUpper(strings.ReplaceAll(text, " ", ""))
	if len(text) < 15 || len(text) > 34 || ibanLengths[text[:2]] != len(text) {
		return false
	}
	rest := 0
	for i := range len(text) {
		switch c := text[(i+4)%len(text)]; {
		case c >= '0' && c <= '9':
			rest = (10*rest + int(c-'0')) % 97
		case c >= 'A' && c <= 'Z':
			rest = (100*rest + int(c-'A') + 10) % 97
		default:
			return false
		}
	}
	return rest == 1
}

// isNational recognises US social security numbers, by their hyphens and the
// areas that are given out.
func isNational(text string) bool {
	if len(text) != 11 || text[3] != '-' || text[6] != '-' {
		return false
	}
	digits := strings.ReplaceAll(text, "-", "")
	return len(digits) == 9 && digitsOf(digits) != "" && digits[:3] != "000" && digits[:3] != "666" && digits[0] != '9' &&
		digits[3:5] != "00" && digits[5:] != "0000"
}

// isIP recognises addresses of IP, versions 4 and 6, with a mask or a port, and
// of network cards.
func isIP(text string) bool {
	if strings.Count(text, ".") < 3 && strings.Count(text, ":") < 2 && strings.Count(text, "-") != 5 {
		return false
	}
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	if _, err := netip.ParseAddrPort(text); err == nil {
		return true
	}
	if _, err := netip.ParsePrefix(text); err == nil {
		return true
	}
	return isMAC(text)
}

func isMAC(text string) bool {
	if len(text) != 17 || text[2] != ':' && text[2] != '-' {
		return false
	}
	letters := false
	for i := range len(text) {
		c := text[i]
		switch {
		case i%3 == 2:
			if c != text[2] {
				return false
			}
		case c >= '0' && c <= '9':
		case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
			letters = true
		default:
			return false
		}
	}
	return letters || text[2] == ':'
}

// isPhone recognises telephone numbers that are written as such: with a plus
// and a country, with a leading zero and separators, in the North American
// forms, or as the eleven digits of a Japanese mobile telephone.
func isPhone(text string) bool {
	var digits strings.Builder
	separators, open, plus := 0, false, false
	var groups []int
	run := 0
	flush := func() {
		if run > 0 {
			groups = append(groups, run)
		}
		run = 0
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			digits.WriteByte(c)
			run++
			continue
		case c == '+' && i == 0:
			plus = true
		case c == '(' && !open:
			open = true
			separators++
		case c == ')' && open:
			open = false
		case c == '-' || c == ' ' || c == '.' || c == '/':
			separators++
		default:
			return false
		}
		flush()
	}
	flush()
	d := digits.String()
	if open || len(d) < 9 || len(d) > 15 || run < 0 {
		return false
	}
	if plus {
		return d[0] != '0'
	}
	if len(groups) == 1 {
		return len(d) == 11 && d[0] == '0' && d[2] == '0' && strings.IndexByte("5789", d[1]) >= 0
	}
	if separators == 0 || len(groups) > 5 || len(groups) == 2 && strings.Contains(text, ".") {
		return false
	}
	if d[0] == '0' {
		return len(d) >= 9 && len(d) <= 13 && !looksLikeDate(text)
	}
	if d[0] == '1' && len(groups) == 4 && groups[0] == 1 {
		groups, d = groups[1:], d[1:]
	}
	return len(groups) == 3 && groups[0] == 3 && groups[1] == 3 && groups[2] == 4 && d[0] >= '2'
}

// looksLikeDate reports whether text has the groups of a date or an instant.
func looksLikeDate(text string) bool {
	_, ok := yearOf(text)
	return ok
}
