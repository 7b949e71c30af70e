package cli

import (
	"os"
	"slices"

	"github.com/noren-privacy/noren/internal/atomicfile"
)

// apart is [atomicfile.Apart] where "-" among the inputs is standard input, which
// may be redirected from one of the targets.
func (t *terminal) apart(inputs []string, targets ...string) error {
	if err := atomicfile.Apart(inputs, targets...); err != nil {
		return err
	}
	if in, ok := t.stdin.(*os.File); ok && slices.Contains(inputs, "-") {
		return atomicfile.ApartFrom(in, targets...)
	}
	return nil
}
