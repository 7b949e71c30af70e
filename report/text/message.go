package text

import (
	"fmt"
	"strings"

	"github.com/noren-privacy/noren/api"
)

// say makes a message: {name} in the English text is the argument of that name.
func say(code, english string, args map[string]any) api.Message {
	return api.Message{Code: code, Text: fill(english, args), Args: args}
}

// fill puts arguments in the places of their names. What is put in is not looked at again.
func fill(english string, args map[string]any) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(english, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, after, closed := strings.Cut(rest, "}")
		value, known := args[name]
		if !closed || !known {
			b.WriteByte('{')
			english = rest
			continue
		}
		fmt.Fprint(&b, value)
		english = after
	}
}
