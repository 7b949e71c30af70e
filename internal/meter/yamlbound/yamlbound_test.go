package yamlbound

import (
	"fmt"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
)

func TestCheck(t *testing.T) {
	laughs := "a: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 8 {
		laughs += fmt.Sprintf("k%d: &a%d [%s]\n", i, i+1, strings.Repeat(fmt.Sprintf("*a%d,", i), 10))
	}
	var deep strings.Builder
	for i := range 500 {
		deep.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	for name, text := range map[string]string{
		"brackets": strings.Repeat("[", 30_000), "braces": strings.Repeat("{a: ", 10_000), "dashes": strings.Repeat("- ", 30_000),
		"questions": strings.Repeat("? ", 10_000), "indents": deep.String(), "aliases": laughs, "itself": "a: &x [*x]\n",
		"anchors": "a: " + strings.Repeat("&a ", 5000), "tags": "a: " + strings.Repeat("!!map ", 5000),
		"large": strings.Repeat("a", MostSize+1), "pieces": "a: [" + strings.Repeat("1,", MostTokens) + "]",
	} {
		if err := Check("a.yaml", []byte(text)); noren.CodeOf(err) != meter.Code || !strings.HasPrefix(err.Error(), "a.yaml") {
			t.Errorf("%s: %v", name, err)
		}
	}
	plain := "version: 1\ncolumns:\n"
	for i := range 5000 {
		plain += fmt.Sprintf("  c%d: {role: quasi, levels: [a, b, c]}\n", i)
	}
	for name, text := range map[string]string{
		"columns": plain, "shared": "a: &l [x, y]\nb: *l\nc: {d: *l}\n",
		"list": "a:\n" + strings.Repeat("- {b: 1}\n", 5000),
	} {
		if err := Check("a.yaml", []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
