package correlated

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/meter/metertest"
)

// Files of a few kilobytes, or many names, state models that took gigabytes or hours.
func TestModelsThatAreTooLarge(t *testing.T) {
	chain := func(n int) string {
		return fmt.Sprintf(`{"type":"chain","init":[0.5,0.5],"P":[[0.9,0.1],[0.1,0.9]],"length":%d}`, n)
	}
	class := func(member string, n int) string {
		return `{"type":"class","members":[` + strings.TrimSuffix(strings.Repeat(member+",", n), ",") + `]}`
	}
	for name, c := range map[string]struct{ text, want string }{
		"chain":           {chain(maxRecords + 1), "between 1 and 4194304 records"},
		"members":         {class(chain(1_000_000), 5_000), "members[4]: the members of a class have at most 4194304 records in all"},
		"members nested":  {class(class(chain(1_000_000), 3), 5_000), "members[1]: the members of a class have at most"},
		"records of one":  {`{"type":"table","shape":[` + strings.Repeat("1,", 200_000) + `1],"p":[1]}`, "a table has at most 1024 records"},
		"names of states": {strings.Replace(chain(4), "{", `{"states":[`+manyNames(300_000)+`],`, 1), "here are 300000 names"},
	} {
		t.Run(name, func(t *testing.T) {
			most := metertest.Peak(t, func() {
				_, err := ParseModel(strings.NewReader(c.text), "m.json")
				if noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v", err)
				}
			})
			if most > metertest.Ceiling {
				t.Errorf("took %d MB", most/1e6)
			}
		})
	}
}

// What a file of values under long names takes follows from its length: a place in words for
// each value took thousands of times the file.
func TestReadingIsLinear(t *testing.T) {
	deep, list := "", strings.Repeat("0,", 100_000)+"0"
	for range 30 {
		deep += `{"` + strings.Repeat("\u00e9", 20) + `":`
	}
	text := deep + "[" + list + "]" + strings.Repeat("}", 30)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := readJSON(strings.NewReader(text), "m.json"); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := int(after.TotalAlloc - before.TotalAlloc); took > 200*len(text) {
		t.Errorf("reading %d bytes allocated %d MB in all", len(text), took/1e6)
	}
}

func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"s%d",`, i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

// The largest chain of the most states is looked over once for each kernel, not for each record.
func TestSupportsOfLongChains(t *testing.T) {
	p := make([]float64, 64)
	for i := range p {
		p[i] = 1.0 / 64
	}
	rows := make([][]float64, 64)
	for i := range rows {
		rows[i] = p
	}
	c, err := NewHomogeneousChain(p, rows, maxRecords)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range c.supports() {
		if s != ^uint64(0) {
			t.Fatalf("record %d: %x", i, s)
		}
	}
}

// Reading a model ends with its context.
func TestReadingEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := ParseModel(meter.Interruptible(ctx, strings.NewReader(`{}`)), "m.json")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
