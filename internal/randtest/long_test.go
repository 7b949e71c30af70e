package randtest

import "testing"

func TestTrialsAreSkipped(t *testing.T) {
	for value, skips := range map[string]bool{"": true, "0": true, "yes": true, "1": false} {
		t.Setenv("NOREN_TRIALS", value)
		ran := false
		t.Run("trial", func(t *testing.T) {
			Long(t)
			ran = true
		})
		if ran == skips {
			t.Errorf("NOREN_TRIALS=%q: ran is %v", value, ran)
		}
	}
}
