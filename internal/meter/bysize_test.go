package meter

import "testing"

// A file may unpack to no more than follows from its size, where the limits say so.
func TestBySize(t *testing.T) {
	for _, c := range []struct {
		l    Limits
		size int64
		want int64
	}{
		{Limits{BySize: true}, 930, Least},
		{Limits{BySize: true}, 2 << 20, 2 << 20 * Most},
		{Limits{BySize: true}, 64 << 20, DefaultUnpacked},
		{Limits{BySize: true, Unpacked: DefaultUnpacked}, 1 << 62, DefaultUnpacked},
		{Limits{BySize: true, Unpacked: 1 << 20}, 930, 1 << 20},
		{Limits{BySize: true}, 0, DefaultUnpacked}, // a stream
		{Limits{}, 930, DefaultUnpacked},
		{Limits{}, 1 << 40, Ratio << 40},
	} {
		if got := New(c.l, c.size).Left(); got != c.want {
			t.Errorf("%+v, %d bytes: %d, want %d", c.l, c.size, got, c.want)
		}
	}
}
