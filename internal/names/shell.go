package names

import (
	"path/filepath"
	"strings"
)

// Shell is the name of a file as a person types it in a shell.
func Shell(name string) string {
	switch {
	case filepath.Separator != '/':
		if strings.ContainsAny(name, " &()^;,=") {
			return `"` + name + `"`
		}
	case name == "" || strings.ContainsAny(name, " \t\n'\"\\$`&|;<>()*?[]#~!{}"):
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name
}
