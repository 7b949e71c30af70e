package cli

import (
	"math"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/service"
)

// sizeUnits are the units of a size, by what they multiply.
var sizeUnits = []struct {
	name  string
	bytes float64
}{
	{"kib", 1 << 10},
	{"mib", 1 << 20},
	{"gib", 1 << 30},
	{"tib", 1 << 40},
	{"kb", 1e3},
	{"mb", 1e6},
	{"gb", 1e9},
	{"tb", 1e12},
}

// parseSize reads a number of bytes with its unit: 2GB, 1.5GiB, 512 MiB.
func parseSize(text string) (int64, error) {
	s := strings.ToLower(strings.TrimSpace(text))
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(n > 0) || n*u.bytes >= math.MaxInt64 {
			break
		}
		return int64(n * u.bytes), nil
	}
	return 0, noren.Reasonf("expected a number with a unit, such as 2GB or 512MiB (kB, MB, GB, TB by 1000; KiB, MiB, GiB, TiB by 1024)")
}

// memoryFlag is the value of --memory in bytes, the default where it is not
// given.
func memoryFlag(text string) (int64, error) {
	if text == "" {
		return kanon.DefaultMemory, nil
	}
	n, err := parseSize(text)
	if err == nil && n < service.LeastMemory {
		err = noren.Reasonf("expected %dMiB at least: the program itself needs as much", service.LeastMemory>>20)
	}
	if err != nil {
		return 0, noren.Usagef("--memory", "%s", noren.TextOf(err))
	}
	return n, nil
}

// limitMemory makes the garbage collector keep the process within n bytes, until the
// returned function is called.
func limitMemory(n int64) func() {
	before := debug.SetMemoryLimit(n)
	return func() { debug.SetMemoryLimit(before) }
}
