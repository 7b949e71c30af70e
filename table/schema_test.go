package table

import (
	"slices"
	"testing"
)

func TestTypeNames(t *testing.T) {
	for _, typ := range []Type{Category, Ordered, Integer, Decimal, Date} {
		if got, err := ParseType(typ.String()); err != nil || got != typ {
			t.Errorf("%s: got %v, %v", typ, got, err)
		}
	}
	if _, err := ParseType("number"); err == nil {
		t.Error("an unknown type is taken")
	}
	if got := Type(9).String(); got != "type(9)" {
		t.Errorf("got %q", got)
	}
	for typ, want := range map[Type]bool{Category: false, Ordered: false, Integer: true, Decimal: true, Date: true} {
		if typ.IsNumber() != want {
			t.Errorf("%s: IsNumber is %v", typ, !want)
		}
	}
}

func TestRoleNames(t *testing.T) {
	for _, role := range []Role{Other, Identifier, Quasi, Sensitive} {
		if got, err := ParseRole(role.String()); err != nil || got != role {
			t.Errorf("%s: got %v, %v", role, got, err)
		}
	}
	if got, err := ParseRole("quasi"); err != nil || got != Quasi {
		t.Errorf("quasi: got %v, %v", got, err)
	}
	if _, err := ParseRole("Sensitive"); err == nil {
		t.Error("an unknown role is taken")
	}
	if got := Role(9).String(); got != "role(9)" {
		t.Errorf("got %q", got)
	}
}

func TestSchema(t *testing.T) {
	s := Schema{Fields: []Field{{Name: "a", Role: Quasi}, {Name: "b"}, {Name: "c", Role: Quasi}}}
	if s.Index("c") != 2 || s.Index("d") != -1 {
		t.Error("a column is elsewhere")
	}
	if got := s.WithRole(Quasi); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("got %v", got)
	}
	if got := s.WithRole(Sensitive); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}
