package meter

import (
	"context"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
)

func TestLimits(t *testing.T) {
	m := New(From(With(context.Background(), Limits{Held: 100, Unpacked: 1 << 20})), 1)
	for _, c := range []struct {
		what    string
		err     error
		refusal string
	}{
		{"held", m.Hold(60), ""},
		{"held beyond the limit", m.Hold(41), "a.csv: needs more than 0.0001 MB of memory to be read"},
		{"counted nothing", m.Hold(40), ""},
		{"another meter holds the same", m.Another().Hold(1), "a.csv: needs more than"},
		{"unpacked", m.Unpack(1 << 20), ""},
		{"unpacked beyond the limit", m.Unpack(1), "a.csv: unpacks to more than 1 MiB in all"},
		{"less than nothing", m.Unpack(-1), "a.csv: unpacks to more than"},
	} {
		err := At(c.err, "a.csv")
		switch {
		case c.refusal == "" && (err != nil || c.err != nil):
			t.Errorf("%s: %v", c.what, c.err)
		case c.refusal != "" && (noren.CodeOf(err) != Code || noren.KindOf(err) != noren.BadData || !strings.HasPrefix(err.Error(), c.refusal)):
			t.Errorf("%s: %v", c.what, err)
		}
	}
	if m.Release(40); m.Hold(40) != nil || m.Left() != 0 {
		t.Error("what was released is held")
	}
	if l := New(Limits{}, 1<<30); l.Held() != DefaultHeld || l.Left() != Ratio<<30 {
		t.Error("the defaults are others than stated")
	}
}
