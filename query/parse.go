package query

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// Predicate is a condition on one record, parsed and typed against the fields of
// a table:
//
//	predicate = term { "or" term }
//	term      = factor { "and" factor }
//	factor    = "not" factor | "(" predicate ")" | condition
//	condition = column ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) literal
//	          | column [ "not" ] "in" "(" literal { "," literal } ")"
//	          | column "is" [ "not" ] "missing"
//
// A text is in 'single' or "double" quotes, a quote inside it twice; a number
// is written as it is; a date is a text in the layout of its column. A column name of other
// than letters, digits, "_", "-" and "." is in `backticks`. Texts of a category
// have no order: "<" is for numbers, dates and ordered columns.
//
// A comparison with a missing value is neither true nor false, and neither is its
// negation (as in SQL); a record is selected when the whole is true.
//
// What a predicate selects is decided record by record, so that it changes no
// sensitivity.
type Predicate struct {
	source string
	root   node
	fields []table.Field // those it reads, in order of appearance
}

type nodeKind uint8

const (
	nodeAnd nodeKind = iota
	nodeOr
	nodeNot
	nodeCompare
	nodeIn
	nodeMissing
)

type operator uint8

const (
	equal operator = iota
	notEqual
	less
	lessEqual
	greater
	greaterEqual
)

var operators = map[string]operator{"=": equal, "!=": notEqual, "<": less, "<=": lessEqual, ">": greater, ">=": greaterEqual}

func (o operator) String() string { return [...]string{"=", "!=", "<", "<=", ">", ">="}[o] }

type node struct {
	kind   nodeKind
	sub    []node // and, or, not
	field  int    // of a condition
	op     operator
	values []literal
}

// literal is a value as the column's type has it.
type literal struct {
	number float64 // decimal
	whole  int64   // integer, date, rank of an ordered level
	text   string  // category, and the level itself
}

