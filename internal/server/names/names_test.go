package names_test

import (
	"testing"

	"github.com/noren-privacy/noren/internal/server/names"
)

func TestSeen(t *testing.T) {
	for _, name := range []string{"visits.csv", "来院 2026（１月）", "é", "e\u0301", "نمی\u200cخواهم", "👩\u200d⚕️"} {
		if !names.Seen(name) {
			t.Errorf("%q is refused", name)
		}
	}
	for _, name := range []string{"a\u202evsc.exe", "a\u2066b", "a\u200eb", "a\ufeff", "a\u00adb", "a\nb", "a\u0085b", "a\u2028b", "a\x00", "a\xff", "\ue000"} {
		if names.Seen(name) {
			t.Errorf("%q is taken", name)
		}
	}
}
