package csvio

import (
	"context"
	"io"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/transform"
)

// Detection of an encoding by how likely its text is.
//
// The bytes of a short Japanese text are often valid in several encodings: 性別 in EUC-JP is
// ﾀｭﾊﾌ in Shift_JIS. Each encoding whose decoder takes all bytes of the file gets a cost, the
// sum over its characters of about -log2 of their frequency in tables, and the least cost is
// taken: kanji before half-width katakana, frequent kanji before rare ones, an accented
// letter in a word of Latin letters before one alone.
const (
	// utf8Bonus is how much less UTF-8 costs: bytes of other encodings are seldom valid in it.
	utf8Bonus = 6
	// decisive is the difference of two costs from which on the rest of the file is not read,
	// and decisiveUTF8 that where the least is of UTF-8.
	decisive, decisiveUTF8 = 40, 20
	// doubtful is the difference below which a note names the second encoding.
	doubtful, doubtfulUTF8 = 20, 5
)

// candidate is an encoding that fits the bytes that were read.
type candidate struct {
	e    Encoding
	cost int
}

// likely returns the encoding whose text is the most likely among those that fit all of
// rest, which begins with a byte above 7F, and of what in still has. second is the next
// likely where the costs are close, else AnyEncoding. It is UTF8 where none fits: reading
// then tells the line. It reads in to its end unless the costs differ by much before.
func likely(ctx context.Context, rest []byte, whole bool, in io.Reader) (e, second Encoding, err error) {
	all := []candidate{{e: UTF8, cost: -utf8Bonus}, {e: ShiftJIS}, {e: EUCJP}}
	var w weigher
	for {
		piece := rest
		if !whole {
			piece = rest[:cutBefore(rest)]
		}
		all = w.add(all, piece)
		if len(all) == 0 {
			return UTF8, AnyEncoding, nil
		}
		best, next := leastCosts(all)
		if len(all) == 1 {
			return best.e, AnyEncoding, nil
		}
		enough, close := decisive, doubtful
		if best.e == UTF8 {
			enough, close = decisiveUTF8, doubtfulUTF8
		}
		if whole || next.cost-best.cost >= enough {
			if next.cost-best.cost < close {
				second = next.e
			}
			return best.e, second, nil
		}
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		more := make([]byte, len(rest)-len(piece)+sampleSize)
		n, failed := io.ReadFull(in, more[copy(more, rest[len(piece):]):])
		rest, whole = more[:len(rest)-len(piece)+n], failed != nil
	}
}

// cutBefore is where text may be cut without cutting a character of any encoding: after the
// last byte below 40, which is a whole character in all of them; 0 where there is none, and
// the end of a long text without one, which is no table.
func cutBefore(text []byte) int {
	for at := len(text); at > 0; at-- {
		if text[at-1] < 0x40 {
			return at
		}
	}
	if len(text) > 4*sampleSize {
		return len(text)
	}
	return 0
}

// leastCosts are the two candidates of least cost, the first listed among equal ones. Of one
// candidate both are the same.
func leastCosts(all []candidate) (best, next candidate) {
	best = all[0]
	for _, c := range all[1:] {
		if c.cost < best.cost {
			best = c
		}
	}
	next = best
	for _, c := range all {
		if c.e != best.e && (next.e == best.e || c.cost < next.cost) {
			next = c
		}
	}
	return best, next
}

// weigher adds up the costs of characters. Its zero value is ready.
type weigher struct {
	level *encoding.Encoder
	han   map[rune]int
	words map[string]bool // that were weighed: a value that is repeated tells nothing more
}

// mostWords bounds the words that are remembered; later ones count each time.
const mostWords = 1 << 16

// add adds the costs of a piece to the candidates and returns those that it fits.
func (w *weigher) add(all []candidate, piece []byte) []candidate {
	at := firstHigh(piece)
	if at < 0 {
		return all
	}
	piece = piece[at:]
	left := all[:0]
	for _, c := range all {
		text := piece
		if d := c.e.decoder(); d != nil {
			var err error
			if text, _, err = transform.Bytes(d, piece); err != nil {
				continue
			}
		}
		if validPrefix(text, c.e) < len(text) {
			continue
		}
		c.cost += w.text(c.e, text)
		left = append(left, c)
	}
	return left
}

// text is the cost of all characters that are not ASCII, word by word, each word once.
func (w *weigher) text(e Encoding, text []byte) (cost int) {
	for len(text) > 0 {
		at := firstHigh(text)
		if at < 0 {
			return cost
		}
		from := at
		for from > 0 && isLetter(text[from-1]) {
			from--
		}
		to := at
		for to < len(text) && (text[to] >= utf8.RuneSelf || isLetter(text[to])) {
			to++
		}
		key := string(rune(e)) + string(text[from:to])
		if !w.words[key] {
			if w.words == nil {
				w.words = map[string]bool{}
			}
			if len(w.words) < mostWords && len(key) < 256 {
				w.words[key] = true
			}
			cost += w.word(text[from:to])
		}
		text = text[to:]
	}
	return cost
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// word is the cost of a run of letters and characters that are not ASCII.
func (w *weigher) word(word []byte) (cost int) {
	ascii, latin, length := false, false, 0
	for rest := word; len(rest) > 0; length++ {
		r, size := utf8.DecodeRune(rest)
		rest = rest[size:]
		ascii = ascii || r < utf8.RuneSelf
		latin = latin || unicode.Is(unicode.Latin, r)
	}
	for len(word) > 0 {
		r, size := utf8.DecodeRune(word)
		word = word[size:]
		if r >= utf8.RuneSelf {
			cost += w.rune(r, ascii, latin, length > 1)
		}
	}
	return cost
}

// rune is the cost of a character: ascii says that its word has a Latin letter without an
// accent, latin that it has any Latin letter, and beside that the word has other characters.
func (w *weigher) rune(r rune, ascii, latin, beside bool) int {
	const frequent, rare, odd = 2, 8, 12
	switch {
	case r >= 0x3041 && r <= 0x30ff, r >= 0x3000 && r <= 0x301f:
		return 1
	case r >= 0xff61 && r <= 0xff9f:
		return 5 // half-width katakana, of one byte in Shift_JIS
	case r >= 0xff01 && r <= 0xff60:
		return frequent
	case unicode.Is(unicode.Han, r) && ascii:
		return w.kanji(r) + rare // in a word of Latin letters
	case unicode.Is(unicode.Han, r):
		return w.kanji(r)
	case unicode.Is(unicode.Latin, r):
		switch {
		case ascii:
			return 1
		case !beside && r <= 0xff:
			return frequent // a word of one letter, such as à
		}
		return rare
	case unicode.IsLetter(r):
		if archaic := r < 0x384 || r > 0x3ce && r < 0x400; beside && !latin && !archaic {
			return 1
		}
		return rare
	case r >= 0x2100 && r <= 0x2bff, r >= 0x3200 && r <= 0x33ff:
		return 5
	case r >= 0x2010 && r <= 0x20ac, r >= 0xa0 && r <= 0xff:
		return rare
	}
	return odd
}

// kanji is the cost of a Han character: of the first level of JIS X 0208, of the second, or
// of neither.
func (w *weigher) kanji(r rune) int {
	if cost, ok := w.han[r]; ok {
		return cost
	}
	if w.han == nil {
		w.level, w.han = japanese.EUCJP.NewEncoder(), map[rune]int{}
	}
	cost := 9
	if b, err := w.level.Bytes([]byte(string(r))); err == nil && len(b) == 2 {
		cost = 7
		if b[0] < 0xd0 {
			cost = 2
		}
	}
	w.han[r] = cost
	return cost
}
