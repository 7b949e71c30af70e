package pg

import (
	"strings"

	"github.com/noren-privacy/noren"
)

// Name is a table: its schema, which may be empty, and its name.
type Name struct{ Schema, Table string }

// ParseName reads TABLE or SCHEMA.TABLE, each as it is stored, or between double
// quotes where it holds a point. The error does not repeat the text, which could
// be a connection string.
func ParseName(s string) (Name, error) {
	bad := &noren.Error{
		Kind: noren.Usage, Where: "pg", What: "expected pg:TABLE or pg:SCHEMA.TABLE",
		Hint: "server, user and password come from the PG... environment variables, a service file or a password file",
	}
	var parts []string
	for rest := s; ; {
		var part string
		if strings.HasPrefix(rest, `"`) {
			end := 1
			for ; end < len(rest); end++ {
				if rest[end] != '"' {
					continue
				}
				if end+1 < len(rest) && rest[end+1] == '"' {
					end++
					continue
				}
				break
			}
			if end >= len(rest) {
				return Name{}, bad
			}
			part, rest = strings.ReplaceAll(rest[1:end], `""`, `"`), rest[end+1:]
		} else {
			i := strings.IndexByte(rest, '.')
			if i < 0 {
				i = len(rest)
			}
			part, rest = rest[:i], rest[i:]
			if strings.ContainsAny(part, "/:@=\" \t\n") {
				return Name{}, bad
			}
		}
		if part == "" || strings.ContainsRune(part, 0) {
			return Name{}, bad
		}
		parts = append(parts, part)
		if rest == "" {
			break
		}
		if rest[0] != '.' || len(parts) == 2 {
			return Name{}, bad
		}
		rest = rest[1:]
	}
	if len(parts) == 1 {
		return Name{Table: parts[0]}, nil
	}
	return Name{Schema: parts[0], Table: parts[1]}, nil
}

// String is the name as a query has it.
func (n Name) String() string {
	if n.Schema == "" {
		return quote(n.Table)
	}
	return quote(n.Schema) + "." + quote(n.Table)
}

// shown is the name as a user wrote it.
func (n Name) shown() string {
	if n.Schema == "" {
		return "pg:" + n.Table
	}
	return "pg:" + n.Schema + "." + n.Table
}

func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
