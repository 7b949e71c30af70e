package dependence_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/examples/dependence"
	"github.com/noren-privacy/noren/internal/randtest"
)

func Example() {
	var out bytes.Buffer
	if err := dependence.Write(context.Background(), &out, 1, 7); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.Count(out.String(), "\n")-1, "minutes")
	// Output: 1440 minutes
}

// The minutes follow the chain of power.json: they stay as they are as often as
// it says.
func TestMinutesFollowTheChain(t *testing.T) {
	randtest.SkipShort(t)
	var out bytes.Buffer
	if err := dependence.Write(context.Background(), &out, 400, 3); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := dependence.Write(context.Background(), &again, 400, 3); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Fatal("the same seed gives other bytes")
	}
	stayed, steps := map[string]float64{}, map[string]float64{}
	last := []string{"", "", ""}
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[1:] {
		row := strings.Split(line, ",")
		if row[0] == last[0] {
			steps[last[2]]++
			if row[2] == last[2] {
				stayed[last[2]]++
			}
		}
		last = row
	}
	for state, want := range map[string]float64{"off": 0.95, "on": 0.9} {
		if got := stayed[state] / steps[state]; got < want-0.005 || got > want+0.005 {
			t.Errorf("%s stays %.4f of the time, expected %g", state, got, want)
		}
	}
}
