package noren_test

import (
	"errors"
	"testing"

	"github.com/noren-privacy/noren"
)

// A format has the words of 1 where the number is 1, whatever its type, and those of several otherwise.
func TestChoices(t *testing.T) {
	for _, c := range []struct {
		format noren.Format
		args   []any
		want   string
	}{
		{"%d {row|rows}", []any{1}, "1 row"},
		{"%d {row|rows}", []any{int64(1)}, "1 row"},
		{"%d {row|rows}", []any{uint8(2)}, "2 rows"},
		{"%d {row|rows}", []any{0}, "0 rows"},
		{"%s {row|rows}", []any{"1"}, "1 row"},
		{"%s {row|rows}", []any{"1,201"}, "1,201 rows"},
		{"%.1f %% of %d {row is|rows are} left out", []any{100.0, 1}, "100.0 % of 1 row is left out"},
		{"{2|Is|Are} %s and its %d {row|rows} left out?", []any{"a", 1}, "Is a and its 1 row left out?"},
		{"{2|Is|Are} %s and its %d {row|rows} left out?", []any{"1", 3}, "Are 1 and its 3 rows left out?"},
		{"%[2]s: %[1]d {row|rows}, {2|one|several}", []any{1, "x"}, "x: 1 row, several"},
		{"%d column{|s}", []any{2}, "2 columns"},
		{"%s {\"a\":1}, {a|b|c}, {a|%d", []any{"x", 1}, "x {\"a\":1}, {a|b|c}, {a|1"},
	} {
		if got := noren.Textf(c.format, c.args...).String(); got != c.want {
			t.Errorf("%q: got %q, want %q", c.format, got, c.want)
		}
	}
	err := noren.Usagef("--keys", "%d {key|keys} of %d", 1, 2).Hinted("leave %d {key|keys} out", 1)
	if got := err.Error(); got != "--keys: 1 key of 2 (leave 1 key out)" {
		t.Error(got)
	}
	if got := noren.TextOf(errors.New("{a|b}")).String(); got != "{a|b}" {
		t.Error(got)
	}
	if got := noren.Textf("{a|b}").String(); got != "{a|b}" {
		t.Error(got)
	}
}
