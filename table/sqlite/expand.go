package sqlite

import (
	"math"
	"strings"

	lib "modernc.org/sqlite/lib"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
)

// SQLite replaces each name of a view and of a common table expression by a copy of what it
// names, and copies conditions into them, before it looks whether it should stop: a view that
// names the one below twice doubles with each level. So the copies are counted first, from the
// words of the texts.

// nodeWeight is what a word or column takes in memory each time that it is copied.
const nodeWeight = 150

// most is more than any limit.
const most = math.MaxInt32

func sum(a, b int64) int64 { return min(a+b, most) }

// texts are the definitions of tables and views, by their names in lower case.
type texts map[string][]*definition

// definition is a text with names that stand for others.
type definition struct {
	words    []word
	view     bool
	parts    map[string][]*definition // common table expressions
	copies   int64                    // how many queries it stands for; 0 where not known
	visiting bool
}

// word is a name, quoted or not, a number or a mark.
type word struct {
	text  string
	plain bool // not quoted
}

func (w word) is(text string) bool { return w.plain && w.text == text }

// add adds the definition of a table or view, by the name that the list has and by that of the text.
func (t texts) add(name, sql string, view bool) {
	d := &definition{words: words(sql), view: view}
	t.name(name, d)
	for i, w := range d.words {
		if w.is("as") || w.is("(") {
			if i > 0 && d.words[i-1].text != strings.ToLower(name) {
				t.name(d.words[i-1].text, d)
			}
			break
		}
	}
}

func (t texts) name(name string, d *definition) {
	name = strings.ToLower(name)
	t[name] = append(t[name], d)
}

// words reads a text of SQL without its comments.
func words(sql string) []word {
	var out []word
	letter := func(c byte) bool {
		return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	for i := 0; i < len(sql); {
		c := sql[i]
		rest := sql[i:]
		n := 1
		switch {
		case c <= ' ':
			i++
			continue
		case strings.HasPrefix(rest, "--"):
			n = strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			i += n
			continue
		case strings.HasPrefix(rest, "/*"):
			n = strings.Index(rest[2:], "*/")
			if n < 0 {
				n = len(rest)
			} else {
				n += 4
			}
			i += n
			continue
		case c == '\'' || c == '"' || c == '`' || c == '[':
			end := c
			if c == '[' {
				end = ']'
			}
			for n < len(rest) && (rest[n] != end || c != '[' && n+1 < len(rest) && rest[n+1] == end) {
				if rest[n] == end {
					n++
				}
				n++
			}
			mark := string(end)
			out = append(out, word{text: strings.ToLower(strings.ReplaceAll(rest[1:min(n, len(rest))], mark+mark, mark))})
			i += min(n+1, len(rest))
			continue
		case letter(c):
			for n < len(rest) && letter(rest[n]) {
				n++
			}
		}
		out = append(out, word{strings.ToLower(rest[:n]), true})
		i += n
	}
	return out
}

// divide finds the common table expressions of a definition.
func (d *definition) divide() {
	d.parts = map[string][]*definition{}
	w := d.words
	for i := 1; i < len(w); i++ {
		if !w[i].is("as") {
			continue
		}
		open := i + 1
		for open < len(w) && (w[open].is("not") || w[open].is("materialized")) {
			open++
		}
		if open == len(w) || !w[open].is("(") {
			continue
		}
		at := i - 1 // of the name, before the list of its columns
		if w[at].is(")") {
			at = matching(w, at, -1, ")", "(") - 1
		}
		if at < 0 {
			continue
		}
		end := matching(w, open, 1, "(", ")")
		d.parts[w[at].text] = append(d.parts[w[at].text], &definition{words: w[open:max(open, min(end, len(w)))], view: true})
	}
}

// matching is the place of the parenthesis that belongs to the one at i.
func matching(w []word, i, step int, open, shut string) int {
	depth := 0
	for ; i >= 0 && i < len(w); i += step {
		switch {
		case w[i].is(open):
			depth++
		case w[i].is(shut):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return i
}

// expansion counts what a query stands for.
type expansion struct {
	texts texts
	seen  map[*definition]bool
	words int64 // of all texts that are named
}

// count is how many queries a definition stands for, with the common table expressions of the
// text that it is part of.
func (e *expansion) count(d *definition, parts map[string][]*definition) int64 {
	if d.visiting {
		return most // SQLite refuses circles
	}
	if d.copies > 0 {
		return d.copies
	}
	d.visiting = true
	defer func() { d.visiting = false }()
	if !e.seen[d] {
		e.seen[d] = true
		if parts == nil {
			e.words = sum(e.words, int64(len(d.words)))
		}
	}
	if parts == nil {
		d.divide()
		parts = d.parts
	}
	rows := false
	for _, w := range d.words {
		rows = rows || w.is("values")
	}
	n := int64(1)
	for _, w := range d.words {
		if w.is("select") || rows && w.is("(") {
			n = sum(n, 1)
		}
		for _, p := range parts[w.text] {
			if p != d && !within(d, p) { // a recursive one names itself
				n = sum(n, e.count(p, parts))
			}
		}
		for _, other := range e.texts[w.text] {
			switch {
			case other == d:
			case other.view:
				n = sum(n, e.count(other, nil))
			case !e.seen[other]:
				e.seen[other] = true
				e.words = sum(e.words, int64(len(other.words)))
			}
		}
	}
	d.copies = n
	return n
}

// within reports whether the words of d are among those of p: a part within p names p where
// p is recursive.
func within(d, p *definition) bool {
	if len(d.words) == 0 || len(p.words) == 0 || len(d.words) > len(p.words) {
		return false
	}
	for i := range p.words {
		if &p.words[i] == &d.words[0] {
			return true
		}
	}
	return false
}

// expand bounds what SQLite makes of a query, by the columns that each of its copies may have.
func (r *reading) expand(query string, where any) error {
	e := expansion{texts: r.texts, seen: map[*definition]bool{}}
	copies := e.count(&definition{words: words(query)}, nil)
	columns := r.meter.Held()/2/nodeWeight/copies - e.words
	if columns < 1 {
		return &noren.Error{
			Kind: noren.BadData, Code: meter.Code, Where: where, What: "its views and queries need more than %s of memory when each name is " +
				"replaced by what it names", Args: []any{meter.Size(r.meter.Held())},
			Hint: "write the result as a table of the file, or as CSV",
		}
	}
	lib.Xsqlite3_limit(r.c.tls, r.c.db, lib.SQLITE_LIMIT_COLUMN, int32(min(columns, lib.SQLITE_MAX_COLUMN)))
	return nil
}
