package lang

import (
	"cmp"
	"embed"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/noren-privacy/noren/lang/po"
)

// Entry is a text of the catalogue.
type Entry struct {
	// Context is what the text is: "" for one that the code has, [Place], [Foreign], or "message"
	// and "word" with a space and the code of the message or the set of the word.
	Context string
	// Key is the format in English.
	Key Key
	// Japanese is the format in Japanese. Its verbs are those of Key, with the numbers of
	// their arguments where the order is another, as in %[2]s.
	Japanese string
}

// Contexts of texts.
const (
	// Place is where something is wrong, in errors.
	Place = "place"
	// Foreign is a text that is in no source of this module by itself: of the system or of a
	// library, which becomes a part of errors, or a part of texts.
	Foreign = "foreign"
)

// IsFormat reports whether the text is a format of package fmt.
func (e Entry) IsFormat() bool { return e.Context == "" || e.Context == Place || e.Context == Foreign }

// files are the translations, as translators open them.
//
//go:embed ja/*.po
var files embed.FS

// read reads the files of translations, which are in the program and which tests have read.
var read = sync.OnceValue(func() []Entry {
	all := make([]Entry, 0, 8000)
	names, _ := fs.Glob(files, "ja/*.po")
	for _, name := range names {
		file, _ := files.ReadFile(name)
		entries, _ := po.Read(string(file))
		for _, e := range entries {
			all = append(all, Entry{e.Context, Key(e.ID), e.Text})
		}
	}
	return all
})

// Catalogue returns all entries.
func Catalogue() []Entry { return slices.Clone(read()) }

// withContext finds the translations of messages and words, by their context and English.
var withContext = sync.OnceValue(func() map[[2]string]string {
	found := map[[2]string]string{}
	for _, e := range read() {
		if !e.IsFormat() {
			found[[2]string{e.Context, string(e.Key)}] = e.Japanese
		}
	}
	return found
})

// translationOf is the translation of a message or a word.
func translationOf(context, english string) string {
	return cmp.Or(withContext()[[2]string{context, english}], english)
}

// catalogue finds translations.
type catalogue struct {
	byKey    map[string]string   // by format
	exact    map[string]*pattern // of formats without verbs, by their text
	patterns []*pattern          // of formats with verbs, those with most text of their own first
	places   []*pattern          // of the places of errors, likewise
}

// japanese is the catalogue of Japanese, made when it is first needed.
var japanese = sync.OnceValue(func() *catalogue {
	c := &catalogue{byKey: map[string]string{}, exact: map[string]*pattern{}}
	for _, e := range read() {
		if !e.IsFormat() {
			continue
		}
		c.byKey[string(e.Key)] = e.Japanese // keys have no space around them
		for english, japanese := range e.chosen() {
			c.add(e.Context, english, japanese)
		}
	}
	for _, patterns := range [][]*pattern{c.patterns, c.places} {
		slices.SortFunc(patterns, func(a, b *pattern) int {
			return cmp.Or(cmp.Compare(b.own, a.own), slices.Compare(a.literals, b.literals))
		})
	}
	return c
})

// add adds the patterns of a format without choices.
func (c *catalogue) add(context, english, japanese string) {
	if context == Place {
		p := parse(strings.TrimPrefix(english, "%s: "))
		p.japanese = strings.TrimPrefix(japanese, "%s: ")
		c.places = append(c.places, p)
	}
	p := parse(strings.TrimSpace(english))
	p.japanese = strings.TrimSpace(japanese)
	if len(p.verbs) == 0 {
		c.exact[p.literals[0]] = p
		return
	}
	p.numeric = p.own < leastOwn && (p.own < leastBeginning || p.literals[0] == "" && p.verbs[0].kind != 'd')
	if !p.numeric || p.own > 0 && len(p.verbs) > 1 {
		c.patterns = append(c.patterns, p)
	}
}

// leastOwn is how many letters a format has of its own at least if texts of any arguments
// are to be found by it: "over %s" fits the name of a group as well. A shorter one finds
// texts of two or more arguments that are numbers, counts or texts of ours, such as
// "3 of 500 records".
const leastOwn = 10

// leastBeginning is the same of a format that begins with text of its own, or a number.
const leastBeginning = 7

// pattern is a format in its parts.
type pattern struct {
	literals []string // one more than verbs
	verbs    []verb
	own      int    // characters beside its verbs, without spaces and punctuation
	numeric  bool   // finds only texts whose arguments are numbers or texts of ours
	japanese string // its translation, which few of the patterns need in their parts
	once     sync.Once
	parts    *pattern // of the translation
}

