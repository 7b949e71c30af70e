package cli

import (
	"strings"
	"testing"
)

// One hint stands beside hidden rows and columns and beside a hidden sheet that was passed
// by: it says what decides on each, since --hidden does not choose a sheet.
func TestHintOfHidden(t *testing.T) {
	for _, flag := range []string{"--hidden leave", "--hidden read", "--sheet"} {
		if !strings.Contains(string(hints["hidden"]), flag) {
			t.Errorf("%q lacks %s", hints["hidden"], flag)
		}
	}
}
