package query

import (
	"strings"
	"testing"

	"github.com/noren-privacy/noren/table"
)

// TestConditionHints: a condition with an operator turned around names the operators, and one of a
// label that is no level names the levels, the nearest first.
func TestConditionHints(t *testing.T) {
	fields := []table.Field{
		{Name: "age", Type: table.Integer},
		{Name: "severity", Type: table.Ordered, Levels: []string{"mild", "severe", "critical"}},
	}
	for text, want := range map[string]string{
		"age => 65":                            "got a second operator (one of = != < <= > >=",
		"age =< 65":                            "got a second operator",
		"severity = 'Critical'":                "did you mean critical? its levels are mild, severe, critical",
		"severity in ('mild', 'wholly other')": "its levels are mild, severe, critical",
	} {
		_, err := ParsePredicate(text, fields)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "wholly other") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
