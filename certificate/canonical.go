package certificate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/noren-privacy/noren"
)

const (
	maxSize  = 1 << 20
	maxDepth = 32
	maxInt   = 1<<53 - 1
)

// Canonical returns the canonical form of the JSON text data (see the package
// comment); one text has one canonical form, and Canonical of it is itself. A
// text outside the accepted language is an error of kind BadData, which names
// the rule and never quotes the text.
func Canonical(data []byte) ([]byte, error) {
	out, err := canonical(data)
	if err != nil {
		return nil, &noren.Error{Kind: noren.BadData, Where: "certificate", What: "is not well-formed", Err: err}
	}
	return out, nil
}

func canonical(data []byte) ([]byte, error) {
	switch {
	case len(data) > maxSize:
		return nil, fmt.Errorf("it is longer than %d bytes", maxSize)
	case !utf8.Valid(data):
		return nil, errors.New("it is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	out, err := appendValue(nil, dec, 0)
	if err != nil {
		return nil, plain(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("data follows its end")
	}
	return out, nil
}

// plain strips from a decoder's error the piece of text it quotes.
func plain(err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("it is not JSON at byte %d", syntax.Offset)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it ends too early")
	default:
		return err
	}
}

func appendValue(dst []byte, dec *json.Decoder, depth int) ([]byte, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch v := tok.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case string:
		return appendString(dst, v)
	case json.Number:
		return appendNumber(dst, string(v))
	case json.Delim:
		if depth == maxDepth {
			return nil, fmt.Errorf("it is nested deeper than %d", maxDepth)
		}
		if v == '[' {
			return appendArray(dst, dec, depth+1)
		}
		return appendObject(dst, dec, depth+1)
	}
	return nil, errors.New("it holds an unknown token")
}

func appendArray(dst []byte, dec *json.Decoder, depth int) ([]byte, error) {
	var err error
	dst = append(dst, '[')
	for i := 0; dec.More(); i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendValue(dst, dec, depth); err != nil {
			return nil, err
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	return append(dst, ']'), nil
}

type member struct {
	order []uint16 // the key's UTF-16 code units
	text  []byte   // "key":value
}

func appendObject(dst []byte, dec *json.Decoder, depth int) ([]byte, error) {
	var members []member
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, ok := tok.(string)
		if !ok {
			return nil, errors.New("a key is not a string")
		}
		text, err := appendString(nil, key)
		if err != nil {
			return nil, err
		}
		if text, err = appendValue(append(text, ':'), dec, depth); err != nil {
			return nil, err
		}
		members = append(members, member{utf16.Encode([]rune(key)), text})
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	slices.SortFunc(members, func(a, b member) int { return slices.Compare(a.order, b.order) })
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			if slices.Equal(members[i-1].order, m.order) {
				return nil, errors.New("a key occurs twice in one object")
			}
			dst = append(dst, ',')
		}
		dst = append(dst, m.text...)
	}
	return append(dst, '}'), nil
}

// appendString writes s as RFC 8785 section 3.2.2.2 does: the two-letter
// escapes, \u00xx in lower case for the other controls, all else as it is.
func appendString(dst []byte, s string) ([]byte, error) {
	const hex = "0123456789abcdef"
	if strings.ContainsRune(s, utf8.RuneError) {
		return nil, errors.New("a text holds U+FFFD or half a surrogate pair")
	}
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, `\b`...)
		case '\t':
			dst = append(dst, `\t`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\r':
			dst = append(dst, `\r`...)
		default:
			if c < 0x20 {
				dst = append(dst, `\u00`...)
				dst = append(dst, hex[c>>4], hex[c&15])
				continue
			}
			dst = append(dst, c)
		}
	}
	return append(dst, '"'), nil
}

// appendNumber writes a number literal as ECMAScript's Number::toString does,
// which RFC 8785 section 3.2.2.3 prescribes.
func appendNumber(dst []byte, literal string) ([]byte, error) {
	if !strings.ContainsAny(literal, ".eE") {
		n, err := strconv.ParseInt(literal, 10, 64)
		if err != nil || n > maxInt || n < -maxInt {
			return nil, errors.New("an integer is beyond 2^53 - 1")
		}
		return strconv.AppendInt(dst, n, 10), nil
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return nil, errors.New("a number is no finite double")
	}
	abs := math.Abs(f)
	if abs == 0 {
		return append(dst, '0'), nil
	}
	if abs >= 1e-6 && abs < 1e21 {
		if abs > maxInt {
			// Written without a point it would be read as an integer too large.
			return nil, errors.New("a number is beyond 2^53 - 1")
		}
		return strconv.AppendFloat(dst, f, 'f', -1, 64), nil
	}
	if abs >= 1e21 {
		return nil, errors.New("a number is beyond 2^53 - 1")
	}
	text := strconv.FormatFloat(f, 'e', -1, 64)
	// 1e-07 is written 1e-7.
	if n := len(text); text[n-4:n-1] == "e-0" {
		text = text[:n-2] + text[n-1:]
	}
	return append(dst, text...), nil
}
