package apart

import (
	"testing"

	"github.com/noren-privacy/noren/internal/meter/metertest"
)

// No library writes to the standard output or error, whatever is read.
func TestReadingIsSilent(t *testing.T) { metertest.Silent(t, "Fuzz.*") }
