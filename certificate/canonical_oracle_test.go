package certificate

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/noren-privacy/noren/internal/meter/metertest"
)

// byTokens is the canonical form by the tokens of encoding/json, an independent and slower
// way to it.
func byTokens(data []byte) ([]byte, error) {
	if len(data) > maxSize || !utf8.Valid(data) {
		return nil, errors.New("too long or not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	out, err := tokenValue(nil, dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("data follows its end")
	}
	return out, nil
}

func tokenValue(dst []byte, dec *json.Decoder, depth int) ([]byte, error) {
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
			return nil, errors.New("it is nested too deep")
		}
		if v == '[' {
			return tokenArray(dst, dec, depth+1)
		}
		return tokenObject(dst, dec, depth+1)
	}
	return nil, errors.New("it holds an unknown token")
}

func tokenArray(dst []byte, dec *json.Decoder, depth int) ([]byte, error) {
	var err error
	dst = append(dst, '[')
	for i := 0; dec.More(); i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = tokenValue(dst, dec, depth); err != nil {
			return nil, err
		}
	}
	_, err = dec.Token()
	return append(dst, ']'), err
}

func tokenObject(dst []byte, dec *json.Decoder, depth int) ([]byte, error) {
	type pair struct {
		order []uint16
		text  []byte
	}
	var pairs []pair
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
		if text, err = tokenValue(append(text, ':'), dec, depth); err != nil {
			return nil, err
		}
		pairs = append(pairs, pair{utf16.Encode([]rune(key)), text})
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	slices.SortFunc(pairs, func(a, b pair) int { return slices.Compare(a.order, b.order) })
	dst = append(dst, '{')
	for i, p := range pairs {
		if i > 0 {
			if slices.Equal(pairs[i-1].order, p.order) {
				return nil, errors.New("a key occurs twice in one object")
			}
			dst = append(dst, ',')
		}
		dst = append(dst, p.text...)
	}
	return append(dst, '}'), nil
}

// Both ways accept the same texts and write the same form.
func FuzzCanonical(f *testing.F) {
	for _, text := range []string{
		`{"b":[1,2.5e-7,null,true,"\u0000"],"a":{}}`, ` [ ] `, `{"a":1,"a":2}`, `{"b":1,"a":2,"b":3}`, `"\ud800"`, `"\ud83d\ude00"`,
		`{"😀":1,"ﬀ":2}`,
		`[1 2]`, `{"a":}`, `tru`, `truex`, `1.`, `-0`, `-`, `1e5`, `"a`, `"\`, ``, `{"a":1}}`,
		`[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]`,
		"{\"a\" :\t1 ,\r\n\"A\":\n[ false , {\"c\":\"\\\"\\\\\"} ] }", `"<\/>"`, "\"\x01\"", "\"\xff\"", "[1]\x00",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		metertest.Hold(t, len(data))
		got, err := Canonical(data)
		want, wantErr := byTokens(data)
		if (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(got, want) {
			t.Fatalf("%q: %q, %v; want %q, %v", data, got, err, want, wantErr)
		}
	})
}

func BenchmarkCanonical(b *testing.B) {
	text := []byte(
		`{"mechanism":{"name":"noren/query","parameters":{"kind":"histogram","column":"age","bins":["0","20","40","100"],"where":"ward = 'a'","epsilon":"0.1"}},"dataset":"visits","version":1}`)
	for b.Loop() {
		if _, err := Canonical(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCanonicalByTokens(b *testing.B) {
	text := []byte(
		`{"mechanism":{"name":"noren/query","parameters":{"kind":"histogram","column":"age","bins":["0","20","40","100"],"where":"ward = 'a'","epsilon":"0.1"}},"dataset":"visits","version":1}`)
	for b.Loop() {
		if _, err := byTokens(text); err != nil {
			b.Fatal(err)
		}
	}
}
