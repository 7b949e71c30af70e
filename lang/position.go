package lang

import "regexp"

// position matches the place of a record or a cell as [noren.Position] writes it, without
// the name of the file.
var position = regexp.MustCompile(`^(?:(line|record) (\d+))?(?:(?:^|, )column (\d+)(?: \((.*)\))?)?$`)

// positioned says where a record or a cell is: "line 3, column 1 (age)".
func positioned(text string) (string, bool) {
	m := position.FindStringSubmatch(text)
	if m == nil || m[1] == "" && m[3] == "" {
		return "", false
	}
	said := ""
	switch m[1] {
	case "line":
		said = m[2] + " 行目"
	case "record":
		said = m[2] + " 件目のレコード"
	}
	if m[3] == "" {
		return said, true
	}
	if said != "" {
		said += "、"
	}
	said += m[3] + " 列目"
	if m[4] != "" {
		said += "（" + m[4] + "）"
	}
	return said, true
}
