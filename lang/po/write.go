package po

import "strings"

// header is the entry that a PO file of Noren begins with.
const header = `msgid ""
msgstr ""
"Project-Id-Version: Noren\n"
"Language: ja\n"
"MIME-Version: 1.0\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Content-Transfer-Encoding: 8bit\n"
"Plural-Forms: nplurals=1; plural=0;\n"
`

// Write is a file with entries in their order. Lines are not wrapped: a long text is one line,
// and one with line ends in it has one for each.
func Write(entries []Entry) []byte {
	var b strings.Builder
	b.WriteString(header)
	for _, e := range entries {
		b.WriteString("\n")
		for _, comment := range e.Comments {
			b.WriteString("# " + comment + "\n")
		}
		if len(e.Places) > 0 {
			b.WriteString("#: " + strings.Join(e.Places, " ") + "\n")
		}
		if e.Context != "" {
			b.WriteString("msgctxt " + quoted(e.Context) + "\n")
		}
		b.WriteString("msgid " + quoted(e.ID) + "\n")
		b.WriteString("msgstr " + quoted(e.Text) + "\n")
	}
	return []byte(b.String())
}

// escapes are the characters that a PO file writes otherwise.
var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`)

// quoted is a text as a PO file has it.
func quoted(text string) string {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) > 1 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 1 {
		return `"` + escapes.Replace(text) + `"`
	}
	out := `""`
	for _, line := range lines {
		out += "\n" + `"` + escapes.Replace(line) + `"`
	}
	return out
}
