package infer_test

import (
	"strings"
	"testing"

	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/table/infer"
	"github.com/noren-privacy/noren/table/personal"
)

// Every kind of personal identifier is said in Japanese in the reason of a role.
func TestKindsInJapanese(t *testing.T) {
	for kind := personal.None + 1; !strings.HasPrefix(kind.String(), "kind("); kind++ {
		r := infer.Reason{Code: "role-personal", Of: "identifier", Args: map[string]any{"kind": kind.String(), "values": 1, "share": "83"}}
		if said := r.In(lang.Japanese); strings.Contains(said, kind.String()) || !strings.Contains(said, "83 %") {
			t.Errorf("%s: %s", kind, said)
		}
	}
}
