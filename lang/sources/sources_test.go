package sources_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren/lang/sources"
)

// Every literal of several words is a text, unless a rule says what else it is.
func TestFind(t *testing.T) {
	root := t.TempDir()
	err := os.WriteFile(filepath.Join(root, "planted.go"), []byte(`package planted

type row struct {
	A string `+"`json:\"a\" doc:\"What is in a.\"`"+`
}

const statement = "SELECT a FROM b WHERE c = ?"

var layout = "2006-01-02 15:04"

func f(s flags, q query, n int) []string {
	s.StringVar(&q.a, "a", "", "the name of a")
	s.command(cobra.Command{Use: "do IT", Short: "Do it now", Long: "Do it and more."})
	key := []byte("noren some key")
	warnings := []string{"what was not expected", "%d of " + q.name}
	return append(warnings, fmt.Sprintf("a share of %g", n)+", and some more", "word", "--a, --b")
}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	found, err := sources.Find(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"%d of %s", "a share of %g, and some more", "what was not expected"}
	if len(found) != len(want) {
		t.Fatalf("got %v, want %v", found, want)
	}
	for i := range want {
		if found[i].Key != want[i] {
			t.Errorf("got %q, want %q", found[i].Key, want[i])
		}
	}
}
