package main

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// fieldNames are the JSON names of the fields of a struct by their Go names. The fields of
// an embedded struct are among them.
func fieldNames(of reflect.Type) map[string]string {
	names := map[string]string{}
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return names
	}
	for _, f := range reflect.VisibleFields(of) {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case tag == "-" || !f.IsExported() || f.Anonymous && tag == "":
		case tag == "":
			names[f.Name] = f.Name
		default:
			names[f.Name] = tag
		}
	}
	return names
}

var (
	identifier = regexp.MustCompile(`[A-Za-z]\w*`)
	absent     = regexp.MustCompile(`\b([Nn])il\b`)
)

// verbs follow the name of a field or of a type where a comment begins with it.
var verbs = []string{
	"adds", "allows", "bounds", "compares", "contains", "counts", "describes", "estimates", "gives", "has", "have",
	"hold", "holds", "keeps", "lays", "lists", "marks", "measures", "name", "names", "rounds", "say", "says", "scales",
	"state", "states", "sums", "summarises", "tell", "tells",
}

// description is the comment of a field for readers of the JSON: it has no Go name. The
// names are those of the fields of the struct; JSON names are in backticks.
func description(field string, names map[string]string, text string) string {
	text = inJSON(text, names)
	if rest, cut := cutCopula(text, field); cut {
		text = rest
	} else if rest, cut := strings.CutPrefix(text, field+" "); cut {
		if verb, _, _ := strings.Cut(rest, " "); slices.Contains(verbs, verb) {
			text = "`" + names[field] + "` " + rest
		}
	}
	return ended(text)
}

// typeDescription is the comment of a type for readers of the JSON.
func typeDescription(name string, names map[string]string, text string) string {
	name, _, _ = strings.Cut(name, "[") // of a generic type
	text = inJSON(text, names)
	if rest, cut := cutCopula(text, name); cut {
		text = rest
	} else if rest, cut := strings.CutPrefix(text, name+" "); cut {
		if verb, _, _ := strings.Cut(rest, " "); slices.Contains(verbs, verb) {
			text = capital(rest)
		}
	}
	return ended(text)
}

// cutCopula cuts the name and the verb be from the front of a text.
func cutCopula(text, name string) (string, bool) {
	for _, verb := range []string{" is ", " are ", " is, ", " are, "} {
		if rest, cut := strings.CutPrefix(text, name+verb); cut && rest != "" {
			return capital(rest), true
		}
	}
	return text, false
}

// capital begins a text with a capital, unless its first word is a schema or a symbol.
func capital(text string) string {
	first, _, _ := strings.Cut(text, " ")
	if strings.Contains(first, "/") || len(first) == 1 && first != "a" || text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func ended(text string) string {
	if text != "" && !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// inJSON puts the JSON names of fields, in backticks, in place of their Go names. The
// first word of a sentence stays: it may be an ordinary word.
func inJSON(text string, names map[string]string) string {
	var b strings.Builder
	at := 0
	for _, m := range mentions(text, names) {
		b.WriteString(text[at:m[0]] + "`" + names[text[m[0]:m[1]]] + "`")
		at = m[1]
	}
	return absent.ReplaceAllStringFunc(b.String()+text[at:], func(nil string) string {
		return nil[:1] + "ull"
	})
}

// mentions are the places of Go names of fields in a text, where the JSON name differs.
// They are no part of a longer name, no genitive, and not the first word of a sentence.
func mentions(text string, names map[string]string) (places [][]int) {
	for _, m := range identifier.FindAllStringIndex(text, -1) {
		name := text[m[0]:m[1]]
		json, known := names[name]
		if !known || json == name {
			continue
		}
		before, after := text[:m[0]], text[m[1]:]
		if sentenceStart(before) || qualified(before, after) {
			continue
		}
		places = append(places, m)
	}
	return places
}

func sentenceStart(before string) bool {
	before = strings.TrimRight(before, " (\"")
	return before == "" || strings.HasSuffix(before, ".")
}

var (
	joinedBefore = regexp.MustCompile("[\\w.`'^]$|\\w-$")
	joinedAfter  = regexp.MustCompile("^(['`]|[-.]\\w)")
)

// qualified reports whether a name is a part of a longer one.
func qualified(before, after string) bool {
	return joinedBefore.MatchString(before) || joinedAfter.MatchString(after)
}
