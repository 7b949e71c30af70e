package infer

import "slices"

// clearTokens stand for a missing value wherever they occur.
var clearTokens = []string{
	"NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "null", "NULL", "Null", "NIL", "nil", "?", "-", "--", "---", ".", "…",
	"<NA>", "missing", "Missing", "MISSING", "欠損", "欠測", "未回答", "無回答", "未記入", "未入力", "－", "ー", "―",
}

// doubtfulTokens may be words like others ("allergies: none"). Among numbers or
// dates they stand for a missing value.
var doubtfulTokens = []string{
	"na", "none", "None", "NONE", "unknown", "Unknown", "UNKNOWN", "not available", "not known", "なし", "無し", "無", "不明", "不詳", "該当なし", "未定",
}

// MissingTexts are texts that stand for a missing value wherever they occur.
func MissingTexts() []string { return slices.Clone(clearTokens) }

// tokens are the texts that may stand for a missing value.
type tokens struct {
	clear    map[string]bool
	doubtful map[string]bool
	lengths  uint64 // bit min(n,63): some have n bytes
}

func newTokens(said []string) *tokens {
	t := &tokens{clear: map[string]bool{}, doubtful: map[string]bool{}}
	clearly, doubtful := said, []string(nil)
	if said == nil {
		clearly, doubtful = clearTokens, doubtfulTokens
	}
	for _, text := range clearly {
		t.clear[text] = true
		t.lengths |= 1 << min(len(text), 63)
	}
	for _, text := range doubtful {
		t.doubtful[text] = true
		t.lengths |= 1 << min(len(text), 63)
	}
	return t
}

// is reports whether text may stand for a missing value.
func (t *tokens) is(text []byte) bool {
	return len(text) == 0 || t.lengths&(1<<min(len(text), 63)) != 0 && (t.clear[string(text)] || t.doubtful[string(text)])
}
