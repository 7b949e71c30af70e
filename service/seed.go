package service

import (
	"encoding/hex"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/kanon"
)

// seedDigits is the least number of hexadecimal digits of a secret seed: 128 bits.
const seedDigits = 32

// Codes of errors about seeds.
const (
	// CodeSeedShort: the seed is short enough to be found by trying.
	CodeSeedShort = "seed-short"
	// CodeNeedsSeed: an insecure seed is accepted, and none is stated.
	CodeNeedsSeed = "needs-seed"
)

// setSeed reads the seed of a release: 32 hexadecimal digits or more, or a whole number
// where the request accepts an insecure one.
func setSeed(r *api.AnonymizeRequest, o *kanon.Options) error {
	switch {
	case r.Seed == "" && r.InsecureSeed:
		return &noren.Error{Kind: noren.Usage, Code: CodeNeedsSeed, Where: "seed-insecure", What: "goes with a seed"}
	case r.Seed == "":
		return nil
	case len(r.Seed) >= seedDigits:
		seed, ok := hexSeed(r.Seed)
		if !ok {
			return noren.Usagef("seed", "expected hexadecimal digits")
		}
		o.SecretSeed = seed
		return nil
	case !r.InsecureSeed:
		return &noren.Error{
			Kind: noren.Usage, Code: CodeSeedShort, Where: "seed",
			What: "expected %d hexadecimal {digit|digits} or more, got %d {character|characters}: short seeds can be tried until one gives the " +
				"order of the rows", Args: []any{seedDigits, len(r.Seed)},
			Hint: "draw one, for instance by openssl rand -hex 16, or leave it out",
		}
	}
	n, err := strconv.ParseUint(r.Seed, 10, 64)
	if err != nil {
		return noren.Usagef("seed", "expected a whole number of at most 64 bits, not negative")
	}
	o.Seed = &n
	return nil
}

// hexSeed is the bytes of hexadecimal digits; the last digit of an odd number is a byte.
func hexSeed(digits string) ([]byte, bool) {
	even := len(digits) &^ 1
	seed, err := hex.DecodeString(digits[:even])
	if err != nil || even == len(digits) {
		return seed, err == nil
	}
	last, err := strconv.ParseUint(digits[even:], 16, 8)
	return append(seed, byte(last)), err == nil
}
