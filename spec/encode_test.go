package spec_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/spec"
)

// Every specification is read as it was written, whatever its texts look like.
func TestEncodeRoundTrip(t *testing.T) {
	text := rapid.OneOf(
		rapid.SampledFrom([]string{
			"", "yes", "null", "~", "0610070", "1e3", "<script>", "a: b", "- x", "#c", "'", "\"", "a\nb", " x ", "=cmd",
			"日本", "{a}", "&a", "*a", "!t", "%", "@", "`", "\\n", "2024-01-01", "true", ":", "|", ">", "\t",
		}),
		rapid.StringMatching(`[ -~]{0,12}`),
	)
	name := text.Filter(func(s string) bool { return s != "" })
	rapid.Check(t, func(t *rapid.T) {
		s := &spec.Spec{Version: 1, Unit: text.Draw(t, "unit"), Columns: map[string]spec.Column{}}
		s.Input.Delimiter = rapid.SampledFrom([]string{"", ",", ";", "tab"}).Draw(t, "delimiter")
		s.Input.Sheet = text.Draw(t, "sheet")
		if rapid.Bool().Draw(t, "missing stated") {
			s.Input.Missing = append([]string{}, rapid.SliceOfN(text, 0, 3).Draw(t, "missing")...)
		}
		if rapid.Bool().Draw(t, "header stated") {
			header := rapid.Bool().Draw(t, "header")
			s.Input.Header = &header
		}
		for range rapid.IntRange(1, 4).Draw(t, "columns") {
			c := spec.Column{Role: "other", Type: text.Draw(t, "type"), Format: text.Draw(t, "format"), Order: rapid.SliceOfN(text, 0, 3).
				Draw(t, "order")}
			if rapid.Bool().Draw(t, "round stated") {
				round := rapid.IntRange(-3, 3).Draw(t, "round")
				c.Round = &round
			}
			s.Columns[name.Draw(t, "name")] = c
		}
		s.Anonymize = spec.Anonymize{
			K: rapid.IntRange(0, 100).Draw(t, "k"), L: rapid.SampledFrom([]float64{0, 2, 2.5}).Draw(t, "l"),
			T: rapid.SampledFrom([]float64{0, 0.2}).Draw(t, "t"), Refine: "20s", Pseudonym: rapid.Bool().Draw(t, "pseudonym"),
		}
		data := s.Encode()
		got, err := spec.Parse("noren.yaml", []byte(data))
		if err != nil {
			t.Fatalf("%v:\n%s", err, data)
		}
		if d := cmp.Diff(s, got, cmpopts.IgnoreUnexported(spec.Spec{}), cmp.Comparer(func(a, b []string) bool {
			return len(a) == len(b) && strings.Join(a, "\x00") == strings.Join(b, "\x00")
		})); d != "" {
			t.Fatalf("(-want +got)\n%s\n%s", d, data)
		}
		if (s.Input.Missing == nil) != (got.Input.Missing == nil) {
			t.Fatalf("missing texts: %v, %v", s.Input.Missing, got.Input.Missing)
		}
	})
}

func TestEncodeIsReadable(t *testing.T) {
	s := &spec.Spec{
		Version: 1, Columns: map[string]spec.Column{"age": {Role: "quasi-identifier", Type: "integer"}},
		Anonymize: spec.Anonymize{K: 5},
	}
	const want = "version: 1\ncolumns:\n  age:\n    role: quasi-identifier\n    type: integer\nanonymize:\n  k: 5\n"
	if got := s.Encode(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
