// Package dependence writes a synthetic table of dependent records: a household's
// power in each minute, on or off, as a Markov chain.
//
//	go run ./examples/dependence/generate -days 1 -seed 7 -o today.csv
//
// Its randomness is deterministic and protects no data.
package dependence

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/noren-privacy/noren/examples/internal/dice"
)

// Minutes is how many records a day has.
const Minutes = 1440

// stay are the chances, in a thousand, that a minute is as the one before: off,
// and on. They are those of power.json.
var stay = [2]int{950, 900}

// onAtMidnight is the chance, in a thousand, that a day begins with power on.
const onAtMidnight = 333

var words = [2]string{"off", "on"}

// Write writes days of minutes as CSV with the columns day, minute and state.
// The same seed gives the same bytes.
func Write(ctx context.Context, w io.Writer, days int, seed uint64) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "day,minute,state")
	d := dice.New(seed)
	for day := range days {
		if err := ctx.Err(); err != nil {
			return err
		}
		state := 0
		if d.Chance(onAtMidnight) {
			state = 1
		}
		for minute := range Minutes {
			if minute > 0 && !d.Chance(stay[state]) {
				state = 1 - state
			}
			fmt.Fprintf(out, "%d,%d,%s\n", day+1, minute, words[state])
		}
	}
	return out.Flush()
}
