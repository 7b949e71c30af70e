package lang

// Term is a word of ours that stands alone, such as a role or a label, in the language;
// another word is left as it is. A word within a text is not said otherwise, as it may be the name of a column.
func (l Lang) Term(word string) string { return l.word(Term, word) }

// Unit is the unit of a guarantee in the language: record is a word of ours, and another unit is the name of a column.
func (l Lang) Unit(name string) string {
	if word, ours := messageWords["unit."+name]; ours {
		return l.word("word unit", word)
	}
	return name
}

// Stage is the name of a stage of long work in the language; another text, such as the name
// of a data set that is a stage, is left as it is.
func (l Lang) Stage(name string) string { return l.word(Stage, name) }

// word is a word in the language.
func (l Lang) word(context, english string) string {
	if l == English {
		return english
	}
	return translationOf(context, english)
}