// translated is the translation in its parts.
func (p *pattern) translated() *pattern {
	p.once.Do(func() { p.parts = parse(p.japanese).resolve(p) })
	return p.parts
}

// translation is that of a format without verbs.
func (p *pattern) translation() string { return p.translated().literals[0] }

// verb is a place of a format where an argument stands.
type verb struct {
	kind byte // d, s, q, v, g and so on
	arg  int
	name string // of an argument in braces, as in {unit}
}

// named is the name of the argument in braces that a text begins with.
func named(text string) (string, bool) {
	if text[0] != '{' {
		return "", false
	}
	name, _, ok := strings.Cut(text[1:], "}")
	return name, ok && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// resolve gives the named arguments of a translation their numbers in the key.
func (p *pattern) resolve(key *pattern) *pattern {
	for i, v := range p.verbs {
		if v.name == "" {
			continue
		}
		p.verbs[i].arg = -1
		for _, k := range key.verbs {
			if k.name == v.name {
				p.verbs[i].arg = k.arg
				break
			}
		}
	}
	return p
}

// ownCharacters counts the characters of texts, without spaces and punctuation.
func ownCharacters(literals []string) int {
	n := 0
	for _, literal := range literals {
		for _, r := range literal {
			if r != ' ' && !strings.ContainsRune(",.:;()%-=", r) {
				n++
			}
		}
	}
	return n
}

// parse takes a format apart.
func parse(format string) *pattern {
	p := &pattern{}
	var literal strings.Builder
	next := 0
	for i := 0; i < len(format); i++ {
		if name, ok := named(format[i:]); ok {
			p.literals = append(p.literals, literal.String())
			p.verbs = append(p.verbs, verb{kind: 's', arg: next, name: name})
			literal.Reset()
			next++
			i += len(name) + 1
			continue
		}
		if format[i] != '%' || i+1 == len(format) || format[i+1] == ' ' { // 100 % of
			literal.WriteByte(format[i])
			continue
		}
		if format[i+1] == '%' {
			literal.WriteByte('%')
			i++
			continue
		}
		end := i + 1
		for end < len(format) && strings.IndexByte("+-#0123456789.[]*", format[end]) >= 0 {
			end++
		}
		if end == len(format) {
			literal.WriteString(format[i:])
			break
		}
		if c := format[end] | 0x20; c < 'a' || c > 'z' { // 1 %, or
			literal.WriteByte('%')
			continue
		}
		arg := next
		if open := strings.IndexByte(format[i:end], '['); open >= 0 {
			if closing := strings.IndexByte(format[i:end], ']'); closing > open {
				if n, err := strconv.Atoi(format[i+open+1 : i+closing]); err == nil {
					arg = n - 1
				}
			}
		}
		next = arg + 1
		p.literals = append(p.literals, literal.String())
		p.verbs = append(p.verbs, verb{kind: format[end], arg: arg})
		literal.Reset()
		i = end
	}
	p.literals = append(p.literals, literal.String())
	p.own = ownCharacters(p.literals)
	return p
}

// Fault says what is wrong with an entry by itself; "" for nothing: its translation must
// have the arguments of its key, each by the same kind of verb.
func (e Entry) Fault() string {
	if strings.TrimSpace(e.Japanese) == "" {
		return "has no translation"
	}
	if !e.IsFormat() {
		return "" // a test holds its arguments against those of the calls
	}
	key, fault := e.parsed(string(e.Key), "key")
	if fault != "" {
		return fault
	}
	translated, fault := e.parsed(e.Japanese, "translation")
	if fault != "" {
		return fault
	}
	translated.resolve(key)
	used := make([]bool, len(key.verbs))
	for _, v := range translated.verbs {
		if v.arg < 0 || v.arg >= len(key.verbs) {
			return "uses an argument that the key does not have"
		}
		if want := key.verbs[v.arg].kind; v.kind != want {
			return "writes argument " + strconv.Itoa(v.arg+1) + " by %" + string(v.kind) + ", the key by %" + string(want)
		}
		used[v.arg] = true
	}
	for i, is := range used {
		for j, v := range key.verbs { // one name may stand twice
			is = is || v.name != "" && v.name == key.verbs[i].name && used[j]
		}
		if !is {
			return "leaves out argument " + strconv.Itoa(i+1)
		}
	}
	return ""
}
