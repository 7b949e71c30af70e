package ldp

import (
	"bytes"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/meter/metertest"
)

func smallRappor(t testing.TB) *Rappor {
	t.Helper()
	r, err := NewRappor(Params{K: 8, H: 2, M: 3, P: 0.25, Q: 0.75, F: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFilesThatAreNot(t *testing.T) {
	r := smallRappor(t)
	for _, c := range []string{
		"", "k,h,m,p,q,f\n", "1,2,3,4,5,6\n1,2,3,4,5,6\n", "k,h,m,p,q,f\n1,2,3,4,5\n", "k,h,m,p,q,f\n1,2,x,4,5,6\n",
		"k,h,m,p,q,f\n1,2,-3,4,5,6\n", "k,h,m,p,q,f\n1,2,99999999999,4,5,6\n", "k,h,m,p,q,f\n1,2,3,4,5,6\n1,2,3,4,5,6\n",
	} {
		if _, err := ReadParams(strings.NewReader(c), "params.csv"); err == nil {
			t.Errorf("params %q: no error", c)
		} else if !strings.Contains(err.Error(), "params.csv") {
			t.Errorf("the error does not name the file: %v", err)
		}
	}
	for _, c := range []string{
		"a,1,2,9,10,17\n", "a,1,2,9,10,17,25\n", "a,1,2,9,10,17,8\n", "a,0,2,9,10,17,18\n", "a,1,2,9,10,17,x\n",
		"a,1,2,9,10,17,18\na,1,2,9,10,17,18\n", "\"a,1\n",
	} {
		if _, err := r.ReadMap(strings.NewReader(c), "map.csv"); err == nil {
			t.Errorf("map %q: no error", c)
		}
	}
	row := "4,0,1,2,3,4,0,0,0\n"
	if c, err := r.ReadCounts(strings.NewReader(row+row+row), "counts.csv"); err != nil || c.Reports() != 12 {
		t.Error(err)
	}
	for _, c := range []string{
		"", row, row + row, row + row + row + row, row + row + "4,5,1,2,3,4,0,0,0\n",
		row + row + "4,-1,1,2,3,4,0,0,0\n", row + row + "4,0,1,2,3,4,0,0\n", row + row + "x,0,1,2,3,4,0,0,0\n",
	} {
		if _, err := r.ReadCounts(strings.NewReader(c), "counts.csv"); err == nil {
			t.Errorf("counts %q: no error", c)
		}
	}
	huge, err := NewRappor(Params{K: 32, H: 2, M: 1 << 32, P: 0.5, Q: 0.75, F: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := huge.NewCollector(); err == nil {
		t.Error("2^32 cohorts were to be counted")
	}
}

func TestMapQuotesAsPythonDoes(t *testing.T) {
	r := smallRappor(t)
	words := []string{`a,b`, `say "x"`, ` lead`, "two\nlines", "plain"}
	m, err := r.NewMap(words)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteMap(&b, m); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"a,b",`, `"say ""x""",`, "\n lead,", "\"two\nlines\",", "\nplain,"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the map has no %q", want)
		}
	}
	again, err := r.ReadMap(&b, "map.csv")
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range words {
		if again.Words[i] != w {
			t.Errorf("%q is read as %q", w, again.Words[i])
		}
	}
	list, err := ReadCandidates(strings.NewReader(" a \r\n\n\tb c\n"), "x")
	if err != nil || strings.Join(list, "|") != "a|b c" {
		t.Errorf("candidates %q (%v)", list, err)
	}
}

// What is read can be written and is read the same.

func FuzzReadParams(f *testing.F) {
	f.Add("k,h,m,p,q,f\n16,2,8,0.5,0.75,0.5\n")
	f.Fuzz(func(t *testing.T, s string) {
		metertest.Hold(t, len(s))
		p, err := ReadParams(strings.NewReader(s), "x")
		if err != nil {
			return
		}
		_, _ = NewRappor(p)
		var b bytes.Buffer
		if err := WriteParams(&b, p); err != nil {
			t.Fatal(err)
		}
		again, err := ReadParams(&b, "x")
		if err != nil || again != p && p.P == p.P && p.Q == p.Q && p.F == p.F { // NaN is not itself
			t.Fatalf("%+v is read as %+v (%v)", p, again, err)
		}
	})
}

func FuzzReadMap(f *testing.F) {
	f.Add("a,1,2,9,10,17,18\r\n")
	f.Add("\"a,b\",1,1,16,9,17,24\n")
	f.Fuzz(func(t *testing.T, s string) {
		metertest.Hold(t, len(s))
		r := smallRappor(t)
		m, err := r.ReadMap(strings.NewReader(s), "x")
		if err != nil {
			return
		}
		var b, b2 bytes.Buffer
		if err := WriteMap(&b, m); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		again, err := r.ReadMap(&b, "x")
		if err != nil {
			// Only a word of one empty line is lost between the formats.
			t.Fatalf("%q: %v", text, err)
		}
		if err := WriteMap(&b2, again); err != nil || b2.String() != text {
			t.Fatalf("%q is written as %q", text, b2.String())
		}
	})
}

func FuzzReadCounts(f *testing.F) {
	f.Add("4,0,1,2,3,4,0,0,0\n4,0,1,2,3,4,0,0,0\n4,0,1,2,3,4,0,0,0\n")
	f.Fuzz(func(t *testing.T, s string) {
		metertest.Hold(t, len(s))
		r := smallRappor(t)
		c, err := r.ReadCounts(strings.NewReader(s), "x")
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteCounts(&b, c); err != nil {
			t.Fatal(err)
		}
		if _, err := r.ReadCounts(&b, "x"); err != nil {
			t.Fatal(err)
		}
		if c.Reports() > 0 {
			if _, err := c.EstimateBits(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzReports(f *testing.F) {
	for _, s := range []string{"3", "01001", "00112233445566778899aabbccddeeff:1", "0,4", "2,01010101", "0=1;1=7", "1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		metertest.Hold(t, len(s))
		for _, name := range Names() {
			o, err := NewOracle(name, 5, 1)
			if err != nil {
				t.Fatal(err)
			}
			if r, err := o.Parse(s); err == nil {
				if o.Check(r) != nil || name != "olh" && o.Format(r) != s {
					t.Fatalf("%s reads %q and writes %q", name, s, o.Format(r))
				}
				c := NewCollector(o)
				if c.Add(r) != nil {
					t.Fatal("a report that parses is refused")
				}
			}
		}
		if r, err := smallRappor(t).Parse(s); err == nil && smallRappor(t).Format(r) != s {
			t.Fatalf("RAPPOR reads %q and writes %q", s, smallRappor(t).Format(r))
		}
		m, err := NewMulti(record(), 6)
		if err != nil {
			t.Fatal(err)
		}
		if parts, err := m.Parse(s); err == nil && NewMultiCollector(m).Add(parts) != nil {
			t.Fatal("a report of several attributes that parses is refused")
		}
	})
}
