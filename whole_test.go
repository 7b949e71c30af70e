package noren

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
)

// kindOfTest writes itself as a text.
type kindOfTest int

func (kindOfTest) String() string { return "a kind" }

// A text that was stored is read as the text that it was: its English is the same, names stay names, and texts
// stay texts.
func TestWhole(t *testing.T) {
	for _, text := range []Text{
		{},
		Textf("the disk is full"),
		Textf("column %s has %d {value|values}, %.2f on average, %g at most", "of at least %d records", 7, 2.0, 5.0),
		Textf("%s of %s: %t", Phrase("the records"), File("/home/a (b)/people.csv"), true),
		Textf("%s and %q", kindOfTest(1), "a"),
		Textf("%s", Place{File("a.csv"), Textf("line %d", 3), "none"}),
		Textf("%s", Position{File: "a.csv", Line: 3, Field: 2, Column: "age"}),
		Textf("%s, %s, %s, %s, %s", Texts{Textf("a"), Textf("%d", 1)}, Commas{Textf("b")}, Lines{Textf("c")}, Paragraph{Textf("d.")},
			Names{"x", "y"}),
		Textf("%s %s", Sentence(Textf("it is kept")), Foreign("no such file")),
		Textf("%s", Usagef(File("a.csv"), "column %s is missing", "age").Hinted("did you mean %s?", "sex")),
		Textf("%s", &Error{Where: "x", What: "cannot be read", Err: Reasonf("line %d: %s", 4, errors.New("malformed"))}),
		Textf("%s", &Error{Err: fmt.Errorf("words of a library")}),
	} {
		stored, err := json.Marshal(Whole(text))
		if err != nil {
			t.Fatal(err)
		}
		var got Whole
		if err := json.Unmarshal(stored, &got); err != nil {
			t.Fatalf("%s: %v", stored, err)
		}
		if Text(got).String() != text.String() {
			t.Errorf("%s: %q, want %q", stored, Text(got), text)
		}
		again, err := json.Marshal(got)
		if err != nil || string(again) != string(stored) {
			t.Errorf("stored again as %s, before %s: %v", again, stored, err)
		}
	}
}

// A document that is no text is refused, and never panics.
func TestWholeRefuses(t *testing.T) {
	for _, stored := range []string{`7`, `{"args":7}`, `{"format":"%s","args":[{"file":7}]}`, `"text"`} {
		var got Whole
		if err := json.Unmarshal([]byte(stored), &got); err == nil {
			t.Errorf("%s is taken for %q", stored, Text(got))
		}
	}
}

// A reason has its cause, and its percent signs where it has no arguments.
func TestReason(t *testing.T) {
	cause := errors.New("malformed")
	err := Reasonf("line %d: %s", 3, cause)
	if err.Error() != "line 3: malformed" || !errors.Is(err, cause) {
		t.Error(err)
	}
	if err := Reasonf("100 %% of it"); err.Error() != "100 % of it" || errors.Unwrap(err) != nil {
		t.Error(err)
	}
}
