package pseudonym_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/noren-privacy/noren/table/pseudonym"
)

// Equal labels agree within a release, and nothing agrees between two.
func TestPseudonyms(t *testing.T) {
	a, b := pseudonym.New(), pseudonym.New()
	seen := map[string]string{}
	for i := range 2000 {
		label := fmt.Sprint("P-", i)
		p := a.Of([]byte(label))
		if len(p) != pseudonym.Len || bytes.ContainsFunc(p, func(r rune) bool { return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'f') }) {
			t.Fatalf("%q is no pseudonym of %d hexadecimal digits", p, pseudonym.Len)
		}
		if !bytes.Equal(p, a.Of([]byte(label))) {
			t.Fatal("a label has two pseudonyms")
		}
		for _, q := range []string{string(p), string(b.Of([]byte(label)))} {
			if other, ok := seen[q]; ok {
				t.Fatalf("%s and %s share a pseudonym", other, label)
			}
			seen[q] = label
		}
	}
}
