package identity_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/noren-privacy/noren/internal/identity"
	"pgregory.net/rapid"
)

func of(t testing.TB, kind string, v any) identity.ID {
	t.Helper()
	id, err := identity.Of(kind, v)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// The bytes of an identity are those of every version of the program.
func TestBytes(t *testing.T) {
	got := of(t, "noren.test/1", map[string]any{"b": 1, "a": "x<y"}).String()
	// printf 'noren.test/1\0{"a":"x<y","b":1}' | sha256sum
	if want := "0d9d762d455d3811e26b4099f715732c4ce97250b437f02f4e50be3c99bbb3a0"; got != want {
		t.Errorf("%s", got)
	}
}

func TestOrderOfMembersIsNone(t *testing.T) {
	if of(t, "k", json.RawMessage(`{"b":[1,2],"a":1}`)) != of(t, "k", json.RawMessage(` {"a":1,"b":[1, 2]}`)) {
		t.Error("two texts of one value have two identities")
	}
}

// A difference anywhere is another identity.
func TestDifferences(t *testing.T) {
	all := []any{
		map[string]any{"a": 1},
		map[string]any{"a": "1"},
		map[string]any{"b": 1},
		map[string]any{"a": []int{1}},
		map[string]any{"a": 1, "b": nil},
		map[string]any{},
		[]any{},
		"", "a", `\ufffd`, `\\ufffd`, "é", "e\u0301",
	}
	seen := map[identity.ID]int{}
	for i, v := range all {
		for _, kind := range []string{"k/1", "k/2"} {
			id := of(t, kind, v)
			if before, known := seen[id]; known {
				t.Errorf("%v has the identity of %v", v, all[before])
			}
			seen[id] = i
		}
	}
}

// The encoder would write all bytes that are not UTF-8 as one sign.
func TestTextsThatAreNotUTF8AreRefused(t *testing.T) {
	for _, text := range []string{"\xe9", "a\xff", "\\\xff", "\\\\\xff", "\ufffd\xff"} {
		if id, err := identity.Of("k", []string{text}); err == nil {
			t.Errorf("%q has the identity %s", text, id)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.SampledFrom([]byte("\\u\"fdf\xef\xbf\xbd\xff"))).Draw(t, "text"))
		form, err := identity.Form(text)
		if err != nil {
			return
		}
		var back string
		if json.Unmarshal(form, &back) != nil || back != text {
			t.Fatalf("%q became %q", text, back)
		}
	})
}

func TestData(t *testing.T) {
	ids := map[identity.ID]string{}
	add := func(name string, do func(d *identity.Data)) {
		d := identity.NewData("k/1")
		do(d)
		if other, known := ids[d.ID()]; known {
			t.Errorf("%s has the identity of %s", name, other)
		}
		ids[d.ID()] = name
	}
	add("nothing", func(*identity.Data) {})
	add("no numbers", func(d *identity.Data) { d.Floats(nil) })
	add("one", func(d *identity.Data) { d.Floats([]float64{1}) })
	add("two", func(d *identity.Data) { d.Floats([]float64{1, 2}) })
	add("one and one", func(d *identity.Data) { d.Floats([]float64{1}); d.Floats([]float64{2}) })
	add("exchanged", func(d *identity.Data) { d.Floats([]float64{2, 1}) })
	add("none", func(d *identity.Data) { d.Floats([]float64{math.NaN()}) })
	add("truths", func(d *identity.Data) { d.Bools([]bool{true, false}) })
	add("others", func(d *identity.Data) { d.Bools([]bool{false, true}) })
	long := make([]float64, 5000)
	add("long", func(d *identity.Data) { d.Floats(long) })
	long[4999] = 1
	add("another end", func(d *identity.Data) { d.Floats(long) })
}
