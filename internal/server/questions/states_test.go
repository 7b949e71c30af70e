package questions

import (
	"os"
	"strings"
	"testing"
)

// The table in the documentation of state is what its function does.
func TestStates(t *testing.T) {
	text, err := os.ReadFile("states.go")
	if err != nil {
		t.Fatal(err)
	}
	var table [][]string
	for line := range strings.Lines(string(text)) {
		if row, ok := strings.CutPrefix(line, "//\t"); ok {
			table = append(table, strings.Fields(row))
		}
	}
	if len(table) != int(dropped)+2 {
		t.Fatalf("%d rows in the table", len(table))
	}
	events := table[0][1:]
	if len(events) != int(resume)+1 {
		t.Fatalf("%d events in the table", len(events))
	}
	byName := map[string]state{}
	for s := claimed; s <= dropped; s++ {
		byName[s.String()] = s
	}
	seen := map[state]bool{}
	for _, row := range table[1:] {
		from, known := byName[row[0]]
		if !known || len(row) != len(events)+1 {
			t.Fatalf("row %q", row)
		}
		seen[from] = true
		for i := accept; i <= resume; i++ {
			if events[i] != i.String() {
				t.Fatalf("event %d is %s in the table", i, events[i])
			}
			to, ok := from.after(i)
			switch want := row[i+1]; {
			case want == "-" && (ok || to != from):
				t.Errorf("%s at %s: %s, %v; want no change", from, i, to, ok)
			case want != "-" && (!ok || to.String() != want):
				t.Errorf("%s at %s: %s, %v; want %s", from, i, to, ok, want)
			}
		}
	}
	if len(seen) != len(byName) {
		t.Errorf("the table has %d states of %d", len(seen), len(byName))
	}
}

// Every request ends, and none that was charged ends as dropped.
func TestStatesEnd(t *testing.T) {
	for s := claimed; s <= dropped; s++ {
		ways := 0
		for e := accept; e <= resume; e++ {
			to, ok := s.after(e)
			if !ok {
				continue
			}
			ways++
			if to <= s && to != dropped && to != computed && to != stored {
				t.Errorf("%s goes back to %s", s, to)
			}
			if to == dropped && (s == charged || s == computed || s == stored) {
				t.Errorf("%s was charged and is dropped", s)
			}
		}
		if s.over() != (ways == 0) {
			t.Errorf("%s has %d ways on", s, ways)
		}
	}
}
