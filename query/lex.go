package query

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/noren-privacy/noren"
)

// maxPredicate is the longest predicate, in bytes, and maxDepth the deepest
// nesting: both far above use, and low enough for a hostile text to be harmless.
const (
	maxPredicate = 1 << 16
	maxDepth     = 200
)

type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenName             // a column: bare or in backticks
	tokenWord             // and or not in is missing
	tokenText             // a quoted string
	tokenNumber           // digits, with sign, point and exponent
	tokenSign             // = != < <= > >= ( ) ,
)

type token struct {
	kind tokenKind
	text string // without its quotes; words in lower case
	at   int    // byte offset
}

// words are the reserved words, in any case of letters. A column of such a name
// is in backticks.
var words = map[string]bool{"and": true, "or": true, "not": true, "in": true, "is": true, "missing": true}

// lexer cuts a predicate into tokens.
type lexer struct {
	src string
	pos int
}

// fault is an error at byte offset at, with the arguments of what. It repeats nothing of
// the predicate.
func (l *lexer) fault(at int, what, hint noren.Format, args ...any) *noren.Error {
	return predicateError(l.src, at, noren.Textf(what, args...), hint)
}

func predicateError(src string, at int, what noren.Text, hint noren.Format) *noren.Error {
	at = min(at, len(src))
	return &noren.Error{
		Kind: noren.Usage, Where: noren.Textf("predicate, character %d", utf8.RuneCountInString(src[:at])+1),
		What: what.Format, Args: what.Args, Hint: hint,
	}
}

func isNameStart(r rune) bool { return r == '_' || unicode.IsLetter(r) }

// A name may hold hyphens and points: there is no arithmetic to mistake them for.
func isNamePart(r rune) bool {
	return isNameStart(r) || unicode.IsDigit(r) || r == '-' || r == '.' || unicode.IsMark(r)
}

func (l *lexer) next() (token, error) {
	for l.pos < len(l.src) && strings.IndexByte(" \t\r\n", l.src[l.pos]) >= 0 {
		l.pos++
	}
	start := l.pos
	if start == len(l.src) {
		return token{tokenEnd, "", start}, nil
	}
	r, _ := utf8.DecodeRuneInString(l.src[start:])
	switch {
	case r == '\'' || r == '"' || r == '`':
		return l.quoted(byte(r))
	case isNameStart(r):
		for l.pos < len(l.src) {
			part, size := utf8.DecodeRuneInString(l.src[l.pos:])
			if !isNamePart(part) {
				break
			}
			l.pos += size
		}
		name := l.src[start:l.pos]
		if lower := strings.ToLower(name); words[lower] {
			return token{tokenWord, lower, start}, nil
		}
		return token{tokenName, name, start}, nil
	case '0' <= r && r <= '9' || r == '-' || r == '+' || r == '.':
		return l.number()
	}
	for _, sign := range [...]string{"<=", ">=", "!=", "<>", "==", "<", ">", "=", "(", ")", ","} {
		if strings.HasPrefix(l.src[start:], sign) {
			l.pos += len(sign)
			switch sign {
			case "<>":
				sign = "!="
			case "==":
				sign = "="
			}
			return token{tokenSign, sign, start}, nil
		}
	}
	return token{}, l.fault(start, "a character that has no meaning here", "write: column = 'text', with and, or, not and parentheses")
}

// quoted reads up to the closing quote; the quote itself is written twice.
func (l *lexer) quoted(quote byte) (token, error) {
	start := l.pos
	l.pos++
	var b strings.Builder
	for {
		end := strings.IndexByte(l.src[l.pos:], quote)
		if end < 0 {
			return token{}, l.fault(start, "a quote that is not closed", "close it, and write a quote inside twice")
		}
		b.WriteString(l.src[l.pos : l.pos+end])
		l.pos += end + 1
		if l.pos == len(l.src) || l.src[l.pos] != quote {
			break
		}
		b.WriteByte(quote)
		l.pos++
	}
	kind := tokenText
	if quote == '`' {
		kind = tokenName
		if b.Len() == 0 {
			return token{}, l.fault(start, "an empty column name", "")
		}
	}
	return token{kind, b.String(), start}, nil
}

// number takes the longest run of the characters of numbers; what it means is
// decided by the type of the column.
func (l *lexer) number() (token, error) {
	start := l.pos
	digits := false
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		isDigit := '0' <= c && c <= '9'
		sign := (c == '-' || c == '+') && (l.pos == start || l.src[l.pos-1] == 'e' || l.src[l.pos-1] == 'E')
		if !isDigit && !sign && c != '.' && !((c == 'e' || c == 'E') && digits) {
			break
		}
		digits = digits || isDigit
		l.pos++
	}
	if !digits {
		return token{}, l.fault(start, "a number without digits", "")
	}
	return token{tokenNumber, l.src[start:l.pos], start}, nil
}
