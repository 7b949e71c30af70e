package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
)

func TestApart(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.csv")
	if err := os.WriteFile(in, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, err := range map[string]error{
		"folder": os.Mkdir(at("sub"), 0o700), "symbolic link": os.Symlink(in, at("link.csv")), "hard link": os.Link(in, at("hard.csv")),
		"link to folder": os.Symlink(dir, at("sub/up")), "other": os.WriteFile(at("other.csv"), []byte("x"), 0o600),
	} {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for _, c := range []struct {
		inputs, targets []string
		same            bool
	}{
		{[]string{in}, []string{in}, true},
		{[]string{in}, []string{dir + "/sub/../in.csv"}, true},
		{[]string{in}, []string{at("link.csv")}, true},
		{[]string{at("link.csv")}, []string{in}, true},
		{[]string{in}, []string{at("hard.csv")}, true},
		{[]string{in}, []string{at("sub/up/in.csv")}, true},
		{[]string{"", at("other.csv"), in}, []string{"", at("new.csv"), at("hard.csv")}, true},
		{nil, []string{at("new.csv"), dir + "/sub/../new.csv"}, true},
		{nil, []string{at("new.csv"), at("sub/up/new.csv")}, true},
		{[]string{in}, []string{at("other.csv")}, false},
		{[]string{in}, []string{at("new.csv"), at("newer.csv"), "", "-", "-"}, false},
		{[]string{"-"}, []string{"-"}, false},
		{[]string{at("absent.csv")}, []string{at("new.csv")}, false},
	} {
		err := atomicfile.Apart(c.inputs, c.targets...)
		if (err != nil) != c.same || err != nil && noren.KindOf(err) != noren.Usage {
			t.Errorf("%v and %v: %v", c.inputs, c.targets, err)
		}
	}
}

func TestApartFrom(t *testing.T) {
	dir := t.TempDir()
	in, link, other := filepath.Join(dir, "in.csv"), filepath.Join(dir, "link.csv"), filepath.Join(dir, "other.csv")
	for _, name := range []string{in, other} {
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(in, link); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for target, same := range map[string]bool{
		in: true, link: true, other: false, filepath.Join(dir, "new.csv"): false, "": false,
		"-": false,
	} {
		if err := atomicfile.ApartFrom(f, "", target); (err != nil) != same || err != nil && noren.KindOf(err) != noren.Usage {
			t.Errorf("%q: %v", target, err)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if err := atomicfile.ApartFrom(r, in); err != nil {
		t.Error(err)
	}
}