// ParsePredicate parses text against the fields of a table. An error is of kind
// Usage and says at which character; it does not repeat the text.
func ParsePredicate(text string, fields []table.Field) (*Predicate, error) {
	p := &parser{lexer: lexer{src: text}, all: fields, out: &Predicate{source: text}}
	switch {
	case len(text) > maxPredicate:
		return nil, p.fault(0, "the predicate is longer than %d bytes", "", maxPredicate)
	case !utf8.ValidString(text):
		return nil, p.fault(0, "the predicate is not UTF-8", "")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	root, err := p.disjunction(0)
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokenEnd {
		return nil, p.fault(p.tok.at, "expected and, or, or the end", "join conditions with and or or; quote a text: column = 'text'")
	}
	p.out.root = root
	return p.out, nil
}

type parser struct {
	lexer
	tok token
	all []table.Field
	out *Predicate
}

func (p *parser) advance() (err error) {
	p.tok, err = p.next()
	return err
}

func (p *parser) is(kind tokenKind, text string) bool {
	return p.tok.kind == kind && p.tok.text == text
}

func (p *parser) expect(sign string, hint noren.Format) error {
	if !p.is(tokenSign, sign) {
		return p.fault(p.tok.at, "expected %s", hint, sign)
	}
	return p.advance()
}

func (p *parser) disjunction(depth int) (node, error) {
	return p.chain("or", nodeOr, depth, func(depth int) (node, error) {
		return p.chain("and", nodeAnd, depth, p.factor)
	})
}

// chain parses one part or several joined by word.
func (p *parser) chain(word string, kind nodeKind, depth int, part func(int) (node, error)) (node, error) {
	first, err := part(depth)
	if err != nil || !p.is(tokenWord, word) {
		return first, err
	}
	n := node{kind: kind, sub: []node{first}}
	for p.is(tokenWord, word) {
		if err := p.advance(); err != nil {
			return n, err
		}
		next, err := part(depth)
		if err != nil {
			return n, err
		}
		n.sub = append(n.sub, next)
	}
	return n, nil
}

func (p *parser) factor(depth int) (node, error) {
	if depth == maxDepth {
		return node{}, p.fault(p.tok.at, "nested deeper than %d", "", maxDepth)
	}
	switch {
	case p.is(tokenWord, "not"):
		if err := p.advance(); err != nil {
			return node{}, err
		}
		inner, err := p.factor(depth + 1)
		return node{kind: nodeNot, sub: []node{inner}}, err
	case p.is(tokenSign, "("):
		if err := p.advance(); err != nil {
			return node{}, err
		}
		inner, err := p.disjunction(depth + 1)
		if err != nil {
			return node{}, err
		}
		return inner, p.expect(")", "close the parenthesis")
	}
	return p.condition()
}

func (p *parser) condition() (node, error) {
	if p.tok.kind != tokenName {
		var hint noren.Format = "write: column = 'text'"
		if p.tok.kind == tokenWord {
			hint = "write a column that has the name of a reserved word in `backticks`"
		}
		return node{}, p.fault(p.tok.at, "expected a column", hint)
	}
	n := node{}
	var err error
	if n.field, err = p.column(p.tok); err != nil {
		return n, err
	}
	if err := p.advance(); err != nil {
		return n, err
	}
	negated := p.is(tokenWord, "not")
	if negated {
		if err := p.advance(); err != nil {
			return n, err
		}
		if !p.is(tokenWord, "in") {
			return n, p.fault(p.tok.at, "expected in", "write: column not in ('a', 'b')")
		}
	}
	switch {
	case p.is(tokenWord, "in"):
		n.kind = nodeIn
		if err := p.list(&n); err != nil {
			return n, err
		}
	case p.is(tokenWord, "is"):
		n.kind = nodeMissing
		if err := p.advance(); err != nil {
			return n, err
		}
		negated = p.is(tokenWord, "not")
		if negated {
			if err := p.advance(); err != nil {
				return n, err
			}
		}
		if !p.is(tokenWord, "missing") {
			return n, p.fault(p.tok.at, "expected missing", "write: column is missing, or column is not missing")
		}
		if err := p.advance(); err != nil {
			return n, err
		}
	default:
		op, ok := operators[p.tok.text]
		if p.tok.kind != tokenSign || !ok {
			return n, p.fault(p.tok.at, "expected an operator after the column", "one of = != < <= > >= in, is missing")
		}
		n.kind, n.op = nodeCompare, op
		if f := p.out.fields[n.field]; f.Type == table.Category && op != equal && op != notEqual {
			return n, p.fault(p.tok.at, "column %s is a category, whose texts have no order",
				"use = or !=, or declare the column ordered, with its levels", f.Name)
		}
		if err := p.advance(); err != nil {
			return n, err
		}
		v, err := p.literal(n.field)
		if err != nil {
			return n, err
		}
		n.values = []literal{v}
	}
	if negated {
		return node{kind: nodeNot, sub: []node{n}}, nil
	}
	return n, nil
}

// list parses what follows column in.
func (p *parser) list(n *node) error {
	if err := p.advance(); err != nil {
		return err
	}
	const hint = "write: column in ('a', 'b')"
	if err := p.expect("(", hint); err != nil {
		return err
	}
	for {
		v, err := p.literal(n.field)
		if err != nil {
			return err
		}
		n.values = append(n.values, v)
		if !p.is(tokenSign, ",") {
			return p.expect(")", hint)
		}
		if err := p.advance(); err != nil {
			return err
		}
	}
}

// column returns the index in out.fields of the named column.
func (p *parser) column(t token) (int, error) {
	if at := slices.IndexFunc(p.out.fields, func(f table.Field) bool { return f.Name == t.text }); at >= 0 {
		return at, nil
	}
	at := slices.IndexFunc(p.all, func(f table.Field) bool { return f.Name == t.text })
	if at < 0 {
		err := p.fault(t.at, "no column of this name", "").Hinted("the columns are %s; write a name with other signs in `backticks`",
			fieldNames(p.all))
		return 0, &noren.Error{Kind: noren.Usage, Code: columnMissing, Err: err}
	}
	p.out.fields = append(p.out.fields, p.all[at])
	return len(p.out.fields) - 1, nil
}

func fieldNames(fields []table.Field) string {
	var names []string
	for i, f := range fields {
		if i == 20 {
			names = append(names, fmt.Sprintf("and %d more", len(fields)-i))
			break
		}
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

func (p *parser) literal(field int) (literal, error) {
	f := &p.out.fields[field]
	at, kind, text := p.tok.at, p.tok.kind, p.tok.text
	if kind == tokenSign && slices.Contains([]string{"=", "<", ">"}, text) {
		return literal{}, p.fault(at, "expected a value for column %s, got a second operator", "one of = != < <= > >= in, is missing", f.Name)
	}
	if kind != tokenText && kind != tokenNumber {
		return literal{}, p.fault(at, "expected a value for column %s", "write a text in quotes, a number without", f.Name)
	}
	if isNumber := f.Type == table.Integer || f.Type == table.Decimal; isNumber != (kind == tokenNumber) {
		if isNumber {
			return literal{}, p.fault(at, "column %s is %s and is compared with a text", "write the number without quotes", f.Name, f.Type)
		}
		return literal{}, p.fault(at, "column %s is %s and is compared with a number", "write the value in quotes", f.Name, f.Type)
	}
	v, err := parseLiteral(f, text)
	if err != nil {
		return literal{}, levelsHinted(p.fault(at, "column %s: %s", "", f.Name, noren.TextOf(err)), f, text)
	}
	return v, p.advance()
}

// levelsHinted is err with the level that is most like text, or with all of them; levels are public.
func levelsHinted(err *noren.Error, f *table.Field, text string) *noren.Error {
	if f.Type != table.Ordered {
		return err
	}
	listed := strings.Join(f.Levels[:min(len(f.Levels), 20)], ", ")
	if len(f.Levels) > 20 {
		listed += ", ..."
	}
	if best := table.Nearest(text, f.Levels); best != "" {
		return err.Hinted("did you mean %s? its levels are %s", best, listed)
	}
	return err.Hinted("its levels are %s", listed)
}

// parseLiteral reads a text as a value of the type of f. The error does not
// repeat the text.
func parseLiteral(f *table.Field, text string) (v literal, err error) {
	switch f.Type {
	case table.Integer:
		v.whole, err = table.ParseInteger([]byte(text))
	case table.Decimal:
		v.number, _, err = table.ParseDecimal([]byte(text))
	case table.Date:
		v.whole, err = f.Layout.Parse(text)
	case table.Ordered:
		v.text = text
		v.whole = int64(slices.Index(f.Levels, text))
		if v.whole < 0 {
			err = noren.Reasonf("expected one of its %d {level|levels}", len(f.Levels))
		}
	default:
		v.text = text
	}
	return v, err
}

// Fields are the columns that p reads.
func (p *Predicate) Fields() []table.Field { return slices.Clone(p.fields) }

// String writes p in one form: with the fewest parentheses, texts in single
// quotes. Parsed again it is the same predicate.
func (p *Predicate) String() string {
	var b strings.Builder
	p.write(&b, &p.root, nodeOr)
	return b.String()
}

func (p *Predicate) write(b *strings.Builder, n *node, within nodeKind) {
	switch n.kind {
	case nodeAnd, nodeOr:
		word, open := " and ", within == nodeNot || within == nodeAnd && n.kind == nodeOr
		inner := nodeAnd
		if n.kind == nodeOr {
			word, inner = " or ", nodeOr
		}
		if open {
			b.WriteByte('(')
		}
		for i := range n.sub {
			if i > 0 {
				b.WriteString(word)
			}
			// A chain directly inside a chain of its own kind had parentheses, and
			// keeps them.
			sub := inner
			if n.sub[i].kind == n.kind {
				sub = nodeNot
			}
			p.write(b, &n.sub[i], sub)
		}
		if open {
			b.WriteByte(')')
		}
	case nodeNot:
		b.WriteString("not ")
		p.write(b, &n.sub[0], nodeNot)
	case nodeCompare:
		fmt.Fprintf(b, "%s %s %s", quoteName(p.fields[n.field].Name), n.op, p.literalText(n.field, n.values[0]))
	case nodeIn:
		b.WriteString(quoteName(p.fields[n.field].Name) + " in (")
		for i, v := range n.values {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(p.literalText(n.field, v))
		}
		b.WriteByte(')')
	case nodeMissing:
		b.WriteString(quoteName(p.fields[n.field].Name) + " is missing")
	}
}

func (p *Predicate) literalText(field int, v literal) string {
	f := &p.fields[field]
	switch f.Type {
	case table.Integer, table.Decimal:
		return valueText(f, v)
	}
	return "'" + strings.ReplaceAll(valueText(f, v), "'", "''") + "'"
}

// quoteName writes a column name bare where that reads back.
func quoteName(name string) string {
	bare := name != "" && !words[strings.ToLower(name)]
	for i, r := range name {
		bare = bare && isNamePart(r) && (i > 0 || isNameStart(r))
	}
	if bare {
		return name
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}
